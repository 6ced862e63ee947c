"""Two rows of one trial: which one counts, and what contradicts."""

from dataclasses import replace

import pytest

from passband.trials.merging.overlap import conflict_error, contradiction, supersedes
from passband.trials.rows import ScoreRow, TrialRow

ROW = TrialRow(0, 0, "ok", "text", "thought", 3, 4, 100, seed=7, scores=[ScoreRow(1, 1.0)])
FAILED = TrialRow(0, 0, "gave_up", attempts=5)
NAMES = {1: ("exact", "1"), 2: ("other", "1")}


def test_how_long_it_took_is_no_conflict() -> None:
    assert conflict_error(ROW, replace(ROW, latency_ms=9_999, attempts=3)) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [({"text": "other"}, "its completion"), ({"seed": 8}, "its seed"),
     ({"status": "truncated"}, "its status"), ({"prompt_tokens": 4}, "its tokens")],
)  # fmt: skip
def test_what_a_reader_would_see_is_a_conflict(change: dict[str, object], words: str) -> None:
    other = replace(ROW, **change)  # type: ignore[arg-type]
    assert conflict_error(ROW, other) == words
    assert contradiction(ROW, NAMES, other, NAMES) == words


def test_an_answer_takes_the_place_of_a_failure_and_never_the_reverse() -> None:
    assert supersedes(ROW, FAILED)
    assert not supersedes(FAILED, ROW)
    assert contradiction(FAILED, NAMES, ROW, NAMES) is None
    later = replace(FAILED, status="invalid", attempts=6)
    assert (supersedes(later, FAILED), supersedes(FAILED, later)) == (True, False)
    assert not supersedes(FAILED, FAILED)


def test_scores_of_one_scorer_must_agree_whatever_its_number() -> None:
    other = replace(ROW, scores=[ScoreRow(2, 0.0)])
    assert contradiction(ROW, NAMES, other, NAMES) is None
    assert contradiction(ROW, NAMES, other, {2: ("exact", "1")}) == "its score"
