"""Draw two examples of the documentation: labels that correct a judge, and looks at two models."""

import numpy as np

import passband
from passband.report.charts.bar import Bar
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import LIGHT
from passband.stats.judged import Judged, corrected, draw_labels
from passband.stats.sequential.settle import plan_looks, take_look

__all__ = ["labels", "looks"]

PROBLEMS, TRIALS, LABELS = 150, 4, 80
TOLERANCE = 0.02


def labels() -> str:
    """Draw what a judge alone says, what labels make of it, and what all labels would say."""
    rng = np.random.default_rng(4)
    shape = PROBLEMS, TRIALS
    right = rng.random(shape) < rng.beta(2, 2, PROBLEMS)[:, None]
    passed = np.where(right, rng.random(shape) < 0.96, rng.random(shape) < 0.3)
    problem, trial = np.repeat(np.arange(PROBLEMS), TRIALS), np.tile(np.arange(TRIALS), PROBLEMS)
    drawn = draw_labels(problem, trial, LABELS, seed="sums")
    label = np.full(right.size, np.nan)
    label[drawn.rows] = right.ravel()[drawn.rows]
    judged = Judged.of(problem, trial, passed.ravel(), label, design=drawn.design)
    rows = {
        "judge alone": passband.estimate(passed.astype(float), "pass@1"),
        f"corrected by {LABELS} labels": corrected(judged),
        "all trials labelled": passband.estimate(right.astype(float), "pass@1"),
    }
    bars = [Bar(name, row.value, (row.low, row.high)) for name, row in rows.items()]
    return IntervalBars(bars, title="A judge's pass rate, corrected by labels").svg(LIGHT) + "\n"


def looks() -> str:
    """Draw the interval of every look at two models, until one decides."""
    rng = np.random.default_rng(3)
    plan = plan_looks(16, tolerance=TOLERANCE)
    p = rng.beta(0.5, 0.7, 200)
    before = rng.random((200, 16)) < p[:, None]
    after = rng.random((200, 16)) < 0.93 * p[:, None]
    bars = []
    for number, rounds in enumerate(plan.looks, start=1):
        a, b = (passband.Outcomes.from_array(side[:, :rounds]) for side in (before, after))
        result = take_look(plan, number, a, b)
        ends = result.low, result.high
        bars.append(Bar(f"{rounds} rounds", result.value, None, ends, words=result.verdict))
        if result.verdict != "undecided":
            break
    chart = DifferenceForest(bars, "before", "after", (-TOLERANCE, 0), title="Planned looks")
    return chart.svg(LIGHT) + "\n"
