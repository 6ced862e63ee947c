"""The posterior of one model's ability, and a bank prepared for one step after another.

A step of an adaptive test takes the most informative item and learns from its answer. Both are
passes over arrays: the items' information in single precision, between two abilities for which it
is kept; and the posterior on a few nodes that move and close in as it narrows, so that the sums
over them stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from passband.stats.checks import as_level, as_number, as_positive
from passband.stats.irt.items import Items, log_likelihood, log_sigmoid, slopes
from passband.stats.irt.responses import ItemEvidence, as_rho, check_evidence, weighted
from passband.types import ArrayLike, Bools, Floats, Ints

NODES = 121
REACH = 6.0  # of the first nodes, in standard deviations of the prior
FOCUS = 8.0  # of later nodes, in standard deviations of the posterior
EDGE = 14.0  # log of the largest density over that at the last node: 1e-6 of the peak is cut off
FINE = 0.25  # standard deviations between nodes for quantiles, at most
PEAK = 0.1  # log of the most that a density is above the nodes around a peak
PARTS = 16  # of the space between two nodes, for quantiles
SPACE = 0.1  # between the abilities whose information is kept
MOST_ROWS = 256
FEW = 8  # items whose evidence is added one by one

_ONES = np.ones(NODES)

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Grid:
    """A bank prepared for adaptive tests: the prior on its nodes, and its items' information."""

    items: Items
    prior_mean: float
    prior_sd: float
    rho: float  #: correlation of the trials of one item given the ability
    nodes: Floats
    _rows: dict[int, Singles] = field(default_factory=dict)  # information, by number of the node

    @classmethod
    def of(
        cls, items: Items, *, prior_mean: float = 0.0, prior_sd: float = 1.0, rho: float = 0.0
    ) -> Grid:
        """Prepare a bank, for abilities that are normal beforehand.

        >>> Grid.of(Items("2pl", a=[1.0], b=[0.0])).nodes[[0, -1]].tolist()
        [-6.0, 6.0]
        """
        mean, sd = as_number("prior_mean", prior_mean), as_positive("prior_sd", prior_sd)
        nodes = mean + np.linspace(-REACH * sd, REACH * sd, NODES)
        return cls(items, mean, sd, as_rho(rho), nodes)

    def log_prior(self, nodes: Floats) -> Floats:
        """Return the log density of the prior but for a constant."""
        result: Floats = -0.5 * ((nodes - self.prior_mean) / self.prior_sd) ** 2
        return result

    def information(self, theta: float) -> Singles:
        """Return the information of one trial of each item, in single precision.

        It lies on the line between the two nearest of the abilities 0, ±0.1, ±0.2 ..., whose
        information is computed once: within 1 % of the largest for items of a up to 4.
        """
        place = theta / SPACE
        below = math.floor(place)
        share = np.float32(place - below)
        between: Singles = self._row(below + 1) * share
        between += self._row(below) * (np.float32(1.0) - share)
        return between

    def _row(self, node: int) -> Singles:
        row = self._rows.get(node)
        if row is None:
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            self._rows[node] = row = _information(self.items, node * SPACE)
        return row

    def best(self, theta: float, available: Bools, count: int = 1) -> Ints:
        """Return the available items with the most information at an ability, best first.

        Of equal ones the first in the bank comes first.

        >>> grid = Grid.of(Items("2pl", a=[1.0, 2.0, 1.5], b=[0.0, 0.0, 0.0]))
        >>> grid.best(0.0, np.array([True, False, True]), 2).tolist()
        [2, 0]
        """
        info = self.information(theta)
        info[~available] = -1.0
        if count == 1:
            top = np.array([info.argmax()])
        else:
            most = min(count, len(info))
            least = np.partition(info, -most)[-most]
            tied = np.flatnonzero(info >= least)
            top = tied[np.argsort(-info[tied], kind="stable")][:most]
        kept: Ints = top[available[top]]
        return kept


