"""Rooms of one paper each: what no other paper uses.

What a room registers is found by the names of its files: ``study*.py`` for studies, ``words.py`` for the words of its columns and
guarantees, ``files.py`` for its data files.
"""
