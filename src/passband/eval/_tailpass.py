"""Tail profiles: the probability that k attempts reach each average score.

A profile has an entry per threshold: P(mean score of k attempts >= threshold), averaged over the
problems. At thresholds 1/k, ..., 1 of scores 0 and 1 it goes from pass@k to pass^k.

Reference: Hariri et al. (2026), Success Has a Shape: TailPass@k for Repeated Sampling Evaluation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from passband.errors import InvalidInput
from passband.eval import _checks
from passband.eval._banks import (
    MOST_BANKS,
    bank_counts,
    bank_scores,
    drawn_probabilities,
    joint_probabilities,
    posterior_probabilities,
    power_payoff,
)
from passband.eval._checks import Four, Two
from passband.eval._tailpass_draws import TailPassDraws, profile_of
from passband.types import ArrayLike, Floats, Ints

Method = Literal["mc", "normal"]
Arrays = tuple[Floats, Floats, Floats, Floats]
_CLOSED_POWERS = (1.0, 2.0, 3.0, 4.0)


def tailpass(
    R: ArrayLike,
    k: int,
    w: ArrayLike | None = None,
    R0: ArrayLike | None = None,
    *,
    eta: float = 1.0,
    prior: ArrayLike = 1.0,
    thresholds: ArrayLike | None = None,
) -> TailPassProfile:
    """Return the posterior of the probabilities to reach each average score in k attempts.

    Each problem has a Dirichlet prior, `prior`, over its categories (a number, a vector, or a row
    per problem); the outcomes R count for it, and those of R0 with weight `eta`. `w` are the
    scores of the categories, within [0, 1]. Thresholds are 1/k, ..., 1 unless they are given. k may
    exceed the trials. As with any prior on every single problem, it decides where trials are few
    (docs/known-errors.md).

    >>> profile = tailpass([[0, 1, 1], [1, 1, 1]], 4)
    >>> profile.mean.round(4).tolist(), profile.std.round(4).tolist()
    ([0.9571, 0.8429, 0.6429, 0.3571], [0.061, 0.1348, 0.1862, 0.1791])
    """
    k = _checks.draws(k)
    grid = _thresholds(k, thresholds)
    _, rewards = _checks.categories(R, w, R0)
    _check_rewards(rewards)
    share = float(_checks.unit("eta", eta))
    counts = _by_problem("R", R, len(rewards))
    earlier = np.zeros(counts.shape) if R0 is None else _earlier(R0, counts)
    with np.errstate(over="ignore"):
        alpha = _prior(prior, counts.shape) + counts + share * earlier
        finite = np.isfinite(alpha.sum(axis=1)).all()
    if not finite:
        raise InvalidInput("prior must be smaller: the posterior concentrations are not finite.")
    scores, merged = _merged(rewards, alpha)
    return TailPassProfile(k, grid, _fixed(merged), _fixed(scores))


def tailpass_empirical(
    R: ArrayLike, k: int, w: ArrayLike | None = None, *, thresholds: ArrayLike | None = None
) -> Floats:
    """Return the probabilities to reach each average score in k of the recorded trials.

    No prior: k trials of each problem are drawn without replacement, so k is at most their number.
    The first and last entry of a matrix of 0 and 1 are pass@k and pass^k.

    >>> tailpass_empirical([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2).round(6).tolist()
    [0.95, 0.45]
    """
    _, rewards = _checks.categories(R, w, prior=False)
    counts = _by_problem("R", R, len(rewards))
    k = _checks.draws(k, counts.sum(axis=1))
    grid = _thresholds(k, thresholds)
    _check_rewards(rewards)
    scores, recorded = _merged(rewards, counts)
    banks = bank_counts(k, len(scores))
    reached = (bank_scores(banks, scores, k)[:, None] >= grid).astype(np.float64)
    rows, problems = np.unique(recorded.astype(np.int64), axis=0, return_counts=True)
    profiles = np.stack([drawn_probabilities(banks, row) @ reached for row in rows])
    return _fixed(np.minimum(problems @ profiles / len(recorded), 1.0))


@dataclass(frozen=True, eq=False)
class TailPassProfile:
    """The posterior of a tail profile, made by `tailpass`.

    `mean` and `std` have an entry per threshold, `covariance` is between them, and `question_mean`
    has a row per problem. A utility is a pair of its posterior mean and standard deviation.
    """

    k: int
    thresholds: Floats
    _alpha: Floats = field(repr=False)  # (problems, distinct scores)
    _scores: Floats = field(repr=False)

    @property
    def question_count(self) -> int:
        return len(self._alpha)

    @cached_property
    def _kinds(self) -> tuple[Floats, Ints, Ints]:
        """The distinct posteriors, which one each problem has, and how many have each."""
        return np.unique(self._alpha, axis=0, return_inverse=True, return_counts=True)

    @cached_property
    def _banks(self) -> tuple[Ints, Floats]:
        counts = bank_counts(self.k, len(self._scores))
        return counts, bank_scores(counts, self._scores, self.k)

    @cached_property
    def question_mean(self) -> Floats:
        """The posterior mean profile of each problem: (problems, thresholds)."""
        counts, scores = self._banks
        kinds, which, _ = self._kinds
        means = [
            profile_of(posterior_probabilities(counts, alpha), scores, self.thresholds)
            for alpha in kinds
        ]
        return _fixed(np.stack(means)[which.ravel()])

    @cached_property
    def mean(self) -> Floats:
        return _fixed(self.question_mean.mean(axis=0))

    @cached_property
    def covariance(self) -> Floats:
        """The posterior covariance of the profile's entries; problems are independent."""
        counts, scores = self._banks
        reached = (scores[:, None] >= self.thresholds).astype(np.float64)
        return _fixed(self._covariance(counts, reached))

    @cached_property
    def std(self) -> Floats:
        return _fixed(np.sqrt(np.diag(self.covariance)))

    def linear(self, weights: ArrayLike) -> Two:
        """Return a convex combination of the profile's entries."""
        counts, scores = self._banks
        gained = np.r_[0.0, np.cumsum(checked_weights(weights, len(self.thresholds)))]
        return self._of(counts, gained[np.searchsorted(self.thresholds, scores, side="right")])

    def moment(self, lam: float) -> Two:
        """Return the expected power `lam` of the mean score of k attempts, whatever the thresholds.

        A power of 1 is the mean score; larger ones value high scores more. Powers 1, 2, 3 and 4
        take any k.
        """
        power = _checks.prior("lam", lam)
        if power in _CLOSED_POWERS:
            return self._of(*power_payoff(self._scores, self.k, int(power)))
        counts, scores = self._banks
        return self._of(counts, scores**power)

    def discovery(self) -> Two:
        """Return the probability that any attempt scores above 0."""
        mean, sd = self._all_in(self._scores == 0.0)
        return 1.0 - mean, sd

    def stability(self) -> Two:
        """Return the probability that every attempt scores 1."""
        return self._all_in(self._scores == 1.0)

    def at_k(self, k: int, *, thresholds: ArrayLike | None = None) -> TailPassProfile:
        """Return the profile of another number of attempts under the same posterior."""
        k = _checks.draws(k)
        return TailPassProfile(k, _thresholds(k, thresholds), self._alpha, self._scores)

    def sample(
        self, n_draws: int = 4000, *, rng: int | np.random.Generator | None = None
    ) -> TailPassDraws:
        """Draw category probabilities of every problem, for utilities without closed moments."""
        number = _checks.several("n_draws", n_draws)
        generator = np.random.default_rng(rng)
        chances = np.ones((number, *self._alpha.shape))
        if len(self._scores) > 1:
            for problem, alpha in enumerate(self._alpha):
                chances[:, problem] = generator.dirichlet(alpha, size=number)
        return TailPassDraws(self.k, self.thresholds, self._scores, _fixed(chances))

    def ci(
        self,
        confidence: float = 0.95,
        *,
        method: Method = "mc",
        n_draws: int = 4000,
        rng: int | np.random.Generator | None = None,
    ) -> Arrays:
        """Return mean, standard deviation, low and high of each entry of the profile.

        "mc" takes all four from draws, "normal" from the exact moments, cut to [0, 1].
        """
        if _by_draws(method):
            return self.sample(n_draws, rng=rng).profile_summary(confidence)
        pairs = zip(self.mean.tolist(), self.std.tolist(), strict=True)
        fours = [_checks.interval(mean, sd, confidence, (0.0, 1.0)) for mean, sd in pairs]
        mean, sd, low, high = (np.array(column) for column in zip(*fours, strict=True))
        return mean, sd, low, high

    def linear_ci(
        self,
        weights: ArrayLike,
        confidence: float = 0.95,
        *,
        method: Method = "mc",
        n_draws: int = 4000,
        rng: int | np.random.Generator | None = None,
    ) -> Four:
        """Return mean, standard deviation, low and high of `linear`."""
        if not _by_draws(method):
            return _checks.interval(*self.linear(weights), confidence, (0.0, 1.0))
        draws = self.sample(n_draws, rng=rng)
        return draws.summary_of(draws.linear(weights), confidence)

    def moment_ci(
        self,
        lam: float,
        confidence: float = 0.95,
        *,
        method: Method = "mc",
        n_draws: int = 4000,
        rng: int | np.random.Generator | None = None,
    ) -> Four:
        """Return mean, standard deviation, low and high of `moment`."""
        if not _by_draws(method):
            return _checks.interval(*self.moment(lam), confidence, (0.0, 1.0))
        draws = self.sample(n_draws, rng=rng)
        return draws.summary_of(draws.moment(lam), confidence)

    def _of(self, counts: Ints, payoff: Floats) -> Two:
        """Return mean and standard deviation of a payoff on banks."""
        kinds, _, problems = self._kinds
        means = [float(posterior_probabilities(counts, alpha) @ payoff) for alpha in kinds]
        variance = float(self._covariance(counts, payoff[:, None])[0, 0])
        return float(problems @ np.array(means)) / self.question_count, math.sqrt(variance)

    def _covariance(self, counts: Ints, payoffs: Floats) -> Floats:
        kinds, _, problems = self._kinds
        total = np.zeros((payoffs.shape[1],) * 2)
        for alpha, number in zip(kinds, problems.tolist(), strict=True):
            away = payoffs - posterior_probabilities(counts, alpha) @ payoffs
            total += number * (away.T @ joint_probabilities(counts, alpha) @ away)
        total /= self.question_count**2
        np.fill_diagonal(total, np.maximum(np.diag(total), 0.0))
        return total

    def _all_in(self, chosen: Any) -> Two:
        """Return the probability that all k attempts fall into some categories."""
        if not chosen.any() or chosen.all():
            return float(chosen.all()), 0.0
        inside = self._alpha[:, chosen].sum(axis=1)
        whole = self._alpha.sum(axis=1)
        first, second = (_rise(inside, whole, number * self.k) for number in (1, 2))
        variance = float(np.maximum(second - first**2, 0.0).sum()) / self.question_count**2
        return float(first.mean()), math.sqrt(variance)


def checked_weights(weights: ArrayLike, size: int) -> Floats:
    """Check that weights are convex, one per threshold."""
    values = _checks.vector("weights", weights)
    if len(values) != size:
        raise InvalidInput(
            f"weights must have {size} entries, one per threshold; got {len(values)}."
        )
    if (values < 0.0).any() or abs(float(values.sum()) - 1.0) > 1e-12:
        raise InvalidInput("weights must be non-negative and add up to 1.")
    return values


def _rise(inside: Floats, whole: Floats, draws: int) -> Floats:
    """Return the probability that all of some draws fall inside, under each posterior."""
    from passband.stats.special import gammaln

    logs = gammaln(inside + draws) - gammaln(inside) - gammaln(whole + draws) + gammaln(whole)
    return np.asarray(np.exp(logs), dtype=np.float64)


def _by_draws(method: str) -> bool:
    if method not in ("mc", "normal"):
        raise InvalidInput(f"method must be 'mc' or 'normal'; got {method!r}.")
    return method == "mc"


# -- arguments -------------------------------------------------------------------------------------


def _thresholds(k: int, thresholds: ArrayLike | None) -> Floats:
    if thresholds is None:
        if k > MOST_BANKS:
            raise InvalidInput(f"k={k} has too many thresholds; give thresholds.")
        return _fixed(np.arange(1, k + 1) / k)
    values = _checks.vector("thresholds", thresholds)
    if (values < 0.0).any() or (values > 1.0).any() or (np.diff(values) <= 0.0).any():
        raise InvalidInput("thresholds must increase and lie in [0, 1].")
    return _fixed(values)


def _check_rewards(rewards: Floats) -> None:
    if (rewards < 0.0).any() or (rewards > 1.0).any():
        raise InvalidInput("w must lie in [0, 1] for tail profiles.")


def _by_problem(name: str, given: Any, categories: int) -> Ints:
    """Count the categories of each problem."""
    values, present = _checks.matrix(name, given, may_be_empty=True)
    whole = values.astype(np.int64)
    seen = np.ones(whole.shape, bool) if present is None else present
    counts = [((whole == category) & seen).sum(axis=1) for category in range(categories)]
    return np.stack(counts, axis=1)


def _earlier(R0: Any, counts: Ints) -> Ints:
    """Count the categories of earlier outcomes; a vector is read problem by problem."""
    if np.ndim(R0) == 1:
        R0 = np.ma.asarray(R0).reshape(len(counts), -1)
    return _by_problem("R0", R0, counts.shape[1])


def _prior(prior: Any, shape: tuple[int, ...]) -> Floats:
    try:
        values = np.broadcast_to(np.asarray(prior, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"prior must be a number, {shape[1]} numbers, or {shape[0]} x {shape[1]} of them."
        ) from None
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise InvalidInput("prior must contain finite concentrations above 0.")
    return values


def _merged(rewards: Floats, columns: Any) -> tuple[Floats, Floats]:
    """Return the distinct scores, and the columns of equal score added up."""
    scores, place = np.unique(rewards, return_inverse=True)
    merged = np.zeros((len(columns), len(scores)))
    for category, group in enumerate(place.ravel().tolist()):
        merged[:, group] += columns[:, category]
    return scores, merged


def _fixed(values: Any) -> Floats:
    fixed = np.array(values, dtype=np.float64)
    fixed.setflags(write=False)
    return fixed
