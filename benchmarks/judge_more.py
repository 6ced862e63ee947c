"""Measured coverage of what benchmarks/judge.py leaves out (docs/measured.md).

Differences of two judged models, pass@k, graded labels, and the intervals of a judge's agreement;
the functions measured are those of `passband.stats.judged`.

    python benchmarks/judge_more.py            600 data sets a cell
    python benchmarks/judge_more.py --quick    40
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from judge_data import Cell, Floats, Judge, Keys, Population

from passband.stats.checks import Over
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.judged import Judged, agreement, corrected, corrected_difference
from passband.stats.judged.draw import drawn_rows
from passband.stats.judged.judged import Design
from passband.stats.judged.sample import problem_units, sample_of
from passband.stats.metric.registry import parse_metric

SLACK = 1e-12
Row = tuple[float, float, float]  # low, high, truth


@dataclass(frozen=True)
class Job:
    """A cell: a title, and a function that draws one data set and returns rows by name."""

    group: str
    title: str
    draw: Callable[[np.random.Generator], dict[str, Row]]


def measured(job: Job, sets: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return coverage and mean width by name."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Row]] = {}
    for _ in range(sets):
        for name, row in job.draw(rng).items():
            rows.setdefault(name, []).append(row)
    table = {}
    for name, found in rows.items():
        low, high, truth = np.array(found).T
        covered = (low <= truth + SLACK) & (truth <= high + SLACK)
        table[name] = float(covered.mean()), float((high - low).mean())
    return table


def _ends(result: object) -> tuple[float, float]:
    low, high = result.low, result.high  # type: ignore[attr-defined]
    return low, high


# -- differences -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two models on the same problems, each with its judge, and labels of both."""

    problems: int
    trials: int
    labels: int
    judges: tuple[Judge, Judge]
    gain: float  # share of its failures that b does not make
    same: bool  # whether the same problems are labelled for both

    def __call__(self, rng: np.random.Generator) -> dict[str, Row]:
        base = rng.random(self.problems)
        order = rng.random(self.problems)
        sides, latent = [], []
        for judge, gain in zip(self.judges, (0.0, self.gain), strict=True):
            noise = rng.uniform(-0.15, 0.15, self.problems) * np.minimum(base, 1.0 - base)
            p = base + noise + gain * (1.0 - base - noise)
            keys = order if self.same else rng.random(self.problems)
            sides.append(self._side(rng, p, judge, keys))
            latent.append(float(p.mean()))
        rows: dict[str, Row] = {}
        truths: dict[Over, float] = {"problems": 0.5 * self.gain, "trials": latent[1] - latent[0]}
        for over, truth in truths.items():
            rows[over] = (*_ends(corrected_difference(*sides, over=over)), truth)
        rows["labels alone"] = (*_labels_alone(*sides), truths["problems"])
        rows["judge alone"] = (*_judge_alone(*sides), truths["problems"])
        return rows

    def _side(self, rng: np.random.Generator, p: Floats, judge: Judge, keys: Floats) -> Judged:
        problem = np.repeat(np.arange(self.problems), self.trials)
        number = np.tile(np.arange(self.trials), self.problems)
        y = (rng.random(len(problem)) < p[problem]).astype(np.float64)
        names = tuple(f"{code:04}" for code in range(self.problems))
        nothing = np.full(len(y), np.nan)
        score = judge.scores(rng, p, y, problem)
        judged = Judged(names, problem, number, score, nothing, "spread")
        rows, _ = drawn_rows(judged, self.labels, "spread", Keys(keys, rng.random(len(y))))
        label = nothing.copy()
        label[rows] = y[rows]
        return replace(judged, label=label)


def _labels_alone(a: Judged, b: Judged) -> tuple[float, float]:
    """Student's interval for the difference of the labels' means, clustered by problem."""
    samples = sample_of(a), sample_of(b)
    means = [float(s.label_weight @ s.label) for s in samples]
    sums = [
        s.sums(s.label_weight * (s.label - mean)) for s, mean in zip(samples, means, strict=True)
    ]
    count = len(np.union1d(samples[0].label_problem, samples[1].label_problem))
    away = sums[1] - sums[0]
    error = (count / (count - 1.0) * float(away @ away)) ** 0.5
    half = student_quantile(0.95, count - 1.0) * error
    return means[1] - means[0] - half, means[1] - means[0] + half


def _judge_alone(a: Judged, b: Judged) -> tuple[float, float]:
    change = sample_of(b).means(b.score) - sample_of(a).means(a.score)
    half = (
        student_quantile(0.95, len(change) - 1.0) * float(change.std(ddof=1)) / len(change) ** 0.5
    )
    return float(change.mean()) - half, float(change.mean()) + half


