"""The viewer: pages over run directories, served to the browser of whoever started it."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
