"""Hold what is shown of a trial: prompt, answer, extracted answer, target and score."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class ShownMessage(NamedTuple):
    """A message of a conversation."""

    role: str
    text: str


@dataclass(frozen=True)
class ShownProblem:
    """A problem as it was asked, and how its trials fared."""

    task: str
    model: str
    key: str
    messages: tuple[ShownMessage, ...]
    targets: tuple[str, ...]
    choices: tuple[str, ...]
    trials: int
    scored: int
    right: int


@dataclass(frozen=True)
class ShownScore:
    """One scorer's score of a trial."""

    scorer: str
    value: float | None
    status: str
    answer: str | None  #: what was extracted; of a score "ok" None for the whole completion
    rule: str | None
    detail: str | None
    is_right: bool | None  #: None where there is no score
    rules: tuple[str, ...] = ()  #: the rules of extraction, or filters, that were tried
    is_label: bool = False  #: what a person says of the trial
    outcome: str | None = None  #: what became of a program: "passed", "timed out", ...


@dataclass(frozen=True)
class ShownCall:
    """One request of a scorer to a judge about a trial."""

    scorer: str
    vote: int  #: from 0
    attempt: int
    status: str
    value: float | None  #: of its verdict, for the completion of the trial
    reply: str | None
    is_swapped: bool = False  #: whether a pair was shown the other way round
    is_cached: bool = False  #: whether an equal request was replied to before
    outcome: str | None = None  #: of a failed one
    detail: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None

    @property
    def last_line(self) -> str | None:
        """The last non-empty line of the reply, which holds the verdict."""
        lines = (self.reply or "").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), None)


@dataclass(frozen=True)
class ShownTrial:
    """One trial of a problem."""

    problem: ShownProblem
    trial: int
    status: str
    text: str | None
    reasoning: str | None
    transcript: tuple[ShownMessage, ...]
    scores: tuple[ShownScore, ...]  #: that of the chosen scorer first
    span: tuple[int, int] | None  #: of the extracted answer in the text
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seed: int | None = None
    latency_ms: int | None = None
    attempts: int = 1
    finish_reason: str | None = None
    reasoning_tokens: int | None = None  #: of the completion tokens
    cached_tokens: int | None = None  #: of the prompt tokens
    failures: tuple[str, ...] = ()  #: why attempts came to nothing
    calls: tuple[ShownCall, ...] = ()  #: to judges, by scorer and vote

    @property
    def score(self) -> ShownScore | None:
        """The score of the chosen scorer."""
        return self.scores[0] if self.scores else None


@dataclass(frozen=True)
class Damaged:
    """A trial, or the problem of several, that cannot be read."""

    task: str
    model: str
    problem: str
    trial: int | None
    why: str


Shown = ShownProblem | ShownTrial | Damaged


def message_of(message: object) -> ShownMessage:
    """Return a recorded message, a pair or a mapping, with its content as text.

    >>> message_of(["user", "2+2"])
    ShownMessage(role='user', text='2+2')
    >>> message_of({"role": "tool", "content": [{"type": "text", "text": "4"}]})
    ShownMessage(role='tool', text='4')
    """
    if isinstance(message, Mapping):
        text = _text(message.get("content"))
        calls = message.get("tool_calls")
        called = f"{text}\n{_json(calls)}".lstrip("\n") if calls else text
        return ShownMessage(str(message.get("role", "")), called)
    if isinstance(message, Sequence) and not isinstance(message, str) and len(message) == 2:
        return ShownMessage(str(message[0]), _text(message[1]))
    return ShownMessage("", _text(message))


def _text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return _json(content)


def _part(part: object) -> str:
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return part if isinstance(part, str) else _json(part)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
