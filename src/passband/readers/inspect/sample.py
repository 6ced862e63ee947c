"""A sample of Inspect, or its summary, as a trial: status, scores, texts and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passband.errors import InvalidInput
from passband.readers.inspect.header import mapping
from passband.readers.log_builder import ScoreValue
from passband.score import Score, inspect_number, inspect_scores
from passband.trials import Status

Record = dict[str, Any]

_STOPPED: Mapping[Any, Status] = {
    "max_tokens": "truncated",
    "model_length": "truncated",
    "length": "truncated",  # as older versions called it
    "content_filter": "refused",
    "unknown": "unknown",
}
_USAGES: Mapping[str, tuple[str, ...]] = {  # and what is summed up in each
    "prompt_tokens": ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write"),
    "completion_tokens": ("output_tokens",),  # reasoning included
    "reasoning_tokens": ("reasoning_tokens",),
    "cached_tokens": ("input_tokens_cache_read",),
    "cost": ("total_cost",),
}
_CANCELLED = ("CancelledError(", "Cancelled(")
_ATTACHMENT = "attachment://"


class InspectSample:
    """One sample, from its summary or whole; a summary has no texts and no stop reason."""

    def __init__(self, record: Any) -> None:
        """Check the id and the epoch; whatever else is not as it should be is left out."""
        if not isinstance(record, dict):
            raise InvalidInput(f"a sample must be an object; got {record!r:.60}.")
        self.record: Record = record
        self.id: Any = record.get("id")
        epoch = record.get("epoch")
        if type(self.id) not in (str, int):
            raise InvalidInput(f"the id of a sample must be text or a number; got {self.id!r:.60}.")
        if type(epoch) is not int or not 1 <= epoch <= 2**31:
            raise InvalidInput(
                f"sample {self.id!r:.60}: its epoch must be a whole number of at least 1; got "
                f"{epoch!r:.60}."
            )
        self.key = str(self.id)
        self.epoch = epoch
        error = record.get("error")
        if isinstance(error, dict):
            error = error.get("message") or "no message"
        self.error = None if error is None else str(error)  #: the message of what ended it

    @property
    def name(self) -> str:
        """The name of its member in a log, up to the ending."""
        return f"samples/{self.key}_epoch_{self.epoch}"

    @property
    def is_trial(self) -> bool:
        """Whether it came to an end of its own, and was not cancelled."""
        if self.error is not None:
            return not self.error.startswith(_CANCELLED)
        return self.record.get("completed") is not False or bool(self.record.get("scores"))

    @property
    def limit(self) -> str | None:
        """The kind of limit that stopped it."""
        limit = self.record.get("limit")
        if isinstance(limit, dict):
            limit = limit.get("type") or "unknown"
        return None if limit is None else str(limit)

    @property
    def status(self) -> Status:
        if self.error is not None:
            return "errored"
        if self.record.get("limit") is not None:
            return "limit"
        if "output" not in self.record:
            return "ok"
        stop = _text_or_none(_choice(self.record).get("stop_reason"))
        if stop == "tool_calls" and not self.record.get("scores"):
            return "tool_call"  # with a score it is an agent, which ends with a call of its tool
        return _STOPPED.get(stop, "ok")

    @property
    def attempts(self) -> int:
        """How often it was tried, with the last time."""
        retries = self.record.get("retries", self.record.get("error_retries"))
        again = len(retries) if isinstance(retries, list) else retries
        return 1 + again if type(again) is int and 0 <= again < 2**31 else 1

    @property
    def invalidation(self) -> str | None:
        """Why it was declared invalid; None if it was not."""
        if self.record.get("invalidation") is None:
            return None
        reason = mapping(self.record["invalidation"]).get("reason") or "no reason is given"
        return f"the sample was invalidated: {reason}"

    # -- scores ----------------------------------------------------------------------------

    def raw_scores(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return each scorer's name and what it gave; version 1 has one score and no name."""
        scores = self.record.get("scores")
        if isinstance(scores, dict):
            return [(name, mapping(score)) for name, score in scores.items()]
        score = self.record.get("score")
        return [("", score)] if isinstance(score, dict) else []

    def scores(self, *, texts: bool, unnamed: str) -> dict[str, ScoreValue]:
        """Return the scores by name; with `texts`, with the answers and explanations."""
        invalid = self.invalidation
        scores: dict[str, ScoreValue] = {}
        for name, score in self.raw_scores():
            value = score.get("value")
            if not texts and invalid is None and value != "N":
                number = inspect_number(value)
                if number is not None:
                    scores[name or unnamed] = number
                    continue
            parts = inspect_scores(
                name or unnamed,
                value,
                answer=score.get("answer"),
                explanation=score.get("explanation"),
                reason=score.get("reason") or mapping(score.get("metadata")).get("unscored_reason"),
            )
            scores |= {one: self._kept(part, invalid) for one, part in parts.items()}
        return scores

    def _kept(self, score: Score, invalid: str | None) -> Score:
        """Return a score without what need not be stored, or without its value if it is invalid."""
        if invalid is not None:
            return Score(None, "error", score.answer, None, invalid[:500])
        return score if score.value is None else score._replace(detail=None)

    # -- texts -----------------------------------------------------------------------------

    def texts(self) -> dict[str, Any]:
        """Return the completion, the reasoning before it and, of several calls, all messages."""
        attachments = mapping(self.record.get("attachments"))
        message = _choice(self.record).get("message")
        content = mapping(message).get("content")
        if content is None:
            content = mapping(self.record.get("output")).get("completion")
        content = _resolved(content, attachments)
        return {
            "text": _joined(content, "text"),
            "reasoning": _joined(content, "reasoning") or None,
            "transcript": _transcript(self.record.get("messages"), attachments),
        }

    def _messages(self) -> list[tuple[str, Any]]:
        """Return the prompt, as pairs of a role and its content."""
        content = _resolved(self.record.get("input"), mapping(self.record.get("attachments")))
        if isinstance(content, str):
            return [("user", content)]
        parts = content if isinstance(content, list) else []
        return [(str(part.get("role")), part.get("content")) for part in map(mapping, parts)]

    # -- the rest --------------------------------------------------------------------------

    def problem(self, *, texts: bool) -> dict[str, Any]:
        """Return what is known of the problem; with `texts`, with its prompt."""
        target, choices = self.record.get("target"), self.record.get("choices")
        targets = [target] if isinstance(target, str) else target
        return {
            "targets": [str(one) for one in targets] if isinstance(targets, list) else (),
            "choices": [str(one) for one in choices] if isinstance(choices, list) else (),
            "doc": mapping(self.record.get("metadata")),
            "messages": self._messages() if texts else (),
        }

    def costs(self, model: str) -> dict[str, Any]:
        """Return tokens, time, attempts and the id of the sample."""
        usages = mapping(self.record.get("model_usage"))
        own = [usages[model]] if model in usages else list(usages.values())
        seconds = self.record.get("working_time") or self.record.get("total_time")
        uuid = self.record.get("uuid")
        return {
            **_spent(own),
            "latency_ms": _milliseconds(seconds),
            "attempts": self.attempts,
            "request_id": uuid if isinstance(uuid, str) else None,
        }


