"""What would settle an open comparison."""

import numpy as np
import pytest

from passband import Outcomes, compare
from passband.stats.decision.more_data import MoreData, _more_trials, goal_of
from passband.stats.interval.default.wilson import normal_quantile


def pair(shift: float, problems: int, n: int, seed: int = 1) -> tuple[Outcomes, Outcomes]:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, 0.9, problems)
    return tuple(  # type: ignore[return-value]
        Outcomes.from_counts(rng.binomial(n, np.clip(p + s, 0, 1)), n) for s in (0.0, shift)
    )


def test_goals() -> None:
    assert goal_of(0.01, None) == ("better", 0.01)
    assert goal_of(-0.01, None) == ("worse", 0.01)
    assert goal_of(-0.01, 0.03) == ("no-worse", pytest.approx(0.02))
    assert goal_of(-0.05, 0.02) == ("worse", 0.05)


def test_problems_by_hand() -> None:
    # To have power 0.8, the standard error must be value / (1.960 + 0.8416).
    found = compare(*pair(0.05, 40, 4), "pass@1", settle=True)
    assert found.decision.verdict == "undecided"
    assert found.se is not None
    wanted = abs(found.value) / (normal_quantile(0.95) + 0.8416212)
    more = found.decision.more
    assert more is not None
    assert more.problems == np.ceil(40 * (found.se**2 / wanted**2 - 1))


def test_noise_that_falls_as_1_over_n_by_hand() -> None:
    assert _more_trials(lambda extra: 1 / (4 + extra), 1 / 10, 4) == 6
    assert _more_trials(lambda extra: 1 / (4 + extra), 1 / 1000, 4) == 996
    assert _more_trials(lambda extra: 1 / (4 + extra), 0.0, 4) is None
    assert _more_trials(lambda extra: 1 / (4 + extra), 1e-9, 4) is None


def test_the_additions_do_what_they_promise() -> None:
    """With the problems it asks for, about 80 % of comparisons find the difference."""
    rng = np.random.default_rng(8)
    first = compare(*pair(0.02, 300, 2, seed=3), "pass@1", settle=True)
    assert first.decision.more is not None
    assert first.decision.more.problems is not None
    total = 300 + first.decision.more.problems
    better = 0
    for _ in range(100):
        p = rng.uniform(0, 1 - first.value, total)  # the observed difference is the true one
        a, b = rng.binomial(2, p), rng.binomial(2, p + first.value)
        found = compare(Outcomes.from_counts(a, 2), Outcomes.from_counts(b, 2), "pass@1")
        better += found.decision.verdict == "better"
    assert 0.65 <= better / 100 <= 0.95


def test_more_trials_cannot_settle_what_lies_between_problems() -> None:
    rng = np.random.default_rng(5)
    up = rng.integers(0, 2, 40) * 64  # on half of the problems a wins always, on half b
    a, b = Outcomes.from_counts(up, 64), Outcomes.from_counts(64 - up, 64)
    more = compare(a, b, "pass@1", settle=True).decision.more
    assert more is not None
    assert (more.trials, more.obstacle) == (None, "between-problems")
    assert "more trials of these would not help" in str(more)
    assert more.problems is not None


def test_over_trials_only_trials_help() -> None:
    more = compare(*pair(0.02, 30, 4), "pass@1", over="trials", settle=True).decision.more
    assert more is not None
    assert more.problems is None
    assert more.trials is not None


def test_where_there_is_no_answer_there_is_a_reason() -> None:
    one = compare(*pair(0.02, 30, 1), "pass@1", settle=True).decision.more
    assert one is not None
    assert one.obstacle == "one-trial"
    same = Outcomes.from_counts([1, 2, 3], 4)
    none = compare(same, same, "pass@1", settle=True).decision.more
    assert none is not None
    assert (none.goal, none.obstacle) == (None, "no-spread")
    a, b = Outcomes.from_counts([1, 2, 3], 4), Outcomes.from_counts([2, 1, 3], 4)
    even = compare(a, b, "pass@1", settle=True).decision.more
    assert even is not None
    assert even.obstacle == "no-difference"
    assert "without a margin" in str(even)
    graded = [Outcomes.from_array(np.random.default_rng(s).normal(0, 1, (9, 3))) for s in (1, 2)]
    assert compare(*graded, "max@2", settle=True).decision.more is not None  # type: ignore[arg-type]


def test_settling_is_asked_for_or_comes_with_a_margin() -> None:
    sides = pair(0.02, 30, 4)
    assert compare(*sides, "pass@1").decision.more is None
    assert compare(*sides, "pass@1", margin=0.01).decision.more is not None
    assert compare(*sides, "pass@1", margin=0.01, settle=False).decision.more is None
    assert compare(*sides, "pass@1", margin=0.9).decision.more is None  # settled


def test_words() -> None:
    assert str(MoreData("worse", 0.8, 1, 1, None)) == (
        "about 1 more trial of each problem by each model, or 1 more problem"
    )
