"""Bytes to rows and back: records, archives, JSON streams, spreadsheets. Knows no trials."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
