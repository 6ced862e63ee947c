"""Estimates: what an interval contains, how it moves, what it says about itself."""

import json
import math
import os
import subprocess
import sys
from dataclasses import asdict
from statistics import NormalDist
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Estimate, InvalidInput, NotEnoughData, Outcomes, estimate, measure
from passband.errors import WrongType
from passband.stats.checks import Over
from passband.stats.data.evidence import CODES
from passband.stats.data.scale import UNIT
from passband.stats.data.spending import SPENT_METRICS
from passband.stats.interval import notes
from passband.stats.interval.default.graded import noise_unmeasured
from passband.stats.interval.default.selection import ZERO_FACTOR
from passband.stats.interval.default.wilson import over_problems, over_trials
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import fit_mixture
from passband.stats.interval.registry import methods
from passband.stats.metric.registry import families, parse_metric, register_metric
from support.fuzz.properties import one_in

TARGETS = get_args(Over)


def at(key: str, k: int) -> str:
    """Name a member of a family, with a parameter where one is needed."""
    if not families.get(key).takes_k:
        return key
    return f"{key}{k}:{','.join(['1'] + ['0'] * (k - 1))}" if key == "spectrum@" else f"{key}{k}"


def ends(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def width(found: Estimate) -> float:
    low, high = ends(found)
    return high - low


@st.composite
def ragged(draw: st.DrawFn) -> Outcomes:
    """Problems with 1 to 9 trials, often all solved or never."""
    trials = draw(st.lists(st.integers(1, 9), min_size=1, max_size=20))
    shape = draw(st.sampled_from(["any", "none", "all", "ends"]))
    low, high = {"any": (0, 1), "none": (0, 0), "all": (1, 1), "ends": (0, 1)}[shape]
    if shape == "ends":
        share = [draw(st.integers(0, 1)) for _ in trials]
        return Outcomes.from_counts([s * n for s, n in zip(share, trials, strict=True)], trials)
    return Outcomes.from_counts([draw(st.integers(low * n, high * n)) for n in trials], trials)


# -- by hand ---------------------------------------------------------------------------------


def test_one_trial_of_many_problems_is_a_proportion_with_wilson_s_interval() -> None:
    # 300 of 1000: z = 1.96, centre (p + z^2/2n) / (1 + z^2/n) = 0.300766,
    # half-width z sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n) = 0.028355
    found = estimate(Outcomes.from_counts([1] * 300 + [0] * 700, 1), "pass@1")
    assert found.value == 0.3
    assert found.low == pytest.approx(0.27241, abs=4e-4)
    assert found.high == pytest.approx(0.32912, abs=4e-4)
    assert found.se == pytest.approx(math.sqrt(0.3 * 0.7 / 1000), rel=0.01)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("solved", [5, 100, 1000, 1990])
def test_one_trial_is_near_wilson_at_any_rate(solved: int, level: float) -> None:
    m = 2000
    found = estimate(Outcomes.from_counts([1] * solved + [0] * (m - solved), 1), "avg", level=level)
    p, z = solved / m, NormalDist().inv_cdf((1 + level) / 2)
    centre = (p + z * z / (2 * m)) / (1 + z * z / m)
    half = z * math.sqrt(p * (1 - p) / m + z * z / (4 * m * m)) / (1 + z * z / m)
    # a few problems from the fit are added to the spread: up to a tenth of the width
    assert ends(found) == pytest.approx((centre - half, centre + half), abs=0.2 * half)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("problems", [1, 2, 7, 100, 1000])
@pytest.mark.parametrize("trials", [1, 4, 9])
def test_never_solved(problems: int, trials: int, level: float) -> None:
    tail = (1 - level) / 2
    none = Outcomes.from_counts([0] * problems, trials)
    for k in {1, (trials + 1) // 2, trials}:
        for name in (f"pass@{k}", f"pass^{k}"):
            like = estimate(none, name, level=level)
            assert (like.value, like.low) == (0.0, 0.0)
            assert like.high == 1 - tail ** (1 / problems)
        very = estimate(none, f"pass@{k}", level=level, over="trials")
        assert very.low == 0.0
        assert very.high == pytest.approx(1 - tail ** (k / (trials * problems)), abs=1e-9)


@pytest.mark.parametrize(("problems", "trials"), [(1, 1), (3, 4), (50, 8)])
def test_always_solved_mirrors_never_solved(problems: int, trials: int) -> None:
    every = Outcomes.from_counts([trials] * problems, trials)
    none = Outcomes.from_counts([0] * problems, trials)
    for k in range(1, trials + 1):
        for over in TARGETS:
            top = estimate(every, f"pass^{k}", over=over)
            bottom = estimate(none, f"pass@{k}", over=over)
            assert top.high == top.value == 1.0
            assert top.low == pytest.approx(1.0 - ends(bottom)[1], abs=1e-9)


# -- wherever the outcomes are ---------------------------------------------------------------


@pytest.mark.parametrize("over", TARGETS)
def test_an_end_that_is_the_value_but_for_rounding_is_the_value(over: Over) -> None:
    found = estimate(Outcomes.from_counts([5] * 3, 5), "mg-pass@5", over=over, level=0.75)
    assert found.value == pytest.approx(0.8, rel=1e-15)
    assert found.high == found.value


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(set(families) - {"vote@", "cons@", *SPENT_METRICS}))
@pytest.mark.parametrize("over", TARGETS)
@one_in(3)
@given(outcomes=ragged(), level=st.floats(0.5, 0.999), data=st.data())
def test_an_interval_contains_the_value_and_keeps_to_the_range(
    key: str, over: Over, outcomes: Outcomes, level: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, outcomes.most_trials()))
    found = estimate(outcomes.accepting(CODES), at(key, k), over=over, level=level)
    low, high = ends(found)
    assert found.value == pytest.approx(measure(outcomes, at(key, k)).value)
    assert low <= found.value <= high
    assert low >= -1e-12
    assert high <= 1 + 1e-12
    if k == 1 and key in ("mg-pass@", "geospectrum@"):
        assert found.value == 0.0  # there is no threshold above half of one trial
    else:
        assert low < high
        assert found.se is None or found.se > 0


