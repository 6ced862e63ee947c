"""Many data sets of a cell at once: the formulas of `passband.stats.judged`, over a leading axis.

Every sum over trials, labels or problems becomes a `bincount` with the number of the data set in
front. tests/stats/judged/test_batch.py compares the ends with those of `corrected`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from judge_data import Cell, Floats, Ints
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from passband.stats.checks import Over
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.judged.draw import _rank as rank
from passband.stats.judged.judged import Judged, labels_in_rounds

LEVEL = 0.95
Z = normal_quantile(LEVEL)
TAIL = (1.0 - LEVEL) / 2.0
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Batch:
    """The trials of many data sets, one after the other."""

    cell: Cell
    sets: int
    p: Floats  # (sets, problems)
    trials: Ints  # of each problem, all data sets in one row
    problem: Ints  # of each trial, numbered through all data sets
    verdict: Ints
    y: Floats
    labelled: NDArray[np.bool_]
    chance: Floats  # of each trial, of being labelled

    @staticmethod
    def draw(cell: Cell, sets: int, rng: np.random.Generator) -> Batch:
        p = cell.population.draw(rng, sets * cell.problems)
        trials = cell.numbers_of_trials(rng, p)
        problem = np.repeat(np.arange(len(p)), trials)
        y = (rng.random(len(problem)) < p[problem]).astype(np.float64)
        score = cell.judge.scores(rng, p, y, problem)
        verdict = np.where(np.isnan(score), 2, (score >= 0.5).astype(np.int64))
        keys = rng.random(len(p)), rng.random(len(problem))
        labelled, chance = _labelled(cell, sets, trials, problem, verdict, keys)
        p = p.reshape(sets, cell.problems)
        return Batch(cell, sets, p, trials, problem, verdict, y, labelled, chance)

    def judged(self, index: int) -> Judged:
        """Return one data set as production code takes it."""
        m = self.cell.problems
        rows = self.problem // m == index
        problem = self.problem[rows] - index * m
        number = rank(problem, np.arange(len(problem), dtype=np.float64))
        score = np.array([0.0, 1.0, np.nan])[self.verdict[rows]]
        label = np.where(self.labelled[rows], self.y[rows], np.nan)
        chance = np.where(self.labelled[rows], self.chance[rows], np.nan)
        design = self.cell.design
        return Judged(self.cell.names, problem, number, score, label, design, chance)

    # -- sums ---------------------------------------------------------------------------------

    @cached_property
    def set_of(self) -> Ints:
        return self.problem // self.cell.problems

    def by_set(self, values: Floats | None, rows: NDArray[np.bool_] | None = None) -> Floats:
        sets = self.set_of if rows is None else self.set_of[rows]
        return np.bincount(sets, weights=values, minlength=self.sets).astype(np.float64)

    def by_stratum(self, values: Floats, rows: NDArray[np.bool_] | None = None) -> Floats:
        place = 3 * self.set_of + self.verdict
        place = place if rows is None else place[rows]
        return np.bincount(place, weights=values, minlength=3 * self.sets).reshape(-1, 3)

    def by_problem(self, values: Floats, rows: NDArray[np.bool_] | None = None) -> Floats:
        place = self.problem if rows is None else self.problem[rows]
        count = self.sets * self.cell.problems
        return np.bincount(place, weights=values, minlength=count).reshape(self.sets, -1)

    @cached_property
    def weight(self) -> Floats:
        return (1.0 / (self.cell.problems * self.trials))[self.problem]

    @cached_property
    def label_weight(self) -> Floats:
        b = self.weight[self.labelled] / self.chance[self.labelled]
        return b / self.by_set(b, self.labelled)[self.set_of[self.labelled]]

    @cached_property
    def n_labels(self) -> Floats:
        return self.by_set(None, self.labelled)

    @cached_property
    def labels_by_problem(self) -> Floats:
        return self.by_problem(np.ones(int(self.labelled.sum())), self.labelled)

    @cached_property
    def n_labelled_problems(self) -> Floats:
        return (self.labels_by_problem > 0).sum(axis=1).astype(np.float64)

    @cached_property
    def is_small(self) -> NDArray[np.bool_]:
        """Whether a data set would be refused, or is wholly labelled."""
        whole = self.n_labels == self.by_set(None)
        return (self.n_labels < 10) | (self.n_labelled_problems < 5) | whole


def _labelled(
    cell: Cell, sets: int, trials: Ints, problem: Ints, verdict: Ints, keys: tuple[Floats, Floats]
) -> tuple[NDArray[np.bool_], Floats]:
    """Return which trials are labelled, and the probability of each."""
    m = cell.problems
    index = problem // m
    size = np.bincount(index, minlength=sets)
    count = np.minimum(cell.labels, size)
    if cell.design == "trial":
        return rank(index, keys[1]) < count[index], (count / size)[index]
    if cell.design == "spread":
        first = rank(index, rank(problem, keys[1]) + keys[0][problem]) < count[index]
        rows = zip(trials.reshape(sets, m), count.tolist(), strict=True)
        each = np.concatenate([labels_in_rounds(row, many) for row, many in rows])
        return first, (each / trials)[problem]
    if cell.design == "problem":
        chosen = np.minimum(np.ceil(count / (size / m) - 1e-9), m)
        place = rank(np.repeat(np.arange(sets), m), keys[0])
        return place[problem] < chosen[index], (chosen / m)[index]
    place = 3 * index + verdict
    members = np.bincount(place, minlength=3 * sets)
    missing = (members.reshape(-1, 3)[:, 2] / size)[index]
    wanted = np.where(verdict == 2, np.maximum(missing, 1e-9), (1.0 - missing) / 2.0)
    turn = (rank(place, keys[1]) + 0.5) / wanted + 1e-9 * verdict
    first = rank(index, turn) < count[index]
    drawn = np.bincount(place[first], minlength=3 * sets)
    return first, (drawn / np.maximum(members, 1))[place]


# -- the corrected interval ------------------------------------------------------------------------


class Corrected:
    """The post-stratified estimate of every data set, and its intervals."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        rows, b = batch.labelled, batch.label_weight
        y = batch.y[rows]
        share = batch.by_stratum(batch.weight)
        self.share = share / share.sum(axis=1, keepdims=True)
        total, right, square = (batch.by_stratum(w, rows) for w in (b, b * y, b * b))
        has = total > 0.0
        overall = (right.sum(axis=1) / total.sum(axis=1))[:, None]
        safe = np.where(has, total, 1.0)
        self.mean = np.clip(np.where(has, right / safe, overall), 0.0, 1.0)
        self.size = np.where(has, total**2 / np.where(has, square, 1.0), 0.0)
        index, verdict = batch.set_of[rows], batch.verdict[rows]
        self.influence = b * np.where(has, self.share / safe, 0.0)[index, verdict]
        self.predicted = self.mean[batch.set_of, batch.verdict]
        self.moved = self.influence * (y - self.predicted[rows])
        self.sums = batch.by_problem(self.moved, rows)
        self.means = batch.by_problem(self.predicted) / batch.trials.reshape(batch.sets, -1)
        coin = self.share**2 * self.mean * (1.0 - self.mean)
        self.noise = np.where(has, coin / np.where(has, self.size, 1.0), 0.0).sum(axis=1)

    @property
    def value(self) -> Floats:
        return (self.share * self.mean).sum(axis=1)

    def effect(self) -> Floats:
        problems = self.batch.n_labelled_problems
        each = self.batch.n_labels / problems
        clustered = problems / np.maximum(problems - 1.0, 1.0) * (self.sums**2).sum(axis=1)
        ratio = np.where(
            self.noise > 0.0, clustered / np.where(self.noise > 0, self.noise, 1), each
        )
        effect = np.clip((problems * ratio + 4.0 * each) / (problems + 4.0), 1.0, 1.5 * each)
        return np.where(each <= 1.001, 1.0, effect)

    def rest(self, over: Over) -> Floats:
        batch, m = self.batch, self.batch.cell.problems
        away = self.means - self.means.mean(axis=1, keepdims=True)
        if over == "problems":
            spread = (away**2).sum(axis=1) / (m - 1.0) / m
            return spread + 2.0 / m * (away * self.sums).sum(axis=1)
        inner = self.predicted - self.means.ravel()[batch.problem]
        inner_by = inner / np.maximum(batch.trials - 1, 1)[batch.problem]
        noise = batch.by_set(batch.weight * inner * inner_by) / m
        alone = batch.trials.reshape(batch.sets, -1) == 1
        noise += (away**2 * alone).sum(axis=1) / (m - 1.0) / m
        shared = batch.by_set(self.moved * inner_by[batch.labelled], batch.labelled)
        return noise + 2.0 / m * shared - self._fixed()

    def _fixed(self) -> Floats:
        batch, rows = self.batch, self.batch.labelled
        labels = batch.labels_by_problem
        pairs = (labels * (labels - 1.0)).sum(axis=1) / 2.0
        weights = batch.by_problem(self.influence, rows)
        divisor = (weights**2).sum(axis=1) - batch.by_set(self.influence**2, rows)
        products = (self.sums**2).sum(axis=1) - batch.by_set(self.moved**2, rows)
        is_known = (pairs > 0.0) & (divisor > 0.0)
        between = np.maximum(products / np.where(is_known, divisor, 1.0), 0.0)
        shared = pairs / (pairs + 30.0) * between / batch.cell.problems
        return np.where(is_known, shared, 0.0)

    def ends(self, over: Over) -> Ends:
        rest, effect = self.rest(over), self.effect()
        noise = effect * self.noise
        safe = np.where(noise > 0.0, noise, 1.0)
        kept = np.where(
            (rest < 0.0) & (noise > 0.0), np.clip((noise + rest) / safe, 0.25, 1.0), 1.0
        )
        rest = np.maximum(rest, 0.0)
        right, wrong = self.size * self.mean, self.size - self.size * self.mean
        low = np.where(right <= 0.0, 0.0, betaincinv(right + 0.5, wrong + 0.5, TAIL))
        high = np.where(wrong <= 0.0, 1.0, betaincinv(right + 0.5, wrong + 0.5, 1.0 - TAIL))
        square = (kept * effect)[:, None] * self.share**2
        freedom = np.full(self.batch.sets, self.batch.cell.problems - 1.0)
        if over == "trials":
            extra = (self.batch.trials - 1).reshape(self.batch.sets, -1).sum(axis=1)
            freedom = np.maximum(extra, 1).astype(np.float64)
        t = stdtrit(freedom, TAIL) ** 2 * rest
        down = np.sqrt((square * (self.mean - low) ** 2).sum(axis=1) + t)
        up = np.sqrt((square * (high - self.mean) ** 2).sum(axis=1) + t)
        return np.maximum(self.value - down, 0.0), np.minimum(self.value + up, 1.0)


