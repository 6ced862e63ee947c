"""The summary of recorded trials: groups of lines, each an estimate or the reason for none.

A group holds the trials of one model on one task, or whatever the columns of a table set apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput, NotEnoughData, UnknownName, nearest
from passband.files import Framed, Kind
from passband.notes import Note
from passband.readers import Remark
from passband.stats import Over
from passband.stats.data import COUNTS_FIXED, Evidence, Outcomes, Policy, titled
from passband.stats.interval import Estimate, Weights
from passband.summary.judged.result import JudgeResult
from passband.summary.unscored_range import UnscoredRange
from passband.summary.until import UntilResult

if TYPE_CHECKING:
    from passband.adaptive import Step
    from passband.stats.judged import Prices


def choice_lines(first: int | None, accept: Sequence[str]) -> list[str]:
    """Return sentences on the trials used and the findings accepted.

    >>> choice_lines(2, ["drift", "trials-related"])
    ['only the first 2 trials of each problem are used', 'accepted: drift, trials-related']
    """
    lines = []
    if first is not None:
        trials = "trial" if first == 1 else f"{first} trials"
        used = "is" if first == 1 else "are"
        lines.append(f"only the first {trials} of each problem {used} used")
    if accept:
        lines.append(f"accepted: {', '.join(dict.fromkeys(accept))}")
    return lines


_MOST = 240  # blocks of problems; more than any terminal has columns


@dataclass(frozen=True)
class Spread:
    """Success rates of problems, easiest first, and how many are always, sometimes, never right."""

    always: int
    sometimes: int
    never: int
    levels: tuple[float, ...]  #: mean success rates of blocks of problems of equal size


def spread_of(outcomes: Outcomes) -> Spread | None:
    """Return the distribution of the problems that have a score; None if scores are not 0 or 1.

    >>> spread_of(Outcomes.from_counts([8, 4, 0, 8], 8))
    Spread(always=2, sometimes=1, never=1, levels=(1.0, 1.0, 0.5, 0.0))
    """
    if outcomes.successes is None or not outcomes.n_trials:
        return None
    is_asked = outcomes.trials > 0
    successes, trials = outcomes.successes[is_asked], outcomes.trials[is_asked]
    rates = np.sort(successes / trials)[::-1]
    always, never = int((successes == trials).sum()), int((successes == 0).sum())
    blocks = np.array_split(rates, min(len(rates), _MOST))
    levels = tuple(float(block.mean()) for block in blocks)
    return Spread(always, len(rates) - always - never, never, levels)


@dataclass(frozen=True)
class ProgramResult:
    """The outcomes of the programs of a group, and its verdicts that were given again."""

    outcomes: Mapping[str, int] = field(hash=False)  #: "passed", "failed", "timed out", ...
    missing: int  #: answers without a program
    again: int = 0  #: verdicts that were given again
    gained: int = 0  #: of them, failed first and then passed
    lost: int = 0  #: of them, passed first and then failed
    low: float | None = None  #: of the share of verdicts that change, by Jeffreys' interval
    high: float | None = None
    late: int = 0  #: programs that timed out and pass in twice the time


_OF_ESTIMATES: dict[str, Kind] = {
    "value": "number", "low": "number", "high": "number", "se": "number", "level": "number",
    "over": "text", "method": "text", "n_problems": "whole", "n_trials": "whole",
    "left_out": "whole", "n_unscored": "whole", "policy": "text",
}  # fmt: skip
_KINDS: dict[str, Kind] = {
    "metric": "text", "scorer": "text", **_OF_ESTIMATES, "reason": "text", "notes": "text",
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """The metrics to estimate, and the arguments of `estimate`; no metrics means the default."""

    metrics: tuple[str, ...] = ()
    over: Over = "problems"
    method: str = "auto"
    level: float = 0.95
    policy: Policy = "drop"
    seed: int | str | None = None
    stopped_after: int | None = None  #: successes that ended a problem; 0: trials were fixed
    cap: int | None = None  #: the most trials of a problem that was ended so
    certify: bool | None = None  #: simulate coverage; None: where the design is unusual
    calibrate: bool = False  #: widen intervals whose simulated coverage is too low
    weights: Weights | None = field(default=None, hash=False)  #: of groups, to combine them
    population: int | None = None  #: problems that these are a random part of
    judge: str | None = None  #: the scorer, or column, that is a judge
    label: str | None = None  #: the scorer, or column, with the labels that correct it
    prices: Prices | None = None  #: of labels, votes, trials and problems
    accept: tuple[str, ...] = ()  #: codes of findings to accept
    first: int | None = None  #: only so many first trials of each problem

    @property
    def accepted(self) -> tuple[str, ...]:
        """The codes of findings that are accepted; that counts were fixed is one way to say it."""
        return (*self.accept, *(COUNTS_FIXED if self.stopped_after == 0 else ()))

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `estimate`."""
        return {
            "over": self.over,
            "method": self.method,
            "level": self.level,
            "policy": self.policy,
            "seed": self.seed,
            "certify": bool(self.certify),
            "calibrate": self.calibrate,
            **({} if self.population is None else {"population": self.population}),
        }