@pytest.mark.parametrize("over", TARGETS)
@given(outcomes=ragged(), data=st.data())
def test_an_interval_widens_with_its_level(
    over: Over, outcomes: Outcomes, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(["pass@", "pass^", "maj@", "geom@", "auc@"]))
    name = at(key, data.draw(st.integers(1, outcomes.most_trials())))
    inner, outer = sorted(data.draw(st.tuples(st.floats(0.5, 0.999), st.floats(0.5, 0.999))))
    small, large = (estimate(outcomes, name, over=over, level=level) for level in (inner, outer))
    assert ends(large)[0] <= ends(small)[0] + 1e-12
    assert ends(large)[1] >= ends(small)[1] - 1e-12
    if outer > inner + 0.01:
        assert width(large) > width(small) or ends(small) == (0.0, 1.0)


@pytest.mark.parametrize("over", TARGETS)
@given(outcomes=ragged(), data=st.data())
def test_the_order_of_the_problems_does_not_matter(
    over: Over, outcomes: Outcomes, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(outcomes.n_problems)))
    clusters = data.draw(st.none() | st.just([f"c{i % 3}" for i in order]))
    assert outcomes.successes is not None
    first = Outcomes.from_counts(
        outcomes.successes,
        outcomes.trials,
        clusters=clusters and [f"c{i % 3}" for i in range(outcomes.n_problems)],
    )
    second = Outcomes.from_counts(
        outcomes.successes[order], outcomes.trials[order], clusters=clusters
    )
    k = data.draw(st.integers(1, outcomes.most_trials()))
    one, other = (estimate(each, f"pass@{k}", over=over) for each in (first, second))
    assert ends(one) == pytest.approx(ends(other), abs=1e-12)
    assert (one.value, one.notes) == (pytest.approx(other.value), other.notes)


