"""One battery over every registered metric, the laws between metrics, and their names."""

import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, NotEnoughData, Outcomes, compare, curve, measure, measure_all
from passband.errors import UnknownName
from passband.stats.data.outcomes import Policy
from passband.stats.data.spending import SPENT_METRICS
from passband.stats.metric import credits
from passband.stats.metric.components import Credit
from passband.stats.metric.metric import BlendMetric
from passband.stats.metric.names import parse_name, unit_interval
from passband.stats.metric.registry import (
    expand_metrics,
    families,
    parse_metric,
    register_family,
    register_metric,
)
from support.samples import exact
from support.samples.exact import Draws

# Which need more than scores, and have tests of their own.
APART = {"vote@", "cons@", *SPENT_METRICS}
FAMILIES = sorted(set(families) - APART)
WITH_K = [key for key in FAMILIES if families.get(key).takes_k]

# What a name needs behind the colon; a spectrum has one weight per draw, so no name for every k.
NO_CURVE = {"spectrum@"}


def named(key: str, k: int) -> str:
    if not families.get(key).takes_k:
        return key
    return f"{key}{k}:{','.join(['1/' + str(k)] * k)}" if key == "spectrum@" else f"{key}{k}"


def best_possible(key: str, k: int, n: int) -> float:
    """The value of n successes in n trials: 1, but for the metrics that cannot get there."""
    if key not in TWINS:
        return float(credit_vector(key, k)[-1])
    if key == "mg-pass@":
        return 1 - k % 2 / k
    if key == "geospectrum@":
        return math.sqrt(1 - k % 2 / k)
    return (n + 1) / (n + 2) if key == "bayes" else 1.0


def worst_possible(key: str, k: int, n: int) -> float:
    """The value of n failures in n trials: 0, but for the prior."""
    if key not in TWINS:
        return float(credit_vector(key, k)[0])
    return 1 / (n + 2) if key == "bayes" else 0.0


def mean_of(twin: Callable[[Draws], Fraction]) -> Callable[[list[Draws]], float]:
    return lambda problems: float(sum(map(twin, problems), Fraction(0)) / len(problems))


def root_of_means(first: Callable, second: Callable) -> Callable[[list[Draws]], float]:
    return lambda problems: math.sqrt(mean_of(first)(problems) * mean_of(second)(problems))


TWINS: dict[str, Callable[[list[Draws]], float]] = {
    **{key: mean_of(twin) for key, twin in exact.COUNTED.items()},
    "spectrum@": mean_of(lambda d: exact.spectrum(d, [Fraction(1, d.k)] * d.k)),
    "geom@": lambda problems: (
        sum(math.sqrt(exact.geom_squared(d)) for d in problems) / len(problems)
    ),
    "geom-ds@": root_of_means(exact.pass_at, exact.pass_hat),
    "geospectrum@": root_of_means(exact.pass_at, exact.mg_pass),
    "max@": mean_of(lambda d: exact.max_at([1] * d.c + [0] * (d.n - d.c), d.k)),
    "avg": mean_of(lambda d: Fraction(d.c, d.n)),
    **dict.fromkeys(["mean", "avg@", "mean@"], mean_of(lambda d: Fraction(d.c, d.n))),
    "bayes": mean_of(lambda d: Fraction(d.c + 1, d.n + 2)),
}


def twin_of(key: str) -> Callable[[list[Draws]], float]:
    """Return the twin of a metric: from its definition, or from its own credit vector."""
    return TWINS.get(key) or mean_of(lambda draws: expected(credit_vector(key, draws.k), draws))


def credit_vector(key: str, k: int) -> list[Fraction]:
    (part,) = parse_metric(named(key, k)).parts
    assert isinstance(part, Credit), f"{key} is more than a credit vector: add a twin to TWINS"
    return [Fraction(float(credit)) for credit in part.credit]


def expected(credit: list[Fraction], draws: Draws) -> Fraction:
    return sum(map(operator.mul, credit, draws.ways), Fraction(0)) / draws.total


