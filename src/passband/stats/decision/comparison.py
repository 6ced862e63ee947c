"""Compare two models on the same problems: by how much, how surely, and where.

Most of what makes one problem harder than another is the same for both models. The difference of
their values, problem by problem, is free of it, and so needs far fewer problems than two separate
intervals would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput
from passband.notes import Note, of_side, plural
from passband.stats.checks import (
    ROUNDING_DIGITS,
    Over,
    as_level,
    check_over,
    check_text,
)
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes, on_one_scale, treatment
from passband.stats.data.scale import titled
from passband.stats.decision.difference import Contrast, Independent, Uneven, contrast_of
from passband.stats.decision.influence import Influence, influence_of
from passband.stats.decision.more_data import more_data
from passband.stats.decision.paired import Paired
from passband.stats.decision.pairing import (
    Match,
    changes,
    common_range,
    linear_values,
    match_problems,
)
from passband.stats.decision.verdict import (
    Decision,
    as_margin,
    decide,
    not_comparable,
    rare_losses,
)
from passband.stats.evidence.collect import data_notes, evidence_of
from passband.stats.interval.notes import TAIL_MISSING
from passband.stats.interval.ratio import Ratio, may_lack_tail, ratio_of_means
from passband.stats.interval.seeds import seed_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import measured_on, parse_metric
from passband.types import Floats

MOST_FLIPS = 20
Test = Literal["interval", "exact", "mid-p"]


class Flip(NamedTuple):
    """A problem that went from one half of the metric's range to the other."""

    problem: str
    value_a: float
    value_b: float


@dataclass(frozen=True)
class Comparison(Displayed):
    """The difference b - a of a metric: interval, p-value, flips, and the data behind them."""

    metric: str
    value: float  #: b - a
    value_a: float  #: over the problems that count
    value_b: float
    low: float | None
    high: float | None
    se: float | None  #: the one that the interval uses; None where the data show no spread
    p_value: float | None  #: two-sided, of no difference
    confidence: float | None  #: one-sided, that b is better; not a posterior probability
    level: float
    over: Over
    paired: bool
    n_problems: int  #: problems that count; both sides together if not paired
    n_shared: int  #: problems that both have
    only_a: int
    only_b: int
    left_out: int  #: of the problems that could count, those with too few trials for this k
    improved: int | None  #: problems with a higher value in b; None if not paired
    worsened: int | None
    flipped: int | None  #: problems that crossed the middle of the metric's range
    flips: tuple[Flip, ...]  #: of them, those that changed most
    method: str  #: how the interval is made
    test: str  #: how the p-value is made
    decision: Decision  #: the verdict; see `passband.stats.decision.verdict`
    influence: Influence | None  #: the problems that matter most; None if not paired
    policy: Policy
    seed: int | None  #: None, as nothing is random
    notes: tuple[Note, ...] = ()
    lower_is_better: bool = False  #: whether a difference below 0 is a gain
    p_adjusted: float | None = None  #: allowing for the comparisons of `family_of`
    family: int = 1  #: comparisons that the verdict allows for
    ratio: Ratio | None = None  #: b / a of what trials took, over problems

    @property
    def title(self) -> str:
        """The metric, with its direction if lower values are better."""
        return titled(self.metric, self.lower_is_better)

    def __str__(self) -> str:
        """Format the difference with its interval, rounded by the error.

        >>> a = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
        >>> b = Outcomes.from_counts([4, 1, 8, 6] * 10, 8)
        >>> print(compare(a, b, "pass@1"))
        pass@1 +0.094 [0.073, 0.110], p 4.6e-08
        """
        from passband.stats.interval.rounding import rounded

        text = f"{self.metric} {'+' if self.value >= 0 else ''}"
        text += rounded(self.value, self.low, self.high)
        text = text if self.p_value is None else f"{text}, p {self.p_value:.2g}"
        return text if self.decision.margin is None else f"{text}: {self.decision}"


