"""Writers: the trials of a run in the formats of other tools.

    Trials, runs --> FormatWriter.write --> a file of the other tool, and what it cannot hold

`writers` are they by name, and `write` writes a file whole or not at all.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