def problems_of(seed: int, count: int = 12, longest: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """Ragged trials and successes, with problems of no trial, of one, and of certain outcome."""
    rng = np.random.default_rng(seed)
    trials = rng.integers(1, longest + 1, count)
    trials[:2] = [0, longest]
    successes = rng.integers(0, trials + 1)
    successes[-1] = trials[-1]
    return trials, successes


def value(outcomes: Outcomes, key: str, k: int) -> float:
    return measure(outcomes, named(key, k)).value


# -- the battery -------------------------------------------------------------------------------


def test_twins_are_of_metrics() -> None:
    assert set(TWINS) <= set(FAMILIES)


@pytest.mark.parametrize("key", FAMILIES)
def test_value_is_that_of_the_twin(key: str) -> None:
    for seed in range(3):
        trials, successes = problems_of(seed)
        outcomes = Outcomes.from_counts(successes, trials)
        for k in (1, 2, 3, 8, 11) if families.get(key).takes_k else (1,):
            enough = [
                Draws(n, c, k)
                for n, c in zip(trials.tolist(), successes.tolist(), strict=True)
                if n >= k
            ]
            assert value(outcomes, key, k) == pytest.approx(twin_of(key)(enough), rel=1e-12)


@pytest.mark.parametrize("key", FAMILIES)
def test_problems_with_too_few_trials_are_left_out_and_counted(key: str) -> None:
    trials, successes = problems_of(7)
    outcomes = Outcomes.from_counts(successes, trials)
    for k in (1, 4, 11) if families.get(key).takes_k else (1,):
        enough = trials >= k
        found = measure(outcomes, named(key, k))
        kept = Outcomes.from_counts(successes[enough], trials[enough])
        assert found.value == pytest.approx(value(kept, key, k), rel=1e-14)
        assert (found.n_problems, found.left_out) == (enough.sum(), (~enough).sum())
        assert found.n_trials == trials[enough].sum()
        assert found.metric == named(key, k)


@pytest.mark.parametrize("key", FAMILIES)
def test_bounds(key: str) -> None:
    for n in (1, 2, 5, 8):
        for k in range(1, n + 1):
            values = [value(Outcomes.from_counts([c], n), key, k) for c in range(n + 1)]
            assert values[0] == pytest.approx(worst_possible(key, k, n), abs=0)
            assert values[-1] == pytest.approx(best_possible(key, k, n), rel=1e-15)
            assert values == sorted(values)


@pytest.mark.parametrize("key", FAMILIES)
def test_order_of_problems_and_of_trials_does_not_matter(key: str) -> None:
    rng = np.random.default_rng(2)
    scores = (rng.random((9, 6)) < rng.random((9, 1))).astype(float)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    shuffled = rng.permuted(rng.permutation(scores), axis=1)
    for k in (1, 3, 4):
        before = value(Outcomes.from_array(scores), key, k)
        assert value(Outcomes.from_array(shuffled), key, k) == pytest.approx(before, rel=1e-14)


@pytest.mark.parametrize("key", ["max@", "avg"])
def test_order_of_rewards_does_not_matter(key: str) -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(9, 6))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    shuffled = rng.permuted(rng.permutation(scores), axis=1)
    for k in (1, 3, 4):
        before = value(Outcomes.from_array(scores), key, k)
        assert value(Outcomes.from_array(shuffled), key, k) == pytest.approx(before, rel=1e-13)


@pytest.mark.parametrize("key", FAMILIES)
def test_problems_that_are_alike_count_as_often_as_they_are_there(key: str) -> None:
    trials, successes = problems_of(4)
    once = Outcomes.from_counts(successes, trials)
    thrice = Outcomes.from_counts(np.tile(successes, 3), np.tile(trials, 3))
    for k in (1, 5):
        assert value(thrice, key, k) == pytest.approx(value(once, key, k), rel=1e-14)


