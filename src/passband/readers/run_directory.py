"""Run directories of passband: one group for each task and model."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.evidence.spending import cost_remarks
from passband.readers.evidence.stored import stored_outcomes
from passband.readers.groups import Groups, Remark
from passband.readers.judged import JudgeScores, is_judged, judge_scores
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.run_counts import RunTally, tally_of
from passband.readers.runs import RecordedVotes, groups_of_runs, stored_votes
from passband.stats.data import Outcomes
from passband.trials import RunRecord, Trials, is_run_directory


@dataclass(frozen=True)
class StoredRun:
    """A run of an open trials table."""

    trials: Trials
    record: RunRecord
    only: int | None = None  #: so many first trials of each problem

    @property
    def task(self) -> str:
        return self.record.task

    @property
    def model(self) -> str:
        return self.record.label

    @property
    def scorers(self) -> tuple[str, ...]:
        return tuple(scorer.name for scorer in self.record.scorers)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks on reading the logs of an imported run."""
        return tuple(Remark(*remark) for remark in self.record.imported.remarks)

    def outcomes(self, scorer: str | None = None) -> Outcomes:
        """Return the scores of a scorer, or of the main one."""
        return stored_outcomes(self.trials, self.record, self.record.scorer(scorer), self.only)

    def first(self, n: int) -> StoredRun:
        """Return the run with the first n trials of each problem alone."""
        return replace(self, only=n)

    def votes(self, scorer: str | None = None) -> RecordedVotes:
        """Return the votes of the trials that a scorer scored."""
        return stored_votes(self.trials, self.record, self.record.scorer(scorer), rounds=self.only)

    def tally(self, scorer: str | None = None) -> RunTally:
        """Return what the rows say beyond outcomes."""
        return tally_of(self.trials, self.record, self.record.scorer(scorer))

    def judged(
        self, scorer: str | None, label: str | None, *, named: bool, threshold: float | None
    ) -> JudgeScores | None:
        """Return a scorer's scores beside labels, if it is a judge or named as one."""
        record = self.record.scorer(scorer)
        if not named and not is_judged(self.record, record):
            return None
        return judge_scores(self.trials, self.record, record, label, threshold=threshold)

    def prompts(self) -> dict[str, int | None]:
        """Return a number for the prompt of each problem by its key, equal for equal prompts."""
        problems = self.trials.problems(self.record.number)
        texts = {one.key: json.dumps(one.record.get("messages") or None) for one in problems}
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts.values()))}
        return {key: None if text == "null" else numbers[text] for key, text in texts.items()}

    def data_names(self) -> list[str]:
        """Return the names of the problems' data records."""
        return list(dict.fromkeys(name for doc in self._docs.values() for name in doc))

    def data(self, name: str) -> dict[str, Any]:
        """Return one of the problems' data by the key of the problem; None where it lacks."""
        return {key: doc.get(name) for key, doc in self._docs.items()}

    def targets(self) -> dict[str, tuple[str, ...]]:
        """Return the targets of each problem by its key."""
        problems = self.trials.problems(self.record.number)
        return {problem.key: tuple(problem.record.get("targets") or ()) for problem in problems}

    @cached_property
    def _docs(self) -> dict[str, dict[str, Any]]:
        problems = self.trials.problems(self.record.number)
        return {problem.key: problem.record.get("doc") or {} for problem in problems}


@register_reader("run directory")
class RunDirectory:
    """Reads a run directory, task by task and model by model."""

    roles = ("score", "cluster", "judge", "label")

    def sniff(self, path: Path) -> bool:
        return is_run_directory(path)

    def read(self, path: Path, options: Options) -> Groups:
        """Return a group for each task and model that has trials."""
        with Trials(path, scales=options.scales) as trials:
            runs = [
                StoredRun(trials, record)
                for record in trials.runs()
                if trials.statuses(record.number) or record.is_imported
            ]
            if not runs:
                raise InvalidInput(f"{path} holds no trials yet.")
            groups = groups_of_runs(runs, options, source=str(path), kind="a run directory")
            read = {(group.task, group.model) for group in groups.groups}
            records = [run.record for run in runs if (run.task, run.model) in read]
            remarks = *groups.remarks, *cost_remarks(trials, records)
            return replace(groups, remarks=remarks)
