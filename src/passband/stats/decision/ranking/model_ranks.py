"""Rank models by ability: Bradley-Terry, or a logit of models and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist
from typing import get_args

import numpy as np

from passband.errors import InvalidInput, nearest
from passband.notes import Note, plural
from passband.stats.checks import ROUNDING, Over, as_level, check_over, check_text
from passband.stats.data.outcomes import Outcomes, Policy, on_one_scale
from passband.stats.decision.ranking.ability_models import (
    BradleyTerry,
    ConditionalLogit,
    ModelResults,
)
from passband.stats.decision.ranking.all_pairs import (
    allow_claims,
    check_models,
    notes_on_data,
    unscored_notes,
)
from passband.stats.decision.ranking.likelihood import AbilityFit, Likelihood, fitted
from passband.stats.decision.ranking.model_matrix import rank_intervals
from passband.stats.decision.ranking.ranking import Abilities, ModelAbility, ModelPair, RankingModel
from passband.stats.decision.ranking.simultaneous import (
    Largest,
    benjamini_hochberg,
    best_confidences,
    drawn_errors,
    holm,
)
from passband.stats.interval.default.wilson import level_of, student_quantile
from passband.stats.interval.seeds import seed_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

_SINGLE_TRIALS = ("pass@1", "avg")
_ENOUGH_UNITS = 10
_FARTHEST = 6.0  # deviations; beyond, no interval here is worth being believed


def rank_models(
    models: Mapping[str, Outcomes],
    metric: str,
    *,
    model: RankingModel = "logit",
    over: Over = "problems",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
) -> Abilities:
    """Rank models by their abilities, each on whatever problems it was asked.

    Use it where models were asked different problems: `compare_all` drops every problem that one of
    them lacks, and plain averages of different problems compare the problems as much as the models.
    Use `compare_all` where all were asked the same, as accuracy is easier to explain.

    model="logit". A trial of model m on problem i succeeds with the odds exp(a_m - d_i). The
    difficulties d_i drop out of the likelihood given how many trials of the problem succeeded in
    all models together, so that they need no distribution, and problems that only strong models
    were asked do no harm. Scores must be 0 or 1, and `metric` pass@1 or avg.

    model="bradley-terry". On each problem, the model with the higher value of `metric` beats the
    other; with equal values each has half a win. i beats j with the odds exp(a_i - a_j). A model
    with more trials of a problem has finer values and so fewer ties, which counts for and against
    it alike.

    Abilities have a mean of 0 over the models. Errors come from each problem's, or cluster's, part
    in the likelihood (a sandwich), and need not believe the model: over="problems" is for problems
    like these. over="trials", for the logit only, is for these problems and believes it. Intervals
    of the pairs hold together, and adjusted p-values, ranks and `p_best` are made as in
    `compare_all`, from Student's distribution with one degree of freedom less than problems or
    clusters that tell models apart.

    A model that is ahead of the others wherever they differ has no upper bound: its value rests on
    half a success and half a failure that are added to every model, its upper end is None, and a
    note says so. A note also names models whose order differs from that of their plain averages.

    Rasch (1960); Andersen (1970), JRSS B 32, 283-301; Bradley, Terry (1952), Biometrika 39,
    324-345; Liang, Zeger (1986), Biometrika 73, 13-22.

    >>> easy, hard = [7, 8, 8, 6], [1, 0, 2, 3]
    >>> models = {
    ...     "asked all": Outcomes.from_counts(easy + hard, 8, problems="abcdefgh"),
    ...     "asked easy": Outcomes.from_counts([6, 7, 7, 5], 8, problems="abcd"),
    ... }
    >>> for one in rank_models(models, "pass@1").abilities:
    ...     print(one.rank, one.model, round(one.value, 2), round(one.plain, 2))
    1 asked all 0.51 0.55
    2 asked easy -0.51 0.78
    """
    check_models(models)
    if len(models) < 2:
        raise InvalidInput(f"there must be at least two models to rank; got {len(models)}.")
    check_over(over)
    level = as_level(level)
    check_text("metric", metric, "pass@1")
    models = on_one_scale(models)
    scored = {name: outcomes.counted(policy) for name, outcomes in models.items()}
    wanted = parse_metric(metric, max(1, *(each.most_trials() for each in scored.values())))
    _check_model(model, wanted, over)
    start = seed_of(",".join(sorted(models)) if seed is None else seed)
    assert start is not None
    answers = ModelResults.of(scored)
    table = _Table(answers, wanted, model, over, level, start)
    pairs = table.pairs()
    abilities = table.abilities(pairs)
    shown = {one.model: wanted.on_scale(models[one.model], one.plain)[0] for one in abilities}
    ranked = Abilities(
        model=model,
        metric=wanted.name,
        abilities=tuple(replace(one, plain=shown[one.model]) for one in abilities),
        pairs=pairs,
        level=level,
        over=over,
        reach=table.reach,
        n_problems=answers.n_problems,
        n_units=table.fit.units,
        policy=policy,
        seed=start,
        notes=(
            *table.notes(pairs, shown),
            *notes_on_data(scored, wanted.k, over),
            *unscored_notes(models, policy),
        ),
    )
    return ranked if allow_claims(scored, wanted.k, over) else ranked.without_claims()


def _check_model(model: str, metric: Metric, over: Over) -> None:
    if model not in get_args(RankingModel):
        known = " or ".join(repr(name) for name in get_args(RankingModel))
        raise InvalidInput(
            f"model must be {known}; got {model!r}.{nearest(str(model), get_args(RankingModel))}"
        )
    if model == "logit" and metric.name not in _SINGLE_TRIALS:
        raise InvalidInput(
            f"the logit is a model of single trials, so its metric is pass@1; got {metric.name!r}. "
            "Use model='bradley-terry' for other metrics."
        )
    if model == "bradley-terry" and over == "trials":
        raise InvalidInput(
            "Bradley-Terry counts wins by problem, which says nothing of other trials of the same "
            "problems; use over='problems', or model='logit'."
        )


def _likelihood(answers: ModelResults, metric: Metric, model: RankingModel) -> Likelihood:
    if model == "logit":
        trials = answers.trials()
        answers.require_connected(trials > 0)
        return ConditionalLogit(trials, answers.successes())
    values = answers.values(metric)
    answers.require_connected(~np.isnan(values))
    return BradleyTerry(values)


class _Table:
    """Abilities with everything that their covariance gives."""

    def __init__(
        self,
        answers: ModelResults,
        metric: Metric,
        model: RankingModel,
        over: Over,
        level: float,
        seed: int,
    ) -> None:
        self._answers, self._metric, self._level = answers, metric, level
        self.fit: AbilityFit = fitted(_likelihood(answers, metric, model), answers.unit)
        is_over_problems = over == "problems"
        self._over = over
        self._freedom = self.fit.units - 1.0 if is_over_problems else np.inf
        self._is_known = self._freedom >= 1.0 and self.fit.units > 0
        size, direction = np.linalg.eigh(self.fit.covariance(over))
        root = direction * np.sqrt(np.maximum(size, 0.0))
        count = len(answers.models)
        self._errors = drawn_errors(root, seed)
        self._largest = Largest.of(self._errors, count)
        self.reach = self._largest.reach(level)
        away = np.eye(count)[:, None, :] - np.eye(count)
        self._se = np.sqrt(self.fit.variance(away, over))
        self._deviations = self._made_deviations()

    def _made_deviations(self) -> Floats:
        """Return the normal deviation of the confidence that i is better than j, at [i, j]."""
        from passband.stats.special import ndtri, stdtr

        away = self.fit.abilities[:, None] - self.fit.abilities
        if not self._is_known:
            return np.full(away.shape, np.nan)
        known = self._se > ROUNDING
        t = np.where(known, away / np.where(known, self._se, 1.0), 0.0)
        tail = stdtr(self._freedom, -np.abs(t))
        z: Floats = np.sign(t) * np.minimum(-ndtri(np.maximum(tail, 1e-300)), _FARTHEST)
        return z

    def pairs(self) -> tuple[ModelPair, ...]:
        """Return all differences, with intervals and p-values for all of them at once."""
        quantile = student_quantile(level_of(self.reach), max(self._freedom, 1.0))
        keys = list(combinations(range(len(self._answers.models)), 2))
        if not self._is_known:
            return tuple(self._unknown_pair(key) for key in keys)
        p_values = [2.0 * NormalDist().cdf(-abs(float(self._deviations[key]))) for key in keys]
        adjusted = zip(keys, p_values, holm(p_values), benjamini_hochberg(p_values), strict=True)
        return tuple(self._pair(key, quantile, *p) for key, *p in adjusted)

    def _unknown_pair(self, key: tuple[int, int]) -> ModelPair:
        a, b = (self._answers.models[index] for index in key)
        value = float(self.fit.abilities[key[1]] - self.fit.abilities[key[0]])
        return ModelPair(a, b, value, None, None, None, None, None, None)

    def _pair(
        self, key: tuple[int, int], quantile: float, p_value: float, p_holm: float, p_bh: float
    ) -> ModelPair:
        i, j = key
        value = float(self.fit.abilities[j] - self.fit.abilities[i])
        half = quantile * float(self._se[key])
        z = float(self._deviations[j, i])
        return ModelPair(
            a=self._answers.models[i],
            b=self._answers.models[j],
            value=value,
            low=value - half if self.fit.bounded[j, i] else None,
            high=value + half if self.fit.bounded[i, j] else None,
            se=float(self._se[key]) or None,
            p_value=p_value,
            p_holm=p_holm,
            p_bh=p_bh,
            p_adjusted=self._largest.p_value(abs(z)),
            confidence=NormalDist().cdf(z),
        )

    def abilities(self, pairs: tuple[ModelPair, ...]) -> tuple[ModelAbility, ...]:
        """Return abilities, best first, around the mean of the models the data bound."""
        count = len(self._answers.models)
        best: list[float] | list[None] = [None] * count
        if self._is_known:
            best = best_confidences(self._deviations, self._errors).tolist()
        ranks = rank_intervals(self._answers.models, pairs)
        abilities = [
            self._ability(index, *ranks[name], best[index])
            for index, name in enumerate(self._answers.models)
        ]
        return tuple(sorted(abilities, key=lambda ability: ability.rank))

    def _ability(
        self, index: int, rank_low: int, rank_high: int, p_best: float | None
    ) -> ModelAbility:
        group = self.fit.reference()
        weights = np.where(group, -1.0 / group.sum(), 0.0)
        weights[index] += 1.0
        value = float(weights @ self.fit.abilities)
        se = float(np.sqrt(self.fit.variance(weights, self._over)))
        half = se * student_quantile(self._level, max(self._freedom, 1.0))
        above = int((self.fit.abilities > self.fit.abilities[index] + 1e-9).sum())
        return ModelAbility(
            model=self._answers.models[index],
            value=value,
            low=value - half if self._is_known and self.fit.bounded[index, group].all() else None,
            high=value + half if self._is_known and self.fit.bounded[group, index].all() else None,
            se=(se or None) if self._is_known else None,
            rank=1 + above,
            rank_low=rank_low,
            rank_high=rank_high,
            p_best=p_best,
            plain=self._metric.value(self._answers.sides[index]),
            n_problems=self._counted(index),
        )

    def _counted(self, index: int) -> int:
        return int((self._answers.sides[index].trials >= max(self._metric.k, 1)).sum())

    def notes(self, pairs: tuple[ModelPair, ...], shown: Mapping[str, float]) -> tuple[Note, ...]:
        """Return notes on abilities without a bound, and on an order that plain averages turn."""
        notes: list[Note] = []
        if not self._is_known:
            notes.append(few_to_tell(self.fit.units))
        elif self.fit.units < _ENOUGH_UNITS and self._freedom < np.inf:
            notes.append(few_telling(self.fit.units))
        if self.fit.is_separated and self.fit.units:
            group = self.fit.reference()
            names = np.array(self._answers.models, dtype=object)
            above = names[~self.fit.bounded[group].all(axis=0)].tolist()
            below = names[~self.fit.bounded[:, group].all(axis=1)].tolist()
            notes.append(unbounded_abilities(above, below))
        return (*notes, *self._turned(pairs, shown))

    def _turned(self, pairs: tuple[ModelPair, ...], shown: Mapping[str, float]) -> tuple[Note, ...]:
        """Return a note on the pair of models furthest apart whose plain averages contradict it."""
        plain = {
            name: self._metric.value(side)
            for name, side in zip(self._answers.models, self._answers.sides, strict=True)
        }
        turned = [
            pair if pair.value > 0.0 else pair.turned()
            for pair in pairs
            if (plain[pair.b] - plain[pair.a]) * pair.value < 0.0
            and pair.p_adjusted is not None
            and pair.p_adjusted <= 1.0 - self._level
        ]
        if not turned:
            return ()
        most = max(turned, key=lambda pair: pair.value)
        rows = [self._answers.rows[self._answers.models.index(n)] for n in (most.a, most.b)]
        note = order_differs(
            self._metric.name,
            (most.b, most.a),
            most.value,
            (shown[most.b], shown[most.a]),
            len(turned) - 1,
            same_problems=np.array_equal(np.sort(rows[0]), np.sort(rows[1])),
        )
        return (note,)


def few_to_tell(units: int) -> Note:
    """Return the note on abilities that have no interval."""
    where = "no problem" if units == 0 else "a single problem or cluster"
    return Note(
        "no-interval-abilities",
        f"no interval: models differ on {where}, which does not show how abilities vary over "
        "problems",
    )


def few_telling(units: int) -> Note:
    """Return the note on abilities that rest on a handful of problems or clusters."""
    return Note(
        "few-telling",
        f"models differ on {units} problems or clusters only: the intervals of their abilities are "
        "rough",
    )


def unbounded_abilities(above: Sequence[str], below: Sequence[str]) -> Note:
    """Return the note on models that are ahead of others, or behind them, wherever they differ.

    >>> print(unbounded_abilities(["x"], []))  # doctest: +ELLIPSIS
    the data give no upper bound for the ability of x: ...
    """
    sides = [
        f"no {side} bound for the ability of {', '.join(models)}"
        for side, models in (("upper", above), ("lower", below))
        if models
    ]
    return Note(
        "unbounded-ability",
        f"the data give {' and '.join(sides)}: wherever trials tell such a model from others, they "
        "tell the same; its value rests on half a success and half a failure added to each model",
    )


def order_differs(
    metric: str,
    models: tuple[str, str],
    ability: float,
    plain: tuple[float, float],
    others: int,
    *,
    same_problems: bool,
) -> Note:
    """Return the note on two models whose abilities are in another order than their averages.

    >>> note = order_differs("pass@1", ("x", "y"), 0.5, (0.4, 0.6), 0, same_problems=True)
    >>> print(note.text[:79])
    x is better than y by 0.5 in ability, though its pass@1 is lower (0.4 against 0
    """
    reason = (
        "the model weighs problems otherwise" if same_problems else "it was asked other problems"
    )
    more = f"; {plural(others, 'other pair')} likewise" if others else ""
    return Note(
        "order-differs",
        f"{models[0]} is better than {models[1]} by {ability:.3g} in ability, though its {metric} "
        f"is lower ({plain[0]:.3g} against {plain[1]:.3g}): {reason}{more}",
    )