# -- other ways ------------------------------------------------------------------------------------


def labels_alone(batch: Batch) -> Ends:
    """Wilson's interval for the weighted labels, on the number that their clusters are worth."""
    rows, b = batch.labelled, batch.label_weight
    y = batch.y[rows]
    mean = batch.by_set(b * y, rows)
    sums = batch.by_problem(b * (y - mean[batch.set_of[rows]]), rows)
    problems = batch.n_labelled_problems
    variance = problems / np.maximum(problems - 1.0, 1.0) * (sums**2).sum(axis=1)
    safe = np.where(variance > 1e-14, variance, 1.0)
    worth = np.where(
        variance > 1e-14, np.minimum(mean * (1 - mean) / safe, batch.n_labels), problems
    )
    square = Z * Z / worth
    centre = (mean + square / 2.0) / (1.0 + square)
    inner = np.maximum(mean * (1.0 - mean), 0.0) / worth + square / (4.0 * worth)
    half = Z * np.sqrt(inner) / (1.0 + square)
    return centre - half, centre + half


def judge_alone(batch: Batch) -> Ends:
    """Student's interval for the judge's pass rate, over problems."""
    passed = (batch.verdict == 1).astype(np.float64)
    means = batch.by_problem(passed) / batch.trials.reshape(batch.sets, -1)
    m = means.shape[1]
    half = -stdtrit(m - 1.0, TAIL) * means.std(axis=1, ddof=1) / m**0.5
    return means.mean(axis=1) - half, means.mean(axis=1) + half