@pytest.mark.parametrize("key", sorted(set(WITH_K) - NO_CURVE))
@pytest.mark.parametrize("seed", [0, 1])
def test_curve_is_every_single_k(key: str, seed: int) -> None:
    trials, successes = problems_of(seed, 40, 25)
    outcomes = Outcomes.from_counts(successes, trials)
    found = curve(outcomes, f"{key}*")
    points = measure_all(outcomes, [f"{key}*"])
    assert found.k.tolist() == list(range(1, 26))
    assert [point.metric for point in points] == [named(key, k) for k in range(1, 26)]
    assert len(found) == 25
    for k, whole, point in zip(found.k.tolist(), found.value, points, strict=True):
        single = measure(outcomes, named(key, k))
        assert whole == pytest.approx(single.value, rel=1e-12, abs=1e-15)
        assert point.value == whole
        assert found.n_problems[k - 1] == single.n_problems == point.n_problems
        assert (point.left_out, point.n_trials) == (single.left_out, single.n_trials)


@pytest.mark.parametrize("text", ["g-pass@*:0.5", "g-pass@*:7/25", "geospectrum@*:0.25"])
def test_curve_with_a_parameter(text: str) -> None:
    trials, successes = problems_of(5)
    outcomes = Outcomes.from_counts(successes, trials)
    for k, found in enumerate(curve(outcomes, text).value, start=1):
        single = measure(outcomes, text.replace("*", str(k))).value
        assert found == pytest.approx(single, rel=1e-12, abs=1e-15)


def test_curve_of_rewards_is_every_single_k() -> None:
    rng = np.random.default_rng(6)
    rows = [rng.normal(size=n).tolist() for n in (0, 1, 4, 4, 9, 7)]
    outcomes = Outcomes.from_array(rows)
    for k, found in enumerate(curve(outcomes, "max@*").value, start=1):
        wanted = [exact.max_at(row, k) for row in rows if len(row) >= k]
        mean = float(sum(wanted) / len(wanted))
        assert found == pytest.approx(mean, rel=1e-12)
        assert measure(outcomes, f"max@{k}").value == pytest.approx(mean, rel=1e-12)
    means = [exact.avg(row) for row in rows if row]
    assert measure(outcomes, "avg").value == pytest.approx(float(sum(means) / len(means)))


@pytest.mark.parametrize("name", ["avg", "mean"])
def test_a_mean_of_rewards_is_over_the_problems_with_k_trials(name: str) -> None:
    two = Outcomes.from_array([[0.0], [0.0, 0.5]])
    assert measure(two, f"{name}@2").value == 0.25  # (0 + 0.5) / 2, of the second problem alone
    rng = np.random.default_rng(7)
    rows = [rng.normal(size=n).tolist() for n in (4, 0, 1, 9, 4, 7, 2)]
    outcomes = Outcomes.from_array(rows)
    values = curve(outcomes, f"{name}@*").value
    for k, found in enumerate(values, start=1):
        wanted = [exact.avg(row) for row in rows if len(row) >= k]
        mean = pytest.approx(float(sum(wanted) / len(wanted)), rel=1e-12)
        single = measure(outcomes, f"{name}@{k}")
        assert (found, single.value, single.n_problems) == (mean, mean, len(wanted))
        assert compare(outcomes, outcomes, f"{name}@{k}").value_a == mean


@pytest.mark.parametrize("key", sorted(set(FAMILIES) - {"max@", "avg", "avg@", "mean", "mean@"}))
def test_counting_metrics_need_right_and_wrong(key: str) -> None:
    with pytest.raises(InvalidInput, match=r"needs scores of 0 or 1; got 0, 0\.25, 1"):
        measure(Outcomes.from_array([[0.25, 0, 1]]), named(key, 2))


@pytest.mark.parametrize("key", FAMILIES)
def test_nothing_scored_is_not_enough(key: str) -> None:
    nothing = Outcomes.from_counts([0, 0], [0, 0])
    with pytest.raises(NotEnoughData):
        measure(nothing, named(key, 1))
    with pytest.raises(NotEnoughData):
        measure_all(nothing, [named(key, 1)])


