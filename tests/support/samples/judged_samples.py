"""Judged trials for tests, and their corrected estimates in exact rational arithmetic."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from passband.stats.judged import Design, Judged

VERDICTS = (0, 1, 2)  # failed, passed, none


def simulated(
    problems: int = 60,
    trials: int = 4,
    labels: int = 40,
    *,
    accuracy: float = 0.9,
    seed: int = 0,
    each: int = 1,
) -> Judged:
    """Return judged trials of a simulated model: `labels` problems have `each` labels."""
    rng = np.random.default_rng(seed)
    p = rng.random(problems)
    y = (rng.random((problems, trials)) < p[:, None]).astype(float)
    score = np.where(rng.random(y.shape) < accuracy, y, 1.0 - y)
    label = np.full(y.shape, np.nan)
    chosen = rng.permutation(problems)[:labels]
    label[chosen, :each] = y[chosen, :each]
    names = np.repeat([f"p{number:03}" for number in range(problems)], trials)
    numbers = np.tile(np.arange(trials), problems)
    design: Design = "spread" if each == 1 else "problem"
    return Judged.of(names, numbers, score.ravel(), label.ravel(), design=design)


@st.composite
def judged_trials(draw: st.DrawFn) -> Judged:
    """Draw ragged judged trials with at least 10 labels on at least 5 problems, not all."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=11, max_size=16))
    problem = np.repeat(np.arange(len(sizes)), sizes)
    trial = np.concatenate([np.arange(size) for size in sizes])
    count = len(problem)
    score = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=count, max_size=count))
    truth = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    seed = draw(st.integers(0, 2**16))
    order = np.random.default_rng(seed).permutation(count)
    first = [int(np.flatnonzero(problem == code)[0]) for code in range(5)]
    most = max(10, draw(st.integers(10, max(10, count - 1))))
    rows = list(dict.fromkeys([*first, *order.tolist()]))[: min(most, count - 1)]
    label = np.full(count, np.nan)
    label[rows] = np.array(truth, dtype=float)[rows]
    design: Design = draw(st.sampled_from(["spread", "trial", "verdict", "unknown"]))
    return Judged.of(problem, trial, score, label, design=design)


@dataclass(frozen=True)
class Exact:
    """The post-stratified estimate and the parts of its variance, from their definitions."""

    value: Fraction
    label_noise: Fraction
    over_problems: Fraction
    within: Fraction


def exact(judged: Judged, chance: list[Fraction]) -> Exact:
    """Return the twin of `strata` and `prediction`; `chance` is each trial's of being drawn."""
    rows = range(judged.n_trials)
    problem, verdict = judged.problem.tolist(), judged.verdict.tolist()
    size: dict[int, int] = defaultdict(int)
    for row in rows:
        size[problem[row]] += 1
    m = len(size)
    weight = [Fraction(1, m * size[problem[row]]) for row in rows]
    label = {row: Fraction(int(judged.label[row])) for row in rows if judged.is_labelled[row]}
    base = {row: weight[row] / chance[row] for row in label}
    overall = sum(base[row] * label[row] for row in label) / sum(base.values())
    share: dict[int, Fraction] = {}
    mean: dict[int, Fraction] = {}
    noise, influence = Fraction(0), {}
    for h in VERDICTS:
        share[h] = sum((weight[row] for row in rows if verdict[row] == h), Fraction(0))
        members = [row for row in label if verdict[row] == h]
        total = sum((base[row] for row in members), Fraction(0))
        mean[h] = (
            sum((base[row] * label[row] for row in members), Fraction(0)) / total  # type: ignore[assignment]
            if members
            else overall
        )
        for row in members:
            influence[row] = share[h] * base[row] / total
        noise += sum(
            (influence[row] ** 2 * mean[h] * (1 - mean[h]) for row in members), Fraction(0)
        )
    predicted = [mean[verdict[row]] for row in rows]
    means = [
        sum((predicted[r] for r in rows if problem[r] == i), Fraction(0)) / size[i]
        for i in range(m)
    ]
    centre = sum(means, Fraction(0)) / m
    moved = {row: influence[row] * (label[row] - predicted[row]) for row in label}
    spread = sum((each - centre) ** 2 for each in means) / (m - 1) / m
    cross = sum((means[problem[row]] - centre) * moved[row] for row in moved)
    within = Fraction(0)
    for i in range(m):
        away = [predicted[r] - means[i] for r in rows if problem[r] == i]
        if size[i] > 1:
            within += sum((each**2 for each in away), Fraction(0)) / (size[i] - 1) / size[i] / m**2
        else:
            within += (means[i] - centre) ** 2 / (m - 1) / m
    for row, each in moved.items():
        i = problem[row]
        if size[i] > 1:
            within += 2 * each * (predicted[row] - means[i]) / (size[i] - 1) / m
    return Exact(
        sum((share[h] * mean[h] for h in VERDICTS), Fraction(0)),
        noise,
        spread + 2 * cross / m,
        within,
    )
