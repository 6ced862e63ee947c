"""Reports: results as rows, and rows as text."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