@pytest.mark.parametrize("key", WITH_K)
def test_more_draws_than_trials_are_refused(key: str) -> None:
    outcomes = Outcomes.from_counts([1, 2], [3, 4])
    with pytest.raises(NotEnoughData, match="needs 5 trials"):
        measure(outcomes, named(key, 5))
    with pytest.raises(NotEnoughData, match="needs 5 trials"):
        measure_all(outcomes, [named(key, 5)])


@pytest.mark.parametrize("policy", ["drop", "fail"])
def test_policy_decides_about_unscored_trials(policy: Policy) -> None:
    outcomes = Outcomes.from_array([[1, 0, None, None], [1, 1, 1, None]])
    found = measure(outcomes, "pass@1", policy=policy)
    assert found.value == (0.75 if policy == "drop" else (1 / 4 + 3 / 4) / 2)
    assert (found.n_unscored, found.policy) == (3, policy)
    assert curve(outcomes, "pass@*", policy=policy).value[0] == found.value
    with pytest.raises(InvalidInput, match="3 missing without a score"):
        measure(outcomes, "pass@1", policy="error")


# -- laws --------------------------------------------------------------------------------------

COUNTS = st.lists(
    st.integers(1, 20).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    min_size=1,
    max_size=12,
)
EQUAL_COUNTS = st.integers(1, 24).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=12))
)


def equal(problems: tuple[int, list[int]]) -> Outcomes:
    n, successes = problems
    return Outcomes.from_counts(successes, n)


@given(EQUAL_COUNTS)
def test_more_draws_pass_more_and_pass_all_less(problems: tuple[int, list[int]]) -> None:
    outcomes = equal(problems)
    assert (np.diff(curve(outcomes, "pass@*").value) >= -1e-14).all()
    assert (np.diff(curve(outcomes, "pass^*").value) <= 1e-14).all()


@given(COUNTS)
def test_one_draw_is_the_mean(problems: list[tuple[int, int]]) -> None:
    trials, successes = zip(*problems, strict=True)
    outcomes = Outcomes.from_counts(successes, trials)
    mean = float(sum(Fraction(c, n) for n, c in problems) / len(problems))
    for name in ("pass@1", "pass^1", "maj@1", "auc@1", "max@1", "mg-pass-integral@1", "avg"):
        assert measure(outcomes, name).value == pytest.approx(mean, rel=1e-14)


@given(EQUAL_COUNTS)
def test_order_between_metrics(problems: tuple[int, list[int]]) -> None:
    outcomes, slack = equal(problems), 1e-13
    one = curve(outcomes, "pass@*").value
    all_of = curve(outcomes, "pass^*").value
    for text in ("maj@*", "g-pass@*:0.3", "g-pass@*:0.75", "geom@*", "geom-ds@*"):
        between = curve(outcomes, text).value
        assert (all_of - slack <= between).all()
        assert (between <= one + slack).all()
    area = curve(outcomes, "auc@*").value
    assert (one[0] - slack <= area).all()
    assert (area <= one + slack).all()
    assert (curve(outcomes, "mg-pass@*").value <= curve(outcomes, "maj@*").value + slack).all()
    integral = curve(outcomes, "mg-pass-integral@*").value
    discrete = curve(outcomes, "mg-pass@*").value
    np.testing.assert_allclose(integral[1::2], discrete[1::2], rtol=1e-12)
    assert (discrete <= integral + slack).all()


@given(EQUAL_COUNTS)
def test_best_of_right_and_wrong_is_pass(problems: tuple[int, list[int]]) -> None:
    outcomes = equal(problems)
    best, passed = curve(outcomes, "max@*").value, curve(outcomes, "pass@*").value
    np.testing.assert_allclose(best, passed, rtol=1e-14)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), min_size=1, max_size=5))