@dataclass(frozen=True)
class Line:
    """One metric: an estimate, or the reason why there is none."""

    metric: str  #: the label: "pass@8", "exact_match (majority)"
    scorer: str | None  #: the scorer whose scores it rests on
    estimate: Estimate | None
    reason: Note | None = None  #: why there is no estimate
    name: str | None = None  #: its name in the task's metric list: "exact_match_1"
    filter: str | None = None  #: the filter pipeline of the metric list
    reduction: str | None = None  #: how the trials of a problem become one value: "majority"
    #: whether it is a share of 1; None: not known. For tables, and not part of the JSON.
    is_share: bool | None = field(default=None, compare=False)
    lower_is_better: bool = False

    @property
    def title(self) -> str:
        """The label, with the direction of scores of which lower ones are better."""
        return titled(self.metric, self.lower_is_better)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on the estimate, or the reason why there is none."""
        if self.estimate is not None:
            return self.estimate.notes
        return () if self.reason is None else (self.reason,)


@dataclass(frozen=True)
class ScorerCounts:
    """The trials that one scorer scored, counted by status of the score."""

    name: str
    ok: int
    no_answer: int = 0
    error: int = 0
    timeout: int = 0
    no_verdict: int = 0  #: of a judge


@dataclass(frozen=True)
class AdaptiveResult:
    """How an adaptive test came to its estimate: the bank, the items on the path, the stop."""

    bank: str
    hash: str  #: of the bank
    split: str
    model: str  #: of the items: "2pl"
    n_bank: int  #: items of the split
    stop: str | None  #: the rule that ended it; None: unfinished, or scored anew
    path: tuple[Step, ...] = ()  #: items in the order they were asked, and ability after each


@dataclass(frozen=True)
class Group:
    """Trials that belong together, counted and measured."""

    task: str | None
    model: str | None
    by: Mapping[str, str] = field(hash=False)  #: the columns that set it apart, and its values
    n_problems: int
    n_trials: int  #: trials with a score
    #: all trials by status; "ok" are those with a score
    statuses: Mapping[str, int] = field(hash=False)
    is_binary: bool  #: whether every score is 0 or 1
    trials_per_problem: tuple[int, int]  #: fewest and most scored trials of a problem
    n_clusters: int | None = None
    retried: int = 0  #: trials that needed more than one attempt
    scorers: tuple[ScorerCounts, ...] = ()
    notes: tuple[Note, ...] = ()  #: on the trials, whatever the metric
    lines: tuple[Line, ...] = ()
    adaptive: AdaptiveResult | None = None  #: of an adaptive test
    until: UntilResult | None = None  #: where the rule of a run with --until stands
    bracket: UnscoredRange | None = (
        None  #: of trials without a score, where wider than the interval
    )
    judge: JudgeResult | None = None  #: of scores that are a judge's
    #: trials that were cut short and are scored all the same, by status
    incomplete: Mapping[str, int] = field(default_factory=dict, hash=False)
    programs: ProgramResult | None = None  #: of a scorer that runs programs
    evidence: Evidence | None = None  #: what was found about its trials, if anything was
    #: success rates of the problems, to be drawn; not part of the JSON
    spread: Spread | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The values that set it apart, joined for use in a message."""
        return " / ".join(self.by.values())

    @property
    def n_unscored(self) -> int:
        return sum(count for status, count in self.statuses.items() if status != "ok")

    @property
    def n_truncated(self) -> int:
        """The completions that were cut off, whether scored or not."""
        return self.statuses.get("truncated", 0) + self.incomplete.get("truncated", 0)


Weighting = Literal["equal", "size", "given"]


@dataclass(frozen=True)
class Combined:
    """Weighted means over groups, the strata: a macro-average, or a group of tasks."""

    name: str  #: of the group of tasks; "all" for all groups of a source
    weighting: Weighting
    strata: tuple[str, ...]  #: names of the groups
    lines: tuple[Line, ...]
    by: Mapping[str, str] = field(default_factory=dict, hash=False)  #: what sets it apart
    weights: Mapping[str, float] | None = field(default=None, hash=False)  #: where given

    @property
    def label(self) -> str:
        """The name with the weights: "all (equal weights)", "mmlu (by size)"."""
        weights = "by size" if self.weighting == "size" else f"{self.weighting} weights"
        return f"{self.name} ({weights})"