def compare(
    a: Outcomes,
    b: Outcomes,
    metric: str,
    *,
    over: Over = "problems",
    level: float = 0.95,
    paired: bool = True,
    policy: Policy = "drop",
    seed: int | str | None = None,
    margin: float | None = None,
    test: Test = "interval",
    settle: bool | None = None,
) -> Comparison:
    """Compare a metric of b with that of a: difference, interval, test and verdict.

    Problems are matched by name. Those that only one side has, or that lack the k trials on
    either side, are left out and counted. Use ``paired=False`` only where the two sides were asked
    different problems on purpose: it gives up what the pairing buys, often half of the width.

    over="problems". With d_i the difference of the values of problem i, the interval is centred on
    the mean of d: between Student's interval and one that follows the skewness of d. For its
    spread two problems are added that deviate as much as the changed ones did, so that a few
    changed problems do not pass for certainty. Where all d are equal it is the bound
    ``1 - tail**(1/M)`` on the share of problems of another kind, times the largest difference that
    such a problem can make (for 0.95 about 3.7/M). With clusters, whole clusters are left out in
    turn (the jackknife), and the degrees of freedom go by Kish's number of them. Where the sides
    have different numbers of trials, spread and skewness are at least those that dealing each
    problem's trials to the models at random would give.

    over="trials", or not paired. The two sides are independent. Their own intervals are joined by
    squaring and adding the distances to the ends (Newcombe's square-and-add).

    The p-value is 1 - L, with L the level at which the interval touches 0: it is below 1 - level
    exactly if the interval excludes 0. `test` offers sign flips of paired differences instead: if
    the models are alike, each d_i could as well have the other sign. "exact" counts the sums at
    least as far from 0 as the observed one, and for one trial of 0 or 1 per problem is the exact
    McNemar test; it is never too sure if the models are alike, and finds less. "mid-p" counts half
    of the sums that are exactly as far.

    `confidence` is one-sided: (1 + L) / 2 where b is ahead and (1 - L) / 2 where a is. Like the
    interval it says how often a procedure is right, and has no prior; it is not the posterior
    probability that b is better.

    `margin` is the largest difference that does not matter, for verdicts of equivalence; see
    `Decision`. Over problems such a verdict allows for problems of a kind that was not drawn, by
    the same bound as where all d are equal: whole problems that are lost show in no spread before
    one of them is drawn. For 0.95 it takes about 3.7/margin problems.

    `settle` asks what data would settle an open verdict (default: where a margin is given). `seed`
    is accepted for callers that pass the same options everywhere; nothing here is random.

    Miller (2024), arXiv 2411.00640 (paired differences); Newcombe (1998), Statistics
    in Medicine 17, 873-890; McNemar (1947), Psychometrika 12, 153-157.

    >>> before = Outcomes.from_array([[0], [0], [0], [1], [0], [1]])
    >>> after = Outcomes.from_array([[1], [1], [1], [1], [1], [1]])
    >>> result = compare(before, after, "pass@1")
    >>> round(result.value, 3), round(result.p_value, 3), result.improved, result.worsened
    (0.667, 0.053, 4, 0)
    >>> compare(before, after, "pass@1", test="exact").p_value
    0.125
    """
    level = _check_options(a, b, metric, over, level, test, seed)
    a, b = on_one_scale({"a": measured_on(a, metric), "b": measured_on(b, metric)}).values()
    scored = a.counted(policy), b.counted(policy)
    wanted = parse_metric(metric, max(1, min(side.most_trials() for side in scored)))
    match = match_problems(*scored, wanted.k, paired)
    sides = match.a, match.b
    margin = None if margin is None else as_margin(margin, _span(sides, wanted))
    contrast = contrast_of(*sides, wanted, over) if paired else Independent(*sides, wanted, over)
    p_value, test_name = _tested(contrast, test, over, paired)
    decision = decide(contrast, level, margin, None if test == "interval" else p_value)
    if settle or (settle is None and margin is not None):
        decision = _with_more_data(decision, contrast, sides, wanted, over, level)
    values = tuple(linear_values(side, wanted) for side in sides) if paired else (None, None)
    changes = _changes(match, wanted, values)
    low, high = contrast.ends(level) or (None, None)
    compared = Comparison(
        metric=wanted.name,
        value=contrast.value,
        value_a=wanted.value(match.a),
        value_b=wanted.value(match.b),
        low=low,
        high=high,
        se=contrast.se,
        p_value=p_value,
        confidence=contrast.confidence,
        level=level,
        over=over,
        paired=paired,
        n_problems=match.n_problems,
        n_shared=match.n_shared,
        only_a=match.only_a,
        only_b=match.only_b,
        left_out=match.left_out,
        **vars(changes),
        method=contrast.method,
        test=test_name,
        decision=decision,
        influence=_influence(contrast, values, match, level, margin),
        policy=policy,
        seed=None,
        notes=(
            *_of_sides(scored, wanted.k, over, contrast.notes),
            *contrast.notes,
            *rare_losses(contrast, level, margin),
            *match.notes,
            *_unscored(a, b, policy),
        ),
    )
    return _on_scale(_with_claims(compared, match, wanted, scored), wanted, a)


