"""The logs of every tool, stored and written in every format: no number changes on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from passband import read, summarize
from passband.errors import InvalidInput
from passband.readers import Groups, Options
from passband.readers.log_import import import_logs
from passband.readers.logs import opened_trials, read_logs
from passband.trials.merging.merge import merge_directories
from passband.writers.writing import write, writers
from support.samples.log_samples import SAMPLES

#: Not a run itself; and not texts of which only a number for all of them together is known.
LOGS = sorted(set(SAMPLES) - {"run directory", "lm-eval"})


def totals(groups: Groups) -> list[tuple[int, float]]:
    """Return for each group how many trials have a score, and their sum."""
    sums = []
    for group in groups.groups:
        outcomes = group.outcomes
        graded = outcomes.graded
        total = outcomes.required_successes().sum() if graded is None else graded.values.sum()
        sums.append((outcomes.n_trials, round(float(total), 9)))
    return sorted(sums)


@pytest.mark.parametrize("name", LOGS)
def test_the_summary_of_the_run_is_that_of_the_log(name: str, tmp_path: Path) -> None:
    log = SAMPLES[name].write(tmp_path)
    run, merged = tmp_path / "stored run", tmp_path / "merged"
    logs = read_logs(log, Options(texts=True))
    import_logs(logs, run)
    merge_directories([run], merged)
    with_texts = summarize(logs[0]).groups if len(logs) == 1 else None
    direct, stored, again = (summarize(source).groups for source in (log, run, merged))
    assert stored == again
    if with_texts is not None:
        assert stored == with_texts
    # The run also knows of texts and prompts that a reader of numbers leaves aside.
    estimates = [
        sorted(
            repr(line.estimate and replace(line.estimate, notes=()))
            for group in groups
            for line in group.lines
        )
        for groups in (direct, stored)
    ]
    assert estimates[0] == estimates[1]


@pytest.mark.parametrize("form", writers)
@pytest.mark.parametrize("name", LOGS)
def test_every_log_in_every_format(name: str, form: str, tmp_path: Path) -> None:
    log = SAMPLES[name].write(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    groups = read(log)
    target = out / f"all{writers[form].ending}" if writers[form].holds == "any runs" else out
    with opened_trials(log) as trials:
        runs = trials.runs()
        if form == "human-eval" and any(group.outcomes.graded for group in groups.groups):
            with pytest.raises(InvalidInput, match="human-eval holds only passed and failed"):
                write(trials, runs, form, target)
            return
        write(trials, runs, form, target)
    files = sorted(out.iterdir())
    assert files
    if form in ("lm-eval", "human-eval"):
        return
    assert sorted(total for file in files for total in totals(read(file))) == totals(groups)
