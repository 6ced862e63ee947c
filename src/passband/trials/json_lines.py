"""Trials as lines of JSON, written a line at a time without a mapping in between.

A million trials take minutes where each becomes a mapping that a general encoder takes apart again.
The lines are those which `json.dumps` would write of the rows of an export, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from passband.trials.rows import TrialRow

__all__ = ["LineWriter", "ProblemPart"]


class ProblemPart(NamedTuple):
    """What the trials of a problem share: the beginning of a line, and a piece of its middle."""

    head: str
    middle: str

    @classmethod
    def of(
        cls, task: str, model: str, key: str, target: str | None, cluster: str | None
    ) -> ProblemPart:
        """Return the part of a problem of a task asked of a model."""
        encode = encode_basestring
        head = f'{{"task":{encode(task)},"model":{encode(model)},"problem_id":{encode(key)}'
        return cls(head, f'"target":{_text(target)},"cluster":{_text(cluster)}')


class LineWriter:
    """Writes trials that have at most one score, and nothing that is not in every export."""

    def __init__(self) -> None:
        self._rules: dict[str | None, str] = {}

    def line(self, problem: ProblemPart, trial: TrialRow) -> str:
        """Return the line of a trial."""
        seed, prompt, completion = trial.seed, trial.prompt_tokens, trial.completion_tokens
        return (
            f'{problem.head},"trial":{trial.trial},"status":"{trial.status}",{self._score(trial)},'
            f'{problem.middle},"seed":{"null" if seed is None else seed},'
            f'"prompt_tokens":{"null" if prompt is None else prompt},'
            f'"completion_tokens":{"null" if completion is None else completion},'
            f'"completion":{_text(trial.text)},"reasoning":{_text(trial.reasoning)},'
            f'"finish_reason":{_text(trial.finish_reason)}}}\n'
        )

    def _score(self, trial: TrialRow) -> str:
        if not trial.scores:
            return '"score":null,"score_status":null,"answer":null,"rule":null'
        _, value, status, answer, rule, _ = trial.scores[0]
        if answer is None and status == "ok":
            answer = trial.text
        named = self._rules.get(rule)
        if named is None:
            named = self._rules[rule] = _text(rule)
        number = "null" if value is None else float.__repr__(value)
        return f'"score":{number},"score_status":"{status}","answer":{_text(answer)},"rule":{named}'


def _text(text: str | None, encode: Callable[[Any], str] = encode_basestring) -> str:
    return "null" if text is None else encode(text)
