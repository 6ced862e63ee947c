"""What a run may be told, beyond the task itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from passband.score.scorer import Truncated

__all__ = ["Patience", "Settings", "Truncated"]


@dataclass(frozen=True)
class Patience:
    """How long a trial, and the run, go on in the face of failure.

    An attempt that fails because the server is down for everyone is not held against a trial.
    """

    attempts: int = 5  # requests that fail on their own before a trial is given up
    replies: int = 3  # invalid replies, or timeouts, before a trial is
    unanswered: int = 3  # trials that come to nothing before any is answered, and the run stops
    failures: int = 20  # failures in a row that mean the server is down
    outage: float = 600.0  # seconds that a server may be down before the run stops
    drain: float = 10.0  # seconds that requests under way are waited for after Ctrl-C
    preflight: float = 1.0  # seconds that the first request may keep the others waiting
    first_pause: float = 0.5  # seconds before the second attempt; doubles each time
    longest_pause: float = 30.0


@dataclass(frozen=True)
class Settings:
    """How a run is carried out; None leaves a setting to the task, or to the model."""

    n: int | None = None
    limit: int | None = None
    concurrency: int = 64
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: str | None = None  # what the seeds of the trials are derived from; the run's name if None
    send_seeds: bool = True
    truncated: Truncated | None = None  # whether a completion that was cut off is scored
    retry_failed: bool = False  # ask again what is recorded as invalid or given up
    max_cost: float | None = None
    patience: Patience = field(default_factory=Patience)
