"""Evidence from the log of another tool: texts, answers and settings beyond the scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passband.readers.evidence.misread import ReadAnswer, misread_answers
from passband.readers.evidence.observed import AnswerTexts, Observed, Progress, some_places
from passband.readers.evidence.seen_texts import SeenTexts
from passband.score import Reference
from passband.stats.data import Outcomes

if TYPE_CHECKING:
    from passband.readers.log import Log
    from passband.stats.data import Finding


@dataclass(frozen=True)
class LogEvidence:
    """The answers and prompts of a log, collected while it is read."""

    texts: SeenTexts  #: in the order of the log's rows
    prompts: Sequence[int | None]  #: a number for each problem, equal for equal prompts

    @staticmethod
    def of(log: Log) -> LogEvidence:
        """Return what the rows of a log hold themselves."""
        texts = SeenTexts()
        for row in log.rows:
            texts.add(row.text)
        prompts = [json.loads(problem.record).get("messages") for problem in log.problems]
        return LogEvidence(texts, [hash(repr(one)) if one else None for one in prompts])

    def observed(self, log: Log, scorer: int, outcomes: Outcomes) -> Observed:
        """Return what is known of the trials of a log, as one of its scorers scored them."""
        known = None if None in self.prompts else np.array(self.prompts, np.int64)
        return Observed(
            texts=self._answers(log),
            is_greedy=log.settings.get("temperature") == 0,
            prompts=known,
            progress=_progress(log),
            findings=tuple(self._misread(log, scorer, outcomes)),
        )

    def _answers(self, log: Log) -> AnswerTexts | None:
        rows, has_text = log.rows, np.array(self.texts.has_text, dtype=bool)
        if not has_text.any() or len(rows) != len(has_text):
            return None
        problem, trial = (
            np.fromiter((getattr(row, name) for row in rows), np.int64, len(rows))[has_text]
            for name in ("problem", "trial")
        )
        numbers = np.array(self.texts.numbers, np.int64)[has_text]
        order = np.lexsort((trial, problem))
        counts = np.bincount(problem, minlength=len(log.problems))
        places, offsets = some_places(np.append(0, np.cumsum(counts)))
        return AnswerTexts.of_numbers(numbers[order[places]], offsets, self.texts.mean_length)

    def _misread(self, log: Log, scorer: int, outcomes: Outcomes) -> Iterator[Finding]:
        if outcomes.successes is None or len(log.rows) != len(self.texts.numbers):
            return  # a score between right and wrong may be right as it is
        yield from misread_answers(list(self._read(log, scorer)), outcomes)

    def _read(self, log: Log, scorer: int) -> Iterator[ReadAnswer]:
        for index, text in self.texts.in_full.items():
            row = log.rows[index]
            score = next((one for one in row.scores if one.scorer == scorer), None)
            if score is None or score.value is None:
                continue
            problem = log.problems[row.problem]
            targets = tuple(map(str, json.loads(problem.record).get("targets") or ()))
            read = text if score.answer is None and score.status == "ok" else score.answer
            yield ReadAnswer(problem.key, row.trial, text, read, score.value, Reference(targets))


def _progress(log: Log) -> Progress:
    """Return how many of a log's problems have trials."""
    asked = len({row.problem for row in log.rows})
    return Progress(asked, len(log.problems) - asked)