@dataclass(frozen=True)
class Summary(Framed, Displayed):
    """The estimates of one source of trials, in groups."""

    source: str
    request: Request
    groups: tuple[Group, ...]
    remarks: tuple[Remark, ...] = ()  #: how the source was read
    #: columns of a table, by what they hold
    columns: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    combined: tuple[Combined, ...] = ()  #: weighted means over groups

    def combined_lines(self) -> Iterator[tuple[Combined, Mapping[str, str], Line]]:
        """Yield every weighted mean, with the columns that set it apart as those of groups do.

        Where no column does, as within one task, the label of the line does.
        """
        names = dict.fromkeys(name for group in self.groups for name in group.by)
        column = next((name for name in names if name != "model"), None)
        for combined in self.combined:
            for line in combined.lines:
                if column is None:
                    label = f"{line.metric}, {combined.name}"
                    yield combined, dict(combined.by), replace(line, metric=label)
                else:
                    yield combined, {column: combined.label, **combined.by}, line

    def lines(self) -> Iterator[tuple[Group, Line]]:
        """Yield every line together with its group."""
        for group in self.groups:
            for line in group.lines:
                yield group, line

    def estimate(self, metric: str, *, task: str | None = None) -> Estimate:
        """Return the estimate of a metric by its label; it must be the only one.

        >>> from passband.summary.from_sources import summarize
        >>> summarize([[1, 0], [1, 1], [0, 0]], ["pass@2"]).estimate("pass@2").n_problems
        3
        """
        matches = [
            (group, line)
            for group, line in self.lines()
            if line.metric == metric and task in (None, group.task)
        ]
        if not matches:
            labels = sorted({line.metric for _, line in self.lines()})
            hint = nearest(metric, labels) or f" It has {', '.join(labels) or 'none'}."
            raise UnknownName(f"the summary has no metric {metric!r}.{hint}")
        if len(matches) > 1:
            names = ", ".join(group.name for group, _ in matches)
            raise InvalidInput(f"the summary has {metric!r} {len(matches)} times: {names}.")
        (_, line), *_ = matches
        if line.estimate is None:
            raise InvalidInput(f"{metric} has no estimate: {line.reason}")
        return line.estimate

    def require_estimate(self) -> None:
        """Raise `NotEnoughData` with the first reason if no line has an estimate."""
        lines = list(self.lines())
        if any(line.estimate is not None for _, line in lines):
            return
        for group, line in lines:
            prefix = f"{group.name}: " if group.by else ""
            is_named = str(line.reason).startswith(f"{line.metric} ")
            label = "" if is_named else f"{line.metric}: "
            raise NotEnoughData(f"{prefix}{label}{line.reason}")
        counts = [f"{n} {name}" for group in self.groups for name, n in group.statuses.items() if n]
        raise NotEnoughData(f"no trial has a score ({', '.join(counts) or 'there is none'}).")

    def frame_kinds(self) -> Mapping[str, Kind]:
        """Return the columns of a data frame: what sets groups apart, then the estimate."""
        by = dict.fromkeys(name for group in self.groups for name in group.by)
        apart: dict[str, Kind] = {"task": "text", "model": "text"}
        return apart | dict.fromkeys(by, "text") | _KINDS

    def frame_rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield one row per line; a line without an estimate has the reason for that."""
        rows = [
            ({"task": group.task, "model": group.model, **group.by}, line)
            for group, line in self.lines()
        ]
        rows += [(dict(by), line) for _, by, line in self.combined_lines()]
        for apart, line in rows:
            row: dict[str, Any] = dict.fromkeys(self.frame_kinds())
            row |= apart
            row |= {"metric": line.metric, "scorer": line.scorer}
            if line.estimate is not None:
                row |= {name: getattr(line.estimate, name) for name in _OF_ESTIMATES}
            row["reason"] = None if line.reason is None else str(line.reason)
            row["notes"] = (
                "; ".join(str(note) for note in line.notes if note != line.reason) or None
            )
            yield row

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON-serialisable values, numbers in full."""
        from passband.summary.json import as_json

        return as_json(self)

    def to_json(self) -> str:
        """Return the summary as JSON text: the same bytes for the same summary."""
        from passband.summary.json import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Summary:
        """Read a summary from the JSON that `to_json` writes."""
        from passband.summary.json import from_json

        return from_json(text)
