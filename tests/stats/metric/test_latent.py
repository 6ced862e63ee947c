"""Latent values of credit vectors, against exact fractions."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from passband.stats.metric.components import latent_credit
from passband.stats.metric.credits import all_of, at_least, auc


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
