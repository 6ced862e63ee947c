"""Compare every model with every other on the problems that all of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, WrongType
from passband.notes import Note, of_side
from passband.stats.checks import (
    Over,
    as_level,
    as_whole,
    check_over,
    check_text,
)
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes, on_one_scale, treatment
from passband.stats.data.values import FrozenDict
from passband.stats.decision.ranking.model_matrix import ModelMatrix
from passband.stats.decision.ranking.ranking import Ranking
from passband.stats.evidence.collect import data_notes, evidence_of
from passband.stats.interval.seeds import seed_of
from passband.stats.metric.registry import measured_on, parse_metric
from passband.types import Ints


def compare_all(
    models: Mapping[str, Outcomes],
    metric: str,
    *,
    over: Over = "problems",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
    family: int = 1,
) -> Ranking:
    """Compare every model with every other on the problems that all of them have.

    Use it instead of many calls of `compare`, where of twenty true nulls one comes out as a
    finding. For two models it gives the numbers of `compare`. Use `compare` against a baseline that
    was fixed beforehand and is the only comparison.

    Intervals are those of `compare` at a higher level: its normal quantile is the quantile of the
    largest of all standardised differences, drawn from the normal distribution with the covariance
    of the models' values over problems (or clusters), in 20 000 draws. They hold for all pairs at
    once. `p_adjusted` is of the same statistic: the chance that the largest difference of alike
    models goes as far as the level at which this pair's interval touches 0. It is at most
    1 - `level` exactly where the interval leaves out 0. A rank interval counts those pairs, and so
    holds for all models together too. `p_holm` and `p_bh` adjust the tests of `compare` after Holm
    and after Benjamini and Hochberg; they may disagree with the intervals as those tests may.

    `p_best` is a confidence, as the interval is, and has no prior. It is drawn such that each pair
    comes out as often as the confidence of `compare` says, with the correlations of the models'
    values, and never exceeds the smallest confidence of the model against another. For two models
    it is that confidence. It adds up to 1 unless the pairs contradict each other, which a note
    says. The seed, if none is given, comes from the names of the models.

    `family` is the number of rankings that are made, by other metrics or on other tasks: intervals
    and `p_adjusted` allow for it after Bonferroni, and so hold in all of them together.

    Hothorn, Bretz, Westfall (2008), Biometrical Journal 50, 346-363; Holm (1979), Scandinavian
    Journal of Statistics 6, 65-70; Benjamini, Hochberg (1995), JRSS B 57, 289-300.

    >>> from passband import Outcomes
    >>> counts = {"small": [1, 2, 0, 4], "medium": [4, 5, 2, 7], "large": [5, 5, 3, 7]}
    >>> models = {name: Outcomes.from_counts(c * 10, 8) for name, c in counts.items()}
    >>> for one in compare_all(models, "pass@1").standings:
    ...     print(one.rank, one.model, round(one.value, 3), (one.rank_low, one.rank_high))
    1 large 0.625 (1, 1)
    2 medium 0.562 (2, 2)
    3 small 0.219 (3, 3)
    """
    check_models(models)
    if len(models) < 2:
        raise InvalidInput(f"there must be at least two models to compare; got {len(models)}.")
    check_over(over)
    level = as_level(level)
    check_text("metric", metric, "pass@1")
    models = on_one_scale({name: measured_on(one, metric) for name, one in models.items()})
    scored = {name: outcomes.counted(policy) for name, outcomes in models.items()}
    wanted = parse_metric(metric, max(1, min(each.most_trials() for each in scored.values())))
    shared, sides = _shared(scored, wanted.k)
    start = seed_of(",".join(sorted(models)) if seed is None else seed)
    assert start is not None
    all_models = ModelMatrix(sides, wanted, over, level, start, as_whole("family", family))
    pairs = all_models.pairs()
    ranking = Ranking(
        metric=wanted.name,
        standings=all_models.standings(pairs),
        pairs=pairs,
        level=level,
        over=over,
        reach=all_models.reach,
        n_problems=all_models.n_problems,
        n_shared=shared,
        dropped=FrozenDict(
            {name: m.n_problems - all_models.n_problems for name, m in models.items()}
        ),
        policy=policy,
        seed=start,
        family=family,
        notes=(
            *all_models.notes(),
            *notes_on_data(scored, wanted.k, over),
            *unscored_notes(models, policy),
        ),
    )
    if not allow_claims(scored, wanted.k, over):
        ranking = ranking.without_claims()
    first = next(iter(models.values()))
    if not (wanted.is_score and first.scale.lower_is_better):
        return ranking
    return ranking.mirrored(lambda value: wanted.on_scale(first, value)[0])


def check_models(models: object) -> None:
    if not isinstance(models, Mapping):
        raise WrongType(f"models must map names to Outcomes; got {type(models).__name__}.")
    for name, outcomes in models.items():
        check_text("the name of a model", name, "base")
        check_outcomes(f"models[{name!r}]", outcomes)


def unscored_notes(models: Mapping[str, Outcomes], policy: Policy) -> tuple[Note, ...]:
    unscored = {name: m.n_unscored for name, m in models.items() if m.n_unscored}
    return (unscored_by_model(unscored, policy),) if unscored else ()


def allow_claims(models: Mapping[str, Outcomes], k: int, over: Over) -> bool:
    """Return whether the data of all models allow claims about a target."""
    return not any(evidence_of(one).against(over, k) for one in models.values())


def notes_on_data(models: Mapping[str, Outcomes], k: int, over: Over) -> tuple[Note, ...]:
    """Return the data notes of each model."""
    return tuple(
        of_side(name, note)
        for name, outcomes in models.items()
        for note in data_notes(outcomes, k, over)
    )


def _shared(models: Mapping[str, Outcomes], k: int) -> tuple[int, dict[str, Outcomes]]:
    """Return the number of shared problems, and the models on those with enough trials."""
    for outcomes in models.values():
        outcomes.require(k)
    rows = _shared_rows([outcomes.problems[:] for outcomes in models.values()])
    if rows is None:
        first_names = ", ".join(f"{model} has {o.problems[0]!r}" for model, o in models.items())
        raise InvalidInput(f"no problem is shared by all models: {first_names}.")
    sides = dict(zip(models, rows, strict=True))
    enough = np.all([models[m].trials[row] >= max(k, 1) for m, row in sides.items()], axis=0)
    if not enough.any():
        raise NotEnoughData(
            f"none of the {len(enough)} shared problems has {max(k, 1)} scored trials in all "
            "models."
        )
    return len(enough), {model: models[model].take(row[enough]) for model, row in sides.items()}


def _shared_rows(problems: Sequence[Sequence[str]]) -> list[Ints] | None:
    """Return where each model has the problems of all, in the order of the first; None if none."""
    first = problems[0]
    if all(names == first for names in problems[1:]):
        return [np.arange(len(first))] * len(problems)
    places = [{name: index for index, name in enumerate(names)} for names in problems]
    common = [name for name in first if all(name in place for place in places)]
    if not common:
        return None
    return [np.array([place[name] for name in common]) for place in places]


def unscored_by_model(unscored: Mapping[str, int], policy: str) -> Note:
    """Return the note on trials without a score in a ranking."""
    counts = ", ".join(f"{count} of {model}" for model, count in unscored.items())
    treated = treatment(policy, sum(unscored.values()))
    return Note("unscored-trials", f"trials without a score: {counts}, which {treated}")
