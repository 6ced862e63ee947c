"""Save a plan to a file, and check it against the trials that were made.

The file is JSON with the hash of its content, so that a later change shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from passband.errors import InvalidInput
from passband.json_values import json_values
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the hash of a plan's content, whatever file it is in."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def save_content(path: str | Path, format: str, content: Mapping[str, Any]) -> None:
    """Write a plan's content as JSON, with its hash."""
    whole = {"format": format, "plan": content, "sha256": content_hash(content)}
    try:
        Path(path).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written; {error.strerror}.") from None


def load_content(
    path: str | Path, format: str, names: set[str], *, noun: str = "plan"
) -> dict[str, Any]:
    """Read a plan's content, and refuse one that was changed after it was saved.

    `names` are the fields that it must have, `noun` is what to call it in errors.
    """
    try:
        whole = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read; {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: a {noun} must be JSON; {error}.") from None
    if not isinstance(whole, dict) or whole.get("format") != format:
        raise InvalidInput(f"{path}: not a {noun}; its format must be {format!r}.")
    content = whole.get("plan")
    if not isinstance(content, dict) or set(content) != names:
        raise InvalidInput(
            f"{path}: a {noun} must have exactly the fields {', '.join(sorted(names))}."
        )
    if content_hash(content) != whole.get("sha256"):
        raise InvalidInput(
            f"{path}: the plan was changed after it was saved; its content has the hash "
            f"{content_hash(content)[:12]}..., the file says {str(whole.get('sha256'))[:12]}..."
        )
    return content


FORMAT = "passband plan 3"
PlanGoal = Literal["difference", "width"]


@dataclass(frozen=True)
class PlannedDesign:
    """A number of problems, and of trials of each."""

    problems: int
    trials: int
    exact: float  #: problems before rounding up

    @property
    def total(self) -> int:
        return self.problems * self.trials

    def __str__(self) -> str:
        """Format as problems x trials.

        >>> str(PlannedDesign(500, 8, 499.2))
        '500 x 8'
        """
        return f"{self.problems} x {self.trials}"


@dataclass(frozen=True)
class Plan:
    """A goal, the assumptions made, and the design that reaches the goal."""

    goal: PlanGoal
    target: float  #: the difference to detect, or the half-width of the interval
    problems: int
    trials: int
    exact: float  #: problems before rounding up
    level: float
    power: float | None  #: of a difference
    metric: str | None
    over: Over
    between: float | None  #: variance across problems of the values, or of their differences
    within: tuple[float, ...]  #: variance of sampling per problem at `trials`, of each side
    options: tuple[PlannedDesign, ...] = ()  #: other designs that do it
    notes: tuple[Note, ...] = ()  #: of the pilot, and on what was assumed
    assurance: float | None = None  #: probability that the goal is met, given the pilot

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self)

    @property
    def sha256(self) -> str:
        """The hash of the plan's content, whatever file it is in."""
        return content_hash(self.as_json())

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON, with the hash of its content."""
        save_content(path, FORMAT, self.as_json())

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan, and refuse one that was changed after it was saved."""
        content = load_content(path, FORMAT, {field.name for field in fields(cls)})
        try:
            options = tuple(PlannedDesign(**option) for option in content["options"])
            notes = tuple(Note(**note) for note in content["notes"])
            within = tuple(content["within"])
            return cls(**{**content, "within": within, "notes": notes, "options": options})
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{path}: the plan cannot be read; {error}.") from None

    def check(self, outcomes: Outcomes) -> str:
        """Compare plan and run, in scored trials.

        >>> from passband import plan_difference
        >>> plan = plan_difference(0.1, between=0.1, trials=8)
        >>> plan.check(Outcomes.from_counts([3, 0, 5] * 20, 6))
        'planned 79 x 8, done 60 x 6: 19 problems and 272 trials are missing'
        """
        low, high = int(outcomes.trials.min()), outcomes.most_trials()
        trials_each = f"{low}" if low == high else f"{low}-{high}"
        summary = (
            f"planned {self.problems} x {self.trials}, done {outcomes.n_problems} x {trials_each}"
        )
        problems = max(self.problems - outcomes.n_problems, 0)
        have = sorted(outcomes.trials.clip(max=self.trials).tolist(), reverse=True)
        trials = self.problems * self.trials - sum(have[: self.problems])
        missing = [f"{problems} problems"] if problems else []
        missing += [f"{trials} trials"] if trials else []
        return f"{summary}: {' and '.join(missing)} are missing" if missing else summary

    def __str__(self) -> str:
        """Format the design and its goal."""
        power = "" if self.power is None else f" with power {self.power:g}"
        what = (
            f"a difference of {self.target:g}" if self.power else f"an interval of ±{self.target:g}"
        )
        chance = "" if self.assurance is None else f", assurance {self.assurance:g}"
        return f"{self.problems} x {self.trials} for {what} at level {self.level:g}{power}{chance}"
