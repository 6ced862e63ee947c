"""Failed trials that are concentrated where answers are wrong."""

import numpy as np
import pytest

from passband.stats.evidence.counts import failure_findings
from passband.types import Floats, Ints


def drawn(seed: int, of_wrong: float, of_right: float) -> tuple[Ints, Ints, Floats]:
    rng = np.random.default_rng(seed)
    right = rng.random((100, 8)) < rng.beta(2, 2, 100)[:, None]
    fails = rng.random((100, 8)) < np.where(right, of_right, of_wrong)
    scored = (~fails).sum(axis=1)
    return fails.sum(axis=1), scored, (right & ~fails).sum(axis=1) / np.maximum(scored, 1)


def test_wrong_answers_that_fail_make_it_too_good() -> None:
    (finding,) = failure_findings(*drawn(1, 0.4, 0.0))
    assert finding.severity_for("problems", 1) == finding.severity_for("trials", 1) == "weak"
    assert finding.text.endswith("the estimate is too good")
    assert finding.numbers["correlation"] < 0  # type: ignore[operator]
    assert finding.numbers["low"] > finding.numbers["high"]  # type: ignore[operator]


def test_right_answers_that_fail_make_it_too_bad() -> None:
    (finding,) = failure_findings(*drawn(1, 0.0, 0.4))
    assert finding.text.endswith("if they failed because they would have been right, the estimate "
                                 "is too bad")  # fmt: skip


def test_mirrored_scores_mirror_it() -> None:
    failed, trials, means = drawn(2, 0.4, 0.0)
    (there,), (back,) = (failure_findings(failed, trials, each) for each in (means, 1.0 - means))
    assert there.numbers["correlation"] == pytest.approx(-float(back.numbers["correlation"]))


def test_any_trials_that_fail_are_seldom_found_guilty() -> None:
    assert sum(bool(failure_findings(*drawn(seed, 0.2, 0.2))) for seed in range(200)) <= 5


def test_without_failures_there_is_nothing() -> None:
    none = np.zeros(4, np.int64)
    assert failure_findings(none, none + 8, np.ones(4)) == ()
    assert failure_findings(none + 3, none, np.ones(4)) == ()
    one = np.array([5] + [0] * 50)
    assert failure_findings(one, 8 - one, np.arange(51) / 51) == ()
