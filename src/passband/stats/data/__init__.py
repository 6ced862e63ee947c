"""The data: arrays, tables and files become `Outcomes`.

`outcomes` holds every problem with its trials: counts of successes, or graded scores (`graded`).
`inputs` reads arrays (problems by trials) and names of problems; `tables` reads long tables (a row
per trial), with the roles of their `columns`, the `layout` of their groups, and `unfold` for other
shapes. `counts` reduces a matrix to a histogram of (n, c) pairs. `values` makes frozen objects with
arrays comparable and picklable. Files are read above, by `passband.readers`.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