@given(outcomes=ragged(), data=st.data())
def test_pass_at_k_and_pass_hat_k_mirror_each_other(
    outcomes: Outcomes, data: st.DataObject
) -> None:
    assert outcomes.successes is not None
    k, over = data.draw(st.integers(1, outcomes.most_trials())), data.draw(st.sampled_from(TARGETS))
    flipped = Outcomes.from_counts(outcomes.trials - outcomes.successes, outcomes.trials)
    low, high = ends(estimate(outcomes, f"pass@{k}", over=over))
    assert ends(estimate(flipped, f"pass^{k}", over=over)) == pytest.approx(
        (1 - high, 1 - low), abs=1e-6
    )


def test_more_problems_and_more_trials_tell_more() -> None:
    few, many = (Outcomes.from_counts([0, 8, 3, 5, 1] * times, 8) for times in (4, 40))
    for over in TARGETS:
        assert width(estimate(many, "pass@2", over=over)) < width(
            estimate(few, "pass@2", over=over)
        )
    longer = Outcomes.from_counts([0, 80, 30, 50, 10] * 4, 80)
    assert width(estimate(longer, "pass@1", over="trials")) < width(
        estimate(few, "pass@1", over="trials")
    )


# -- clusters --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pass@1", "pass@4", "pass^2"])
def test_clusters_of_one_are_about_no_clusters(name: str) -> None:
    # Two clusters are added instead of sqrt(M) problems, and the two sets of ends are averaged
    # whatever M is; the widths agree to a fifth.
    successes = [0, 8, 3, 5, 1, 2, 7, 8] * 10
    plain = estimate(Outcomes.from_counts(successes, 8), name)
    alone = estimate(Outcomes.from_counts(successes, 8, clusters=range(80)), name)
    assert alone.value == plain.value
    assert ends(alone) == pytest.approx(ends(plain), abs=0.2 * width(plain))
    assert alone.notes == plain.notes == ()


def test_problems_that_go_together_tell_less() -> None:
    successes = np.repeat([0, 8, 3, 5, 1, 2, 7, 8] * 5, 4)
    plain = estimate(Outcomes.from_counts(successes, 8), "pass@1")
    together = estimate(
        Outcomes.from_counts(successes, 8, clusters=np.repeat(range(40), 4)), "pass@1"
    )
    assert width(together) == pytest.approx(2 * width(plain), rel=0.2)  # sqrt of the cluster size
    again = estimate(
        Outcomes.from_counts(successes, 8, clusters=np.repeat(range(40), 4)),
        "pass@1",
        over="trials",
    )
    assert ends(again) == ends(
        estimate(Outcomes.from_counts(successes, 8), "pass@1", over="trials")
    )


def test_only_clusters_with_enough_trials_count() -> None:
    # pass@2 rests on the five problems with four trials, which are in three clusters
    sparse = Outcomes.from_counts([0] * 10, [4] * 5 + [1] * 5, clusters=list("aabbccddee"))
    found = estimate(sparse, "pass@2")
    assert (found.n_problems, found.left_out) == (5, 5)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 3))


# -- trials without a score, and scores of other kinds -----------------------------------------


def test_policies() -> None:
    outcomes = Outcomes.from_counts([3, 0, 8], [8, 6, 8], unscored={"timeout": [0, 2, 0]})
    dropped = estimate(outcomes, "pass@1")
    failed = estimate(outcomes, "pass@1", policy="fail")
    assert (dropped.n_trials, dropped.n_unscored, dropped.policy) == (22, 2, "drop")
    assert (failed.n_trials, failed.n_unscored, failed.policy) == (24, 2, "fail")
    counted = estimate(Outcomes.from_counts([3, 0, 8], 8), "pass@1")
    assert ends(failed) == ends(counted)
    with pytest.raises(InvalidInput, match="2 timeout without a score"):
        estimate(outcomes, "pass@1", policy="error")
    assert estimate(Outcomes.from_counts([1, 2], 4), "pass@1", policy="error").policy == "error"
    with pytest.raises(InvalidInput, match="policy must be"):
        estimate(outcomes, "pass@1", policy="skip")  # type: ignore[call-overload]


def test_what_counts_is_counted() -> None:
    outcomes = Outcomes.from_counts([1, 2, 0, 0], [4, 4, 2, 0])
    found = estimate(outcomes, "pass@3")
    assert (found.n_problems, found.left_out, found.n_trials) == (2, 2, 8)
    assert (found.metric, found.level, found.over, found.method) == (
        "pass@3", 0.95, "problems", "auto",
    )  # fmt: skip
    assert found.seed is None
    assert str(found).startswith("pass@3 0.")


