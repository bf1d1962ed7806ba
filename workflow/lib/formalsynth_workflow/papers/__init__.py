"""Packages for one paper each, with code that no other paper uses.

The names of its files determine what a package registers: ``study*.py`` registers studies, ``words.py`` the texts on its columns
and guarantees, and ``files.py`` its data files.
"""