def differences() -> Iterator[Job]:
    judges = {
        "accuracy 0.9": (Judge("", 0.9, 0.9),) * 2,
        "likes b": (Judge("", 0.9, 0.9), Judge("", 0.9, 0.8)),
        "lenient": (Judge("", 0.98, 0.8),) * 2,
        "wrong on 10 % of problems": (Judge("", 0.98, 0.98, inverted=0.1),) * 2,
        "accuracy 0.99": (Judge("", 0.99, 0.99),) * 2,
        "useless": (Judge("", 0.5, 0.5),) * 2,
    }
    for problems, trials, labels, same in (
        (200, 4, 100, True),
        (200, 4, 100, False),
        (100, 4, 30, True),
        (500, 2, 100, True),
    ):
        for name, pair in judges.items():
            for gain in (0.0, 0.1):
                title = f"{problems} x {trials}, {labels} labels{'' if same else ' apart'}; {name}"
                draw = Pair(problems, trials, labels, pair, gain, same)
                yield Job("difference", f"{title}; {gain / 2:g}", draw)


# -- pass@k ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PassAt:
    """pass@k from problems of which `each` trials are labelled."""

    cell: Cell
    k: int
    truth: float

    def __call__(self, rng: np.random.Generator) -> dict[str, Row]:
        judged, p, _ = self.cell.draw(rng)
        name = f"pass@{self.k}"
        metric = parse_metric(name)
        rows: dict[str, Row] = {
            "problems": (*_ends(corrected(judged, name)), self.truth),
            "trials": (
                *_ends(corrected(judged, name, over="trials")),
                float(metric.latent(p).mean()),
            ),
        }
        labels = problem_units(judged, metric).sample.label
        half = student_quantile(0.95, len(labels) - 1.0) * labels.std(ddof=1) / len(labels) ** 0.5
        centre = float(labels.mean())
        rows["labels alone"] = (max(centre - half, 0.0), min(centre + half, 1.0), self.truth)
        judge = problem_units(judged, metric).judge
        half = student_quantile(0.95, len(judge) - 1.0) * judge.std(ddof=1) / len(judge) ** 0.5
        rows["judge alone"] = (judge.mean() - half, judge.mean() + half, self.truth)
        return rows


def passes() -> Iterator[Job]:
    populations = (
        Population("hard", (1.0, 4.0)),
        Population("uniform", (1.0, 1.0)),
        Population("easy", (4.5, 0.5)),
        Population("7 % hopeless", points=((0.0, 0.07), (0.9, 0.93))),
    )
    judges = (
        Judge("accuracy 0.9", 0.9, 0.9),
        Judge("accuracy 0.98", 0.98, 0.98),
        Judge("lenient on hard", 0.95, 0.98, lenient_on_hard=0.5),
    )
    for population in populations:
        latent = population.draw(np.random.default_rng(0), 1_000_000)
        for judge in judges:
            for m, n, k, chosen, each in (
                (100, 8, 4, 40, 8),
                (100, 8, 4, 40, 4),
                (200, 4, 2, 60, 4),
            ):
                truth = float(parse_metric(f"pass@{k}").latent(latent).mean())
                cell = Cell(population, judge, "problem", m, str(n), chosen * each, each)
                title = f"pass@{k} = {truth:.3f}, {chosen} of {m} problems, {each} of {n} labelled"
                yield Job(
                    "pass@k", f"{population.name}; {judge.name}; {title}", PassAt(cell, k, truth)
                )