def test_scores_of_other_kinds() -> None:
    scores = [[0.1, 0.5, 0.9], [0.3, 0.2, 0.4], [1.5, 0.9, 2.0], [0.2, 0.2, 0.7]]
    outcomes = Outcomes.from_array(scores)
    for name in ("avg", "max@1", "max@2"):
        for over in TARGETS:
            found = estimate(outcomes, name, over=over)
            low, high = ends(found)
            assert low < found.value < high
            assert found.se is not None
            assert width(estimate(outcomes, name, over=over, level=0.5)) < high - low
    assert ends(estimate(outcomes, "avg")) == ends(estimate(outcomes, "max@1"))
    wider = estimate(outcomes, "max@3", over="trials")
    assert noise_unmeasured(4) in wider.notes
    assert ends(wider) == ends(estimate(outcomes, "max@3"))
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        estimate(outcomes, "pass@1")
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        estimate(outcomes, "bayes")


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value", "kind"),
    [
        ("outcomes", 5, WrongType),
        ("outcomes", None, WrongType),
        ("metrics", None, WrongType),
        ("metrics", 1, WrongType),
        ("metrics", ["pass@1", 2], WrongType),
        ("method", None, WrongType),
        ("method", ["auto"], WrongType),
        ("level", "0.95", WrongType),
        ("level", None, WrongType),
        ("level", 1.5, InvalidInput),
        ("level", math.nan, InvalidInput),
        ("over", None, InvalidInput),
        ("over", ["problems"], InvalidInput),
    ],
)
def test_arguments_of_the_wrong_kind(argument: str, value: object, kind: type[Exception]) -> None:
    asked = {"outcomes": Outcomes.from_counts([1, 2], 4), "metrics": "pass@1", argument: value}
    with pytest.raises(kind, match=f"^{argument} must be .*; got "):
        estimate(**asked)  # type: ignore[call-overload]


def test_a_k_that_no_problem_has_trials_for() -> None:
    outcomes = Outcomes.from_counts([1, 2], [3, 4])
    with pytest.raises(NotEnoughData, match="pass@5 needs 5 trials of a problem"):
        estimate(outcomes, "pass@5")
    with pytest.raises(NotEnoughData, match="pass@5 needs 5 trials of a problem"):
        estimate(outcomes, ["pass@1", "pass@4,5"])
    with pytest.raises(NotEnoughData, match="no trial has a score"):
        estimate(Outcomes.from_array([[None, None]]), "avg")


def test_wrong_questions() -> None:
    outcomes = Outcomes.from_counts([1, 2], 4)
    for level in (0.0, 1.0, -0.1, 95.0, math.nan):
        with pytest.raises(InvalidInput, match="level must be a number between 0 and 1"):
            estimate(outcomes, "pass@1", level=level)
    with pytest.raises(InvalidInput, match="over must be 'problems' or 'trials'; got 'models'"):
        estimate(outcomes, "pass@1", over="models")  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match=r"no interval method named 'auot'.*'auto'\?"):
        estimate(outcomes, "pass@1", method="auot")
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        estimate(outcomes, "pass@1", seed=-1)
    with pytest.raises(InvalidInput, match="means several metrics"):
        estimate(outcomes, "pass@1,2")


def test_a_method_for_the_other_target_is_refused() -> None:
    outcomes = Outcomes.from_counts([1, 2], 4)
    estimate(outcomes, "pass@1")  # registers all methods
    single = [methods.get(name) for name in methods if len(methods.get(name).over) == 1]
    assert single
    for each in single:
        (other,) = set(TARGETS) - set(each.over)
        with pytest.raises(
            InvalidInput, match=f"method '{each.name}' is for over='{each.over[0]}'"
        ):
            estimate(outcomes, "pass@1", method=each.name, over=other)


