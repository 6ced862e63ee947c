"""Abilities: recovery from different problems, notes, edges, nonsense."""

from dataclasses import replace

import numpy as np
import pytest

from passband import InvalidInput, Outcomes, compare_all, rank_models
from passband.stats.data.evidence import Evidence, Finding


def asked(
    rng: np.random.Generator, abilities: dict[str, float], subsets: dict[str, range], n: int = 4
) -> dict[str, Outcomes]:
    """Return models on parts of 120 problems in the order of their difficulty."""
    difficulty = np.sort(rng.normal(0, 1.5, 120))
    return {
        name: Outcomes.from_counts(
            rng.binomial(n, 1 / (1 + np.exp(difficulty[subsets[name]] - ability))),
            n,
            problems=[f"q{at}" for at in subsets[name]],
        )
        for name, ability in abilities.items()
    }


ABILITIES = {"weak": -0.6, "middle": 0.0, "strong": 0.6}
SUBSETS = {"weak": range(70), "middle": range(120), "strong": range(40, 120)}


@pytest.mark.parametrize("model", ["logit", "bradley-terry"])
def test_models_asked_other_problems_are_put_in_order_and_it_is_said(model: str) -> None:
    models = asked(np.random.default_rng(1), ABILITIES, SUBSETS)
    found = rank_models(models, "pass@1", model=model)  # type: ignore[arg-type]
    assert [one.model for one in found.abilities] == ["strong", "middle", "weak"]
    best, _, worst = found.abilities
    assert best.plain < worst.plain
    (note,) = (note for note in found.notes if note.code == "order-differs")
    assert note.text.startswith("strong is better than weak by ")
    assert f"({best.plain:.3g} against {worst.plain:.3g}): it was asked other" in note.text
    assert (best.n_problems, found.n_problems) == (80, 120)


def test_intervals_hold_the_abilities() -> None:
    """Smoke: of 3 abilities in 20 data sets about one in 20 misses."""
    rng, missed = np.random.default_rng(2), 0
    for _ in range(20):
        models = asked(rng, ABILITIES, SUBSETS)
        found = rank_models(models, "pass@1")
        for one in found.abilities:
            truth = ABILITIES[one.model]
            assert one.low is not None
            assert one.high is not None
            missed += not one.low <= truth <= one.high
    assert missed <= 10


def test_the_same_problems_agree_with_compare_all_in_order_and_confidence() -> None:
    rng = np.random.default_rng(3)
    same = dict.fromkeys(ABILITIES, range(120))
    models = asked(rng, ABILITIES, same)
    found, plain = rank_models(models, "pass@1"), compare_all(models, "pass@1")
    assert [one.model for one in found.abilities] == [one.model for one in plain.standings]
    for pair in found.pairs:
        other = plain.pair(pair.a, pair.b)
        assert pair.value * other.value > 0
        assert pair.confidence == pytest.approx(other.confidence, abs=0.02)
    assert not found.notes


def test_ranks_p_values_and_confidences_are_coherent() -> None:
    rng = np.random.default_rng(4)
    abilities = {f"m{at}": 0.2 * at for at in range(6)}
    models = asked(rng, abilities, dict.fromkeys(abilities, range(0, 120, 2)))
    for over in ("problems", "trials"):
        found = rank_models(models, "pass@1", over=over)
        assert sum(one.p_best or 0 for one in found.abilities) == pytest.approx(1)
        for pair in found.pairs:
            assert pair.low is not None
            assert pair.high is not None
            assert pair.p_adjusted is not None
            assert (pair.low > 0 or pair.high < 0) == (pair.p_adjusted <= 0.05)
        for one in found.abilities:
            assert one.rank_low <= one.rank <= one.rank_high
            pairs = [found.pair(m, one.model).confidence for m in models if m != one.model]
            assert one.p_best is not None
            assert one.p_best <= min(c for c in pairs if c is not None) + 1e-12
    assert found.pair("m0", "m5").value == -found.pair("m5", "m0").value


@pytest.mark.parametrize("model", ["logit", "bradley-terry"])
def test_a_model_that_solves_everything_has_no_upper_bound(model: str) -> None:
    models = {
        "all": Outcomes.from_counts([4] * 20, 4),
        "some": Outcomes.from_counts([3, 2, 1, 0] * 5, 4),
        "others": Outcomes.from_counts([2, 3, 0, 1] * 5, 4),
    }
    found = rank_models(models, "pass@1", model=model)  # type: ignore[arg-type]
    best = found.abilities[0]
    assert best.model == "all"
    assert np.isfinite(best.value)
    assert best.low is not None
    assert best.low > 0
    assert best.high is None
    assert found.pair("some", "all").high is None
    assert found.pair("some", "all").low is not None
    assert found.pair("all", "some").low is None
    assert found.pair("some", "others").high is not None
    assert any("no upper bound for the ability of all" in note.text for note in found.notes)