# -- graded labels ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graded:
    """A rubric of 0 to 4, judged with noise; the target is the mean label."""

    noise: float  # sd of the judge's score around the label
    labels: int
    design: Design
    unequal: bool

    def __call__(self, rng: np.random.Generator) -> dict[str, Row]:
        problems = 100
        sizes = rng.integers(1, 8, problems) if self.unequal else np.full(problems, 4)
        problem = np.repeat(np.arange(problems), sizes)
        number = np.arange(len(problem)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        level = rng.normal(0.0, 1.0, problems)
        y = np.clip(np.round(2.0 + level[problem] + rng.normal(0.0, 1.0, len(problem))), 0.0, 4.0)
        score = np.clip(np.round(y + 0.4 + rng.normal(0.0, self.noise, len(y))), 0.0, 4.0)
        names = tuple(f"{code:04}" for code in range(problems))
        nothing = np.full(len(y), np.nan)
        judged = Judged(names, problem, number, score, nothing, self.design)
        keys = Keys(rng.random(problems), rng.random(len(y)))
        rows, chance = drawn_rows(judged, self.labels, self.design, keys)
        label, probability = nothing.copy(), nothing.copy()
        label[rows], probability[rows] = y[rows], chance
        judged = replace(judged, label=label, probability=probability)
        sample = sample_of(judged)
        centre = float(sample.label_weight @ sample.label)
        sums = sample.sums(sample.label_weight * (sample.label - centre))
        count = sample.n_labelled_problems
        error = (count / (count - 1.0) * float(sums @ sums)) ** 0.5
        half = student_quantile(0.95, count - 1.0) * error
        return {
            "problems": (*_ends(corrected(judged, "avg")), 2.0),  # by symmetry
            "trials": (*_ends(corrected(judged, "avg", over="trials")), _expected(level)),
            "labels alone": (centre - half, centre + half, 2.0),
        }


def _expected(level: Floats) -> float:
    """Return the mean label of problems of these levels, from the normal law of a trial."""
    from scipy.special import ndtr

    cuts = np.array([0.5, 1.5, 2.5, 3.5])
    return float((1.0 - ndtr(cuts - 2.0 - level[:, None])).sum(axis=1).mean())


def graded() -> Iterator[Job]:
    for noise, name in ((0.5, "good"), (1.0, "fair"), (2.5, "weak")):
        for labels, design, unequal in (
            (12, "spread", False),
            (30, "spread", False),
            (80, "spread", True),
            (80, "trial", True),
            (80, "problem", False),
        ):
            size = f"{labels} labels by {design}{', unequal trials' if unequal else ''}"
            yield Job("graded", f"{name} judge; {size}", Graded(noise, labels, design, unequal))


# -- agreement -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreeing:
    """Independent labels and verdicts of known rates."""

    prevalence: float
    accuracy: float
    labels: int

    def __call__(self, rng: np.random.Generator) -> dict[str, Row]:
        y = (rng.random(self.labels) < self.prevalence).astype(np.float64)
        score = np.where(rng.random(self.labels) < self.accuracy, y, 1.0 - y)
        names = tuple(f"{code:04}" for code in range(self.labels))
        zeros = np.zeros(self.labels, dtype=np.int64)
        result = agreement(Judged(names, np.arange(self.labels), zeros, score, y, "trial"))
        passed = self.prevalence * self.accuracy + (1 - self.prevalence) * (1 - self.accuracy)
        both = self.prevalence * passed + (1 - self.prevalence) * (1 - passed)
        rate = (passed + self.prevalence) / 2
        chance = 2 * rate * (1 - rate)
        return {
            "sensitivity": (*_ends(result.sensitivity), self.accuracy),
            "specificity": (*_ends(result.specificity), self.accuracy),
            "kappa": (*_ends(result.kappa), (self.accuracy - both) / (1 - both)),
            "ac1": (*_ends(result.ac1), (self.accuracy - chance) / (1 - chance)),
        }


def agreements() -> Iterator[Job]:
    for labels in (30, 100, 300):
        for prevalence, accuracy in ((0.5, 0.8), (0.5, 0.95), (0.8, 0.9), (0.95, 0.9), (0.2, 0.98)):
            title = f"{labels} labels, pass rate {prevalence:g}, accuracy {accuracy:g}"
            yield Job("agreement", title, Agreeing(prevalence, accuracy, labels))


GROUPS = {"difference": differences, "pass@k": passes, "graded": graded, "agreement": agreements}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--group", choices=tuple(GROUPS), action="append")
    parser.add_argument("--sets", type=int)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    sets = options.sets or (40 if options.quick else 600)
    for group in options.group or GROUPS:
        jobs = list(GROUPS[group]())
        with ProcessPoolExecutor(options.workers) as pool:
            tables = list(pool.map(measured, jobs, [sets] * len(jobs), range(len(jobs))))
        print(f"{group}: {len(jobs)} cells, {sets} data sets each")
        for job, table in zip(jobs, tables, strict=True):
            cells = "  ".join(f"{name} {c:.3f} ({w:.3f})" for name, (c, w) in table.items())
            print(f"  {job.title}: {cells}")
        for name in tables[0]:
            cover = np.array([table[name][0] for table in tables])
            low = (cover < 0.93).mean()
            print(f"  {name}: mean {cover.mean():.3f}, lowest {cover.min():.3f}, low {low:.0%}")


if __name__ == "__main__":
    main()