@pytest.mark.parametrize("over", TARGETS)
def test_levels_next_to_certainty(over: Over) -> None:
    outcomes = Outcomes.from_counts([1, 2, 0, 3] * 5, 4)
    last = (0.0, 0.0)
    for level in (0.999999, 1 - 1e-12, math.nextafter(1.0, 0.0)):
        found = ends(estimate(outcomes, "pass@1", over=over, level=level))
        assert found[0] <= last[0] or last == (0.0, 0.0)
        assert found[1] >= last[1]
        last = found


# -- notes -------------------------------------------------------------------------------------

PLENTY = [0, 8, 3, 5, 1, 2, 7, 8] * 4


def test_nothing_to_note() -> None:
    outcomes = Outcomes.from_counts(PLENTY, 8)
    for over in TARGETS:
        for name in ("pass@1", "pass@4", "pass^4", "maj@3"):
            assert estimate(outcomes, name, over=over).notes == ()


def test_one_trial_over_trials_is_noted() -> None:
    outcomes = Outcomes.from_counts([1, 0] * 20, 1)
    very, like = estimate(outcomes, "pass@1", over="trials"), estimate(outcomes, "pass@1")
    assert very.notes == (notes.ONE_TRIAL,)
    assert like.notes == ()
    assert ends(very) == ends(like)  # as the note says


@pytest.mark.parametrize(
    ("single", "repeated", "falls_back"),
    [(49, 1, True), (10, 9, True), (30, 10, False), (181, 20, True), (180, 20, False),
     (1, 2, False), (4, 4, False)],
)  # fmt: skip
def test_few_problems_with_repeats_over_trials(
    single: int, repeated: int, falls_back: bool
) -> None:
    counts = [i % 2 for i in range(single)] + [1 + i % 2 for i in range(repeated)]
    outcomes = Outcomes.from_counts(counts, [1] * single + [3] * repeated)
    very, like = estimate(outcomes, "pass@1", over="trials"), estimate(outcomes, "pass@1")
    note = notes.few_repeats(repeated, single + repeated)
    assert (note in very.notes) == falls_back
    assert (ends(very) == ends(like)) == falls_back
    assert note not in like.notes


def test_few_repeats_where_all_trials_are_alike() -> None:
    outcomes = Outcomes.from_counts([0] * 50, [1] * 49 + [2])
    very, like = estimate(outcomes, "pass@1", over="trials"), estimate(outcomes, "pass@1")
    assert ends(very) == ends(like)


def test_k_above_half_of_n_is_noted_over_trials() -> None:
    outcomes = Outcomes.from_counts(PLENTY, 8)
    assert estimate(outcomes, "pass@5", over="trials").notes == (notes.K_ABOVE_HALF,)
    assert estimate(outcomes, "pass@4", over="trials").notes == ()
    assert estimate(outcomes, "pass@5").notes == ()
    mixed = Outcomes.from_counts([*PLENTY, *[2, 1] * 10], [8] * len(PLENTY) + [6] * 20)
    assert notes.K_ABOVE_HALF in estimate(mixed, "pass@4", over="trials").notes


def test_few_informative_problems_are_noted() -> None:
    for over in TARGETS:
        nine = estimate(Outcomes.from_counts([0] * 50 + [1] * 9, 8), "pass@1", over=over)
        assert nine.notes == (notes.few_informative(59, 9),)
        assert str(nine.notes[0]) == (
            "50 of 59 problems have the same value, so the interval is rough; add problems"
        )
        one = estimate(Outcomes.from_counts([0] * 50 + [1], 8), "pass@1", over=over)
        assert one.notes == (notes.few_informative(51, 1, is_weak=True),)
        assert not estimate(Outcomes.from_counts([0] * 50 + [1] * 10, 8), "pass@1", over=over).notes


@pytest.mark.parametrize(
    ("successes", "metric", "code"),
    [
        ([8] * 199 + [7], "pass@1", "few-informative"),  # one of 200 carries the spread
        ([6, 7] * 40, "pass@4", "all-same-value"),  # wrong trials, but no problem without a success
        ([8] * 30 + [7] * 90 + [6, 7] * 10 + [0], "pass@4", "few-informative"),
    ],
)
def test_notes_are_weak_where_next_to_none_carries_the_spread(
    successes: list[int], metric: str, code: str
) -> None:
    for over in TARGETS:
        found = estimate(Outcomes.from_counts(successes, 8), metric, over=over)
        mirrored = Outcomes.from_counts([8 - count for count in successes], 8)
        same = estimate(mirrored, metric.replace("@", "^"), over=over)
        for notes_ in (found.notes, same.notes):
            (note,) = [note for note in notes_ if note.code == code]
            assert note.severity == "weak"
            assert "may be too short" in note.text