def _choice(record: Record) -> Mapping[str, Any]:
    choices = mapping(record.get("output")).get("choices")
    return mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 2**40


def _milliseconds(seconds: Any) -> int | None:
    return round(seconds * 1000) if _is_number(seconds) else None


def _spent(usages: list[Any]) -> dict[str, float | None]:
    """Return the tokens and the cost by name; None where none is stated."""
    kept = [mapping(usage) for usage in usages]
    stated = {
        name: [usage[part] for usage in kept for part in parts if _is_number(usage.get(part))]
        for name, parts in _USAGES.items()
    }
    return {name: sum(numbers) if numbers else None for name, numbers in stated.items()}


def _joined(content: Any, kind: str) -> str | None:
    """Return the parts of a message of one kind: text or reasoning."""
    if isinstance(content, str):
        return content if kind == "text" else None
    if not isinstance(content, list):
        return None
    parts = [part for part in map(mapping, content) if part.get("type") == kind]
    texts = [part.get("summary" if part.get("redacted") else kind) for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _transcript(messages: Any, attachments: Mapping[str, Any]) -> list[Record] | None:
    """Return the messages of a sample with several calls of the model, or of tools."""
    listed = messages if isinstance(messages, list) else []
    rows = [message for message in listed if isinstance(message, dict)]
    roles = [message.get("role") for message in rows]
    has_calls = "tool" in roles or any(message.get("tool_calls") for message in rows)
    if roles.count("assistant") < 2 and not has_calls:
        return None
    return [_resolved(message, attachments) for message in rows]


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """Put attachments in the place of references to them."""
    if isinstance(value, str):
        if attachments and value.startswith(_ATTACHMENT):
            return attachments.get(value[len(_ATTACHMENT) :], value)
        return value
    if isinstance(value, list):
        return [_resolved(part, attachments) for part in value]
    if isinstance(value, dict):
        return {name: _resolved(part, attachments) for name, part in value.items()}
    return value
