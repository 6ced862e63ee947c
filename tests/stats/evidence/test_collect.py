"""All that is known about outcomes, and the codes of it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.data.evidence import CODES, Finding
from passband.stats.data.scale import Scale
from passband.stats.evidence.collect import (
    data_notes,
    evidence_of,
    evidence_of_all,
    evidence_of_strata,
    rare_findings,
)

ROOT = Path(__file__).resolve().parents[3]
COPIES = Finding("copied-problems", "weak", "copies", {"problems": 1})
TRIALS, SUCCESSES = [2, 8] * 20, [0, 6] * 20


def codes(outcomes: Outcomes) -> list[str]:
    return [finding.code for finding in evidence_of(outcomes).findings]


def test_what_a_reader_found_comes_first() -> None:
    outcomes = Outcomes.from_counts(SUCCESSES, TRIALS).knowing([COPIES])
    assert codes(outcomes) == ["copied-problems", "trials-related"]
    assert evidence_of(outcomes) is evidence_of(outcomes)
    assert [note.code for note in data_notes(outcomes, 1, "problems")][:2] == codes(outcomes)


def test_an_invalid_finding_takes_the_interval() -> None:
    outcomes = Outcomes.from_counts(SUCCESSES, TRIALS)
    for over in ("problems", "trials"):
        one = estimate(outcomes, "pass@1", over=over)
        assert (one.low, one.high, one.value) == (None, None, 0.375)
        accepted = estimate(outcomes.accepting(["trials-related"]), "pass@1", over=over)
        assert accepted.low is not None


def test_numbers_of_trials_may_differ_from_stratum_to_stratum() -> None:
    short, long = Outcomes.from_counts([0] * 20, 2), Outcomes.from_counts([6] * 20, 8)
    whole = Outcomes.from_counts(SUCCESSES, TRIALS)
    assert evidence_of_strata(whole, [short, long]).findings == ()
    assert [one.code for one in evidence_of_all([short, whole]).findings] == ["trials-related"]


def test_failures_explain_numbers_that_were_planned() -> None:
    """Where all problems were asked equally often, no rule looked at results."""
    failed = np.array([6, 2] * 20)
    outcomes = Outcomes.from_counts([0, 5] * 20, 8 - failed, unscored={"timeout": failed})
    assert codes(outcomes) == ["failures-related"]
    missing = Outcomes.from_counts([0, 5] * 20, 8 - failed, unscored={"missing": failed})
    assert codes(missing) == ["trials-related"]


def test_scores_on_a_bounded_scale() -> None:
    scores = np.random.default_rng(1).uniform(0, 0.1, (20, 1))
    assert codes(Outcomes.from_array(scores)) == ["rare-credit"]
    assert codes(Outcomes.from_array(scores, scale=Scale(0.0, None))) == []
    lower = Outcomes.from_array(scores, scale=Scale(0.0, 1.0, lower_is_better=True))
    (finding,) = evidence_of(lower.upright).findings
    assert "the worst score would not have shown" in finding.text
    wanted = np.full((40, 6), 0.9)
    wanted[::2, 2:] = np.nan
    wanted[::4, :2], wanted[2::4, :2] = (0.1, 0.2), (0.2, 0.1)
    assert codes(Outcomes.from_array(wanted)) == ["trials-related"]


def test_outcomes_without_a_score_have_none() -> None:
    assert codes(Outcomes.from_counts([0, 0], [0, 0], unscored={"timeout": [4, 4]})) == []


# -- codes -----------------------------------------------------------------------------------


def codes_in_source() -> Iterator[str]:
    """Yield the literal codes that findings are made with."""
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text("utf-8")
        if "stats.data.evidence" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    yield first.value


MAKERS = ("Finding", "_finding")


def test_every_code_that_a_finding_is_made_with_is_known() -> None:
    literal = set(codes_in_source())
    assert len(literal) > 10
    assert literal <= set(CODES)
    assert len(set(CODES)) == len(CODES)


def test_every_known_code_is_used_and_documented() -> None:
    own = ROOT / "src/passband/stats/data/evidence.py"
    sources = (path for path in (ROOT / "src").rglob("*.py") if path != own)
    source = "\n".join(path.read_text("utf-8") for path in sources)
    assert not [code for code in CODES if f'"{code}"' not in source]
    page = (ROOT / "docs" / "evidence.md").read_text("utf-8")
    assert not [code for code in CODES if f"`{code}`" not in page]


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
