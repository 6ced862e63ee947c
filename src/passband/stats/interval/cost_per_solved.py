"""The cost of a solved problem: mean cost of a trial over the share of trials that succeed."""

from __future__ import annotations

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import TAIL_MISSING, Note, few_informative
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.spending import PER_SOLVED
from passband.stats.interval.ratio import Ratio, may_lack_tail, ratio_of_means

__all__ = ["cost_per_solved"]

_ENOUGH_SOLVED, _FEW_SOLVED = 10, 5  # problems


def cost_per_solved(
    scored: Outcomes, costs: Outcomes, over: Over, level: float
) -> tuple[Ratio, tuple[Note, ...]]:
    """Return the ratio of two means over the problems that have both a score and a cost.

    The notes say where costs may lack their tail, and where few problems were solved.
    """
    if over != "problems":
        raise InvalidInput(f"{PER_SOLVED} has an interval over problems only.")
    successes = scored.required_successes()
    both = (scored.trials > 0) & (costs.trials > 0)
    graded = costs.required_graded()
    owner = np.repeat(np.arange(costs.n_problems), costs.trials)
    spent = np.bincount(owner, weights=graded.values, minlength=costs.n_problems)[both]
    mean_cost, solved = spent / costs.trials[both], successes[both] / scored.trials[both]
    if not solved.any():
        raise NotEnoughData(
            f"nothing was solved, so {PER_SOLVED} has no value; {spent.sum():g} was spent."
        )
    codes = None
    if scored.clusters is not None:
        clusters = np.array(scored.clusters)[both]
        codes = np.unique(clusters, return_inverse=True)[1]
    if not mean_cost.any():
        return Ratio(0.0, 0.0, 0.0, 0.0), ()
    count, units = int((solved > 0).sum()), len(solved) if codes is None else int(codes.max()) + 1
    notes: list[Note] = []
    if may_lack_tail(mean_cost, units):
        notes.append(TAIL_MISSING)
    if count < _ENOUGH_SOLVED:
        notes.append(few_informative(len(solved), count, is_weak=count < _FEW_SOLVED))
    return ratio_of_means(mean_cost, solved, level, codes, is_share=True), tuple(notes)
