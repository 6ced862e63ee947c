"""Calibrate items by the responses of many models, and link them to an existing bank.

Two calibrations that share items differ by a line, θ' = A θ + B: then a' = a / A and b' = A b + B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from passband.errors import ConflictingArguments, InvalidInput, NotEnoughData, UnknownName, nearest
from passband.notes import Note, plural
from passband.stats.checks import as_positive
from passband.stats.irt.em import (
    ABSENT,
    CalibrationFit,
    FitProblem,
    expect,
    fitted,
    items_of,
    rows_of,
)
from passband.stats.irt.item_errors import MOST_TOGETHER, ItemErrors, ItemFit, item_errors, item_fit
from passband.stats.irt.items import ItemModel, Items, expected_scores
from passband.stats.irt.responses import (
    Responses,
    as_rho,
    read_responses,
    screened_after,
    screened_before,
)
from passband.types import ArrayLike, Bools, Floats, Ints

NOT_CONVERGED = Note(
    "not-converged",
    "the calibration stopped before it had converged; allow more iterations",
)
GUESSING_PRIOR = Note(
    "guessing-prior",
    "guessing has a weak prior around 0.2, as scores of easy items say nothing about it",
)
OWN_ERRORS = Note(
    "own-errors",
    "standard errors are of each item by itself, and leave out what all items share: the error "
    "of the mean and spread of the abilities",
)

_STEEP = 6.0  # slopes beyond it get a weak prior, as the data do not bound them
_FEW_PEOPLE = 100
_FINE_NODES = 241  # for abilities, once
_ROUNDS = 8  # of estimating rho or phi, and fitting again


class CalibratedAbilities(NamedTuple):
    """Posterior mean and standard deviation of each person's ability."""

    theta: Floats
    se: Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibrated items, with all that says how far to trust them."""

    items: Items
    kept: Ints  #: the columns that the items are
    se: ItemErrors
    abilities: CalibratedAbilities
    log_likelihood: float  #: marginal; a quasi-likelihood where rho or phi was estimated
    iterations: int
    converged: bool
    rho: float  #: correlation of the trials of one item given the ability
    mean: float  #: of the abilities; 0 without anchors
    sd: float  #: of the abilities; 1 without anchors
    fit: ItemFit
    dropped: dict[int, str]  #: reasons by column
    notes: tuple[Note, ...] = ()


def calibrate(
    successes: ArrayLike,
    trials: ArrayLike | None = None,
    *,
    model: ItemModel = "2pl",
    discrimination: float | None = None,
    grades: int | None = None,
    rho: float | None = None,
    anchors: Items | None = None,
    anchored: Sequence[int] | Ints | None = None,
    tolerance: float = 1e-4,
    most_iterations: int = 2000,
) -> Calibration:
    """Estimate the parameters of items by marginal maximum likelihood.

    `successes` has a row for each model and a column for each item: sums of scores over `trials`,
    which are 0 where an item was not asked; without `trials`, one score each and NaN where there
    is none. Abilities are standard normal, which fixes the scale, unless `anchors` do: items of a
    known bank, whose columns are `anchored`, keep their parameters, and mean and spread of the
    abilities are estimated.

    `discrimination` fixes the common slope of 1pl items (1 for Rasch's model). `rho` is the
    correlation of the trials of an item given the ability, estimated where there are repeats.
    Items that cannot be used are dropped, with the reason. No prior is used but for the guessing
    of 3pl items, and for slopes that the data do not bound; a note says so.

    >>> rng = np.random.default_rng(1)
    >>> theta, b = rng.normal(size=2000), np.linspace(-1, 1, 8)
    >>> right = rng.random((2000, 8)) < 1 / (1 + np.exp(-1.5 * (theta[:, None] - b)))
    >>> found = calibrate(right, model="1pl")
    >>> round(float(found.items.a[0]), 1), round(float(found.se.a[0]), 2)
    (1.5, 0.04)
    """
    data = read_responses(successes, trials, model, grades)
    fixed = _anchors(anchors, anchored, model, data)
    if discrimination is not None and (model != "1pl" or fixed):
        raise ConflictingArguments("discrimination fixes the slope of 1pl items without anchors.")
    slope = None if discrimination is None else as_positive("discrimination", discrimination)
    if model == "1pl" and anchors is not None:
        slope = float(anchors.a[0])  # the anchors' slope is that of all
    given = None if rho is None else as_rho(rho)
    dropped = screened_before(data, protected=fixed)
    task = _Task(model, slope, given, fixed, as_positive("tolerance", tolerance), most_iterations)
    while True:
        kept = np.setdiff1d(np.arange(data.trials.shape[1]), list(dropped))
        if len(kept) < 2:
            raise NotEnoughData(f"{len(kept)} items are left to calibrate: {_reasons(dropped)}")
        fit = task.fit(data.columns(kept), kept)
        worse = screened_after(fit.fit.rows[:, 0], kept, protected=fixed)
        if not worse:
            return task.result(fit, kept, dropped)
        dropped |= worse


def _reasons(dropped: dict[int, str]) -> str:
    return "; ".join(f"item {item}: {reason}" for item, reason in list(dropped.items())[:3]) + "."


def _anchors(
    anchors: Items | None, anchored: Sequence[int] | Ints | None, model: ItemModel, data: Responses
) -> dict[int, Floats]:
    """Return the rows of anchored items by column."""
    if (anchors is None) != (anchored is None):
        raise InvalidInput("anchors and anchored belong together: items, and their columns.")
    if anchors is None or anchored is None:
        return {}
    columns = np.asarray(anchored, dtype=np.intp)
    if anchors.model != model or len(columns) != len(anchors):
        raise InvalidInput(
            f"{len(anchors)} {anchors.model!r} anchors do not fit {len(columns)} columns of "
            f"{model!r} items."
        )
    if (
        len(set(columns.tolist())) < len(columns)
        or ((columns < 0) | (columns >= data.trials.shape[1])).any()
    ):
        raise InvalidInput(f"anchored must be different columns of the responses; got {anchored}.")
    return dict(zip(columns.tolist(), rows_of(anchors), strict=True))


class _Found(NamedTuple):
    fit: CalibrationFit
    problem: FitProblem  # with the responses as they were weighed
    plain: Responses
    rho: float
    phi: Floats


@dataclass(frozen=True)
class _Task:
    """What the caller asked for."""

    model: ItemModel
    slope: float | None
    rho: float | None
    fixed: dict[int, Floats]
    tolerance: float
    most: int

    def fit(self, data: Responses, kept: Ints) -> _Found:
        """Fit the items, and rho and phi in turn where they are to be estimated."""
        rho, phi = self.rho or 0.0, np.ones(len(kept))
        problem, fit = self.problem(data, kept), self.start(data, kept)
        estimates_rho = self.rho is None and bool((data.trials > 1).any())
        estimates_phi = self.model == "continuous"
        for _ in range(_ROUNDS):
            problem = replace(problem, responses=data.weighed(rho, phi))
            fit = self.run(problem, fit)
            if (too_steep := self.unbounded(problem, fit)).any():
                problem = replace(problem, held=problem.held | too_steep)
                rows = np.where(too_steep[:, None], self.start(data, kept).rows, fit.rows)
                fit = self.run(problem, replace(fit, rows=rows))
            before = np.append(phi, rho)
            if estimates_phi:
                phi = _dispersions(data, problem, fit, rho)
            if estimates_rho:
                rho = _correlation(data, problem, fit, phi)
            if np.abs(np.append(phi, rho) - before).max() < 1e-3:
                break
        return _Found(fit, problem, data, rho, phi)

    def run(self, problem: FitProblem, start: CalibrationFit) -> CalibrationFit:
        fit = fitted(problem, start, tolerance=self.tolerance, most=self.most)
        return replace(fit, iterations=fit.iterations + start.iterations)

    def problem(self, data: Responses, kept: Ints) -> FitProblem:
        start = self.start(data, kept).rows
        free = np.ones(start.shape, dtype=bool)
        free[[item in self.fixed for item in kept.tolist()]] = False
        if self.slope is not None:
            free[:, 0] = False
        is_shared = self.model == "1pl" and not self.fixed
        held = np.zeros(len(kept), dtype=bool)
        return FitProblem(data, self.model, free, held, is_shared, bool(self.fixed))

    def unbounded(self, problem: FitProblem, fit: CalibrationFit) -> Bools:
        steep: Bools = (fit.rows[:, 0] > _STEEP) & problem.free[:, 0] & ~problem.held
        return steep if not problem.is_shared else np.zeros(len(fit.rows), dtype=bool)

    def start(self, data: Responses, kept: Ints) -> CalibrationFit:
        """Return slopes of 1 and the intercepts that the shares of grades suggest."""
        trials = data.trials.sum(axis=0)
        reached, passed = [], np.zeros(len(kept))
        for matrix in data.grades[::-1]:
            passed = passed + matrix.sum(axis=0)
            share = (passed + 0.25) / (trials + 0.5)
            reached.append(1.2 * (np.log(share) - np.log1p(-share)))
        rows = np.column_stack([np.full(len(kept), self.slope or 1.0), *reached[::-1]])
        numbers = np.arange(len(data.grades))
        rows[:, 1:][numbers[None] >= data.steps[:, None]] = ABSENT
        if self.model == "3pl":
            rows = np.column_stack([rows, np.full(len(kept), np.log(0.15 / 0.85))])
        for place, item in enumerate(kept.tolist()):
            rows[place] = self.fixed.get(item, rows[place])
        return CalibrationFit(rows)

    def result(self, calibrated: _Found, kept: Ints, dropped: dict[int, str]) -> Calibration:
        fit, problem = calibrated.fit, calibrated.problem
        expected = expect(problem, fit)
        phi = calibrated.phi if self.model == "continuous" else None
        fine = expect(problem, fit, max(_FINE_NODES, len(expected.nodes)))
        theta = fine.posterior @ fine.nodes
        spread = np.sqrt(np.maximum(fine.posterior @ fine.nodes**2 - theta**2, 0.0))
        return Calibration(
            items=items_of(self.model, fit.rows, phi),
            kept=kept,
            se=item_errors(problem, fit.rows, expected),
            abilities=CalibratedAbilities(theta, spread),
            log_likelihood=fit.log_likelihood,
            iterations=fit.iterations,
            converged=fit.converged,
            rho=calibrated.rho,
            mean=fit.mean,
            sd=fit.sd,
            fit=item_fit(problem, calibrated.plain, expected, calibrated.rho, calibrated.phi),
            dropped=dict(sorted(dropped.items())),
            notes=_notes(calibrated, dropped),
        )


def _residual_squares(
    data: Responses, problem: FitProblem, fit: CalibrationFit
) -> tuple[Floats, Floats]:
    """Return expected squares of residuals of sums of scores, and p (1 - p), for each cell."""
    found = expect(problem, fit)
    right = np.exp(found.terms.log[1])
    mean, square = found.posterior @ right.T, found.posterior @ (right**2).T
    n, s = data.trials, data.scores
    return s * s - 2.0 * n * s * mean + n * n * square, mean - square


def _dispersions(data: Responses, problem: FitProblem, fit: CalibrationFit, rho: float) -> Floats:
    """Return each item's variance of a score over p (1 - p), by moments."""
    squares, bell = _residual_squares(data, problem, fit)
    n = data.trials
    expected = (n * (1.0 + (n - 1.0) * rho) * bell).sum(axis=0)
    found: Floats = squares.sum(axis=0) / np.maximum(expected, 1e-12)
    return np.clip(found, 1e-3, 10.0)


def _correlation(data: Responses, problem: FitProblem, fit: CalibrationFit, phi: Floats) -> float:
    """Return the correlation of two trials of an item given the ability, by moments.

    The variance of a sum of n scores is n p (1 - p) (1 + (n - 1) ρ).
    """
    squares, bell = _residual_squares(data, problem, fit)
    n, bell = data.trials, phi * bell
    extra = (squares - n * bell)[n > 1].sum()
    return float(np.clip(extra / (n * (n - 1.0) * bell)[n > 1].sum(), 0.0, 1.0))


def _notes(result: _Found, dropped: dict[int, str]) -> tuple[Note, ...]:
    problem, people = result.problem, len(result.plain.trials)
    held = int(problem.held.sum())
    notes = [
        (not result.fit.converged, NOT_CONVERGED),
        (problem.model == "3pl", GUESSING_PRIOR),
        (bool(dropped), dropped_items(len(dropped))),
        (held > 0, held_slopes(held, _STEEP)),
        (people < _FEW_PEOPLE, few_people(people)),
        (problem.free.size > MOST_TOGETHER, OWN_ERRORS),
    ]
    return tuple(note for applies, note in notes if applies)


LinkMethod = Literal["mean-sigma", "stocking-lord"]


class Link(NamedTuple):
    """The line from one scale to another."""

    slope: float
    intercept: float

    def of_theta(self, theta: Floats) -> Floats:
        """Return abilities on the other scale."""
        return self.slope * theta + self.intercept

    def of_items(self, items: Items) -> Items:
        """Return items on the other scale.

        >>> Link(2.0, 1.0).of_items(Items("2pl", a=[1.0], b=[0.5])).b.tolist()
        [2.0]
        """
        steps = None if items.steps is None else self.of_theta(items.steps)
        a, b = items.a / self.slope, self.of_theta(items.b)
        return Items(items.model, a, b, items.c, steps, items.phi)


def link_items(items: Items, bank: Items, *, method: LinkMethod = "stocking-lord") -> Link:
    """Return the line that takes `items` to the scale of the same items in a bank.

    "mean-sigma" matches mean and spread of the difficulties. "stocking-lord" makes the expected
    total scores agree over abilities that are standard normal on the bank's scale (Stocking and
    Lord 1983, Applied Psychological Measurement 7), which is steadier, as badly known
    difficulties of extreme items weigh little.

    >>> bank = Items("2pl", a=[1.0, 2.0, 1.5], b=[-1.0, 0.0, 1.0])
    >>> link = link_items(Link(0.5, 0.25).of_items(bank), bank)
    >>> round(link.slope, 6), round(link.intercept, 6)
    (2.0, -0.5)
    """
    if items.model != bank.model or len(items) != len(bank):
        raise InvalidInput(
            f"linking takes the same items twice; got {len(items)} {items.model!r} and "
            f"{len(bank)} {bank.model!r} items."
        )
    if len(items) < 2:
        raise NotEnoughData("linking takes at least two shared items, and should have ten.")
    if method not in ("mean-sigma", "stocking-lord"):
        hint = nearest(str(method), ("mean-sigma", "stocking-lord"))
        raise UnknownName(f"method must be 'mean-sigma' or 'stocking-lord'; got {method!r}.{hint}")
    start = _mean_sigma(items, bank)
    return start if method == "mean-sigma" else _stocking_lord(items, bank, start)


def _mean_sigma(items: Items, bank: Items) -> Link:
    spread = float(items.b.std())
    if spread == 0.0:
        slope = float(np.exp(np.mean(np.log(items.a) - np.log(bank.a))))
    else:
        slope = float(bank.b.std()) / spread
    return Link(slope, float(bank.b.mean()) - slope * float(items.b.mean()))


def _stocking_lord(items: Items, bank: Items, start: Link) -> Link:
    """Minimise the squared difference of expected totals, by Gauss and Newton."""
    nodes = np.linspace(-4.0, 4.0, 41)
    weight = np.exp(-0.25 * nodes * nodes)  # the root of a normal density
    target = weight * expected_scores(bank, nodes).sum(axis=0)

    def residual(x: Floats) -> Floats:
        moved = Link(float(np.exp(x[0])), float(x[1])).of_items(items)
        result: Floats = weight * expected_scores(moved, nodes).sum(axis=0) - target
        return result

    x = np.array([np.log(start.slope) if start.slope > 0.0 else 0.0, start.intercept])
    now = residual(x)
    for _ in range(100):
        step = 1e-6
        slopes = [(residual(x + step * unit) - now) / step for unit in np.eye(2)]
        change, *_ = np.linalg.lstsq(np.array(slopes).T, -now, rcond=None)
        while np.abs(change).max() > 1e-12:
            then = residual(x + change)
            if then @ then <= now @ now:
                break
            change = change / 2.0
        x, now = x + change, residual(x + change)
        if np.abs(change).max() < 1e-10:
            break
    return Link(float(np.exp(x[0])), float(x[1]))


def dropped_items(count: int) -> Note:
    """Return the note on items that calibration left out."""
    return Note("dropped-items", f"{plural(count, 'item')} dropped; the reasons are listed")


def held_slopes(count: int, steepest: float) -> Note:
    """Return the note on items whose discrimination the data do not bound."""
    return Note(
        "held-slopes",
        f"{plural(count, 'item')} with a discrimination beyond {steepest:g} without a prior: a "
        "weak one around 1 was used for them",
    )


def few_people(count: int) -> Note:
    """Return the note on a calibration by a handful of models."""
    return Note(
        "few-people",
        f"calibrated on {plural(count, 'model')}: difficulties are rough, and discriminations "
        "rougher",
    )