class AbilityPosterior:
    """Posterior of one model's ability: prior and evidence so far.

    `theta` is the posterior mean and `se` the posterior standard deviation. The order of the
    evidence does not matter.

    >>> posterior = AbilityPosterior(Grid.of(Items("2pl", a=[1.0, 1.0], b=[0.0, 0.0])))
    >>> posterior.add(ItemEvidence(0, 1.0))
    >>> posterior.add(ItemEvidence(1, 0.0))
    >>> abs(posterior.theta) < 1e-12, round(posterior.se, 3)
    (True, 0.835)
    """

    __slots__ = ("_log", "_seen", "grid", "nodes", "se", "theta")

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.nodes = grid.nodes
        self._log = grid.log_prior(grid.nodes)
        self._seen: dict[int, tuple[ItemEvidence, ...]] = {}
        self.theta, self.se = grid.prior_mean, grid.prior_sd

    def copy(self) -> AbilityPosterior:
        """Return a posterior of its own with the same evidence."""
        other = AbilityPosterior.__new__(AbilityPosterior)
        other.grid, other.nodes, other._log = self.grid, self.nodes, self._log
        other._seen, other.theta, other.se = dict(self._seen), self.theta, self.se
        return other

    @property
    def evidence(self) -> list[ItemEvidence]:
        """All evidence, item by item."""
        return [one for several in self._seen.values() for one in several]

    def add(self, evidence: ItemEvidence) -> None:
        """Learn from the scores of one item."""
        self.extend([evidence])

    def extend(self, evidence: Iterable[ItemEvidence]) -> None:
        """Learn from the scores of several items."""
        added = list(evidence)
        for one in added:
            check_evidence(self.grid.items, one)
        for one in added:
            before = self._seen.get(one.item, ())
            self._seen[one.item] = after = (*before, one)
            if len(added) <= FEW:
                self._replace(before, after)
        if len(added) > FEW:
            self._log = self._log_density(self.nodes)
        if added:
            self._settle()

    def density(self) -> tuple[Floats, Floats]:
        """Return the nodes, and the probability of each."""
        chance = np.exp(self._log - self._log.max())
        return self.nodes, chance / chance.sum()

    def quantiles(self, probabilities: ArrayLike) -> Floats:
        """Return quantiles of the ability."""
        nodes, log = self.nodes, self._log
        if nodes[1] - nodes[0] > FINE * self.se:
            nodes = self.theta + np.linspace(-FOCUS * self.se, FOCUS * self.se, NODES)
            log = self._log_density(nodes)
        nodes, log = _between_nodes(nodes, log)
        chance = np.exp(log - log.max())
        below = np.concatenate([[0.0], np.cumsum(chance[1:] + chance[:-1])])
        at: Floats = np.interp(np.asarray(probabilities, np.float64), below / below[-1], nodes)
        return at

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval that leaves equal probability on both sides."""
        rest = (1.0 - as_level(level)) / 2.0
        low, high = self.quantiles([rest, 1.0 - rest])
        return float(low), float(high)

    def _replace(self, before: tuple[ItemEvidence, ...], after: tuple[ItemEvidence, ...]) -> None:
        change = self._of_item(after, self.nodes)
        if before:
            change = change - self._of_item(before, self.nodes)
        self._log = self._log + change

    def _of_item(self, evidence: tuple[ItemEvidence, ...], nodes: Floats) -> Floats:
        """Return the log-likelihood of all evidence on one item."""
        items, rho = self.grid.items, self.grid.rho
        trials = sum([one.trials for one in evidence])
        weight = 1.0 / (1.0 + (trials - 1.0) * rho)
        index = evidence[0].item
        if items.steps is None and items.model != "3pl":
            missed = trials - sum([one.trials * one.score for one in evidence])
            x = nodes - items.b.item(index)
            x *= items.a.item(index)
            weight /= items.phi.item(index)
            plain = log_sigmoid(x)
            plain *= weight * trials
            x *= weight * missed
            plain -= x
            return plain
        rows = items.take([index] * len(evidence))
        logs = log_likelihood(rows, nodes, np.array([one.score for one in evidence]))
        total: Floats = weight * (np.array([one.trials for one in evidence], np.float64) @ logs)
        return total

    def _log_density(self, nodes: Floats) -> Floats:
        log = self.grid.log_prior(nodes)
        if self._seen:
            seen = weighted(self.grid.items, self.evidence, self.grid.rho)
            log += seen.weights @ log_likelihood(seen.items, nodes, seen.scores)
        return log

    def _settle(self) -> None:
        """Compute mean and spread, on nodes that are wide and close enough."""
        for _ in range(60):
            log, nodes = self._log, self.nodes
            mode = log.argmax()
            top = log.item(mode)
            chance = np.exp(log - top)
            total = _ONES.dot(chance).item()
            mean = chance.dot(nodes).item() / total
            away = nodes - mean
            away *= away
            self.theta, self.se = mean, math.sqrt(chance.dot(away).item() / total)
            half = (nodes.item(-1) - nodes.item(0)) / 2.0
            if max(log.item(0), log.item(-1)) > top - EDGE:
                self._focus(nodes.item(mode), 2.0 * half)
            elif self.se < 2.0 * half / (NODES - 1):
                self._focus(mean, max(FOCUS * self.se, half / 20.0))
            else:
                return

    def _focus(self, centre: float, half: float) -> None:
        self.nodes = np.linspace(centre - half, centre + half, NODES)
        self._log = self._log_density(self.nodes)


def _information(items: Items, theta: float) -> Singles:
    """Return the information of each item; with e = exp(-a|θ-b|) it is a² e / (1+e)² / φ."""
    if items.model in ("3pl", "graded"):
        exact = slopes(items, np.array([theta])).information[:, 0]
        return exact.astype(np.float32)
    x = (items.b - theta).astype(np.float32)
    a = items.a.astype(np.float32)
    x *= a
    e = np.exp(-np.abs(x))
    whole = e + np.float32(1.0)
    whole *= whole
    e /= whole
    a *= a
    e *= a
    if items.model == "continuous":
        e /= items.phi.astype(np.float32)
    result: Singles = e
    return result


def _between_nodes(nodes: Floats, log: Floats) -> tuple[Floats, Floats]:
    """Return more nodes, with the log density by the parabola through the nearest three.

    At a cliff, which a steep item makes, the parabola would tower over all three; it is cut off.
    """
    step = nodes[1] - nodes[0]
    position = np.arange((len(nodes) - 1) * PARTS + 1) / PARTS
    centre = np.clip(np.rint(position).astype(np.intp), 1, len(nodes) - 2)
    t = position - centre
    left, middle, right = log[centre - 1], log[centre], log[centre + 1]
    bent = middle + t * (right - left) / 2.0 + t * t * (left - 2.0 * middle + right) / 2.0
    highest = np.maximum(np.maximum(left, middle), right)
    return nodes[0] + position * step, np.minimum(bent, highest + PEAK)
