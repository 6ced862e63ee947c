"""Terms of the likelihood: probabilities that add up, and derivatives by differences."""

import numpy as np
import pytest
from hypothesis import given

from passband.stats.irt.em import items_of, present, rows_of, terms
from passband.stats.irt.items import Items, log_likelihood
from support.samples.irt_banks import banks

NODES = np.linspace(-3, 3, 7)


@given(banks)
def test_terms_are_those_of_the_curves(items: Items) -> None:
    found = terms(items.model, rows_of(items), NODES)
    assert np.exp(found.log).sum(axis=0) == pytest.approx(np.ones((len(items), 7)))
    for grade in range(len(found.log)):
        there = grade <= items.grades
        score = np.where(there, grade / items.grades, 0.0)
        expected = log_likelihood(items, NODES, score) * items.phi[:, None]
        assert found.log[grade][there] == pytest.approx(expected[there], rel=1e-9, abs=1e-9)


@given(banks)
def test_slopes_are_differences(items: Items) -> None:
    rows = rows_of(items)
    found = terms(items.model, rows, NODES)
    step = 1e-6
    for p in range(rows.shape[1]):
        there = present(rows)[:, p]
        move = np.zeros_like(rows)
        move[there, p] = step
        up, down = (terms(items.model, rows + sign * move, NODES).log for sign in (1, -1))
        likely = (found.log > -100) & there[:, None]
        by_hand = np.where(likely, (up - down) / (2 * step), 0.0)
        assert np.where(likely, found.slope[:, p], 0.0) == pytest.approx(
            by_hand, rel=1e-4, abs=1e-6
        )


@given(banks)
def test_rows_and_items_are_the_same(items: Items) -> None:
    back = items_of(items.model, rows_of(items), items.phi if items.model == "continuous" else None)
    assert back.expected(0.7) == pytest.approx(items.expected(0.7), rel=1e-9)
