"""Answers whose texts are copies."""

import numpy as np
import pytest

from passband import Outcomes
from passband.readers.evidence.observed import AnswerTexts, Observed
from passband.stats.data.evidence import Finding
from passband.stats.data.scale import Scale
from passband.stats.evidence.texts import solved_share, text_findings
from passband.types import Ints


def found(rows: Ints, **options: object) -> tuple[Finding, ...]:
    offsets = np.arange(len(rows) + 1) * rows.shape[1]
    return text_findings(rows.ravel(), offsets, **options)  # type: ignore[arg-type]


def codes(rows: Ints, **options: object) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in found(rows, **options)]


def numbered(problems: int, n: int, copied: int) -> Ints:
    """Return texts that all differ, but for those of the first problems, which are copies."""
    rows = np.arange(problems * n).reshape(problems, n)
    rows[:copied] = rows[:copied, :1]
    return rows


@pytest.mark.parametrize(
    ("copied", "severity"), [(0, None), (1, None), (2, None), (3, "weak"), (10, "weak"),
                             (11, "invalid"), (20, "invalid")]
)  # fmt: skip
def test_long_answers_by_the_share_of_problems(copied: int, severity: str | None) -> None:
    expected = [] if severity is None else [("identical-answers", severity)]
    expected += [("copied-draws", "weak")] if severity == "invalid" else []
    assert codes(numbered(20, 4, copied)) == expected


def test_it_weighs_on_trials_and_on_several_draws() -> None:
    finding, draws = found(numbered(20, 4, 20))
    assert [draws.severity_for("problems", k) for k in (1, 2)] == ["remark", "weak"]
    assert finding.severity_for("trials", 1) == "invalid"
    assert finding.severity_for("problems", 8) == "remark"
    assert finding.text.startswith("all answers are identical in 20 of 20 problems")
    assert finding.numbers == {"identical": 20, "problems": 20, "share": 1.0}


@pytest.mark.parametrize(
    ("copied", "solved", "severity"),
    [
        (100, 0.0, "invalid"),  # nothing is known of scores
        (100, 0.5, "invalid"),  # wrong in the same words each time
        (100, 0.97, "invalid"),
        (100, 0.98, None),  # two wrong keys, perhaps
        (97, 0.5, "weak"),  # 3 of the 50 that are not solved differ
        (92, 0.5, None),
        (50, 0.5, None),  # the solved ones
        (100, 1.0, None),
        (99, 0.94, None),  # one of the 6 differs
        (97, 0.97, None),
    ],
)
def test_short_answers_by_those_not_solved(
    copied: int, solved: float, severity: str | None
) -> None:
    expected = [] if severity is None else [("identical-answers", severity)]
    expected += [("copied-draws", "weak")] if severity == "invalid" else []
    assert codes(numbered(100, 4, copied), short=True, solved=solved) == expected


def test_greedy_decoding_is_named_and_no_more() -> None:
    rows = np.repeat(np.arange(40).reshape(20, 2), 4, axis=1)
    assert codes(rows) == [("copied-trials", "invalid"), ("copied-draws", "weak")]
    assert codes(rows, greedy=True) == [("greedy-decoding", "remark")]
    (finding,) = found(numbered(20, 4, 20), greedy=True)
    assert finding.severity_for("trials", 1) == "remark"
    assert "greedy (temperature 0)" in finding.text


def test_single_answers_say_nothing() -> None:
    assert text_findings(np.arange(3), np.array([0, 1, 1, 2, 3])) == ()
    assert text_findings(np.zeros(0, np.int64), np.array([0])) == ()


def test_sure_models_are_not_refused() -> None:
    """Their letters are often the same, but hardly where they are wrong."""
    rng = np.random.default_rng(7)
    for a in (20, 60):
        for _ in range(100):
            p = rng.beta(a, 1, 60)
            right = rng.random((60, 8)) < p[:, None]
            letters = np.where(right, 0, rng.integers(1, 4, right.shape))
            solved = solved_share(np.full(60, 8), right.sum(axis=1), 8)
            assert codes(letters, short=True, solved=solved) == []


def test_solved_share_is_unbiased_for_longer_rows() -> None:
    """Of 4 trials with 3 right, one pair of two is all right: 3 of 6."""
    assert solved_share(np.array([4]), np.array([3]), 2) == pytest.approx(0.5)
    assert solved_share(np.array([1, 0]), np.array([1, 0]), 2) == 0.0


def test_solved_problems_are_those_of_the_outcomes() -> None:
    """Copies of right and of wrong letters: refused if some are wrong, and not if all are right."""
    right = np.arange(40)[:, None] % 2 < np.ones(4)
    texts = AnswerTexts.of_rows([["A" if one else "B" for one in row] for row in right])
    for outcomes, is_refused in (
        (Outcomes.from_array(right), True),
        (Outcomes.from_array(right * 5.0, scale=Scale(0.0, 5.0)), True),
        (Outcomes.from_array(~right, scale=Scale(0.0, None, lower_is_better=True)), True),
        (Outcomes.from_array(np.ones((40, 4))), False),
    ):
        evidence = Observed(texts=texts).evidence(outcomes)
        assert (evidence.against("trials", 1) is not None) == is_refused
