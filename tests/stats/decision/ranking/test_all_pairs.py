"""Many models at once: simultaneous intervals, ranks, the confidence of being the best."""

import numpy as np
import pytest

from passband import InvalidInput, NotEnoughData, Outcomes, estimate
from passband.stats.decision.comparison import compare
from passband.stats.decision.ranking.all_pairs import compare_all
from passband.stats.interval.default.wilson import normal_quantile


def field(seed: int, shifts: list[float], problems: int = 40, n: int = 8) -> dict[str, Outcomes]:
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 1, problems)
    return {
        f"m{at}": Outcomes.from_counts(rng.binomial(n, np.clip(p + shift, 0, 1)), n)
        for at, shift in enumerate(shifts)
    }


# -- two models ----------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["problems", "trials"])
def test_two_models_are_a_plain_comparison(over: str) -> None:
    models = field(1, [0.0, 0.1])
    found = compare_all(models, "pass@2", over=over).pairs[0]  # type: ignore[arg-type]
    plain = compare(models["m0"], models["m1"], "pass@2", over=over)  # type: ignore[arg-type]
    assert (found.value, found.low, found.high, found.se, found.p_value) == pytest.approx(
        (plain.value, plain.low, plain.high, plain.se, plain.p_value)
    )
    assert found.p_holm == found.p_bh == found.p_value


def test_the_chance_of_being_the_best_agrees_with_the_comparison() -> None:
    models = field(2, [0.0, 0.04])
    chance = {s.model: s.p_best for s in compare_all(models, "pass@1").standings}
    plain = compare(models["m0"], models["m1"], "pass@1").confidence
    assert chance["m1"] == pytest.approx(plain, abs=0.03)
    assert sum(p for p in chance.values() if p is not None) == pytest.approx(1)


# -- several -------------------------------------------------------------------------------


def test_intervals_hold_together_and_so_are_wider() -> None:
    models = field(3, [0.0, 0.02, 0.04, 0.06, 0.3])
    found = compare_all(models, "pass@1")
    assert len(found.pairs) == 10
    assert normal_quantile(0.95) < found.reach < normal_quantile(1 - 0.05 / 10)
    for pair in found.pairs:
        alone = compare(models[pair.a], models[pair.b], "pass@1")
        assert pair.low is not None
        assert pair.high is not None
        assert alone.low is not None
        assert alone.high is not None
        assert pair.low < alone.low <= alone.value <= alone.high < pair.high
        assert pair.p_value == alone.p_value


def test_the_reach_is_that_of_the_studentised_range() -> None:
    # independent models of equal variance: Tukey's q(0.95; 5, infinity) = 3.858, over root two
    rng = np.random.default_rng(7)
    models = {f"m{at}": Outcomes.from_counts(rng.binomial(1, 0.5, 4000), 1) for at in range(5)}
    assert compare_all(models, "pass@1").reach == pytest.approx(3.858 / np.sqrt(2), abs=0.05)


def test_standings_are_in_order_with_rank_intervals_around_the_rank() -> None:
    models = field(4, [0.0, 0.02, 0.3, 0.01])
    found = compare_all(models, "pass@1")
    assert [s.rank for s in found.standings] == sorted(s.rank for s in found.standings)
    assert found.standings[0].model == "m2"
    assert found.standings[0].p_best == pytest.approx(1, abs=1e-3)
    assert (found.standings[0].rank_low, found.standings[0].rank_high) == (1, 1)
    for standing in found.standings:
        assert standing.rank_low <= standing.rank <= standing.rank_high
        alone = estimate(models[standing.model], "pass@1")
        assert (standing.value, standing.low) == (alone.value, alone.low)


def test_equal_models_share_rank_and_chance() -> None:
    one = Outcomes.from_counts([1, 2, 3, 4], 4)
    found = compare_all({"a": one, "b": one, "c": one}, "pass@1")
    assert [(s.rank, s.rank_low, s.rank_high) for s in found.standings] == [(1, 1, 3)] * 3
    assert [s.p_best for s in found.standings] == pytest.approx([1 / 3] * 3)
    assert all(pair.p_holm == 1 for pair in found.pairs)
    assert all(pair.low is not None and pair.low < 0 for pair in found.pairs)


