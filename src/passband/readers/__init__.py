"""Readers: run directories, logs of other tools and plain tables in, outcomes out.

    path --> find_reader --> Reader.read --> Log, or Groups of Outcomes
    data frame, records, matrix --------------> Groups of Outcomes

`read` takes any source; `register_reader` adds a reader for another tool's log.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
