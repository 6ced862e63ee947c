"""Two models of ability: Bradley-Terry, and a conditional logit of models and problems.

Bradley-Terry: the odds that one model does better on a problem than another.

Conditional logit: a trial of model m on problem i succeeds with probability 1 / (1 + exp(d_i -
a_m)). There are as many difficulties d_i as problems, and with a few models little to fit each by:
fitted like the abilities, they make differences of abilities too large, by a factor of two for two
models with a trial each. Given the number t_i of successes of all models together, the difficulty
drops out (Rasch's conditional likelihood), whatever its distribution, and whatever problems each
model was asked:

    P(c_i | t_i) = prod_m C(n_im, c_im) exp(a_m c_im) / [x^t_i] prod_m (1 + x exp(a_m))^n_im

The coefficient, and with it the mean and the covariance of c_i given t_i, is a Fourier sum over the
characteristic function, tilted so that t_i is about its mean; it is exact to rounding.
Andersen (1970), JRSS B 32, 283-301.

`ModelResults` are the results that they are fitted to: of every model, on every problem of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.ranking.likelihood import LikelihoodTerms
from passband.stats.metric.metric import Metric
from passband.types import Bools, Floats, Ints

_BLOCK = 1 << 21  # entries of a table of problems and pairs


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Wins problem by problem: a higher value beats a lower one, and equal ones have half a win.

    The model says that i beats j with probability 1 / (1 + exp(a_j - a_i)). With half a win for a
    tie the abilities solve "wins as expected" for every model, whatever makes ties; no parameter
    for ties is needed, and none of their likelihood is used.
    Bradley, Terry (1952), Biometrika 39, 324-345.
    """

    values: Floats  # (problems, models), NaN where a model has none

    @property
    def overlap(self) -> float:
        """Factor by which ties and m models overcount comparisons; m - 1 are independent."""
        return float(self.values.shape[1]) / 2.0 * self._decided

    @cached_property
    def _decided(self) -> float:
        """The share of comparisons that are no ties."""
        ties = sum(float((self._won(start) == 0.5).sum()) for start in self._starts)
        games = float(self.wins.sum())
        return 1.0 - ties / 2.0 / games if games else 1.0

    @cached_property
    def wins(self) -> Floats:
        """Wins of i over j: (models, models)."""
        total = np.zeros((self.values.shape[1],) * 2)
        for start in self._starts:
            total += self._won(start).sum(axis=0)
        return total

    @property
    def _starts(self) -> range:
        return range(0, len(self.values), self._step)

    @property
    def _step(self) -> int:
        return max(1, _BLOCK // int(self.values.shape[1]) ** 2)

    def _won(self, start: int) -> Floats:
        """Return the wins of i over j on a block of problems: (problems, models, models)."""
        block = self.values[start : start + self._step]
        ahead = np.sign(block[:, :, None] - block[:, None, :])
        won: Floats = np.where(np.isnan(ahead), 0.0, (1.0 + ahead) / 2.0)
        won *= 1.0 - np.eye(won.shape[1])
        return won

    def thinned(self) -> None:
        """Return None: no start is needed, as only the wins of each pair count."""

    def won(self) -> Bools:
        return self.wins > 0.0

    def terms(self, abilities: Floats) -> LikelihoodTerms:
        away = abilities[:, None] - abilities[None, :]
        games = self.wins + self.wins.T
        p = 1.0 / (1.0 + np.exp(-away))
        weight = games * p * (1.0 - p)
        value = -float((self.wins * np.logaddexp(0.0, -away)).sum())
        gradient = (self.wins - games * p).sum(axis=1)
        return LikelihoodTerms(value, gradient, np.diag(weight.sum(axis=1)) - weight)

    def scores(self, abilities: Floats) -> Floats:
        p = 1.0 / (1.0 + np.exp(abilities[None, :] - abilities[:, None]))
        parts = []
        for start in self._starts:
            won = self._won(start)
            games = won + np.swapaxes(won, 1, 2)
            parts.append((won - games * p).sum(axis=2))
        return np.concatenate(parts)


_CELLS = 1 << 18  # entries of a table of problems, angles and models
_FEW = 1_000  # kinds of problems that make a good start
_TILTS = 12  # halvings: a tilt only keeps numbers in scale


@dataclass(frozen=True, eq=False)
class ConditionalLogit:
    """Successes of several models on several problems."""

    trials: Ints  # (problems, models), 0 where a model was not asked
    successes: Ints

    overlap = 1.0

    def won(self) -> Bools:
        """Return whether i succeeded on a problem on which j failed."""
        succeeded = (self.successes > 0).astype(np.float64)
        failed = (self.successes < self.trials).astype(np.float64)
        won: Bools = succeeded.T @ failed > 0.0
        return won

    @cached_property
    def _kinds(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Distinct rows of trials, their totals, how often each occurs, and each problem's."""
        rows = np.column_stack([self.trials, self.successes.sum(axis=1)])
        kinds, kind, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        return kinds[:, :-1], kinds[:, -1], count, kind.reshape(-1)

    def thinned(self) -> ConditionalLogit | None:
        """Return an even sample of the problems, to start from; None where there are few."""
        step = len(self._kinds[0]) // _FEW
        return ConditionalLogit(self.trials[::step], self.successes[::step]) if step > 1 else None

    def terms(self, abilities: Floats) -> LikelihoodTerms:
        trials, totals, count, kind = self._kinds
        tells = _tells(trials, totals)[kind]
        gradient = self.successes[tells].sum(axis=0).astype(np.float64)
        value = float(abilities @ gradient)
        information = np.zeros((len(abilities),) * 2)
        for block in _blocks(trials, totals):
            conditional = _Given.of(trials[block], totals[block], abilities)
            weight = count[block].astype(np.float64)
            value -= float(weight @ conditional.log_coefficient)
            gradient -= weight @ conditional.mean
            information += conditional.covariance(weight)
        return LikelihoodTerms(value, gradient, information)

    def scores(self, abilities: Floats) -> Floats:
        trials, totals, _, kind = self._kinds
        mean = np.zeros(trials.shape)
        for block in _blocks(trials, totals):
            mean[block] = _Given.of(trials[block], totals[block], abilities).mean
        tells = _tells(trials, totals)[kind]
        scores: Floats = np.where(tells[:, None], self.successes - mean[kind], 0.0)
        return scores


def _tells(trials: Ints, totals: Ints) -> Bools:
    """Return the informative rows: two or more models asked, trials not all alike."""
    several: Bools = (trials > 0).sum(axis=1) > 1
    return np.asarray(several & (totals > 0) & (totals < trials.sum(axis=1)))


def _blocks(trials: Ints, totals: Ints) -> Iterator[Ints]:
    """Return informative rows in blocks of similar numbers of trials."""
    (rows,) = np.nonzero(_tells(trials, totals))
    whole = trials.sum(axis=1)
    rows = rows[np.argsort(whole[rows], kind="stable")]
    start = 0
    while start < len(rows):
        size = max(1, _CELLS // (trials.shape[1] * _angles(int(whole[rows[start]]))))
        yield rows[start : start + size]
        start += size


def _angles(trials: int) -> int:
    """Return the number of Fourier angles for that many trials, one sign only."""
    most = min(trials + 1.0, 4.0 * trials**0.5 + 12.0)  # eight standard deviations at the least
    return int(most / 2.0) + 1


@dataclass(frozen=True, eq=False)
class _Given:
    """Successes of each model given their total, row by row."""

    trials: Ints  # (rows, models)
    log_coefficient: Floats  # (rows,) of the total in the product of (1 + x exp(a))^n
    mean: Floats  # (rows, models)
    weight: Floats  # (rows, angles) complex
    share: Floats  # (rows, angles, models) complex

    @staticmethod
    def of(trials: Ints, totals: Ints, abilities: Floats) -> _Given:
        half = _angles(int(trials.sum(axis=1).max())) - 1
        angle = 2.0 * np.pi * np.arange(half + 1) / (2 * half + 1)  # an odd number: never pi
        turn = np.exp(1j * angle)[None, :, None]
        tilt = _tilts(trials, totals, abilities)
        p = 1.0 / (1.0 + np.exp(tilt[:, None] - abilities))
        factor = (1.0 - p)[:, None, :] + p[:, None, :] * turn
        power = (trials[:, None, :] * np.log(factor)).sum(axis=2)
        term = np.exp(power - 1j * angle * totals[:, None])
        term[:, 1:] *= 2.0  # the angles of the other sign
        chance = term.real.sum(axis=1)
        share = p[:, None, :] * turn / factor
        weight = term / chance[:, None]
        mean = trials * np.einsum("ra,ram->rm", weight, share).real
        base = (trials * np.logaddexp(0.0, abilities - tilt[:, None])).sum(axis=1)
        logs = base + totals * tilt + np.log(chance / (2 * half + 1))
        return _Given(trials, logs, mean, weight, share)

    def covariance(self, count: Floats) -> Floats:
        """Return the covariance of the successes, added up over the rows."""
        share = self.share * self.trials[:, None, :]
        weight = self.weight * count[:, None]
        models = share.shape[2]
        flat = share.reshape(-1, models)
        joint = ((flat * weight.reshape(-1, 1)).T @ flat).real
        own = np.einsum("ra,ram,ram->m", weight, share, 1.0 - self.share).real
        covariance: Floats = joint + np.diag(own) - (self.mean * count[:, None]).T @ self.mean
        return covariance


def _tilts(trials: Ints, totals: Ints, abilities: Floats) -> Floats:
    """Return about the difficulty at which the expected total is the observed one."""
    odds = np.log(totals / (trials.sum(axis=1) - totals))
    asked = trials > 0
    low = np.where(asked, abilities, np.inf).min(axis=1) - odds
    high = np.where(asked, abilities, -np.inf).max(axis=1) - odds
    for _ in range(_TILTS):
        middle = (low + high) / 2.0
        expected = (trials / (1.0 + np.exp(middle[:, None] - abilities))).sum(axis=1)
        low = np.where(expected > totals, middle, low)
        high = np.where(expected > totals, high, middle)
    tilt: Floats = (low + high) / 2.0
    return tilt


@dataclass(frozen=True, eq=False)
class ModelResults:
    """All models on all problems; a model may have been asked some of them only."""

    models: tuple[str, ...]
    sides: tuple[Outcomes, ...]
    rows: tuple[Ints, ...]  # for each model, the rows of its problems
    unit: Ints  # for each problem, its cluster by number, or its own number

    @staticmethod
    def of(models: Mapping[str, Outcomes]) -> ModelResults:
        """Collect the problems of all models, in the order in which they first occur."""
        names = [side.problems[:] for side in models.values()]
        if all(one == names[0] for one in names[1:]):
            rows: list[Ints] = [np.arange(len(names[0]))] * len(names)
        else:
            place: dict[str, int] = {}
            rows = [np.array([place.setdefault(n, len(place)) for n in one]) for one in names]
        unit = _units(models, rows, 1 + max(int(row.max()) for row in rows))
        return ModelResults(tuple(models), tuple(models.values()), tuple(rows), unit)

    @property
    def n_problems(self) -> int:
        return len(self.unit)

    def _spread(self, columns: list[Ints]) -> Ints:
        """Return a column for each model, with 0 where it was not asked."""
        table = np.zeros((self.n_problems, len(self.models)), dtype=np.int64)
        for model, (row, column) in enumerate(zip(self.rows, columns, strict=True)):
            table[row, model] = column
        return table

    def trials(self) -> Ints:
        """Return the number of trials: (problems, models)."""
        return self._spread([side.trials for side in self.sides])

    def successes(self) -> Ints:
        """Return the number of successes: (problems, models)."""
        return self._spread([side.required_successes() for side in self.sides])

    def values(self, metric: Metric) -> Floats:
        """Return a metric by problem, NaN where a model lacks the trials: (problems, models)."""
        if not metric.is_mean:
            raise InvalidInput(
                f"{metric.name} blends averages over all problems, so that no problem has a value "
                "to be compared; choose a metric such as pass@1."
            )
        table = np.full((self.n_problems, len(self.models)), np.nan)
        for model, (row, side) in enumerate(zip(self.rows, self.sides, strict=True)):
            side.require(metric.k)
            enough = side.trials >= max(metric.k, 1)
            table[row[enough], model] = metric.by_problem(side)[:, 0]
        return table

    def require_connected(self, has_trials: Bools) -> None:
        """Refuse models that share no problem, not even through others."""
        shared = (has_trials.T.astype(np.float64) @ has_trials) > 0.0
        linked = shared[0]
        for _ in self.models:
            linked = shared[linked].any(axis=0)
        if not linked.all():
            apart = self.models[int(np.flatnonzero(~linked)[0])]
            raise InvalidInput(
                f"{self.models[0]!r} and {apart!r} were asked no problem in common, neither "
                "directly nor through other models, so nothing relates their abilities; leave one "
                "out, or use compare with paired=False."
            )


def _units(models: Mapping[str, Outcomes], rows: list[Ints], problems: int) -> Ints:
    """Return the cluster of each problem by number; a problem without one is its own."""
    if not any(side.is_clustered for side in models.values()):
        return np.arange(problems)
    label: dict[int, str] = {}
    for (model, side), row in zip(models.items(), rows, strict=True):
        if side.clusters is None:
            continue
        for name, place, cluster in zip(side.problems, row.tolist(), side.clusters, strict=True):
            if label.setdefault(place, cluster) != cluster:
                raise InvalidInput(
                    "the models must put the same problems into the same clusters; problem "
                    f"{name!r} is in {label[place]!r}, and in {cluster!r} for {model!r}."
                )
    number: dict[tuple[str, ...] | int, int] = {}
    keys = ((label[p],) if p in label else p for p in range(problems))
    return np.array([number.setdefault(key, len(number)) for key in keys])
