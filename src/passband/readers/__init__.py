"""Readers: run directories, logs of other tools and plain tables in, outcomes out.

    path --> find_reader --> Reader.read --> Log, or Groups of Outcomes
    data frame, records, matrix --------------> Groups of Outcomes

`read` takes any source; `register_reader` adds a reader for another tool's log.
"""

from passband.readers.groups import Group, Groups, Remark
from passband.readers.log import Log, Source
from passband.readers.options import Options
from passband.readers.reader import Reader, readers, register_reader
from passband.readers.sources import outcomes_of, read

__all__ = [
    "Group",
    "Groups",
    "Log",
    "Options",
    "Reader",
    "Remark",
    "Source",
    "outcomes_of",
    "read",
    "readers",
    "register_reader",
]