def test_the_seed_comes_from_the_names() -> None:
    models = field(5, [0.0, 0.02, 0.04])
    first, again = compare_all(models, "pass@1"), compare_all(models, "pass@1")
    assert (first.seed, first.standings, first.pairs) == (again.seed, again.standings, again.pairs)
    assert compare_all(models, "pass@1", seed=3).seed == 3
    turned = dict(reversed(models.items()))
    assert compare_all(turned, "pass@1").seed == first.seed


def test_a_pair_can_be_asked_for_either_way() -> None:
    found = compare_all(field(6, [0.0, 0.1, 0.2]), "pass@1")
    one, two = found.pair("m0", "m2"), found.pair("m2", "m0")
    assert two.low is not None
    assert one.high == -two.low
    assert one.value == -two.value
    assert one.p_holm == two.p_holm
    with pytest.raises(InvalidInput, match=r"no pair of 'm0' and 'm22'. Did you mean 'm2'"):
        found.pair("m0", "m22")


def test_only_problems_of_all_models_count() -> None:
    models = {
        "a": Outcomes.from_counts([1, 2, 3, 4], 4, problems="wxyz"),
        "b": Outcomes.from_counts([2, 2, 0], [4, 4, 1], problems="zyw"),
        "c": Outcomes.from_counts([2, 1, 4, 1, 0], 4, problems="xyzwv"),
    }
    found = compare_all(models, "pass@2")
    assert (found.n_shared, found.n_problems) == (3, 2)
    assert dict(found.dropped) == {"a": 2, "b": 1, "c": 3}
    assert {s.model: s.value for s in found.standings}["a"] == pytest.approx((1 + 1) / 2)


def test_clusters_of_one_are_no_clusters() -> None:
    models = field(8, [0.0, 0.05, 0.1], problems=25)
    grouped = {
        name: Outcomes.from_counts(np.asarray(m.successes), 8, clusters=range(25))
        for name, m in models.items()
    }
    one, two = compare_all(models, "pass@1"), compare_all(grouped, "pass@1")
    assert one.reach == pytest.approx(two.reach, abs=0.05)
    assert one.pairs[0].se == pytest.approx(two.pairs[0].se)


def test_over_trials_and_graded_scores() -> None:
    models = field(9, [0.0, 0.1, 0.2])
    found = compare_all(models, "pass@2", over="trials")
    assert all(s.p_best is not None for s in found.standings)
    rng = np.random.default_rng(1)
    graded = {name: Outcomes.from_array(rng.normal(at, 1, (12, 4))) for at, name in enumerate("ab")}
    assert compare_all(graded, "max@2").standings[0].model == "b"


def test_models_without_a_standard_error_still_have_a_confidence() -> None:
    models = {"a": Outcomes.from_counts([0, 0, 0], 4), "b": Outcomes.from_counts([4, 4, 2], 4)}
    found = compare_all(models, "pass@1", over="trials")
    plain = compare(models["a"], models["b"], "pass@1", over="trials").confidence
    assert plain is not None
    assert [s.p_best for s in found.standings] == pytest.approx([plain, 1 - plain])


def test_differences_without_an_interval_give_no_confidence_and_say_so() -> None:
    models = {name: Outcomes.from_array([[5.0, 5.0]] * 4) for name in "abc"}
    found = compare_all(models, "avg")
    assert [s.p_best for s in found.standings] == [None] * 3
    assert [pair.p_adjusted for pair in found.pairs] == [None] * 3
    assert any(note.code == "no-p-best" for note in found.notes)


# -- coherence -----------------------------------------------------------------------------


def uneven(seed: int, models: int, problems: int = 30) -> dict[str, Outcomes]:
    """Return models with very different numbers of trials, in clusters."""
    rng = np.random.default_rng(seed)
    p, trials = rng.beta(0.8, 0.8, problems), (64, 2, 8, 1, 16)
    shift = rng.normal(0, 0.08, models)
    return {
        f"m{at}": Outcomes.from_counts(
            rng.binomial(trials[at % 5], np.clip(p + shift[at], 0, 1)),
            trials[at % 5],
            clusters=np.arange(problems) // 2,
        )
        for at in range(models)
    }


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_is_no_surer_than_any_of_its_pairs(seed: int, over: str) -> None:
    for models in (uneven(seed, 3), field(seed, [0.0, 0.02, 0.03, -0.05], problems=20, n=2)):
        found = compare_all(models, "pass@1", over=over)  # type: ignore[arg-type]
        confident = {s.model: s.p_best for s in found.standings}
        for standing in found.standings:
            pairs = [
                found.pair(m, standing.model).confidence for m in models if m != standing.model
            ]
            known = [confidence for confidence in pairs if confidence is not None]
            assert standing.p_best is not None
            assert standing.p_best <= min(known) + 1e-12
        assert sum(p for p in confident.values() if p is not None) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("over", ["problems", "trials"])
