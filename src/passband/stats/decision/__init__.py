"""Decisions: comparisons of models, splits of variance, plans.

`comparison` matches two models problem by problem (`pairing`), takes their `difference` with an
interval, and tests it (`sign_flips`). `ranking` does so for many models at once, `gate` rules on
several comparisons. `variance` splits an estimate's variance into problems and sampling;
`planning` turns such variances into numbers of problems and trials.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