def _check_options(
    a: Outcomes,
    b: Outcomes,
    metric: str,
    over: Over,
    level: float,
    test: Test,
    seed: int | str | None,
) -> float:
    """Check the arguments of a comparison, and return the level."""
    check_outcomes("a", a)
    check_outcomes("b", b)
    check_over(over)
    level = as_level(level)
    check_text("metric", metric, "pass@1")
    seed_of(seed)
    _check_test(test)
    return level


def _unscored(a: Outcomes, b: Outcomes, policy: Policy) -> tuple[Note, ...]:
    if not a.n_unscored + b.n_unscored:
        return ()
    return (unscored_in_pair(a.n_unscored, b.n_unscored, policy),)


def _with_claims(
    compared: Comparison, match: Match, metric: Metric, scored: tuple[Outcomes, Outcomes]
) -> Comparison:
    """Add the ratio of costs to a comparison; drop all claims that the data forbid."""
    if metric.parts[0].is_spent and compared.paired and compared.over == "problems":
        compared = _with_ratio(compared, match, metric)
    if any(evidence_of(side).against(compared.over, metric.k) for side in scored):
        compared = _without_claims(compared)
    return compared


def _with_ratio(compared: Comparison, match: Match, metric: Metric) -> Comparison:
    """Return the comparison with the ratio b / a, where both sides took something."""
    above, below = (np.abs(metric.by_problem(side)[:, 0]) for side in (match.b, match.a))
    if min(len(above), above.sum(), below.sum()) <= 0 or len(above) < 2:
        return compared
    clusters = match.a.clusters
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if codes is not None and codes.max() == 0:
        return compared
    units = len(above) if codes is None else int(codes.max()) + 1
    notes = (TAIL_MISSING,) if any(may_lack_tail(one, units) for one in (above, below)) else ()
    ratio = ratio_of_means(above, below, compared.level, codes)
    return replace(compared, ratio=ratio, notes=(*compared.notes, *notes))


def _without_claims(compared: Comparison) -> Comparison:
    """Return a comparison of data that allow none: the values, and no interval, test or verdict."""
    return replace(
        compared,
        low=None,
        high=None,
        se=None,
        p_value=None,
        confidence=None,
        ratio=None,
        decision=not_comparable(compared.decision.margin),
        influence=None,
    )


def _on_scale(compared: Comparison, metric: Metric, outcomes: Outcomes) -> Comparison:
    """Return a comparison of upright outcomes on the scale of the scores.

    The difference is that of the scores as they are; the verdict knows which of them are better.
    """
    if not (metric.is_score and outcomes.scale.lower_is_better):
        return compared

    def scored(value: float) -> float:
        return metric.on_scale(outcomes, value)[0]

    low, high = compared.low, compared.high
    return replace(
        compared,
        value=-compared.value,
        value_a=scored(compared.value_a),
        value_b=scored(compared.value_b),
        low=None if high is None else -high,
        high=None if low is None else -low,
        flips=tuple(Flip(one.problem, *map(scored, one[1:])) for one in compared.flips),
        influence=compared.influence and compared.influence.mirrored(scored),
        lower_is_better=True,
    )


