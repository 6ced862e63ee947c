"""Compute the current figures of a run: state, estimates, time left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.data import Outcomes
from passband.stats.interval import Estimate, estimate
from passband.summary.from_run import RunSummary
from passband.summary.lines import on_line_scale
from passband.summary.live.run_state import RunState
from passband.summary.summary import Group, Line, Request
from passband.trials import RunRecord, TrialFilter, Trials

_MANY = 100_000  # graded scores that are too many to be read for every look


@dataclass(frozen=True)
class RunNumbers:
    """The counts and estimates of a run."""

    standing: RunState
    lines: tuple[Line, ...] = ()  #: for problems like these
    inner: Mapping[str, Estimate] = field(default_factory=dict, hash=False)
    """For these very problems, by the label of the line."""
    notes: tuple[Note, ...] = ()  #: on the trials; lines have those on metrics
    reason: str | None = None  #: why there is no estimate
    rate: float | None = None  #: trials per second

    @property
    def headline(self) -> Line | None:
        """The first line with an estimate."""
        return next((line for line in self.lines if line.estimate is not None), None)

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the planned trials will take at this rate; None where it is unknown."""
        left = self.standing.left
        if self.standing.state != "running" or left is None or not self.rate:
            return None
        return left / self.rate


def numbers_of(
    trials: Trials, run: RunRecord, standing: RunState, rate: float | None, *, thorough: bool = True
) -> RunNumbers:
    """Return the numbers of a run; not `thorough`, without simulating where coverage is weak."""
    numbers = RunNumbers(standing, rate=rate)
    if not standing.done:
        return replace(numbers, reason="no trial is recorded yet")
    try:
        if _is_heavy(trials, run, standing):
            return replace(numbers, lines=(_mean_line(trials, run),))
        group = _group(trials, run, Request(certify=None if thorough else False))
        lines = (*(line for line in group.lines if line.estimate is not None),)
        reasons = [str(line.reason) for line in group.lines if line.reason is not None]
        return replace(
            numbers,
            lines=lines,
            inner=_inner(trials, run),
            notes=group.notes,
            reason=None if lines else next(iter(reasons), "no trial has a score"),
        )
    except InvalidInput as error:
        return replace(numbers, reason=str(error))


def _group(trials: Trials, run: RunRecord, request: Request) -> Group:
    return RunSummary(trials, run, request).group({})


def _inner(trials: Trials, run: RunRecord) -> dict[str, Estimate]:
    """Return the estimates for these very problems; an adaptive test has none."""
    if run.adaptive is not None:
        return {}
    group = _group(trials, run, Request(over="trials", certify=False))
    return {line.metric: line.estimate for line in group.lines if line.estimate is not None}


def _is_heavy(trials: Trials, run: RunRecord, standing: RunState) -> bool:
    """Return whether scores are graded, and so many that reading them takes seconds."""
    if standing.done <= _MANY or run.adaptive is not None:
        return False
    return trials.walk(run, TrialFilter(right=True, scorer=run.scorer().number)).count() is None


def _mean_line(trials: Trials, run: RunRecord) -> Line:
    """Return the mean score with the interval over problems, from the sums of each problem."""
    scorer = run.scorer()
    means = [[total / scored] for _, scored, total in trials.score_sums(scorer.number) if scored]
    scale = run.scale(scorer)
    result = estimate(Outcomes.from_array(means, scale=scale), "avg")
    share = scale.is_unit if scale.is_known else None
    return on_line_scale(Line("avg", scorer.name, result), scale, share)
