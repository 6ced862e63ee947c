"""The machine: its processors, its event loop and the processes that passband starts."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
