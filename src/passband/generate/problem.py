"""A problem as a model is asked it: the rendered prompt, and what an answer is compared with."""

from __future__ import annotations

from dataclasses import dataclass

from passband.generate.provider import Message
from passband.score import Reference


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a task, its prompt rendered."""

    key: str  # its name within the task, unique
    messages: tuple[Message, ...]
    reference: Reference
    cluster: str | None = None  # problems of one cluster are not independent