@pytest.mark.parametrize("successes", [[0] * 50 + [1] * 9, [0, 1, 1, 5], [0] * 20, [8] * 20])
def test_notes_are_remarks_where_the_interval_makes_up_for_few_problems(
    successes: list[int],
) -> None:
    for over in TARGETS:
        found = estimate(Outcomes.from_counts(successes, 8), "pass@1", over=over)
        assert {note.severity for note in found.notes} == {"remark"}


def test_few_clusters_are_noted() -> None:
    for groups, expected in ((19, (notes.few_clusters(19),)), (20, ())):
        clusters = [i % groups for i in range(len(PLENTY) * 2)]
        outcomes = Outcomes.from_counts(PLENTY * 2, 8, clusters=clusters)
        assert estimate(outcomes, "pass@1").notes == expected
        assert estimate(outcomes, "pass@1", over="trials").notes == ()
        rows = [[c / 8, 0.5] for c in PLENTY * 2]
        graded = Outcomes.from_array(rows, clusters=clusters, scale=UNIT)
        assert estimate(graded, "avg").notes == expected


def test_clusters_of_problems_left_out_do_not_count() -> None:
    clusters = [f"c{i}" for i in range(19)] * 2 + ["alone", "single"]
    outcomes = Outcomes.from_counts([*[i % 8 for i in range(38)], 1, 0], [8] * 38 + [1, 1],
                                    clusters=clusters)  # fmt: skip
    assert notes.few_clusters(19) in estimate(outcomes, "pass@2").notes
    assert estimate(outcomes, "pass@1").notes == ()


def test_one_problem_is_noted() -> None:
    single = Outcomes.from_counts([3], 8)
    assert estimate(single, "pass@2").notes == (notes.ONE_PROBLEM,)
    assert estimate(single, "pass@2", over="trials").notes == ()
    left = Outcomes.from_counts([3, 1], [8, 1])
    assert estimate(left, "pass@2").notes == (notes.ONE_PROBLEM,)


def test_a_blend_at_zero_keeps_the_notes_of_its_factors() -> None:
    found = estimate(Outcomes.from_counts([0] * 12, 1), "geom-ds@1", over="trials")
    assert found.notes[0] == ZERO_FACTOR
    assert notes.ONE_TRIAL in found.notes
    assert found.low == 0.0
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 12))


def test_a_metric_that_cannot_vary_says_so() -> None:
    found = estimate(Outcomes.from_counts([0, 1, 1], 1), "mg-pass@1")
    assert (found.value, *ends(found)) == (0.0, 0.0, 0.0)
    assert found.notes == (notes.CONSTANT_METRIC,)


def test_too_many_trials_have_the_textbook_interval() -> None:
    outcomes = Outcomes.from_counts([3, 5], 300_000)
    found, textbook = estimate(outcomes, "pass@1"), estimate(outcomes, "pass@1", method="t")
    assert found.value == pytest.approx(4 / 300_000)
    assert ends(found) == ends(textbook)
    assert notes.TOO_MANY_COUNTS in found.notes


def test_a_metric_that_rises_and_falls_has_both_ends_where_all_trials_are_alike() -> None:
    @register_metric("crooked", summary="half a point at either end")
    def crooked(k: int) -> list[float]:
        return [0.5, 0.0, 1.0, 0.5]

    try:
        for c in (0, 3):
            for over in TARGETS:
                found = estimate(Outcomes.from_counts([c] * 5, 3), "crooked@3", over=over)
                low, high = ends(found)
                assert low <= found.value == 0.5 <= high
                assert low < high
            like = estimate(Outcomes.from_counts([c] * 5, 3), "crooked@3")
            reach = (1 - 0.025 ** (1 / 5)) / 2
            assert ends(like) == pytest.approx((0.5 - reach, 0.5 + reach))
    finally:
        families.remove("crooked@")


