"""Verdicts: what an interval says of 0 and of a margin."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, compare
from passband.stats.decision.verdict import Decision, ruled
from support.fuzz.properties import one_in

PAIR = (
    Outcomes.from_counts([3, 0, 8, 5, 1] * 20, 8),
    Outcomes.from_counts([3, 1, 8, 5, 0] * 20, 8),
)

TURNED = {"better": "worse", "worse": "better", "no-worse": "no-better", "no-better": "no-worse"}


@pytest.mark.parametrize(
    ("ends", "margin", "verdict"),
    [
        ((0.01, 0.2), None, "better"),
        ((-0.2, -0.01), None, "worse"),
        ((-0.01, 0.01), None, "undecided"),
        ((0.0, 0.2), None, "undecided"),
        ((0.01, 0.015), 0.02, "better"),
        ((-0.015, -0.01), 0.02, "worse"),
        ((-0.01, 0.01), 0.02, "equivalent"),
        ((-0.02, 0.01), 0.02, "no-better"),
        ((-0.01, 0.02), 0.02, "no-worse"),
        ((-0.03, 0.03), 0.02, "undecided"),
        (None, 0.02, "undecided"),
    ],
)
def test_verdicts_by_hand(ends: Any, margin: float | None, verdict: str) -> None:
    assert ruled(ends, ends, margin) == verdict


@one_in(4)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=15),
    st.floats(0.01, 0.9),
    st.sampled_from([0.8, 0.95]),
)
def test_one_sided_p_values_say_what_the_interval_says(
    pairs: list[tuple[int, int]], margin: float, level: float
) -> None:
    a, b = (Outcomes.from_counts(side, 6) for side in zip(*pairs, strict=True))
    found = compare(a, b, "pass@1", margin=margin, level=level, settle=False)
    decision = found.decision
    assert found.low is not None
    assert found.high is not None
    assert decision.p_no_worse is not None
    assert decision.p_no_better is not None
    missed = 1 - ((1 - level) / 2) ** (1 / len(pairs))  # of a kind that was not drawn
    low = min(found.low, found.value - missed * (1 + found.value))
    high = max(found.high, found.value + missed * (1 - found.value))
    if abs(low + margin) > 1e-9:
        assert (decision.p_no_worse < (1 - level) / 2) == (low > -margin)
    if abs(high - margin) > 1e-9:
        assert (decision.p_no_better < (1 - level) / 2) == (high < margin)
    assert decision.p_equivalent == max(decision.p_no_worse, decision.p_no_better)
    back = compare(b, a, "pass@1", margin=margin, level=level, settle=False).decision
    assert back.verdict == TURNED.get(decision.verdict, decision.verdict)


def test_unseen_problems_keep_a_margin_open() -> None:
    """None of 40 problems is lost; of 8.8 % lost problems, none of 40 shows one time in forty."""
    a, b = (Outcomes.from_counts([16 + one, 16 - one] * 20, 32) for one in (0, 1))
    found = compare(a, b, "pass@1", margin=0.05)
    assert found.low is not None
    assert found.low > -0.05
    assert found.decision.verdict == "undecided"
    assert found.decision.p_no_worse == pytest.approx(0.95**40)
    (note,) = [note for note in found.notes if note.code == "rare-loss"]
    assert "up to 8.8% may be lost" in note.text
    assert "takes about 72 problems" in note.text
    assert found.decision.more is not None
    assert found.decision.more.problems == 32
    assert found.decision.more.trials is None
    wide = compare(a, b, "pass@1", margin=0.1)
    assert wide.decision.verdict == "equivalent"
    assert wide.notes == ()
    assert compare(a, b, "pass@1", margin=0.07, over="trials").decision.verdict == "equivalent"


def test_words_name_the_models() -> None:
    wide = compare(*PAIR, "pass@1", margin=0.1)
    assert str(wide.decision) == "a and b are equivalent within the margin of 0.1"
    assert str(wide).endswith("are equivalent within the margin of 0.1")
    assert Decision("no-worse", 0.02, False, None, None).words("old", "new") == (
        "new is not worse than old by 0.02 or more"
    )
    assert Decision("worse", None, None, None, None).words("old", "new") == "new is worse than old"


@pytest.mark.parametrize("margin", [0, -0.1, float("nan"), float("inf"), 1.0, 2])
def test_a_margin_that_means_nothing_is_refused(margin: float) -> None:
    with pytest.raises(InvalidInput, match="margin must be"):
        compare(*PAIR, "pass@1", margin=margin)


def test_a_margin_of_another_type_is_refused() -> None:
    with pytest.raises((InvalidInput, TypeError), match="margin"):
        compare(*PAIR, "pass@1", margin="2%")  # type: ignore[arg-type]


def test_graded_scores_may_have_any_margin() -> None:
    rng = np.random.default_rng(1)
    a, b = (Outcomes.from_array(rng.normal(0, 10, (40, 3))) for _ in range(2))
    assert compare(a, b, "avg", margin=50).decision.verdict == "equivalent"


def test_a_strict_test_keeps_the_verdict_back() -> None:
    rows = [(0, 1)] * 5 + [(1, 1)] * 20
    a, b = (Outcomes.from_counts(side, 1) for side in zip(*rows, strict=True))
    assert compare(a, b, "pass@1").decision.verdict == "better"
    exact = compare(a, b, "pass@1", test="exact")
    assert exact.p_value == pytest.approx(1 / 16)
    assert exact.decision.verdict == "undecided"


def test_a_test_of_pairs_needs_pairs() -> None:
    with pytest.raises(InvalidInput, match="there are none with over='trials'"):
        compare(*PAIR, "pass@1", test="exact", over="trials")
    with pytest.raises(InvalidInput, match="there are none with paired=False"):
        compare(*PAIR, "pass@1", test="mid-p", paired=False)
    with pytest.raises(InvalidInput, match="test must be one of"):
        compare(*PAIR, "pass@1", test="t")  # type: ignore[arg-type]
    blend = compare(Outcomes.from_counts([0] * 4, 4), PAIR[1].take(np.arange(4)), "geom-ds@2")
    assert blend.test == "interval"


def test_identical_runs_are_equivalent_only_if_there_are_enough_problems() -> None:
    few = Outcomes.from_counts([0, 3, 8, 5] * 5, 8)
    many = Outcomes.from_counts([0, 3, 8, 5] * 100, 8)
    assert compare(few, few, "pass@1", margin=0.02).decision.verdict == "undecided"
    assert compare(many, many, "pass@1", margin=0.02).decision.verdict == "equivalent"


def test_the_other_targets_have_verdicts_too() -> None:
    for options in ({"over": "trials"}, {"paired": False}):
        found = compare(*PAIR, "pass@1", margin=0.3, **options)
        assert found.decision.verdict == "equivalent"
        assert found.decision.p_equivalent is not None
        assert found.decision.p_equivalent < 0.025


@pytest.mark.parametrize("trials", [6, 9])
def test_votes_have_verdicts_too(trials: int) -> None:
    rng = np.random.default_rng(3)
    sides = [
        Outcomes.from_answers(rng.choice(list("abc"), (20, n)).tolist(), targets=["a"] * 20)
        for n in (6, trials)
    ]
    found = compare(*sides, "vote@3", margin=0.5)  # type: ignore[arg-type]
    assert found.decision.verdict in ("equivalent", "no-worse", "no-better")
    assert found.influence is not None
    if trials != 6:
        assert found.method == "paired, and no narrower than the noise of the trials"
