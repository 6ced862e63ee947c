"""Problems that have not been asked yet, and results of problems that are gone."""

import pytest

from passband.stats.evidence.problems import unasked_findings


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