def _of_sides(
    sides: tuple[Outcomes, Outcomes], k: int, over: Over, contrast_notes: tuple[Note, ...]
) -> list[Note]:
    """Return each side's data notes, unless a note says so already."""
    notes = [
        of_side(name, note)
        for name, side in zip("ab", sides, strict=True)
        for note in data_notes(side, k, over)
    ]
    codes = {(note.code, note.text[:2]) for note in contrast_notes}
    return [note for note in notes if (note.code, note.text[:2]) not in codes]


def _check_test(test: object) -> None:
    if test not in get_args(Test):
        choices = ", ".join(map(repr, get_args(Test)))
        raise InvalidInput(f"test must be one of {choices}; got {test!r}.")


def _span(sides: tuple[Outcomes, Outcomes], metric: Metric) -> float | None:
    """Return the largest possible difference; None if the range is unknown."""
    if not all(side.is_binary for side in sides):
        return None
    low, high = metric.bounds
    return high - low


def _tested(contrast: Contrast, test: Test, over: Over, paired: bool) -> tuple[float | None, str]:
    """Return the p-value and the name of its test."""
    if test == "interval":
        return contrast.p_value, contrast.test
    differences = contrast.paired if isinstance(contrast, Uneven) else contrast
    if isinstance(differences, Paired):
        flipped = differences.flip_p_value(mid=test == "mid-p")
        name = f"{test} {differences.flips}"
        if not differences.is_uneven:
            return flipped, name
        # With different numbers of trials, differences are not symmetric.
        return max(flipped, contrast.p_value or 0.0), f"{name}, and no surer than the interval"
    if paired and over == "problems":
        return contrast.p_value, contrast.test  # a blend without paired differences, with its note
    raise InvalidInput(
        f"test={test!r} flips the signs of paired differences, and there are none with "
        f"{'over=' + repr(over) if paired else 'paired=False'}; use test='interval'."
    )


def _with_more_data(
    decision: Decision,
    contrast: Contrast,
    sides: tuple[Outcomes, Outcomes],
    metric: Metric,
    over: Over,
    level: float,
) -> Decision:
    if decision.verdict not in ("undecided", "no-better"):
        return decision
    more = more_data(contrast, sides, metric, over=over, level=level, margin=decision.margin)
    return replace(decision, more=more)


def _influence(
    contrast: Contrast, values: _Values, match: Match, level: float, margin: float | None
) -> Influence | None:
    paired = contrast.paired if isinstance(contrast, Uneven) else contrast
    if not isinstance(paired, Paired) or values[0] is None or values[1] is None:
        return None
    return influence_of(paired, (values[0], values[1]), match.a.problems, level, margin)


_Values = tuple[Floats | None, ...]


@dataclass(frozen=True)
class _Changes:
    improved: int | None = None
    worsened: int | None = None
    flipped: int | None = None
    flips: tuple[Flip, ...] = ()


def _changes(match: Match, metric: Metric, values: _Values) -> _Changes:
    """Count the problems that changed, and name those that changed sides by most."""
    if values[0] is None or values[1] is None:
        return _Changes()
    change = changes(values[0], values[1])
    improved, worsened = int((change > 0).sum()), int((change < 0).sum())
    if not metric.is_mean:
        return _Changes(improved, worsened)
    middle = sum(common_range((match.a, match.b), metric)) / 2.0
    above = [np.round(side - middle, ROUNDING_DIGITS) >= 0.0 for side in (values[0], values[1])]
    crossed = np.flatnonzero(above[0] != above[1])
    order = crossed[np.argsort(-np.abs(change[crossed]), kind="stable")][:MOST_FLIPS]
    flips = tuple(
        Flip(match.a.problems[i], float(values[0][i]), float(values[1][i])) for i in order.tolist()
    )
    return _Changes(improved, worsened, len(crossed), flips)


def unscored_in_pair(a: int, b: int, policy: str) -> Note:
    """Return the note on trials without a score in a comparison of two."""
    return Note(
        "unscored-trials",
        f"{plural(a + b, 'trial')} without a score ({a} of a, {b} of b) {treatment(policy, a + b)}",
    )
