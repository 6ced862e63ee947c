"""The trials table: one row per trial, one score per row and scorer, on disk."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
