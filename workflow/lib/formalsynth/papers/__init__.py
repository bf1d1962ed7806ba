"""Rooms of one paper each, with code that no other paper uses.

The names of its files determine what a room registers: ``study*.py`` for studies, ``words.py`` for the texts on its columns and
guarantees, ``files.py`` for its data files.
"""