def ppi_plus_plus(batch: Batch) -> Ends:
    """PPI++ for a mean (Angelopoulos, Duchi and Zrnic 2023): independent trials, tuned slope."""
    f, rows = (batch.verdict == 1).astype(np.float64), batch.labelled
    n, whole = batch.n_labels, batch.by_set(None)
    many = np.maximum(whole - n, 1.0)
    y, known = batch.y[rows], f[rows]
    mean_y, mean_f = batch.by_set(y, rows) / n, batch.by_set(known, rows) / n
    mean_yf = batch.by_set(y * known, rows) / n
    others = batch.by_set(f[~rows], ~rows) / many
    all_f = batch.by_set(f) / whole
    spread = all_f * (1.0 - all_f)
    safe = np.where(spread > 0.0, (1.0 + n / many) * spread, 1.0)
    slope = np.clip(np.where(spread > 0.0, (mean_yf - mean_y * mean_f) / safe, 0.0), 0.0, 1.0)
    value = slope * others + mean_y - slope * mean_f
    cross = mean_yf - mean_y * mean_f
    own = mean_y * (1 - mean_y) + slope**2 * mean_f * (1 - mean_f) - 2 * slope * cross
    error = np.sqrt(slope**2 * others * (1.0 - others) / many + np.maximum(own, 0.0) / n)
    return value - Z * error, value + Z * error
