"""Tasks: files, data sets, prompts, and the scorers of the answers."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
