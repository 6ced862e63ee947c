"""Metrics of outcomes, without intervals.

A name such as "pass@8" (`names`) is looked up (`registry`) and becomes a `Metric` (`metric`): an
average of one value per problem (`components`), or a blend of such averages. Most values are credit
vectors (`credits`), evaluated with exact probabilities (`pmf`); others are `votes`. `measurement`
returns plain values and curves, and how far unscored trials could move them; `posterior`
serves `passband.eval`.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
