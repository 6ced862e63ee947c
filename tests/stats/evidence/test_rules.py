"""Rules of stopping that leave a pattern in counts."""

from collections.abc import Callable

import numpy as np
import pytest

from passband.stats.data.counts import Histogram
from passband.stats.evidence.counts import UNKNOWN_RULE, rule_named

Row = list[int]


def until(happened: Callable[[Row], bool]) -> Callable[[Row], int]:
    """Return the rule that stops as soon as it has happened."""
    return lambda row: next((n for n in range(1, len(row)) if happened(row[:n])), len(row))


RULES: dict[str, Callable[[Row], int]] = {
    "until its first success": until(lambda row: 1 in row),
    "until its first failure": until(lambda row: 0 in row),
    "until 3 agreed": until(lambda row: max(row.count(0), row.count(1)) == 3),
    "until it was given up after 4 failures": lambda row: 10 if any(row[:4]) else 4,
    "until it was taken as solved after 4 successes": lambda row: 4 if all(row[:4]) else 10,
    "again where the first 2 disagreed": lambda row: 2 if row[0] == row[1] else 10,
    "2 times, and then until its first success": until(lambda row: len(row) > 1 and 1 in row),
    "2 times, and then until its first failure": until(lambda row: len(row) > 1 and 0 in row),
    "until 2 failures in a row": until(lambda row: row[-2:] == [0, 0]),
    "until 2 successes in a row": until(lambda row: row[-2:] == [1, 1]),
}


def histogram(rows: list[Row]) -> Histogram:
    return Histogram.of_counts(np.array(list(map(len, rows))), np.array(list(map(sum, rows))))


@pytest.mark.parametrize("name", RULES)
def test_each_rule_is_named_by_the_counts_that_it_leaves(name: str) -> None:
    rng = np.random.default_rng(11)
    trials = (rng.random((400, 10)) < rng.beta(1, 1, 400)[:, None]).astype(int).tolist()
    if name == "until 3 agreed":
        trials = [row[:5] for row in trials]
    rows = [row[: RULES[name](row)] for row in trials]
    assert rule_named(histogram(rows)) == name
    lost = [row[:-1] if place < 4 and len(row) > 2 else row for place, row in enumerate(rows)]
    if min(map(len, lost)) == min(map(len, rows)):
        assert rule_named(histogram(lost)) == name


def test_numbers_by_chance_have_no_name() -> None:
    rng = np.random.default_rng(12)
    n = rng.integers(2, 9, 100)
    assert rule_named(Histogram.of_counts(n, rng.binomial(n, 0.6))) == UNKNOWN_RULE
