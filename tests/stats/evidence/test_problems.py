"""Problems that are copies of each other by their prompts."""

import numpy as np
import pytest

from passband.stats.evidence.problems import problem_copies, unasked_findings


def test_a_few_are_a_remark_and_many_are_weak() -> None:
    for copies, severity in ((1, "remark"), (10, "remark"), (11, "weak"), (50, "weak")):
        prompts = np.concatenate([np.arange(100 - copies), np.arange(copies)])
        (finding,) = problem_copies(prompts)
        assert finding.severity_for("problems", 1) == severity
        assert finding.severity_for("trials", 1) == "remark"
        assert finding.numbers["copies"] == copies
        assert "--cluster prompt" in finding.text


def test_different_prompts_have_none() -> None:
    assert problem_copies(np.arange(10)) == ()
    assert problem_copies(np.zeros(0, np.int64)) == ()


def test_inflation_is_that_of_equal_results() -> None:
    """The mean of values that copies share has the variance of their sums of weights squared."""
    rng = np.random.default_rng(1)
    prompts = rng.integers(0, 12, 30)
    (finding,) = problem_copies(prompts)
    means = rng.normal(size=(20_000, 12))[:, prompts].mean(axis=1)
    assert finding.numbers["inflation"] == pytest.approx(means.std() * 30**0.5, rel=0.03)
    assert problem_copies(rng.permutation(prompts)) == (finding,)


@pytest.mark.parametrize(
    ("asked", "not_asked", "shuffled", "severity"),
    [(73, 127, False, "invalid"), (180, 20, False, "weak"), (179, 21, False, "invalid"),
     (73, 127, True, "remark"), (199, 1, True, "remark")],
)  # fmt: skip
def test_severity_over_problems(asked: int, not_asked: int, shuffled: bool, severity: str) -> None:
    (finding,) = unasked_findings(asked, not_asked, 0, shuffled)
    assert finding.code == "unasked-problems"
    assert finding.severity_for("problems", 1) == severity
    assert finding.severity_for("trials", 1) == "remark"


def test_words() -> None:
    (one,) = unasked_findings(9, 1)
    assert one.text.startswith(
        "1 of 10 problems has not been asked; the results are of the first 9"
    )
    (other,) = unasked_findings(3, 7, shuffled=True)
    assert other.text.endswith("the results are of 3 drawn at random, which are like the others")


def test_a_run_that_asked_all_or_nothing_has_none() -> None:
    assert unasked_findings(20, 0) == ()
    assert unasked_findings(0, 20) == ()


def test_problems_that_are_gone_are_counted() -> None:
    (finding,) = unasked_findings(20, 0, 2)
    assert (finding.code, finding.numbers) == ("gone-problems", {"gone": 2})
    assert finding.text == "the results are also of 2 problems that the task no longer has"
    assert finding.severity_for("problems", 1) == "remark"
    assert [one.code for one in unasked_findings(5, 20, 1)] == ["unasked-problems", "gone-problems"]


def test_a_limit_is_said() -> None:
    (finding,) = unasked_findings(10, 0, shuffled=True, limit=10)
    assert (finding.code, finding.severity) == ("limited-problems", "remark")
    assert "the first 10 problems of its data (--limit)" in finding.text
