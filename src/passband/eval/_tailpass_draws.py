"""Posterior draws of tail profiles, for utilities that have no closed moments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from passband.errors import InvalidInput
from passband.eval import _checks
from passband.eval._banks import bank_counts, bank_scores, given_probabilities
from passband.eval._checks import Four
from passband.types import ArrayLike, Floats

_AT_ONCE = 1_000_000  # probabilities of banks


def profile_of(probabilities: Floats, scores: Floats, thresholds: Floats) -> Floats:
    """Return P(score of a bank >= threshold), along the last axis."""
    order = np.argsort(scores, kind="stable")
    tails = np.cumsum(probabilities[..., order][..., ::-1], axis=-1)[..., ::-1]
    padded = np.concatenate([tails, np.zeros((*tails.shape[:-1], 1))], axis=-1)
    profile: Floats = np.minimum(padded[..., np.searchsorted(scores[order], thresholds)], 1.0)
    return profile


@dataclass(frozen=True, eq=False)
class TailPassDraws:
    """Draws of every problem's category probabilities, shared by all utilities.

    A utility has one number per draw; `summary` turns those into mean, standard deviation and an
    equal-tailed interval.
    """

    k: int
    thresholds: Floats
    _scores: Floats = field(repr=False)
    _chances: Floats = field(repr=False)  # (draws, problems, distinct scores)

    def _profiles(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield rows of draws, and for one problem its banks' probabilities and their scores."""
        counts = bank_counts(self.k, len(self._scores))
        scores = bank_scores(counts, self._scores, self.k)
        step = max(1, _AT_ONCE // max(len(counts), len(self.thresholds)))
        for problem in range(self._chances.shape[1]):
            for start in range(0, len(self._chances), step):
                rows = slice(start, start + step)
                yield rows, given_probabilities(counts, self._chances[rows, problem]), scores

    def _mean_of(self, utility: Callable[[Floats], Floats]) -> Floats:
        """Average a utility of a problem's profile over the problems."""
        total: Any = 0.0
        values: list[Floats] = []
        for rows, chances, scores in self._profiles():
            values.append(utility(profile_of(chances, scores, self.thresholds)))
            if rows.stop >= len(self._chances):
                total, values = total + np.concatenate(values), []
        return np.asarray(total / self._chances.shape[1], dtype=np.float64)

    @cached_property
    def profile(self) -> Floats:
        """The profile over all problems: (draws, thresholds)."""
        profile = self._mean_of(lambda values: values)
        profile.setflags(write=False)
        return profile

    def linear(self, weights: ArrayLike) -> Floats:
        """Return a convex combination of the profile's entries."""
        return np.asarray(self.profile @ self._weights(weights), dtype=np.float64)

    def moment(self, lam: float) -> Floats:
        """Return the expected power `lam` of the mean score of k attempts."""
        power = _checks.prior("lam", lam)
        total = np.zeros(len(self._chances))
        for rows, chances, scores in self._profiles():
            total[rows] += chances @ scores**power
        return np.asarray(total / self._chances.shape[1], dtype=np.float64)

    def power_mean(
        self,
        q: float,
        weights: ArrayLike | None = None,
        *,
        aggregation: Literal["question", "profile"] = "question",
    ) -> Floats:
        """Return weighted power means of profiles: of each problem's, or of their average."""
        power, shares = _checks.prior("q", q), self._weights(weights)

        def mean(profile: Floats) -> Floats:
            top = profile.max(axis=1, keepdims=True)
            scaled = np.divide(profile, top, out=np.zeros_like(profile), where=top > 0.0)
            result: Floats = top[:, 0] * (scaled**power @ shares) ** (1.0 / power)
            return result

        if aggregation not in ("question", "profile"):
            raise InvalidInput(f"aggregation must be 'question' or 'profile'; got {aggregation!r}.")
        return mean(self.profile) if aggregation == "profile" else self._mean_of(mean)

    def qrs(
        self,
        weights: ArrayLike | None = None,
        *,
        aggregation: Literal["question", "profile"] = "question",
    ) -> Floats:
        """Return root mean squares of profiles."""
        return self.power_mean(2.0, weights, aggregation=aggregation)

    def rollout(self, m: int, weights: ArrayLike | None = None) -> Floats:
        """Return the probability that m banks of k attempts all reach a threshold, weighted."""
        shares = self._weights(weights)
        banks = _checks.several("m", m)
        return self._mean_of(lambda profile: np.asarray(profile**banks @ shares))

    def harmonic(self, alpha: float = 0.5) -> Floats:
        """Return the harmonic balance of discovery, which weighs `alpha`, and stability."""
        share = float(_checks.unit("alpha", alpha))
        nothing = self._chances[:, :, self._scores == 0.0].sum(axis=2).clip(0.0, 1.0)
        everything = self._chances[:, :, self._scores == 1.0].sum(axis=2).clip(0.0, 1.0)
        with np.errstate(divide="ignore", over="ignore"):
            found, stable = -np.expm1(self.k * np.log(nothing)), everything**self.k
            lacking = np.zeros(found.shape)
            if share > 0.0:
                lacking += share / found
            if share < 1.0:
                lacking += (1.0 - share) / stable
        return np.asarray((1.0 / lacking).mean(axis=1), dtype=np.float64)

    def discovery(self) -> Floats:
        """Return the probability that any attempt scores above 0."""
        return self.harmonic(1.0)

    def stability(self) -> Floats:
        """Return the probability that every attempt scores 1."""
        return self.harmonic(0.0)

    def shortfall(
        self, target: ArrayLike, weights: ArrayLike | None = None, *, epsilon: float = 0.01
    ) -> Floats:
        """Return the shortfall of profiles from a target: largest gap, and epsilon of all."""
        size = len(self.thresholds)
        wanted = _checks.vector("target", target)
        outside = (wanted < 0.0).any() or (wanted > 1.0).any()
        if len(wanted) != size or outside or (np.diff(wanted) > 0.0).any():
            raise InvalidInput(f"target must be {size} numbers in [0, 1] that do not increase.")
        scale = np.ones(size) if weights is None else _checks.vector("weights", weights)
        if len(scale) != size or (scale <= 0.0).any():
            raise InvalidInput(f"weights must be {size} numbers above 0.")
        share = _checks.prior("epsilon", epsilon)

        def gap(profile: Floats) -> Floats:
            short = np.maximum(wanted - profile, 0.0) * scale
            return np.asarray(short.max(axis=1) + share * short.sum(axis=1))

        return self._mean_of(gap)

    def at_k(self, k: int, *, thresholds: ArrayLike | None = None) -> TailPassDraws:
        """Return the same draws for another number of attempts."""
        from passband.eval._tailpass import _thresholds

        k = _checks.draws(k)
        return replace(self, k=k, thresholds=_thresholds(k, thresholds))

    def summary(
        self, values: ArrayLike | None = None, *, confidence: float = 0.95
    ) -> Four | tuple[Floats, Floats, Floats, Floats]:
        """Return mean, standard deviation, low and high of draws; by default of the profile."""
        if values is None:
            return self.profile_summary(confidence)
        drawn = np.asarray(values, dtype=np.float64)
        if drawn.ndim not in (1, 2) or len(drawn) != len(self._chances):
            raise InvalidInput(f"values must have {len(self._chances)} entries, one per draw.")
        return self.summary_of(drawn, confidence) if drawn.ndim == 1 else _four(drawn, confidence)

    def summary_of(self, values: Floats, confidence: float) -> Four:
        """Return mean, standard deviation, low and high of one utility's draws."""
        mean, sd, low, high = _four(values, confidence)
        return float(mean), float(sd), float(low), float(high)

    def profile_summary(self, confidence: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mean, standard deviation, low and high of each entry of the profile."""
        return _four(self.profile, confidence)

    def _weights(self, weights: ArrayLike | None) -> Floats:
        from passband.eval._tailpass import checked_weights

        size = len(self.thresholds)
        return np.full(size, 1.0 / size) if weights is None else checked_weights(weights, size)


def _four(values: Floats, confidence: float) -> tuple[Floats, Floats, Floats, Floats]:
    level = float(_checks.number("confidence", confidence))
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"confidence must be in (0,1); got {confidence}")
    low, high = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return values.mean(axis=0), values.std(axis=0, ddof=1), low, high
