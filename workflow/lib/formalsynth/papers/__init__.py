"""Packages for one paper each, with code that no other paper uses.

The names of its files determine what a package registers: ``study*.py`` for studies, ``words.py`` for the texts on its columns
and guarantees, and ``files.py`` for its data files.
"""