# -- lists, seeds, processes -------------------------------------------------------------------


def test_a_list_is_as_many_single_ones() -> None:
    outcomes = Outcomes.from_counts(PLENTY, 8)
    found = estimate(outcomes, ["pass@1,4", "avg", "pass^*"], over="trials", level=0.9)
    names = ["pass@1", "pass@4", "avg", *(f"pass^{k}" for k in range(1, 9))]
    assert [each.metric for each in found] == names
    assert found == [estimate(outcomes, name, over="trials", level=0.9) for name in names]
    assert estimate(outcomes, ("avg",)) == [estimate(outcomes, "avg")]
    assert estimate(outcomes, []) == []


def test_nothing_is_random_by_default() -> None:
    outcomes = Outcomes.from_counts(PLENTY, 8)
    plain = estimate(outcomes, "pass@2")
    assert plain == estimate(outcomes, "pass@2", seed=7) == estimate(outcomes, "pass@2", seed="a")
    assert plain.seed is None


SCRIPT = """
import json, dataclasses
from passband import Outcomes, estimate
plain = Outcomes.from_counts([0, 8, 3, 5, 1, 2, 7, 8] * 4, 8)
grouped = Outcomes.from_counts([0, 8, 3, 5, 1, 2, 7, 8] * 4, 8, clusters=list("abcdefgh") * 4)
found = [
    dataclasses.asdict(each)
    for outcomes in (plain, grouped)
    for over in ("problems", "trials")
    for each in estimate(outcomes, ["pass@1,4,8", "geom-ds@2"], over=over)
]
print(json.dumps(found))
"""


@pytest.mark.process
def test_the_same_in_every_process() -> None:
    shown = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    ]
    assert shown[0] == shown[1]
    first = json.loads(shown[0])[0]
    here = asdict(estimate(Outcomes.from_counts(PLENTY, 8), "pass@1"))
    assert first == {**here, "notes": list(here["notes"])}


# -- coverage ----------------------------------------------------------------------------------

SETS = 400
LEAST = 0.89  # with a true coverage of 95 %, fewer than 356 of 400 has a probability below 1e-6


def test_the_threshold_of_the_coverage_checks() -> None:
    worst = math.ceil(LEAST * SETS) - 1
    chance = sum(math.comb(SETS, j) * 0.95**j * 0.05 ** (SETS - j) for j in range(worst + 1))
    assert chance < 1e-6


@pytest.mark.parametrize(
    ("a", "b", "problems", "trials", "name"),
    [(0.3, 0.5, 100, 8, "pass@4"), (2.0, 2.0, 30, 16, "pass@1"), (5.0, 1.0, 100, 8, "pass^4")],
)
@pytest.mark.parametrize("over", TARGETS)
def test_coverage(a: float, b: float, problems: int, trials: int, name: str, over: Over) -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(a, b, (SETS, problems))
    successes = rng.binomial(trials, p)
    counts = np.stack([np.bincount(row, minlength=trials + 1) for row in successes]).astype(float)
    mixture = fit_mixture(CountGrid((trials,)), counts)
    metric = parse_metric(name)
    values = metric.parts[0].at(mixture.grid.trials, mixture.grid.successes, metric.k)

    def truth(rate: np.ndarray) -> np.ndarray:
        return rate**metric.k if "^" in name else 1 - (1 - rate) ** metric.k

    if over == "problems":
        found = over_problems(mixture, values, 0.95)
        target = np.full(SETS, truth(np.random.default_rng(2).beta(a, b, 400_000)).mean())
    else:
        squares = metric.parts[0].square_at(mixture.grid.trials, mixture.grid.successes, metric.k)
        found = over_trials(mixture, values, metric.k, 0.95, squares=squares)
        target = truth(p).mean(axis=1)
    covered = (found.low <= target) & (target <= found.high)
    assert covered.mean() >= LEAST

    one = Outcomes.from_counts(successes[0], trials)  # a batch is what the user gets, many times
    single = estimate(one, name, over=over)
    assert ends(single) == pytest.approx((found.low[0], found.high[0]), abs=1e-9)
    assert single.se == pytest.approx(found.se[0])
