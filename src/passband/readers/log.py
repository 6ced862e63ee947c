"""A log: one task asked of one model, as another tool recorded it.

A log holds what the trials table holds (problems, trials, the scores of each scorer), in the rows
of the trials table, so that it can be measured, or stored, like a run of passband itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from passband.errors import InvalidInput, nearest
from passband.files import reading
from passband.readers.evidence.log import LogEvidence
from passband.readers.evidence.observed import with_evidence
from passband.readers.groups import Remark
from passband.readers.judged import JudgeScores, Labels, judge_of
from passband.readers.run_counts import RunTally
from passband.readers.runs import RecordedVotes, votes_of_log
from passband.stats.data import (
    UNSTATED,
    AskedScores,
    GradedScores,
    Outcomes,
    Scale,
    compact,
    frozen,
)
from passband.trials import (
    SCORE_STATUSES,
    STATUSES,
    AttemptRow,
    ProblemRow,
    ScoreRow,
    Status,
    TrialRow,
)


@dataclass(frozen=True)
class Source:
    """The file of a log, its hash, and the reader that read it."""

    reader: str
    file: str
    sha256: str

    @staticmethod
    def of(reader: str, path: Path) -> Source:
        """Return the source of a file, with the hash of its bytes."""
        digest = hashlib.sha256()
        with reading(path), path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return Source(reader, str(path), digest.hexdigest())


@dataclass(frozen=True)
class Log:
    """The trials of one task and one model, with their scores."""

    task: str
    model: str
    source: Source
    problems: Sequence[ProblemRow]
    trials: Iterable[TrialRow]  #: `problem` is the index of the problem; iterated several times
    scorers: tuple[str, ...]  #: the main one first; `scorer` of a score is the index here
    settings: Mapping[str, Any] = field(default_factory=dict)  #: temperature and the like
    remarks: tuple[Remark, ...] = ()  #: what was recovered, assumed or left out
    planned: int | None = None  #: trials of each problem; those without a row are missing
    attempts: Sequence[AttemptRow] = ()  #: failed ones, with their messages
    scales: Mapping[str, Scale] = field(default_factory=dict)  #: by scorer, where known
    log: str = ""  #: a name that tells it from other logs of the same task and model
    #: what was seen of its answers and prompts; None: what the rows hold
    seen: LogEvidence | None = field(default=None, compare=False)

    def outcomes(self, scorer: str | None = None) -> Outcomes:
        """Return the scores of a scorer, or of the main one, and why some trials have none."""
        number = self._scorer(scorer)
        scores: list[list[float]] = [[] for _ in self.problems]
        unscored: dict[str, Counter[int]] = {}
        recorded = [0] * len(self.problems)
        for trial in sorted(self.rows, key=_place):
            recorded[trial.problem] += 1
            score = next((score for score in trial.scores if score.scorer == number), None)
            if score is not None and score.value is not None:
                scores[trial.problem].append(score.value)
            else:
                unscored.setdefault(_reason(trial, score), Counter())[trial.problem] += 1
        for problem, count in enumerate(recorded if self.planned else ()):
            if count < (self.planned or 0):
                unscored.setdefault("missing", Counter())[problem] = (self.planned or 0) - count
        outcomes = replace(self._collected(scores, unscored), scale=self.scale(scorer))
        return with_evidence(outcomes, self._seen.observed(self, number, outcomes))

    def first(self, n: int) -> Log:
        """Return the log of the first n trials of each problem that has any."""
        taken: dict[int, list[int]] = {}
        for trial in self.rows:
            taken.setdefault(trial.problem, []).append(trial.trial)
        fewest = min(taken, key=lambda problem: len(taken[problem]), default=None)
        if fewest is not None and len(taken[fewest]) < n:
            raise InvalidInput(
                f"the first {n} trials of each problem need {n} of each; problem "
                f"{self.problems[fewest].key!r:.80} has {len(taken[fewest])}."
            )
        last = {problem: sorted(numbers)[n - 1] for problem, numbers in taken.items()}
        kept = [i for i, trial in enumerate(self.rows) if trial.trial <= last[trial.problem]]
        seen = replace(self._seen, texts=self._seen.texts.where(kept))
        return replace(self, trials=_FirstTrials(self.trials, last), planned=None, seen=seen)

    def votes(self, scorer: str | None = None) -> RecordedVotes:
        """Return the votes of the trials that a scorer scored, where answers are recorded."""
        trials = sorted(self.trials, key=_place)
        return votes_of_log(len(self.problems), trials, self._scorer(scorer))

    def scale(self, scorer: str | None = None) -> Scale:
        """Return the scale of a scorer, or of the main one, as far as the log states it."""
        return self.scales.get(self.scorers[self._scorer(scorer)], UNSTATED)

    def stating(self, scales: Mapping[str, Scale]) -> Log:
        """Return the log on the scales that it states, and that `scales` says scores have."""
        stated = {
            name: self.scales.get(name, UNSTATED).joined(scale, f"{self.source.file}: {name}")
            for name, scale in scales.items()
            if name in self.scorers
        }
        return replace(self, scales={**self.scales, **stated}) if stated else self

    def tally(self, scorer: str | None = None) -> RunTally:
        """Return what the rows say beyond outcomes, as `tally_of` does for a run directory."""
        number = self._scorer(scorer)
        counts: list[Counter[str]] = [Counter() for _ in self.scorers]
        incomplete: Counter[Status] = Counter()
        retried = errored = 0
        errors: list[tuple[int, int, str | None]] = []
        for trial in self.rows:
            retried += trial.attempts > 1
            errored += trial.status == "errored"
            for score in trial.scores:
                counts[score.scorer][score.status] += 1
                if score.scorer == number:
                    incomplete[trial.status] += score.value is not None
                    if score.status == "error":
                        errors.append((*_place(trial), score.detail))
        failures = [attempt for attempt in self.attempts if attempt.outcome == "errored"]
        return RunTally(
            scorer=self.scorers[number],
            scores={
                name: {status: count[status] for status in SCORE_STATUSES if count[status]}
                for name, count in zip(self.scorers, counts, strict=True)
            },
            retried=retried,
            first_error=min(errors)[2] if errors else None,
            errored=errored,
            first_failure=min(failures, key=_order).detail if errored and failures else None,
            incomplete={
                status: incomplete[status] for status in STATUSES[1:] if incomplete[status]
            },
        )

    def judged(
        self, scorer: str | None, label: str | None, *, named: bool, threshold: float | None
    ) -> JudgeScores | None:
        """Return a scorer's scores beside those of another that holds labels, where it is named."""
        if not named:
            return None
        judge = self.scorers[self._scorer(scorer)]
        labels = {p: v for p, v in self._scores(label).items() if v is not None} if label else {}
        found = [Labels(str(label), labels)] if label else []
        return judge_of(self._scores(judge), found, judge=judge, threshold=threshold)

    def _scores(self, scorer: str | None) -> dict[tuple[str, int], float | None]:
        number = self._scorer(scorer)
        return {
            (self.problems[trial.problem].key, trial.trial): score.value
            for trial in self.rows
            for score in trial.scores
            if score.scorer == number
        }

    def data_names(self) -> list[str]:
        """Return the names of the problems' data, such as `level` or `subject`."""
        return list(dict.fromkeys(name for doc in self._docs for name in doc))

    def data(self, name: str) -> dict[str, Any]:
        """Return one of the problems' data by the key of the problem; None where it lacks."""
        pairs = zip(self.problems, self._docs, strict=True)
        return {problem.key: doc.get(name) for problem, doc in pairs}

    def prompts(self) -> dict[str, int | None]:
        """Return a number for the prompt of each problem by its key, equal for equal prompts."""
        keys = [problem.key for problem in self.problems]
        return dict(zip(keys, self._seen.prompts, strict=True))

    def targets(self) -> dict[str, tuple[str, ...]]:
        """Return the targets of each problem by its key."""
        records = ((problem.key, json.loads(problem.record)) for problem in self.problems)
        return {key: tuple(map(str, record.get("targets") or ())) for key, record in records}

    @property
    def rows(self) -> Sequence[TrialRow]:
        """The trials, without texts that would have to be read from a file."""
        rows: Iterable[TrialRow] = getattr(self.trials, "rows", self.trials)
        return rows if isinstance(rows, Sequence) else list(rows)

    @cached_property
    def _seen(self) -> LogEvidence:
        return self.seen or LogEvidence.of(self)

    @cached_property
    def _docs(self) -> list[dict[str, Any]]:
        return [json.loads(problem.record).get("doc") or {} for problem in self.problems]

    def _scorer(self, name: str | None) -> int:
        if not self.scorers:
            raise InvalidInput(f"{self.task}: no scorer has been used on these trials.")
        if name is None:
            return 0
        if name in self.scorers:
            return self.scorers.index(name)
        hint = nearest(name, self.scorers) or f" It has {', '.join(self.scorers)}."
        raise InvalidInput(f"{self.task}: no scorer named {name!r}.{hint}")

    def _collected(
        self, scores: list[list[float]], unscored: Mapping[str, Counter[int]]
    ) -> Outcomes:
        clusters = [problem.cluster for problem in self.problems]
        values = compact(np.array([score for row in scores for score in row], dtype=np.float64))
        offsets = np.cumsum([0, *map(len, scores)])
        asked = AskedScores(frozen(values), frozen(offsets))
        is_graded = values.dtype != np.uint8
        outcomes = Outcomes.from_counts(
            np.zeros(len(scores)) if is_graded else asked.sums(),
            asked.counts(),
            problems=[problem.key for problem in self.problems],
            clusters=None if None in clusters else clusters,
            unscored={
                reason: [counts[problem] for problem in range(len(scores))]
                for reason, counts in sorted(unscored.items())
            },
        )
        if not is_graded:
            return replace(outcomes, asked=asked)
        graded = GradedScores(np.asarray(asked.values, np.float64), asked.offsets)
        return replace(outcomes, successes=None, graded=graded, asked=asked)


class _FirstTrials:
    """The trials of a log up to the last one wanted of each problem."""

    def __init__(self, trials: Iterable[TrialRow], last: Mapping[int, int]) -> None:
        self._trials, self._last = trials, last
        rows: Iterable[TrialRow] = getattr(trials, "rows", trials)
        self.rows = [row for row in rows if row.trial <= last[row.problem]]

    def __iter__(self) -> Iterator[TrialRow]:
        return (row for row in self._trials if row.trial <= self._last[row.problem])


def _place(trial: TrialRow) -> tuple[int, int]:
    return trial.problem, trial.trial


def _order(attempt: AttemptRow) -> tuple[int, int, int, int]:
    return attempt.at_ms, attempt.problem, attempt.trial, attempt.attempt


def _reason(trial: TrialRow, score: ScoreRow | None) -> str:
    """Return in a word why a trial has no score, as the trials table does."""
    if trial.status != "ok":
        return trial.status
    return "unscored" if score is None else f"scorer_{score.status}"
