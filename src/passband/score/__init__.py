"""From a completion to a score: answer extraction, scorers, repeat aggregation."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
