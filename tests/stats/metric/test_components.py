"""Kinds of values per problem: their latent values, their curves, and what they refuse."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from passband import InvalidInput, Outcomes, curve, estimate, measure
from passband.stats.data.graded import GradedScores
from passband.stats.metric.components import (
    BestScore,
    Credit,
    GeometricBlend,
    MeanScore,
    PosteriorMean,
    ProblemValue,
    latent_credit,
    mean_curve,
    values_of,
)
from passband.stats.metric.credits import all_of, at_least, auc
from passband.stats.metric.metric import BlendMetric, MeanMetric
from passband.stats.metric.registry import families, parse_metric, register_family
from passband.types import Floats, Ints

RAGGED = Outcomes.from_counts([0, 4, 2, 1, 5], [2, 4, 3, 4, 7])
GRADED = Outcomes.from_array([[0.5, 0.25, 0.75], [1.0, 0.0, 0.5], [0.1, 0.2, 0.4]])


@dataclass(frozen=True)
class Halved(ProblemValue):
    """Half of the share of successes: a kind that the package does not know."""

    needs_binary = False

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return successes / trials / 2.0

    def latent(self, p: Floats, k: int) -> Floats:
        return p / 2.0

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        return graded.means() / 2.0


def test_latent_values_of_other_kinds() -> None:
    p = np.array([0.0, 0.3, 1.0])
    assert BestScore().latent(p, 3) == pytest.approx(1 - (1 - p) ** 3)
    assert MeanScore().latent(p, 1).tolist() == PosteriorMean().latent(p, 1).tolist() == p.tolist()
    blend = GeometricBlend((0.5, 0.5)).latent(p, 2)
    assert blend == pytest.approx(np.sqrt((1 - (1 - p) ** 2) * p**2))


@pytest.mark.parametrize("outcomes", [RAGGED, Outcomes.from_counts([1, 3, 0], 4)])
@pytest.mark.parametrize(
    "values",
    [
        [Credit(at_least(k, 1)) for k in range(1, 5)],
        [GeometricBlend((0.5, 0.5))] * 4,
        [GeometricBlend((0.5, 0.1 * k)) for k in range(1, 5)],
        [BestScore()] * 4,
        [PosteriorMean()] * 4,
        [Halved()] * 4,
        [Credit(at_least(1, 1)), BestScore(), Halved(), PosteriorMean()],
    ],
)
def test_a_curve_is_the_mean_at_every_k(values: list[ProblemValue], outcomes: Outcomes) -> None:
    longest = outcomes.most_trials()
    whole = [values[min(k, 4) - 1] for k in range(1, longest + 1)]
    if isinstance(whole[0], Credit) and all(isinstance(value, Credit) for value in whole):
        whole = [Credit(at_least(k, 1)) for k in range(1, longest + 1)]
    expected = [values_of(value, outcomes, k).mean() for k, value in enumerate(whole, 1)]
    assert mean_curve(whole, outcomes) == pytest.approx(expected)


def test_the_best_of_graded_scores_along_a_curve() -> None:
    expected = [values_of(BestScore(), GRADED, k).mean() for k in (1, 2, 3)]
    assert mean_curve([BestScore()] * 3, GRADED) == pytest.approx(expected)


def test_a_kind_of_one_s_own_works_everywhere() -> None:
    @register_family("half@", summary="half of the mean")
    def half(name, k):
        return MeanMetric(name.at(k), k, Halved())

    try:
        assert measure(RAGGED, "half@1").value == pytest.approx(measure(RAGGED, "avg").value / 2)
        assert curve(RAGGED, "half@*").value[0] == pytest.approx(measure(RAGGED, "half@1").value)
        for method in ("auto", "percentile", "t", "uniform", "hierarchical"):
            over = "trials" if method == "uniform" else "problems"
            found = estimate(RAGGED, "half@1", method=method, over=over)  # type: ignore[call-overload]
            assert found.low < found.value < found.high
        assert estimate(GRADED, "half@1").high > measure(GRADED, "half@1").value
        with pytest.raises(InvalidInput, match="sampling noise of this metric is known only for"):
            estimate(GRADED, "half@1", over="trials")
    finally:
        families.remove("half@")


def test_a_kind_must_say_what_it_is_worth() -> None:
    class Unfinished(ProblemValue):
        def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
            return successes / trials

    with pytest.raises(TypeError, match="latent"):
        Unfinished()  # type: ignore[abstract]


def test_a_metric_is_made_of_values() -> None:
    with pytest.raises(InvalidInput, match="x@1 must average values of class ProblemValue; got 3"):
        MeanMetric("x@1", 1, 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="needs a power for each of its 2 parts; got 1"):
        BlendMetric("x", 1, (MeanScore(), MeanScore()), (1.0,))
    with pytest.raises(InvalidInput, match="must not have negative powers"):
        BlendMetric("x", 1, (MeanScore(),), (-1.0,))
    with pytest.raises(InvalidInput, match="must blend values between 0 and 1; got 0 to 3"):
        BlendMetric("x", 1, (Credit(np.array([0.0, 3.0])),), (1.0,))


def test_a_family_must_build_a_metric() -> None:
    @register_family("nothing", summary="nothing at all")
    def nothing(name, k):
        return 0.5

    try:
        with pytest.raises(InvalidInput, match="must return a MeanMetric or a BlendMetric"):
            parse_metric("nothing")
    finally:
        families.remove("nothing")


def test_a_blend_of_graded_scores_is_not_taken_for_its_first_part() -> None:
    @register_family("mean-best@", summary="mean times best")
    def mean_best(name, k):
        return BlendMetric(name.at(k), k, (MeanScore(), BestScore()), (0.5, 0.5))

    try:
        found = estimate(GRADED, "mean-best@2", method="percentile")
        assert found.low < found.value < found.high
        default, mean = (estimate(GRADED, name) for name in ("mean-best@2", "avg"))
        assert default.low < default.value < default.high
        assert default.value != mean.value
        below = Outcomes.from_array([[-0.5, -0.25], [-0.75, 0.5]])
        with pytest.raises(InvalidInput, match=r"needs averages of at least 0; got -0\.25"):
            measure(below, "mean-best@2")
    finally:
        families.remove("mean-best@")


def exact_latent(credit: list[Fraction], p: Fraction) -> Fraction:
    k = len(credit) - 1
    return sum(
        (s * comb(k, j) * p**j * (1 - p) ** (k - j) for j, s in enumerate(credit)), Fraction()
    )


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("credit", [at_least, lambda k, _: all_of(k), lambda k, _: auc(k)])
def test_latent_values_of_credits_against_fractions(credit, k: int) -> None:
    vector = credit(k, 1)
    points = [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1)]
    expected = [float(exact_latent([Fraction(s) for s in vector], p)) for p in points]
    assert latent_credit(vector, np.array(points, dtype=float)) == pytest.approx(expected)


def test_any_shape_of_probabilities() -> None:
    p = np.linspace(0, 1, 6).reshape(2, 3)
    assert latent_credit(auc(9), p).shape == (2, 3)
    assert latent_credit(at_least(3, 2), p) == pytest.approx(3 * p**2 * (1 - p) + p**3)
