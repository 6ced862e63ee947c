"""List the trials that can be labelled: those with a score by the judge."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from passband.errors import InvalidInput
from passband.readers import JudgeScores, judge_scores, label_scorers
from passband.trials import RunRecord, ScorerRecord, TrialFilter, Trials, canonical_json


@dataclass(frozen=True)
class TrialText:
    """What a labeller reads of one trial."""

    question: str
    answer: str


@dataclass(frozen=True, eq=False)
class SamplingFrame:
    """The trials of one run that a judge has seen."""

    trials: Trials
    run: RunRecord
    judge: ScorerRecord
    scores: JudgeScores

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return self.trials.numbers(self.run.number)

    @property
    def name(self) -> str:
        return f"{self.run.task} by {self.run.label}"

    def reading(self, key: str, trial: int) -> TrialText:
        """Return the question and the answer of a trial."""
        number = self._numbers[key]
        record = self.trials.chosen(self.run, TrialFilter()).problem(number).record
        return TrialText(_question(record), read_answer(self.trials, self.run, (number, trial)))


def read_answer(trials: Trials, run: RunRecord, number: tuple[int, int]) -> str:
    """Return what the model answered; the last text of a conversation."""
    row = trials.chosen(run, TrialFilter()).trial(*number)
    return row.text or _last_text(row.transcript or ())


def frame_of(
    trials: Trials, run: RunRecord, scorer: str | None = None, labeller: str | None = None
) -> SamplingFrame:
    """Return the trials of a run that may be drawn, with the labels that `labeller` has given."""
    run.refuse_averages()
    judge = judge_to_label(run, scorer)
    label = labeller if labeller in [one.name for one in label_scorers(run)] else None
    return SamplingFrame(trials, run, judge, judge_scores(trials, run, judge, label))


def judge_to_label(run: RunRecord, name: str | None = None) -> ScorerRecord:
    """Return the scorer that labels are to correct: by name, the only judge, or the main one."""
    if name is not None:
        chosen = run.scorer(name)
        if chosen.is_label:
            raise InvalidInput(
                f"{name} are labels already; --scorer names the scorer that they are to correct."
            )
        return chosen
    judges = [scorer for scorer in run.scorers if scorer.is_judge]
    if len(judges) > 1:
        names = ", ".join(judge.name for judge in judges)
        raise InvalidInput(f"{run.task} has several judges ({names}); choose one with --scorer.")
    return next(iter(judges), run.scorer())


def fingerprint(run: RunRecord) -> str:
    """Return what tells a run from others; merged, moved and copied it stays the same."""
    return hashlib.sha256(canonical_json([run.task, run.model, run.name]).encode()).hexdigest()[:12]


def _question(record: Mapping[str, Any]) -> str:
    messages = [pair for pair in record.get("messages") or () if len(pair) == 2]
    if len(messages) == 1:
        return _text(messages[0][1])
    return "\n\n".join(f"[{role}]\n{_text(content)}" for role, content in messages)


def _last_text(transcript: Sequence[Mapping[str, Any]]) -> str:
    """Return the last text of the model, where a trial is a conversation."""
    texts = [_text(one.get("content")) for one in transcript if one.get("role") == "assistant"]
    return next((text for text in reversed(texts) if text.strip()), "")


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, Mapping)]
        return "\n".join(str(part) for part in parts if part)
    return "" if content is None else str(content)
