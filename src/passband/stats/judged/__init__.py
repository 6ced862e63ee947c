"""Correct estimates from a judge's verdicts by the trials that people labelled.

`Judged` holds the trials of one model with the judge's scores and the labels. `corrected` estimates
a metric of the labels from both, `corrected_difference` the difference of two models, `agreement`
how well the judge does, `draw_labels` which trials to label, and `split_judged` what to buy next.
The method, its formulas and its measured coverage are in docs/how-intervals-work.md.
"""

from __future__ import annotations

from passband.stats.judged.correction import corrected
from passband.stats.judged.difference import corrected_difference
from passband.stats.judged.draw import Drawn, draw_labels
from passband.stats.judged.judge_agreement import JudgeAgreement, Rate, agreement
from passband.stats.judged.judged import Design, Judged
from passband.stats.judged.next_data import NextData, Prices
from passband.stats.judged.split import JudgedSplit, split_judged

__all__ = [
    "Design",
    "Drawn",
    "JudgeAgreement",
    "Judged",
    "JudgedSplit",
    "NextData",
    "Prices",
    "Rate",
    "agreement",
    "corrected",
    "corrected_difference",
    "draw_labels",
    "split_judged",
]