def test_two_models_share_the_confidence_of_their_comparison(over: str) -> None:
    models = uneven(7, 2)
    found = compare_all(models, "pass@1", over=over)  # type: ignore[arg-type]
    plain = compare(models["m0"], models["m1"], "pass@1", over=over).confidence  # type: ignore[arg-type]
    assert {s.model: s.p_best for s in found.standings}["m1"] == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_adjusted_p_values_interval_and_ranks_are_one_statement(level: float) -> None:
    shifts = [0.0, 0.03, 0.06, 0.09, 0.12, 0.3]
    for over in ("problems", "trials"):
        found = compare_all(field(11, shifts), "pass@1", over=over, level=level)
        beaten = dict.fromkeys(found.dropped, 0)
        for pair in found.pairs:
            assert pair.low is not None
            assert pair.high is not None
            assert pair.p_adjusted is not None
            assert pair.p_value is not None
            assert (
                pair.p_value <= pair.p_adjusted <= min(1, len(found.pairs) * pair.p_value) + 1e-12
            )
            is_apart = pair.low > 0 or pair.high < 0
            assert is_apart == (pair.p_adjusted <= 1 - level)
            beaten[pair.a if pair.low > 0 else pair.b] += is_apart
        assert {s.model: s.rank_low - 1 for s in found.standings} == beaten


def test_nonsense_is_refused() -> None:
    one = Outcomes.from_counts([1, 2], 4)
    with pytest.raises(InvalidInput, match="at least two models"):
        compare_all({"a": one}, "pass@1")
    with pytest.raises(InvalidInput, match="level"):
        compare_all({"a": one, "b": one}, "pass@1", level=1.5)
    with pytest.raises(InvalidInput, match="over"):
        compare_all({"a": one, "b": one}, "pass@1", over="runs")  # type: ignore[arg-type]
    other = Outcomes.from_counts([1, 2], 4, problems="xy")
    with pytest.raises(InvalidInput, match="no problem is shared by all models: a has '0'"):
        compare_all({"a": one, "b": other}, "pass@1")
    short = Outcomes.from_counts([1, 1, 2], [1, 1, 4])
    with pytest.raises(NotEnoughData, match="none of the 2 shared problems has 3"):
        compare_all({"a": one, "b": short}, "pass@3")


def test_asked_with_the_wrong_kinds() -> None:
    outcomes = Outcomes.from_counts([1, 2, 3], 4)
    for wrong in ([outcomes, outcomes], {1: outcomes, 2: outcomes}, {"a": outcomes, "b": [[1]]}):
        with pytest.raises(InvalidInput):
            compare_all(wrong, "pass@1")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        compare(outcomes, [[1]], "pass@1")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        compare(outcomes, outcomes, ["pass@1"])  # type: ignore[arg-type]


def test_unscored_trials_are_said() -> None:
    whole = Outcomes.from_array([[1, 0], [0, 0], [1, 1]])
    part = Outcomes.from_array([[1, None], [0, 1], [1, 0]])
    found = compare_all({"whole": whole, "part": part}, "pass@1")
    assert any("trials without a score: 1 of part" in note.text for note in found.notes)


def test_trials_that_ended_with_a_success_are_said() -> None:
    stopped = Outcomes.from_counts([1] * 12, [1, 1, 2, 3, 1, 5, 8, 1, 2, 2, 4, 1])
    models = {"once": Outcomes.from_counts([3] * 6 + [1] * 6, 4), "until": stopped}
    notes = [n.text for n in compare_all(models, "pass@1").notes if n.code == "stopped-by-outcome"]
    assert [text.partition(":")[0] for text in notes] == ["until"]
