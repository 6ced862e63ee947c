"""Adaptive tests: item banks, choosing the next item, and when to stop."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