def test_best_reward_is_that_of_every_subset(rows: list[list[float]]) -> None:
    outcomes = Outcomes.from_array(rows)
    for k in range(1, max(map(len, rows)) + 1):
        wanted = [exact.max_at_by_hand(row, k) for row in rows if len(row) >= k]
        scale = max(abs(score) for row in rows for score in row)
        assert measure(outcomes, f"max@{k}").value == pytest.approx(
            float(sum(wanted) / len(wanted)), rel=1e-12, abs=1e-12 * scale
        )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), st.data())
def test_best_reward_by_order_statistics_is_that_of_every_subset(
    graded: list[float], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(graded)))
    assert exact.max_at(graded, k) == exact.max_at_by_hand(graded, k)


def test_same_metric_under_two_names() -> None:
    trials, successes = problems_of(8)
    outcomes = Outcomes.from_counts(successes, trials)
    for k in (1, 2, 5, 6):
        pairs = [
            (f"unanimous@{k}", f"pass^{k}"),
            (f"g-pass@{k}", f"pass^{k}"),
            (f"g-pass@{k}:1.0", f"pass^{k}"),
            (f"g-pass@{k}:0", f"pass@{k}"),
            (f"g-pass@{k}:{k // 2 + 1}/{k}", f"maj@{k}"),
            (f"geospectrum@{k}:1.0", f"pass@{k}"),
            (f"geospectrum@{k}:0", f"mg-pass@{k}"),
        ]
        if k > 1:
            pairs.append((f"g-pass@{k}:{k}", f"pass^{k}"))
        for one, other in pairs:
            assert measure(outcomes, one).value == pytest.approx(
                measure(outcomes, other).value, rel=1e-14
            )


# -- thresholds --------------------------------------------------------------------------------


def test_share_written_as_a_decimal_means_the_decimal() -> None:
    for k in range(1, 201):
        for percent in range(101):
            wanted = max(1, math.ceil(Fraction(percent, 100) * k))
            assert credits.success_threshold(k, percent / 100) == wanted
            assert credits.success_threshold(k, float(f"0.{percent:02d}")) == wanted or (
                percent == 100
            )
            assert credits.success_threshold(k, Fraction(percent, 100)) == wanted


def test_share_computed_as_a_quotient_means_the_quotient() -> None:
    for k in range(1, 201):
        for j in range(k + 1):
            assert credits.success_threshold(k, j / k) == max(1, j)
            assert credits.success_threshold(k, Fraction(j, k)) == max(1, j)


@pytest.mark.parametrize("text", ["g-pass@25:0.28", "g-pass@25:7/25", "g-pass@25:7"])
def test_28_percent_of_25_is_7(text: str) -> None:
    assert credits.success_threshold(25, 0.28) == 7
    found = measure(Outcomes.from_counts([20], 64), text).value
    assert found == pytest.approx(float(Draws(64, 20, 25).at_least(7)), rel=1e-13)
    assert round(found, 4) == 0.7644


def test_any_share_counts_from_one_success() -> None:
    assert [credits.success_threshold(k, 0.0) for k in (1, 8, 200)] == [1, 1, 1]
    assert credits.success_threshold(8, 1e-300) == 1
    assert credits.success_threshold(8, 1) == 8


# -- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "ks", "parameter"),
    [
        ("pass@8", "pass@", (8,), None),
        (" Pass@8 ", "pass@", (8,), None),
        ("pass^8", "pass^", (8,), None),
        ("pass@1,8,64", "pass@", (1, 8, 64), None),
        ("pass@8,8,1", "pass@", (8, 1), None),
        ("pass@*", "pass@", None, None),
        ("g-pass@8:0.75", "g-pass@", (8,), "0.75"),
        ("g-pass@25:7/25", "g-pass@", (25,), "7/25"),
        ("spectrum@2:0.5,0.5", "spectrum@", (2,), "0.5,0.5"),
        ("avg", "avg", (), None),
    ],
)
def test_names_are_taken_apart(
    text: str, key: str, ks: tuple[int, ...] | None, parameter: str | None
) -> None:
    name = parse_name(text)
    assert (name.key, name.ks, name.parameter) == (key, ks, parameter)


