"""Rare problems at the far end of a bounded scale."""

import numpy as np
import pytest

from passband.stats.evidence.collect import rare_findings


def test_by_hand() -> None:
    """20 problems miss a share of 1 - .025^(1/20) = .168; the mean .05 would be .05 + .168 .95."""
    (finding,) = rare_findings(np.linspace(0.0, 0.1, 20), 0.0, 1.0)
    assert finding.numbers["share"] == pytest.approx(1 - 0.025**0.05)
    assert finding.numbers["moved"] == pytest.approx((1 - 0.025**0.05) * 0.95)
    assert finding.severity_for("problems", 1) == "weak"
    assert finding.severity_for("trials", 1) == "remark"


def test_the_share_is_missed_by_one_in_forty() -> None:
    (finding,) = rare_findings(np.linspace(0.0, 0.1, 30), 0.0, 1.0)
    missed = np.random.default_rng(1).random((40_000, 30)) >= float(finding.numbers["share"])
    assert missed.all(axis=1).mean() == pytest.approx(0.025, abs=0.003)


def test_mirrored_scores_mirror_it() -> None:
    means = np.random.default_rng(2).uniform(0, 0.1, 40)
    (there,), (back,) = (rare_findings(each, 0.0, 1.0) for each in (means, 1.0 - means))
    assert there.numbers["moved"] == pytest.approx(float(back.numbers["moved"]))
    assert "the best score would not" in there.text
    assert "the worst score would not" in back.text


def test_the_scale_may_be_another() -> None:
    means = np.random.default_rng(2).uniform(0, 0.1, 40)
    (there,), (back,) = rare_findings(means, 0, 1), rare_findings(means * 10 - 3, -3, 7)
    assert float(back.numbers["moved"]) == pytest.approx(10 * float(there.numbers["moved"]))


@pytest.mark.parametrize(("a", "b", "problems"), [(8, 8, 20), (2, 2, 10), (0.3, 0.3, 20),
                                                 (1, 1, 30), (2, 8, 50)])  # fmt: skip
def test_benign_scores_have_none(a: float, b: float, problems: int) -> None:
    rng = np.random.default_rng(3)
    assert not any(rare_findings(rng.beta(a, b, problems), 0, 1) for _ in range(100))


def test_one_that_was_drawn_shows_in_the_interval() -> None:
    means = np.append(np.linspace(0.0, 0.1, 19), 1.0)
    assert rare_findings(means, 0.0, 1.0) == ()


def test_equal_scores_and_single_problems_have_none() -> None:
    assert rare_findings(np.full(9, 0.3), 0.0, 1.0) == ()
    assert rare_findings(np.array([0.3]), 0.0, 1.0) == ()
