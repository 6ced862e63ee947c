"""A log: one task asked of one model, as another tool recorded it.

A log holds what the trials table holds (problems, trials, the scores of each scorer), in the rows
of the trials table, so that it can be measured, or stored, like a run of passband itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from passband.errors import InvalidInput, nearest
from passband.records import reading
from passband.stats.data.graded import GradedScores
from passband.stats.data.outcomes import Outcomes
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow

__all__ = ["Log", "Source"]


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
    trials: Sequence[TrialRow]  #: `problem` is the index of the problem
    scorers: tuple[str, ...]  #: the main one first; `scorer` of a score is the index here
    settings: Mapping[str, Any] = field(default_factory=dict)  #: temperature and the like

    def outcomes(self, scorer: str | None = None) -> Outcomes:
        """Return the scores of a scorer, or of the main one, and why some trials have none."""
        number = self._scorer(scorer)
        scores: list[list[float]] = [[] for _ in self.problems]
        unscored: dict[str, Counter[int]] = {}
        for trial in sorted(self.trials, key=lambda trial: (trial.problem, trial.trial)):
            score = next((score for score in trial.scores if score.scorer == number), None)
            if score is not None and score.value is not None:
                scores[trial.problem].append(score.value)
            else:
                unscored.setdefault(_reason(trial, score), Counter())[trial.problem] += 1
        return self._collected(scores, unscored)

    def bounds(self, scorer: str | None = None) -> None:
        """Return None: a log does not record the bounds of its scorers."""

    def data_names(self) -> list[str]:
        """Return the names of the problems' data, such as `level` or `subject`."""
        return list(dict.fromkeys(name for doc in self._docs for name in doc))

    def data(self, name: str) -> dict[str, Any]:
        """Return one of the problems' data by the key of the problem; None where it lacks."""
        pairs = zip(self.problems, self._docs, strict=True)
        return {problem.key: doc.get(name) for problem, doc in pairs}

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
        is_graded = any(score not in (0, 1) for row in scores for score in row)
        outcomes = Outcomes.from_counts(
            [0 if is_graded else int(sum(row)) for row in scores],
            [len(row) for row in scores],
            problems=[problem.key for problem in self.problems],
            clusters=None if None in clusters else clusters,
            unscored={
                reason: [counts[problem] for problem in range(len(scores))]
                for reason, counts in sorted(unscored.items())
            },
        )
        if not is_graded:
            return outcomes
        values = np.array([score for row in scores for score in row], dtype=np.float64)
        offsets = np.concatenate([[0], np.cumsum(outcomes.trials)])
        return replace(outcomes, successes=None, graded=GradedScores(values, offsets))


def _reason(trial: TrialRow, score: ScoreRow | None) -> str:
    """Return in a word why a trial has no score, as the trials table does."""
    if trial.status != "ok":
        return trial.status
    return "unscored" if score is None else f"scorer_{score.status}"
