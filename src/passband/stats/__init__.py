"""Statistics of repeated trials, on numpy and (lazily) scipy.special; no other layer is imported.

`data` reads outcomes, `metric` measures them, `interval` says how sure a metric is, `decision`
compares models and plans runs, `sequential` says when to stop. Each imports only from those before
it. `irt` stands beside `decision`: items of a bank, and the abilities of models that answer them.
`judged` stands beside `sequential`: a judge's scores of all trials, corrected by labels of some.
`checks` holds the checks of arguments and the size of rounding errors.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
