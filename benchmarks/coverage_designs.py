"""Measured coverage of the default intervals where the data are not a plain matrix of 0 and 1.

Families of designs: numbers of trials that go with difficulty, clusters of unequal size, graded
scores, votes, strata, five problems, scores of both signs, and these very problems where k is above
n/2, where noise is rare, and where there is a single problem. Every interval comes from
`passband.estimate`. An interval over problems covers if it contains the mean of the metric over all
problems that could have been drawn; over trials, the mean over those that were.

    python benchmarks/coverage_designs.py                   400 data sets a cell
    python benchmarks/coverage_designs.py --family ragged   one family
    python benchmarks/coverage_designs.py --quick           50 data sets

A cell is noted if at least half of its estimates say where they are weak. Wanted of every family:
at least 90 % of its cells in 92-98 % or noted, and none below 88 % without a note.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import product
from math import lgamma
from pathlib import Path
from typing import Any

import numpy as np
from coverage import PUBLISHED, Floats, latent

from passband import Outcomes, estimate
from passband.stats.data.evidence import COUNTS_FIXED
from passband.stats.data.scale import UNIT, Scale
from passband.stats.metric.registry import parse_metric
from passband.types import Ints

SLACK = 1e-12
RATES = np.random.default_rng(7)


@dataclass(frozen=True)
class Sample:
    """One data set, and the truth of each metric over problems and over trials."""

    outcomes: Outcomes
    truth: Mapping[tuple[str, str], float]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Design:
    """A way to draw data sets."""

    family: str
    name: str
    draw: Callable[[np.random.Generator], Sample]


@dataclass(frozen=True)
class Cell:
    """One line of the results."""

    family: str
    design: str
    metric: str
    over: str
    sets: int
    coverage: float
    below: float  # share of data sets whose interval lies above the truth
    width: float
    noted: float  # share of estimates with a note
    unnoted_coverage: float | None  # among the estimates without one

    @property
    def is_noted(self) -> bool:
        return self.noted >= 0.5

    @property
    def is_good(self) -> bool:
        return 0.92 <= self.coverage <= 0.98


# -- numbers of trials that go with difficulty --------------------------------------------

Law = Callable[[np.random.Generator, int], Floats]


def uniform(low: float, high: float) -> Law:
    return lambda rng, size: rng.uniform(low, high, size)


def beta(a: float, b: float) -> Law:
    return lambda rng, size: rng.beta(a, b, size)


def one_of(*levels: float) -> Law:
    return lambda rng, size: rng.choice(levels, size)


#: Kinds of problems, equally likely: the trials of each, and the law of its success probability.
RAGGED: dict[str, tuple[tuple[int, Law], ...]] = {
    "2 of .5, 64 of .01/.99": ((2, one_of(0.5)), (64, one_of(0.01, 0.99))),
    "2 of U(.2,.8), 32 of Beta(30,1)": ((2, uniform(0.2, 0.8)), (32, beta(30, 1))),
    "16 of U(.2,.8), 2 of Beta(30,1)": ((16, uniform(0.2, 0.8)), (2, beta(30, 1))),
    "3/10/40": ((3, beta(3, 3)), (10, beta(0.5, 2)), (40, beta(20, 0.5))),
    "4 of U, 8 of 0/.9/1": ((4, uniform(0, 1)), (8, one_of(0.0, 0.9, 1.0))),
    "2/4/16, unrelated": ((2, beta(0.5, 0.7)), (4, beta(0.5, 0.7)), (16, beta(0.5, 0.7))),
    "4 of Beta(.3,3), 32 of Beta(2,2)": ((4, beta(0.3, 3)), (32, beta(2, 2))),
}


def ragged() -> Iterator[Design]:
    for (name, kinds), problems in product(RAGGED.items(), (12, 30, 60, 200)):
        yield Design("ragged", f"{name}, M = {problems}", ragged_draw(kinds, problems))


def ragged_draw(
    kinds: tuple[tuple[int, Law], ...], problems: int
) -> Callable[[np.random.Generator], Sample]:
    fewest = min(n for n, _ in kinds)
    metrics = ("pass@1", f"pass@{fewest}", f"pass^{fewest}")
    many = [law(np.random.default_rng(1), 400_000) for _, law in kinds]
    above = {
        (m, "problems"): float(np.mean([true_value(m, p).mean() for p in many])) for m in metrics
    }

    def draw(rng: np.random.Generator) -> Sample:
        kind = rng.integers(len(kinds), size=problems)
        n = np.array([n for n, _ in kinds])[kind]
        p = np.stack([law(rng, problems) for _, law in kinds])[kind, np.arange(problems)]
        own = {(m, "trials"): float(true_value(m, p).mean()) for m in metrics}
        # Their numbers were fixed beforehand, though they go with difficulty.
        outcomes = Outcomes.from_counts(rng.binomial(n, p), n).accepting(COUNTS_FIXED)
        return Sample(outcomes, above | own)

    return draw


def true_value(metric: str, p: Floats) -> Floats:
    return latent(metric, parse_metric(metric).k, p)


# -- clusters of unequal size -------------------------------------------------------------


def pareto(rng: np.random.Generator, clusters: int) -> Ints:
    return np.minimum(np.ceil(rng.pareto(1.2, clusters) + 0.5), 60).astype(np.int64)


def geometric(rng: np.random.Generator, clusters: int) -> Ints:
    return rng.geometric(0.12, clusters)


def fixed(*sizes: int) -> Callable[[np.random.Generator, int], Ints]:
    return lambda rng, clusters: np.array(sizes)


SIZES: dict[str, tuple[Callable[[np.random.Generator, int], Ints], tuple[int, ...]]] = {
    "Pareto": (pareto, (8, 20, 60)),
    "geometric": (geometric, (25,)),
    "one of 50, 19 of 3": (fixed(50, *[3] * 19), (20,)),
    "3 of 30, 30 of 2": (fixed(*[30] * 3, *[2] * 30), (33,)),
    "half 1, half 10": (fixed(*[1] * 10, *[10] * 10), (20,)),
    "all 5": (fixed(*[5] * 30), (30,)),
}


def clusters() -> Iterator[Design]:
    settings = ((0.0, 1.5, 0.7), (2.0, 1.5, 0.7), (0.0, 0.0, 1.5), (-2.0, 1.0, 1.0))
    for (name, (sizes, counts)), (centre, between, own) in product(SIZES.items(), settings):
        for count in counts:
            label = f"{name}, C = {count}, {centre:g} ± {between:g} ± {own:g}"
            yield Design("clusters", label, cluster_draw(sizes, count, centre, between, own))


def cluster_draw(
    sizes: Callable[[np.random.Generator, int], Ints],
    count: int,
    centre: float,
    between: float,
    own: float,
) -> Callable[[np.random.Generator], Sample]:
    at, weight = np.polynomial.hermite_e.hermegauss(200)
    p_all = 1 / (1 + np.exp(-(centre + np.hypot(between, own) * at)))
    truth = {
        (m, "problems"): float(weight @ true_value(m, p_all) / weight.sum())
        for m in ("pass@1", "pass@4")
    }

    def draw(rng: np.random.Generator) -> Sample:
        cluster = np.repeat(np.arange(count), sizes(rng, count))
        shared = between * rng.standard_normal(count)
        p = 1 / (1 + np.exp(-(centre + shared[cluster] + own * rng.standard_normal(len(cluster)))))
        outcomes = Outcomes.from_counts(rng.binomial(8, p), 8, clusters=cluster.tolist())
        return Sample(outcomes, truth)

    return draw


# -- graded scores ------------------------------------------------------------------------

#: A law gives the problems' means and the scores around them: (problems, trials).
Graded = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]


def beta_scores(a: float, b: float, size: float) -> Graded:
    def draw(rng: np.random.Generator, m: int, n: int) -> tuple[Floats, Floats]:
        mean = np.clip(rng.beta(a, b, m), 1e-9, 1 - 1e-9)
        scores = rng.beta(mean[:, None] * size, (1 - mean[:, None]) * size, (m, n))
        return mean, np.nan_to_num(scores)

    return draw


def lognormal(between: float, within: float) -> Graded:
    def draw(rng: np.random.Generator, m: int, n: int) -> tuple[Floats, Floats]:
        mean = np.exp(between * rng.standard_normal(m))
        noise = np.exp(within * rng.standard_normal((m, n)) - within**2 / 2)
        return mean, mean[:, None] * noise

    return draw


def normal(rng: np.random.Generator, m: int, n: int) -> tuple[Floats, Floats]:
    mean = rng.standard_normal(m)
    return mean, mean[:, None] + rng.standard_normal((m, n))


def exponential(rng: np.random.Generator, m: int, n: int) -> tuple[Floats, Floats]:
    mean = rng.exponential(size=m)
    return mean, mean[:, None] * rng.exponential(size=(m, n))


def partial_credit(rng: np.random.Generator, m: int, n: int) -> tuple[Floats, Floats]:
    share = rng.beta(0.3, 3, m)
    given = rng.random((m, n)) < share[:, None]
    return share * 0.6, given * rng.choice([0.2, 0.6, 1.0], (m, n))


def rubric(rng: np.random.Generator, m: int, n: int) -> tuple[Floats, Floats]:
    p = rng.beta(6, 1, m)
    return p, rng.binomial(2, p[:, None], (m, n)) / 2


GRADED: dict[str, Graded] = {
    "Beta(2,2)": beta_scores(2, 2, 5),
    "Beta(.3,.5)": beta_scores(0.3, 0.5, 3),
    "Beta(.1,1.5)": beta_scores(0.1, 1.5, 5),
    "normal": normal,
    "lognormal .5/.5": lognormal(0.5, 0.5),
    "lognormal 1/.5": lognormal(1.0, 0.5),
    "exponential": exponential,
    "partial credit": partial_credit,
    "rubric near 1": rubric,
}


def graded() -> Iterator[Design]:
    for (name, law), problems in product(GRADED.items(), (5, 10, 30, 100)):
        yield Design("graded", f"{name}, M = {problems}", graded_draw(law, problems))


def graded_draw(law: Graded, problems: int) -> Callable[[np.random.Generator], Sample]:
    many, values = law(np.random.default_rng(1), 400_000, 1)
    above = float(many.mean())
    low, high = values.min(), values.max()
    scale = UNIT if low >= 0.0 and high <= 1.0 else Scale(0.0, None) if low >= 0.0 else None

    def draw(rng: np.random.Generator) -> Sample:
        mean, scores = law(rng, problems, 4)
        truth = {("avg", "problems"): above, ("avg", "trials"): float(mean.mean())}
        return Sample(Outcomes.from_array(scores, scale=scale), truth)

    return draw


# -- votes --------------------------------------------------------------------------------


def votes() -> Iterator[Design]:
    laws = {"right often": (2.0, 1.0), "right or wrong": (0.4, 0.4), "seldom right": (0.5, 2.0)}
    grid = product(laws.items(), (0.3, 3.0), (10, 30, 100), (8, 16))
    for (name, (a, b)), spread, problems, n in grid:
        wrong = "one wrong answer leads" if spread < 1 else "wrong answers differ"
        label = f"{name}, {wrong}, M = {problems}, n = {n}"
        yield Design("votes", label, votes_draw(a, b, spread, problems, n))


def votes_draw(
    a: float, b: float, spread: float, problems: int, n: int
) -> Callable[[np.random.Generator], Sample]:
    ks = (1, 4, n // 2, n)

    def chances(rng: np.random.Generator, size: int) -> Floats:
        right = rng.beta(a, b, size)
        wrong = rng.dirichlet([spread] * 3, size)
        return np.concatenate([right[:, None], (1 - right[:, None]) * wrong], axis=1)

    many = chances(np.random.default_rng(1), 20_000)
    above = {(f"vote@{k}", "problems"): float(vote_value(k, many).mean()) for k in ks}

    def draw(rng: np.random.Generator) -> Sample:
        p = chances(rng, problems)
        answers = [np.repeat(list("abcd"), rng.multinomial(n, row)).tolist() for row in p]
        own = {(f"vote@{k}", "trials"): float(vote_value(k, p).mean()) for k in ks}
        scores = [[float(answer == "a") for answer in row] for row in answers]
        return Sample(Outcomes.from_answers(answers, scores=scores), above | own)

    return draw


def vote_value(k: int, p: Floats) -> Floats:
    """Return the probability that the first of four answers wins a vote of k, ties shared."""
    counts, ways, credit = vote_table(k)
    logs = np.log(np.maximum(p, 1e-300))
    value: Floats = np.exp(logs @ counts.T + ways) @ credit
    return value


@cache
def vote_table(k: int) -> tuple[Floats, Floats, Floats]:
    rows = [
        (first, second, third, k - first - second - third)
        for first in range(k + 1)
        for second in range(k - first + 1)
        for third in range(k - first - second + 1)
    ]
    counts = np.array(rows, dtype=np.float64)
    ways = np.array([lgamma(k + 1) - sum(lgamma(c + 1) for c in row) for row in rows])
    best = counts.max(axis=1)
    credit = (counts[:, 0] == best) / (counts == best[:, None]).sum(axis=1)
    return counts, ways, credit


# -- strata -------------------------------------------------------------------------------


def strata() -> Iterator[Design]:
    sizes = {
        "5 of 20": [20] * 5,
        "20 of 5": [5] * 20,
        "57 of 3-40": RATES.integers(3, 41, 57).tolist(),
        "100 and 10": [100, 10],
        "4 of 10-200": [10, 30, 90, 200],
        "10 of 3": [3] * 10,
    }
    for (name, each), centre, weights in product(sizes.items(), (0.0, 2.0), ("equal", "size")):
        label = f"{name}, centre {centre:g}, weights {weights}"
        yield Design("strata", label, strata_draw(each, centre, weights))


def strata_draw(
    sizes: list[int], centre: float, weights: str
) -> Callable[[np.random.Generator], Sample]:
    offsets = centre + np.random.default_rng(len(sizes)).standard_normal(len(sizes))
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    share = np.ones(len(sizes)) if weights == "equal" else np.array(sizes, dtype=np.float64)
    share /= share.sum()
    at, mass = np.polynomial.hermite_e.hermegauss(200)
    p_all = 1 / (1 + np.exp(-(offsets[:, None] + 1.5 * at)))
    metrics = ("pass@1", "pass@4")
    above = {
        (m, "problems"): float(share @ (true_value(m, p_all) @ mass) / mass.sum()) for m in metrics
    }

    def draw(rng: np.random.Generator) -> Sample:
        p = 1 / (1 + np.exp(-(offsets[stratum] + 1.5 * rng.standard_normal(len(stratum)))))
        own = {
            (m, "trials"): float(share @ (np.bincount(stratum, true_value(m, p)) / sizes))
            for m in metrics
        }
        outcomes = Outcomes.from_counts(rng.binomial(8, p), 8)
        return Sample(outcomes, above | own, {"by": stratum.tolist(), "weights": weights})

    return draw


# -- five problems ------------------------------------------------------------------------


def small() -> Iterator[Design]:
    for name, n in product(PUBLISHED, (2, 4, 16)):
        yield Design("five problems", f"{name}, n = {n}", small_draw(name, n))


def small_draw(name: str, n: int) -> Callable[[np.random.Generator], Sample]:
    metrics = ("pass@1", f"pass@{n // 2 if n > 2 else 2}")
    many = PUBLISHED[name](np.random.default_rng(1), (400_000,))
    above = {(m, "problems"): float(true_value(m, many).mean()) for m in metrics}

    def draw(rng: np.random.Generator) -> Sample:
        p = PUBLISHED[name](rng, (5,))
        own = {(m, "trials"): float(true_value(m, p).mean()) for m in metrics}
        return Sample(Outcomes.from_counts(rng.binomial(n, p), n), above | own)

    return draw


# -- scores of both signs -----------------------------------------------------------------


def mixture(rng: np.random.Generator, size: int) -> Floats:
    return rng.standard_normal(size) * np.where(rng.random(size) < 0.1, 5.0, 1.0)


SIGNS: dict[str, tuple[Law, float]] = {
    "t3": (lambda rng, size: rng.standard_t(3, size), 0.0),
    "t5": (lambda rng, size: rng.standard_t(5, size), 0.0),
    "Laplace": (lambda rng, size: rng.laplace(size=size), 0.0),
    "10 % with sd 5": (mixture, 0.0),
    "normal": (lambda rng, size: rng.standard_normal(size), 0.0),
    "exponential - 1": (lambda rng, size: rng.exponential(size=size) - 1.0, 0.0),
    "log-normal - 1": (
        lambda rng, size: np.exp(rng.standard_normal(size)) - 1.0, float(np.exp(0.5)) - 1.0
    ),
}  # fmt: skip
REWARDS = {"80 % zeros": (0.1, 0.8, 0.1), "a third each": (1 / 3, 1 / 3, 1 / 3)}


def signs() -> Iterator[Design]:
    for (name, (law, mean)), problems in product(SIGNS.items(), (15, 30, 100)):
        yield Design("signs", f"{name}, M = {problems}", signs_draw(law, mean, problems))
    for (name, chances), problems in product(REWARDS.items(), (10, 30, 100)):
        label = f"-1, 0, 1 on their scale, {name}, M = {problems}"
        yield Design("signs", label, rewards_draw(chances, problems))


def signs_draw(law: Law, mean: float, problems: int) -> Callable[[np.random.Generator], Sample]:
    return lambda rng: Sample(
        Outcomes.from_array(law(rng, problems)[:, None]), {("avg", "problems"): mean}
    )


def rewards_draw(
    chances: tuple[float, ...], problems: int
) -> Callable[[np.random.Generator], Sample]:
    def draw(rng: np.random.Generator) -> Sample:
        scores = rng.choice([-1.0, 0.0, 1.0], (problems, 1), p=chances)
        outcomes = Outcomes.from_array(scores, scale=Scale(-1.0, 1.0))
        return Sample(outcomes, {("avg", "problems"): chances[2] - chances[0]})

    return draw


# -- these problems, with few or rarely noisy trials ---------------------------------------


def mostly(law: Law, level: float, share: float) -> Law:
    """Return a law of which a share is one level."""
    return lambda rng, size: np.where(rng.random(size) < share, level, law(rng, size))


THESE: dict[str, Law] = {
    ".15 .85": one_of(0.15, 0.85),
    "97 % Beta(60,1), 3 % .3": mostly(beta(60, 1), 0.3, 0.03),
    "99 % 1, 1 % .2": mostly(one_of(0.2), 1.0, 0.99),
    "95 % .01, 5 % .99": mostly(one_of(0.99), 0.01, 0.95),
    "Beta(.6,.6)": beta(0.6, 0.6),
    "Beta(2,2)": beta(2, 2),
    "Beta(5,1)": beta(5, 1),
    "U(.1,.9)": uniform(0.1, 0.9),
    "all .5": one_of(0.5),
}
HALF = (
    (600, 3, "pass^3"), (600, 3, "pass@3"), (2000, 2, "pass@2"), (100, 2, "pass@2"),
    (40, 4, "pass@4"), (100, 8, "pass^8"), (30, 3, "maj@3"),
)  # fmt: skip
RARE: dict[str, Law] = {
    ".01 .99": one_of(0.01, 0.99),
    "3/4 .01, 1/4 .99": mostly(one_of(0.99), 0.01, 0.75),
    "all .01": one_of(0.01),
    ".05 .95": one_of(0.05, 0.95),
    "99 % 1, 1 % .2": THESE["99 % 1, 1 % .2"],
    "Beta(.6,.6)": beta(0.6, 0.6),
    "Beta(2,2)": beta(2, 2),
    "U(.1,.9)": uniform(0.1, 0.9),
}


def half() -> Iterator[Design]:
    for (name, law), (problems, n, metric) in product(THESE.items(), HALF):
        label = f"{name}, M = {problems}, n = {n}"
        yield Design("k > n/2", label, these_draw(law, problems, n, metric))


def rare() -> Iterator[Design]:
    sizes = ((114, 2), (300, 2), (1000, 2), (24, 2), (30, 4))
    for (name, law), (problems, n) in product(RARE.items(), sizes):
        label = f"{name}, M = {problems}, n = {n}"
        yield Design("rare noise", label, these_draw(law, problems, n, "pass@1"))
    for name, groups in product(RARE, (57, 12)):
        by = {"by": np.repeat(np.arange(groups), 2).tolist(), "weights": "equal"}
        label = f"{name}, {groups} strata of 2, n = 2"
        yield Design("rare noise", label, these_draw(RARE[name], 2 * groups, 2, "pass@1", by))


def these_draw(
    law: Law, problems: int, n: int, metric: str, options: Mapping[str, Any] | None = None
) -> Callable[[np.random.Generator], Sample]:
    def draw(rng: np.random.Generator) -> Sample:
        p = law(rng, problems)
        truth = {(metric, "trials"): float(true_value(metric, p).mean())}
        return Sample(Outcomes.from_counts(rng.binomial(n, p), n), truth, options or {})

    return draw


def single() -> Iterator[Design]:
    for n in (3, 10, 20, 100, 1000, 250_000):
        yield Design("one problem", f"U(0,1), n = {n}", these_draw(uniform(0, 1), 1, n, "pass@1"))


# -- measurement --------------------------------------------------------------------------

FAMILIES: dict[str, Callable[[], Iterator[Design]]] = {
    "ragged": ragged,
    "clusters": clusters,
    "graded": graded,
    "votes": votes,
    "strata": strata,
    "small": small,
    "signs": signs,
    "half": half,
    "rare": rare,
    "single": single,
}


def cells_of(job: tuple[str, int, int]) -> list[Cell]:
    """Measure every metric and target of one design, by its place in its family."""
    family, at, sets = job
    design = list(FAMILIES[family]())[at]
    rng = np.random.default_rng([30, list(FAMILIES).index(family), at])
    found: dict[tuple[str, str], list[tuple[float, float, float, bool]]] = {}
    for _ in range(sets):
        sample = design.draw(rng)
        for (metric, over), truth in sample.truth.items():
            one = estimate(sample.outcomes, metric, over=over, **sample.options)  # type: ignore
            low = np.inf if one.low is None else one.low
            high = -np.inf if one.high is None else one.high
            found.setdefault((metric, over), []).append((truth, low, high, bool(one.notes)))
    return [cell(design, key, np.array(rows)) for key, rows in found.items()]


def cell(design: Design, key: tuple[str, str], rows: Floats) -> Cell:
    truth, low, high, noted = rows.T
    covered = (low <= truth + SLACK) & (truth <= high + SLACK)
    plain = noted == 0
    return Cell(
        family=design.family,
        design=design.name,
        metric=key[0],
        over=key[1],
        sets=len(rows),
        coverage=float(covered.mean()),
        below=float((truth + SLACK < low).mean()),
        width=float((high - low)[np.isfinite(low)].mean()) if np.isfinite(low).any() else 0.0,
        noted=float(noted.mean()),
        unnoted_coverage=float(covered[plain].mean()) if plain.any() else None,
    )


def report(cells: list[Cell]) -> Iterator[str]:
    yield (
        "| family | over | cells | mean | 92-98 % | or noted | < 88 % unnoted | good but noted "
        "| least |"
    )
    yield "|:--|:--|--:|--:|--:|--:|--:|--:|--:|"
    for family, over in dict.fromkeys((c.family, c.over) for c in cells):
        yield line(family, over, [c for c in cells if (c.family, c.over) == (family, over)])


def line(family: str, over: str, cells: Iterable[Cell]) -> str:
    cells = list(cells)
    coverage = np.array([c.coverage for c in cells])
    good = [c.is_good for c in cells]
    fine = [c.is_good or c.is_noted for c in cells]
    bad = sum(c.coverage < 0.88 and not c.is_noted for c in cells)
    needless = np.mean([c.is_noted for c in cells if c.is_good] or [0])
    return (
        f"| {family} | {over} | {len(cells)} | {coverage.mean():.3f} | {np.mean(good):.2f} "
        f"| {np.mean(fine):.2f} | {bad} | {needless:.2f} | {coverage.min():.3f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=FAMILIES, action="append")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    given = parser.parse_args()
    sets = given.sets // 8 if given.quick else given.sets
    families = given.family or list(FAMILIES)
    jobs = [(f, at, sets) for f in families for at in range(len(list(FAMILIES[f]())))]
    cells: list[Cell] = []
    with ProcessPoolExecutor(given.workers) as pool:
        for done, found in enumerate(pool.map(cells_of, jobs), start=1):
            cells += found
            if sys.stderr.isatty():
                print(f"\r{done} of {len(jobs)}", end="", file=sys.stderr)
    print("\n".join(report(cells)))
    for c in cells:
        if not (c.is_good or c.is_noted):
            print(f"  {c.family}: {c.design}, {c.metric} over {c.over}: "
                  f"{c.coverage:.3f} / {c.width:.3f}, noted {c.noted:.2f}")  # fmt: skip
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            for c in cells:
                row = {k: round(v, 5) if isinstance(v, float) else v for k, v in asdict(c).items()}
                writer.writerow(row)


if __name__ == "__main__":
    main()
