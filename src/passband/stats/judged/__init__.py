"""Correct estimates from a judge's verdicts by the trials that people labelled.

`Judged` holds the trials of one model with the judge's scores and the labels. `corrected` estimates
a metric of the labels from both, `corrected_difference` the difference of two models, `agreement`
how well the judge does, `draw_labels` which trials to label, and `split_judged` what to buy next.
The method, its formulas and its measured coverage are in docs/how-intervals-work.md.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
