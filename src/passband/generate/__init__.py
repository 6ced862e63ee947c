"""Models: everything that turns a prompt into completions, behind one narrow protocol."""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