@pytest.mark.parametrize(
    "text",
    ["", "@8", "pass@", "pass@x", "pass@-1", "pass@1.5", "pass@1,", "pass 8", "pass@8:", "8@pass"],
)
def test_what_is_not_a_name(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not the name of a metric; write for example pass@8"):
        parse_name(text)


def test_no_draw_is_refused() -> None:
    for text in ("pass@0", "pass@1,0"):
        with pytest.raises(InvalidInput, match="k must be at least 1"):
            parse_name(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("pas@8", "Did you mean 'pass@'?"),
        ("gpass@8", "Did you mean 'g-pass@'?"),
        ("maj^8", "Did you mean 'maj@'?"),
        ("average", "Did you mean 'avg'?"),
        ("pass4", "no metric named 'pass4'. Did you mean 'pass@4'?"),
        ("g-pass16", "Did you mean 'g-pass@16'?"),
        ("pass", "pass needs a k; write for example pass@8"),
        ("zzzzz@3", "Known: auc@, avg,"),
    ],
)
def test_unknown_names_come_with_the_nearest(text: str, hint: str) -> None:
    for ask in (parse_metric, lambda text: expand_metrics(text, 8)):
        with pytest.raises(UnknownName) as caught:
            ask(text)
        assert hint in str(caught.value)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("g-pass@8:1", r"could mean all or one; write g-pass@8:1\.0 .* or g-pass@8:1/8"),
        ("g-pass@8:9", r"tau must be in \[0, 1\]; got 9"),
        ("g-pass@8:-0.1", r"tau must be in \[0, 1\]; got -0\.1"),
        ("g-pass@8:x", "tau must be a decimal or a fraction; got 'x'"),
        ("g-pass@8:1/0", "tau must be a decimal or a fraction; got '1/0'"),
        ("g-pass@8:nan", "tau must be a decimal or a fraction; got 'nan'"),
        ("geospectrum@8:1.5", r"lambda must be in \[0, 1\]; got 1\.5"),
        ("pass@8:0.5", "pass@ takes no parameter; got '0.5'"),
        ("avg:2", "avg takes no parameter"),
        ("spectrum@3", "spectrum@3 needs 3 weights"),
        ("spectrum@3:0.5,0.5", "weights must be a length-3"),
        ("spectrum@2:0.5,x", "weights must be a decimal or a fraction"),
        ("spectrum@2:0.5,0.6", r"sum\(weights\) <= 1"),
        ("spectrum@2:-0.5,0.6", "non-negative"),
        ("pass@1,8", "means several metrics; give one k"),
        ("pass@*", "means several metrics; give one k"),
    ],
)
def test_names_asked_wrongly(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_metric(text)


def test_only_success_of_one_draw_is_not_ambiguous() -> None:
    assert measure(Outcomes.from_counts([3], 8), "g-pass@1:1").value == 3 / 8


def test_names_for_several_metrics() -> None:
    assert [m.name for m in expand_metrics("pass@8,1", 8)] == ["pass@8", "pass@1"]
    assert [m.name for m in expand_metrics("g-pass@*:0.5", 2)] == ["g-pass@1:0.5", "g-pass@2:0.5"]
    assert [m.name for m in expand_metrics("avg", 8)] == ["avg"]
    with pytest.raises(NotEnoughData, match=r"pass@9 needs 9 trials .* is 8"):
        expand_metrics("pass@1,9", 8)


def test_a_curve_needs_a_star() -> None:
    outcomes = Outcomes.from_counts([3], 8)
    np.testing.assert_array_equal(curve(outcomes, "pass@").value, curve(outcomes, "pass@*").value)
    np.testing.assert_array_equal(curve(outcomes, "pass^").value, curve(outcomes, "pass^*").value)
    with pytest.raises(InvalidInput, match="needs a star for k"):
        curve(outcomes, "avg")


def test_decimals_and_fractions_are_read_exactly() -> None:
    assert unit_interval("tau", " 0.1 ") == Fraction(1, 10)
    assert unit_interval("tau", "1e-3") == Fraction(1, 1000)
    assert unit_interval("tau", "2/4") == Fraction(1, 2)


# -- more metrics ------------------------------------------------------------------------------


@pytest.fixture
def two_of() -> Iterator[str]:
    @register_metric("two-of", summary="at least two of k succeed")
    def two_of(k: int) -> np.ndarray:
        return np.arange(k + 1) >= 2

    yield "two-of"
    families.remove("two-of@")


def test_registered_metric_is_one_like_the_others(two_of: str) -> None:
    trials, successes = problems_of(9)
    outcomes = Outcomes.from_counts(successes, trials)
    for k, found in enumerate(curve(outcomes, f"{two_of}@*").value, start=1):
        wanted = 0.0 if k == 1 else measure(outcomes, f"g-pass@{k}:2/{k}").value
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-15)
        assert measure(outcomes, f"{two_of}@{k}").value == pytest.approx(wanted, rel=1e-14)
    assert [m.metric for m in measure_all(outcomes, ["two-of@2,3"])] == ["two-of@2", "two-of@3"]


