"""Abilities of models by maximum likelihood, with errors over problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from passband.stats.checks import Over
from passband.types import Bools, Floats, Ints

_STEPS = 200
_ACCURACY = 1e-5
_FLOOR = 0.5  # of the variance of the trials, as a share of which no other variance is smaller
_LEAST_SHARE = 0.05  # of it, in any direction
_LONGEST = 2.0  # step of any ability


class LikelihoodTerms(NamedTuple):
    """A log-likelihood with its first derivatives, and its second ones with the sign turned."""

    value: float
    gradient: Floats
    information: Floats


class Likelihood(Protocol):
    """A concave log-likelihood of abilities that does not change if all rise by the same amount."""

    @property
    def overlap(self) -> float:
        """Number of times the information counts each independent observation."""
        ...

    def won(self) -> Bools:
        """Return whether i did better than j on anything: (models, models)."""
        ...

    def thinned(self) -> Likelihood | None:
        """Return a likelihood of fewer problems to start from; None where it saves nothing."""
        ...

    def terms(self, abilities: Floats) -> LikelihoodTerms: ...
    def scores(self, abilities: Floats) -> Floats:
        """Return the part of the gradient that each problem gives: (problems, models)."""
        ...


@dataclass(frozen=True, eq=False)
class AbilityFit:
    """Abilities around a mean of 0, and the covariance of their errors."""

    abilities: Floats
    over_problems: Floats  # covariance if problems (or clusters) were drawn again
    over_trials: Floats  # covariance if only the trials were
    bounded: Bools  # [i, j] whether the data bound ability i - ability j from below
    units: int  # problems or clusters that tell models apart

    def covariance(self, over: Over) -> Floats:
        return self.over_problems if over == "problems" else self.over_trials

    def variance(self, weights: Floats, over: Over) -> Floats:
        """Return the variance of weighted sums of abilities, the weights being the last axis.

        A handful of problems may fit perfectly by chance, each fixing one difference; so over
        problems it is at least half of what the trials alone would make it.
        """
        problems, trials = (
            np.einsum("...i,ij,...j->...", weights, covariance, weights)
            for covariance in (self.over_problems, self.over_trials)
        )
        least = trials if over == "trials" else np.maximum(problems, _FLOOR * trials)
        return np.asarray(np.maximum(least, 0.0), dtype=np.float64)

    @property
    def is_separated(self) -> bool:
        return not bool(self.bounded.all())

    def largest_group(self) -> Bools:
        """Return the largest group of models whose differences are all bounded."""
        together = self.bounded & self.bounded.T
        group: Bools = together[int(np.argmax(together.sum(axis=1)))]
        return group

    def reference(self) -> Bools:
        """Return the models that define ability 0: the largest group, or all if it is alone."""
        group = self.largest_group()
        return group if group.sum() > 1 else np.ones(len(group), dtype=bool)


def fitted(likelihood: Likelihood, unit: Ints) -> AbilityFit:
    """Fit abilities, and their covariance over problems from the scores of each.

    Where models are separated, one always ahead of another, the largest likelihood is at infinity.
    Then every model gets half a success and half a failure against the average one, as the
    logF(1,1) prior does, and models outside the largest group the error that the information says.
    Greenland, Mansournia (2015), Statistics in Medicine 34, 3133-3143.
    """
    bounded = _closure(likelihood.won())
    weight = 0.0 if bounded.all() else 1.0
    fewer = likelihood.thinned()
    start = np.zeros(len(bounded))
    if fewer is not None and weight == 0.0 and _closure(fewer.won()).all():
        start, _ = _maximum(fewer, start, weight)
    abilities, terms = _maximum(likelihood, start, weight)
    inverse = _inverse(terms.information)
    scores = likelihood.scores(abilities)
    tells = np.unique(unit[scores.any(axis=1)])
    sums = np.stack([np.bincount(unit, weights=column) for column in scores.T])[:, tells]
    units = len(tells)
    meat = sums @ sums.T * (units / max(units - 1.0, 1.0))
    over_trials = inverse * likelihood.overlap
    over_problems = _floored(inverse @ meat @ inverse, over_trials)
    fit = AbilityFit(abilities, over_problems, over_trials, bounded, units)
    if weight == 0.0:
        return fit
    outside = ~fit.largest_group()
    extra = over_trials * np.outer(outside, outside)
    return AbilityFit(abilities, over_problems + extra, over_trials, bounded, units)


def _floored(covariance: Floats, noise: Floats) -> Floats:
    """Return a covariance that vanishes in no direction, whatever few problems happen to fit."""
    size, direction = np.linalg.eigh(noise)
    kept = size > 1e-12 * max(float(size[-1]), 1e-300)
    root = direction[:, kept] * np.sqrt(size[kept])
    back = direction[:, kept] / np.sqrt(size[kept])
    share, turn = np.linalg.eigh(back.T @ covariance @ back)
    both = root @ turn
    floored: Floats = both * np.maximum(share, _LEAST_SHARE) @ both.T
    return floored


def _closure(won: Bools) -> Bools:
    """Return who is ahead of whom in a chain of wins."""
    closure = won | np.eye(len(won), dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(len(won)))))):
        closure = (closure.astype(np.float64) @ closure) > 0.0
    return closure


def _maximum(
    likelihood: Likelihood, start: Floats, weight: float
) -> tuple[Floats, LikelihoodTerms]:
    """Return the abilities of the largest likelihood: Newton's method, halving steps that fail."""
    abilities, terms = start, _penalised(likelihood, start, weight)
    for _ in range(_STEPS):
        step = _inverse(terms.information) @ terms.gradient
        length = float(np.abs(step).max())
        step *= min(1.0, _LONGEST / max(length, _LONGEST))
        better = _penalised(likelihood, abilities + step, weight)
        while better.value < terms.value - 1e-9 * abs(terms.value):
            step = step / 2.0
            better = _penalised(likelihood, abilities + step, weight)
        abilities, terms = abilities + step, better
        if length < _ACCURACY:  # what is left is about its square
            break
    return abilities, terms


def _penalised(likelihood: Likelihood, abilities: Floats, weight: float) -> LikelihoodTerms:
    terms = likelihood.terms(abilities)
    if weight == 0.0:
        return terms
    away = abilities - abilities.mean()
    p = 1.0 / (1.0 + np.exp(-away))
    value = float((away / 2.0 - np.logaddexp(0.0, away)).sum())
    centre = np.eye(len(away)) - 1.0 / len(away)
    return LikelihoodTerms(
        terms.value + weight * value,
        terms.gradient + weight * centre @ (0.5 - p),
        terms.information + weight * (centre * (p * (1.0 - p))) @ centre,
    )


def _inverse(information: Floats) -> Floats:
    """Invert on the subspace of abilities that add up to 0."""
    models = len(information)
    scale = max(float(np.trace(information)) / models, 1e-300)
    inverse: Floats = np.asarray(np.linalg.inv(information + scale / models), dtype=np.float64)
    return inverse - 1.0 / (models * scale)