def test_nothing_to_tell_models_apart_gives_no_interval_and_says_so() -> None:
    for counts in ([0, 0, 0], [4, 4, 4]):
        same = {name: Outcomes.from_counts(counts, 4) for name in "xy"}
        found = rank_models(same, "pass@1")
        assert [(one.value, one.low, one.p_best) for one in found.abilities] == [
            (0, None, None)
        ] * 2
        assert [note.code for note in found.notes] == ["no-interval-abilities"]
    one_cluster = {
        "x": Outcomes.from_counts([1, 2], 4, clusters="aa"),
        "y": Outcomes.from_counts([2, 3], 4, clusters="aa"),
    }
    found = rank_models(one_cluster, "pass@1")
    assert found.pairs[0].p_value is None
    assert found.n_units == 1
    assert rank_models(one_cluster, "pass@1", over="trials").pairs[0].p_value is not None


def test_clusters_are_taken_from_any_model_and_must_agree() -> None:
    x = Outcomes.from_counts([1, 2, 3, 0], 4, clusters="aabb")
    y = Outcomes.from_counts([2, 2, 1, 1], 4)
    assert rank_models({"x": x, "y": y}, "pass@1").n_units == 2
    z = Outcomes.from_counts([2, 2, 1, 1], 4, clusters="abab")
    with pytest.raises(InvalidInput, match="problem '1' is in 'a', and in 'b' for 'z'"):
        rank_models({"x": x, "z": z}, "pass@1")


def test_graded_scores_have_winners_but_no_odds() -> None:
    rng = np.random.default_rng(5)
    models = {name: Outcomes.from_array(rng.normal(at, 1, (12, 3))) for at, name in enumerate("ab")}
    assert rank_models(models, "avg", model="bradley-terry").abilities[0].model == "b"
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        rank_models(models, "avg")


def test_data_that_allow_no_claim_leave_the_values_alone() -> None:
    copied = Finding("copied-trials", "invalid", "pairs of trials agree", {"trials": 1})
    models = {
        "x": Outcomes.from_counts([3, 5, 2, 7] * 5, 8),
        "y": Outcomes.from_counts([5, 6, 4, 7] * 5, 8),
    }
    odd = {**models, "y": replace(models["y"], found=Evidence((copied,)))}
    plain, found = (rank_models(one, "pass@1", over="trials") for one in (models, odd))
    assert [one.value for one in found.abilities] == [one.value for one in plain.abilities]
    for one in found.abilities:
        assert (one.low, one.high, one.p_best, one.rank_low, one.rank_high) == (*[None] * 3, 1, 2)
    assert (found.pairs[0].p_value, found.pairs[0].value) == (None, plain.pairs[0].value)
    assert ("copied-trials", "y: pairs of trials agree") in [note[:2] for note in found.notes]
    assert (
        rank_models(odd, "pass@1").pairs[0].p_value
        == rank_models(models, "pass@1").pairs[0].p_value
    )


def test_nonsense_is_refused() -> None:
    x, y = Outcomes.from_counts([1, 2], 4), Outcomes.from_counts([2, 1], 4, problems="ab")
    with pytest.raises(InvalidInput, match="at least two models"):
        rank_models({"x": x}, "pass@1")
    with pytest.raises(InvalidInput, match="'x' and 'y' were asked no problem in common"):
        rank_models({"x": x, "y": y}, "pass@1")
    both = {"x": x, "z": Outcomes.from_counts([2, 3], 4)}
    with pytest.raises(InvalidInput, match="Did you mean 'bradley-terry'"):
        rank_models(both, "pass@1", model="bradly-terry")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="its metric is pass@1; got 'pass@2'"):
        rank_models(both, "pass@2")
    with pytest.raises(InvalidInput, match="Bradley-Terry counts wins by problem"):
        rank_models(both, "pass@1", model="bradley-terry", over="trials")
    with pytest.raises(InvalidInput, match="blends averages over all problems"):
        rank_models(both, "geom-ds@2", model="bradley-terry")
