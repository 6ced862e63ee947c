"""What a summary says of trials that the task's own code cut short or failed on."""

from __future__ import annotations

from pathlib import Path

from passband.summary.from_run import summarize_run
from passband.trials.rows import AttemptRow, ScorerEntry, ScoreRow, TrialRow
from support.samples.stores import begin, problem, writing


def test_errors_and_short_trials_are_told(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        rows = [TrialRow(at, 0, "ok", "x", scores=[ScoreRow(scorer, 1.0)]) for at in range(3)]
        rows += [TrialRow(0, 1, "limit", "x", scores=[ScoreRow(scorer, 0.0)])]
        rows += [TrialRow(1, 1, "truncated", "x", scores=[ScoreRow(scorer, 0.0)])]
        rows += [TrialRow(2, 1, "errored")]
        store.append(run, rows)
        store.add_attempts(run, [AttemptRow(2, 1, 1, 0, "errored", None, "KeyError: 'tool'")])
    (group,) = summarize_run(tmp_path).groups
    told = {note.code: note.text for note in group.notes}
    assert told["task-errors"] == "the task failed on 1 trial; the first: KeyError: 'tool'"
    assert told["scored-incomplete"] == "1 truncated and 1 limit trials are scored all the same"
    assert group.incomplete == {"truncated": 1, "limit": 1}
    assert group.n_truncated == 1
    assert group.lines[0].estimate is not None
    assert group.lines[0].estimate.n_trials == 5


def test_nothing_is_told_of_trials_that_are_complete(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x", scores=[ScoreRow(scorer, 1.0)])])
        store.append(run, [TrialRow(0, 1, "truncated", "x")])
    (group,) = summarize_run(tmp_path).groups
    assert not {"task-errors", "scored-incomplete"} & {note.code for note in group.notes}


def test_a_judge_without_a_filter_is_named_without_one(tmp_path: Path) -> None:
    listed = [
        {"name": "exact", "scorer": "exact", "filter": "last", "repeat_aggregation": "mean"},
        {"name": "other", "scorer": "other", "filter": "none", "repeat_aggregation": "mean"},
        {"name": "judge", "scorer": "judge", "filter": "none", "repeat_aggregation": "mean"},
    ]
    spec = {"function": "judge", "model": "openai:large"}
    with writing(tmp_path) as store:
        run = store.begin("t", "m", spec={}, config={"metrics": listed}, name="run")
        store.add_problems(run, [problem(at) for at in range(3)])
        entries = [
            ScorerEntry("exact", "1"), ScorerEntry("other", "1"), ScorerEntry("judge", "1", spec),
        ]  # fmt: skip
        scorers = store.set_scorers(run, entries)
        rows = [
            TrialRow(at, trial, "ok", "x", scores=[ScoreRow(one, float(at > 0)) for one in scorers])
            for at in range(3)
            for trial in range(2)
        ]
        store.append(run, rows)
    (group,) = summarize_run(tmp_path).groups
    labels = [line.metric for line in group.lines[:3]]
    assert labels == ["exact,last (mean)", "other,none (mean)", "judge (mean) (judged)"]
    assert group.lines[2].filter == "none"
