"""Null answers that a judge passed show in every summary of its verdicts."""

from dataclasses import replace
from pathlib import Path

import pytest

from passband.score.judge.bias import canary_names
from passband.summary.from_sources import summarize
from passband.trials.rows import ScorerEntry
from support.runs.judged_runs import judged_run
from support.samples.stores import call, writing


@pytest.mark.parametrize("passed", [0, 2])
def test_the_share_of_canaries_is_a_note(tmp_path: Path, passed: int) -> None:
    judged_run(tmp_path, problems=4)
    assert not _notes(tmp_path)
    with writing(tmp_path) as store:
        number = store.put_scorer(1, ScorerEntry(*canary_names("quality", "quality 1")))
        row = call(number, 1, 0)
        store.add_calls(
            replace(row, trial=kind, key=bytes([kind]), value=float(kind < passed))
            for kind in range(3)
        )
    (text,) = _notes(tmp_path)
    assert text.startswith(f"the judge quality passes {passed} of 3 null answers")
    assert text.endswith("do not trust its rate") == (passed > 0)


def _notes(directory: Path) -> list[str]:
    summary = summarize(directory).as_json()
    (group,) = summary["groups"]
    return [note["text"] for note in group["notes"] if note["code"] == "judge-canaries"]
