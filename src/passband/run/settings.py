"""Settings of a run, beyond its tasks and its model."""

from __future__ import annotations

from dataclasses import dataclass, field

from passband.errors import InvalidInput
from passband.run.shards.shard import Shard
from passband.score import Truncated
from passband.stats import Over


@dataclass(frozen=True)
class Patience:
    """Retry limits and timeouts, for one trial and for the run.

    An attempt that fails because the server is down for everyone does not count against a trial.
    """

    attempts: int = 5  # failed requests after which a trial is given up
    replies: int = 3  # invalid replies or timeouts after which a trial is given up
    unanswered: int = 3  # trials given up, before any answer, after which the run stops
    errors: int = 16  # errors of a task's own code, before any answer, after which the run stops
    unscored: int = 16  # answers that no scorer could score, before any score, that end the run
    failures: int = 20  # failures in a row that mean the server is down
    outage: float = 600.0  # seconds that a server may be down before the run stops
    drain: float = 10.0  # seconds to wait for requests in flight after Ctrl-C
    preflight: float = 1.0  # seconds that the first request may hold up the others
    first_pause: float = 0.5  # seconds before the second attempt; doubles each time
    longest_pause: float = 30.0


@dataclass(frozen=True)
class WidthGoal:
    """A run ends once the interval of a metric is within +-half_width."""

    half_width: float
    metric: str = "pass@1"
    over: Over = "trials"
    level: float = 0.95
    proof: bool = False


@dataclass(frozen=True)
class Settings:
    """The settings of a run; None leaves one to the task or the model."""

    n: int | None = None
    limit: int | None = None
    concurrency: int = 64
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    name: str | None = None  # of the run; `base` if None
    base: str | None = None  # the run's name unless it has one; the directory's name if None
    seed: str | None = None  # that trials' seeds are derived from; the run's name if None
    send_seeds: bool = True
    truncated: Truncated | None = None  # whether truncated completions are scored
    retry_failed: bool = False  # request again trials recorded as invalid or gave_up
    max_cost: float | None = None
    is_leased: bool = False  # whether more money, and more requests at once, may be granted later
    max_failed: float | None = None  # share of trials without an answer that is no failure
    moved_server: bool = False  # whether another address serves the same model
    unsafe_code: bool = False  # run programs without a sandbox where there is none
    until: WidthGoal | None = None  # then n is the most trials of a problem
    shard: Shard | None = None  # the part of the run to ask for; all of it if None
    patience: Patience = field(default_factory=Patience)

    def check(self) -> None:
        """Raise `InvalidInput` for numbers of problems or trials that ask for none."""
        for option, number in (("--limit", self.limit), ("-n", self.n)):
            if number is not None and number < 1:
                raise InvalidInput(f"{option} must be at least 1; got {number}.")
        if self.max_failed is not None and not 0 <= self.max_failed <= 1:
            raise InvalidInput(f"--max-failed is a share from 0 to 1; got {self.max_failed:g}.")
