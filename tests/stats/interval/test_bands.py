"""Bands: one statement about the whole curve."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, curve, estimate
from passband.errors import WrongType
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.interval.band_ends import critical_value
from passband.stats.interval.bands import Band, band
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.metric.registry import families
from support.fuzz.properties import one_in

TARGETS: tuple[Over, ...] = ("problems", "trials")
ROUNDING = 1e-9
DIRECTIONS = {"pass@*": 1, "max@*": 1, "pass^*": -1}

counts = st.lists(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    min_size=1,
    max_size=15,
)


def of(pairs: list[tuple[int, int]]) -> Outcomes:
    successes, trials = zip(*pairs, strict=True)
    return Outcomes.from_counts(successes, trials)


def bonferroni(level: float, k: int) -> float:
    return normal_quantile(1 - (1 - level) / k)


def pointwise(outcomes: Outcomes, found: Band) -> tuple[list[float], list[float]]:
    each = estimate(outcomes, [found.metric], over=found.over, level=found.level)
    return [e.low or 0.0 for e in each], [1.0 if e.high is None else e.high for e in each]


def assert_contains_pointwise(found: Band, outcomes: Outcomes) -> None:
    """Check that the band contains the intervals at single k, drawn in where the curve rises."""
    low, high = map(np.array, pointwise(outcomes, found))
    step = DIRECTIONS.get(found.metric)
    for n in dict.fromkeys(found.n_problems.tolist()) if step else ():
        (part,) = (found.n_problems == n).nonzero()
        part = part[::step]
        least = [low[part[: i + 1]].max() for i in range(len(part))]
        low[part], high[part] = least, [high[part[i:]].min() for i in range(len(part))]
        assert (np.diff(found.low[part]) >= 0).all()
        assert (np.diff(found.high[part]) >= 0).all()
    assert (found.low <= low + ROUNDING).all()
    assert (found.high >= high - ROUNDING).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pass@*", "pass^*", "maj@*", "auc@*", "geom@*", "g-pass@*:0.5"])
@pytest.mark.parametrize("over", TARGETS)
@one_in(3)
@given(pairs=counts, level=st.floats(0.5, 0.999))
def test_a_band_contains_the_curve_and_the_pointwise_intervals(
    name: str, over: Over, pairs: list[tuple[int, int]], level: float
) -> None:
    outcomes = of(pairs)
    found = band(outcomes, name, over=over, level=level)
    line = curve(outcomes, name)
    assert found.k.tolist() == list(range(1, outcomes.most_trials() + 1))
    assert len(found) == len(line)
    assert found.value.tolist() == line.value.tolist()
    assert found.n_problems.tolist() == line.n_problems.tolist()
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert found.low.min() >= -ROUNDING
    assert found.high.max() <= 1 + ROUNDING
    assert_contains_pointwise(found, outcomes)
    assert normal_quantile(level) <= found.critical <= bonferroni(level, len(found))


@pytest.mark.parametrize("over", TARGETS)
@pytest.mark.parametrize("name", ["pass@*", "pass^*"])
def test_a_band_is_wider_than_pointwise_but_not_by_bonferroni(over: Over, name: str) -> None:
    outcomes = Outcomes.from_counts([0, 16, 7, 1, 12, 3, 15, 5] * 10, 16)
    found = band(outcomes, name, over=over)
    low, high = pointwise(outcomes, found)
    assert (found.high - found.low > np.array(high) - np.array(low)).all()
    assert normal_quantile(0.95) + 0.05 < found.critical < bonferroni(0.95, 16) - 0.2


@pytest.mark.parametrize("over", TARGETS)
def test_the_level_and_the_policy_are_followed(over: Over) -> None:
    outcomes = Outcomes.from_counts(
        [0, 4, 2, 1] * 5, [4] * 20, unscored={"timeout": [1, 0, 0, 2] * 5}
    )
    narrow, wide = (band(outcomes, "pass@*", over=over, level=level) for level in (0.8, 0.99))
    assert narrow.critical < wide.critical
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    assert (wide.level, wide.over) == (0.99, over)
    assert len(band(outcomes, "pass@*", over=over, policy="fail")) == 6
    with pytest.raises(InvalidInput, match="without a score"):
        band(outcomes, "pass@*", policy="error")


@pytest.mark.parametrize("over", TARGETS)
def test_all_trials_alike(over: Over) -> None:
    for c in (0, 5):
        outcomes = Outcomes.from_counts([c] * 12, 5)
        found = band(outcomes, "pass@*", over=over)
        low, high = pointwise(outcomes, found)
        assert (found.high - found.low > np.array(high) - np.array(low)).all()


@pytest.mark.parametrize("over", TARGETS)
def test_one_trial_is_one_interval(over: Over) -> None:
    outcomes = Outcomes.from_counts([1, 0, 0, 1] * 10, 1)
    assert band(outcomes, "pass@*", over=over).critical == normal_quantile(0.95)


@pytest.mark.parametrize("name", ["pass@*", "pass^*"])
def test_the_ends_of_a_band_go_the_way_of_the_curve(name: str) -> None:
    # low ends for one k each: .914 at 3, .905 at 4
    outcomes = Outcomes.from_counts([4] * 5 + [5] * 30 + [6] * 25, 6)
    found = band(outcomes, name, over="trials")
    step = DIRECTIONS[name]
    for ends in (found.low[::step], found.high[::step]):
        assert (np.diff(ends) >= 0).all()
    mirrored = band(Outcomes.from_counts([2] * 5 + [1] * 30 + [0] * 25, 6), "pass^*", over="trials")
    if name == "pass@*":
        assert (1 - mirrored.high).tolist() == pytest.approx(found.low.tolist())


def test_ends_of_other_problems_are_left_alone() -> None:
    ragged = Outcomes.from_counts([1, 2] * 10 + [3] * 6, [2] * 20 + [4] * 6)
    found = band(ragged, "pass@*")
    assert found.n_problems.tolist() == [26, 26, 6, 6]
    assert found.low[2] < found.low[1]


def test_clusters_widen_a_band() -> None:
    successes = np.repeat([0, 8, 3, 5, 1, 2, 7, 8] * 3, 4)
    plain = band(Outcomes.from_counts(successes, 8), "pass@*")
    grouped = band(Outcomes.from_counts(successes, 8, clusters=np.repeat(range(24), 4)), "pass@*")
    assert (grouped.high - grouped.low > plain.high - plain.low).all()


def rewards(scale: float) -> list[list[float]]:
    rng = np.random.default_rng(2)
    return [(scale * rng.beta(1, 2, n)).round(3).tolist() for n in [1, 3, 5, 5, 6, 6, 6, 4] * 3]


@pytest.mark.parametrize("over", TARGETS)
@pytest.mark.parametrize("scale", [1.0, 3.0, -1.0])
@pytest.mark.parametrize("clusters", [None, [i // 2 for i in range(24)]])
def test_a_band_of_graded_scores(over: Over, scale: float, clusters: list[int] | None) -> None:
    outcomes = Outcomes.from_array(rewards(scale), clusters=clusters)
    found = band(outcomes, "max@*", over=over)
    line = curve(outcomes, "max@*")
    assert found.value.tolist() == line.value.tolist()
    assert_contains_pointwise(found, outcomes)
    assert normal_quantile(0.95) < found.critical < bonferroni(0.95, 6)
    assert np.isfinite(found.low).all()
    if scale == 1.0:
        assert found.low.min() >= 0.0
        assert found.high.max() <= 1.0


@pytest.mark.parametrize("over", TARGETS)
def test_a_band_of_scores_close_to_0_and_1_is_nearly_that_of_0_and_1(over: Over) -> None:
    bits = np.random.default_rng(5).random((40, 5)) < np.linspace(0, 1, 40)[:, None]
    exact = band(Outcomes.from_counts(bits.sum(axis=1), 5), "max@*", over=over)
    close = band(Outcomes.from_array(np.abs(bits - 1e-6)), "max@*", over=over)
    assert close.critical == pytest.approx(exact.critical, abs=0.25)
    assert close.low == pytest.approx(exact.low, abs=0.03)
    assert close.high == pytest.approx(exact.high, abs=0.03)


def test_a_band_of_unbounded_scores_that_are_all_the_same_is_open() -> None:
    found = band(Outcomes.from_array([[2.0, 2.0]] * 4), "max@*")
    assert found.low.tolist() == [-np.inf, -np.inf]
    assert found.high.tolist() == [np.inf, np.inf]
    assert [note.code for note in found.notes] == ["no-interval-no-spread"]


@pytest.mark.parametrize("over", TARGETS)
@pytest.mark.parametrize("name", ["geom-ds@*", "geospectrum@*:0.25"])
def test_a_band_of_a_blend(over: Over, name: str) -> None:
    outcomes = Outcomes.from_counts([0, 8, 3, 5, 1, 2, 7, 8] * 5, 8)
    found = band(outcomes, name, over=over)
    assert found.value.tolist() == curve(outcomes, name).value.tolist()
    assert_contains_pointwise(found, outcomes)
    assert found.critical < bonferroni(0.95, 8)


def test_a_blend_with_a_factor_of_zero_has_a_band_of_its_factors() -> None:
    outcomes = Outcomes.from_counts([0] * 9 + [1], 4)
    found = band(outcomes, "geom-ds@*")
    assert found.value[1:].tolist() == [0.0, 0.0, 0.0]
    _, high = pointwise(outcomes, found)
    assert (found.high[1:] >= np.array(high)[1:]).all()


def test_what_has_no_band() -> None:
    outcomes = Outcomes.from_counts([1, 2, 3], 4)
    for name in ("pass@2", "pass@1,2", "avg"):
        with pytest.raises(InvalidInput, match="a curve needs a star"):
            band(outcomes, name)
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        band(Outcomes.from_array([[0.5, 0.1]]), "pass@*")
    with pytest.raises(WrongType, match="outcomes must be Outcomes"):
        band([[0, 1]], "pass@*")  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="metric must be text"):
        band(outcomes, None)
    with pytest.raises(WrongType, match="level must be"):
        band(outcomes, "pass@*", level="0.95")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="over must be"):
        band(outcomes, "pass@*", over="models")  # type: ignore[arg-type]
    for level in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidInput, match="level must be"):
            band(outcomes, "pass@*", level=level)


@pytest.mark.parametrize("trials", [5_000, 10**6, range(1, 301)])
def test_too_many_trials_are_refused_at_once(trials: int | range) -> None:
    most = trials if isinstance(trials, int) else [*trials]
    outcomes = Outcomes.from_counts([1] * (2 if isinstance(most, int) else len(most)), most)
    with pytest.raises(InvalidInput, match=r"Use single k, .*'pass@1,10,100'"):
        band(outcomes, "pass@")


def notes_at_each_k(outcomes: Outcomes, over: Over) -> set[Note]:
    each = estimate(outcomes, ["pass@*"], over=over)
    return {note for e in each for note in e.notes}


@pytest.mark.parametrize("over", TARGETS)
@pytest.mark.parametrize(
    "outcomes",
    [
        Outcomes.from_counts([1, 0] * 20, 1),
        Outcomes.from_counts([0, 8, 3, 5] * 10, 8),
        Outcomes.from_counts([0, 8, 3, 5] * 3, 8, clusters=[*range(6)] * 2),
        Outcomes.from_counts([3], 8),
        Outcomes.from_counts([1, 0] * 20 + [1], [1] * 40 + [2]),
    ],
)
def test_a_band_carries_the_notes_of_its_points(outcomes: Outcomes, over: Over) -> None:
    found = band(outcomes, "pass@*", over=over)
    notes = notes_at_each_k(outcomes, over)
    assert {note.code for note in found.notes} == {note.code for note in notes}
    assert len(found.notes) == len({note.code for note in found.notes})
    assert set(found.notes) <= notes


def test_a_band_says_what_was_left_out_and_under_which_policy() -> None:
    outcomes = Outcomes.from_counts([1, 0, 2], [2, 1, 3], unscored={"timeout": [0, 1, 0]})
    found = band(outcomes, "pass@*")
    assert (found.policy, found.left_out.tolist()) == ("drop", [0, 1, 2])
    found = band(outcomes, "pass@*", policy="fail")
    assert (found.policy, found.left_out.tolist()) == ("fail", [0, 0, 2])


def test_every_family_with_a_curve_has_a_band() -> None:
    answers = [["1", "2", "3", "4"], ["1", "1", "2", "2"], ["1", "1", "1", "2"], ["2"] * 4]
    outcomes = Outcomes.from_answers(answers, targets=["1"] * 4)
    for key in families:
        if key[-1] in "@^" and key not in ("spectrum@", "geom-ds@", "geospectrum@"):
            assert len(band(outcomes, f"{key}*")) == 4


# -- the quantile ------------------------------------------------------------------------------


def test_the_quantile_of_one_error_is_the_normal_one() -> None:
    assert critical_value(np.array([[2.5]]), 0.9) == normal_quantile(0.9)
    assert critical_value(np.zeros((3, 3)), 0.9) == normal_quantile(0.9)


def test_the_quantile_of_errors_that_move_together_is_the_normal_one() -> None:
    same = np.outer([1, 2, 3, 4], [1, 2, 3, 4]).astype(float)
    assert critical_value(same, 0.95) == pytest.approx(normal_quantile(0.95), abs=0.08)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("size", [2, 5, 20])
def test_the_quantile_of_independent_errors_is_sidak_s(size: int, level: float) -> None:
    # the quantile of 8192 draws is off by a few hundredths
    assert critical_value(np.diag(np.arange(1.0, size + 1)), level) == pytest.approx(
        normal_quantile(level ** (1 / size)), abs=0.12
    )


def test_an_error_of_zero_does_not_count() -> None:
    assert critical_value(np.diag([1.0, 0.0, 0.0]), 0.95) == normal_quantile(0.95)


SCRIPT = """
from passband import Outcomes
from passband.stats.interval.bands import band
outcomes = Outcomes.from_counts([0, 8, 3, 5, 1] * 5, 8)
for over in ("problems", "trials"):
    found = band(outcomes, "pass@*", over=over)
    print(found.critical, found.low.tolist(), found.high.tolist())
"""


@pytest.mark.process
def test_the_same_in_every_process() -> None:
    shown = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, timeout=60, check=True
        ).stdout
        for _ in range(2)
    ]
    assert shown[0] == shown[1]


def test_trials_that_ended_with_a_success_are_said() -> None:
    stopped = Outcomes.from_counts([1] * 12, [1, 1, 2, 3, 1, 5, 8, 1, 2, 2, 4, 1])
    assert band(stopped, "pass@*").notes[0].code == "stopped-by-outcome"