def test_a_name_is_taken_once(two_of: str) -> None:
    for name in (two_of, "pass", "pass@", "pass^"):
        with pytest.raises(InvalidInput, match="is already registered"):
            register_metric(name, summary="again")(credits.majority)


def test_registered_metric_may_take_a_parameter() -> None:
    @register_metric("worth", summary="every success is worth the parameter")
    def worth(k: int, parameter: str | None) -> list[float]:
        return [j * float(parameter or 1) for j in range(k + 1)]

    try:
        outcomes = Outcomes.from_counts([2, 4], 4)
        assert measure(outcomes, "worth@2").value == pytest.approx(1.5)
        assert measure(outcomes, "worth@2:-3").value == pytest.approx(-4.5)
        np.testing.assert_allclose(curve(outcomes, "worth@*:2").value, [1.5, 3.0, 4.5, 6.0])
    finally:
        families.remove("worth@")


@pytest.mark.parametrize("credit", [[1.0], [0.0, 1.0, 2.0, 3.0], [0.0, np.nan, 1.0], np.inf])
def test_a_credit_vector_has_one_finite_entry_per_outcome(credit: object) -> None:
    register_metric("broken", summary="wrong length")(lambda k: credit)
    try:
        with pytest.raises(
            InvalidInput, match="credit vector of broken@2 must be 3 finite numbers"
        ):
            measure(Outcomes.from_counts([1], 4), "broken@2")
    finally:
        families.remove("broken@")


@pytest.mark.parametrize("name", ["two words", "2nd", "a@1", "-x", "a,b"])
def test_a_name_that_could_never_be_asked_for_is_refused(name: str) -> None:
    before = set(families)
    with pytest.raises(InvalidInput, match="is not the name of a metric"):
        register_metric(name, summary="never")
    assert set(families) == before


def test_registered_family_builds_its_own_metric() -> None:
    @register_family("half-avg", summary="half of the mean")
    def half_avg(name, k):
        return BlendMetric(name.key, 1, parse_metric("avg").parts, (2.0,))

    try:
        assert measure(Outcomes.from_counts([2], 4), "half-avg").value == pytest.approx(0.25)
    finally:
        families.remove("half-avg")


def test_every_family_says_what_it_is() -> None:
    for key in families:
        family = families.get(key)
        assert family.key == key
        assert family.summary
        assert not family.summary.endswith(".")


def test_the_vote_of_all_trials_needs_their_number() -> None:
    assert parse_metric("majority", 8).name == "vote@8"
    with pytest.raises(InvalidInput, match="their number is not known here"):
        parse_metric("majority")
