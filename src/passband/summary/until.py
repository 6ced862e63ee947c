"""Report the status and guarantee of a run with --until, from its trials table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from passband.errors import InvalidInput
from passband.stats import Over
from passband.stats.data import NOTHING, Evidence
from passband.stats.interval import rounded

if TYPE_CHECKING:
    from passband.stats.sequential import Rounds, WidthStop
    from passband.trials import RunRecord, Trials


_GUARANTEES = {
    "proof": "this interval holds with at least {level} at whatever round it stops, for these "
    "problems and independent trials",
    "guarded": "the rule looks only at the width; in simulations of it 94-99 % of such intervals "
    "at 95 % held the truth (docs/measured.md)",
    "default": "the rule looks only at the width of the default interval; in simulations of it "
    "92-97 % of such intervals at 95 % held the truth (docs/measured.md)",
    "unmeasured": "the rule looks only at the width; what that does to an interval at {level} was "
    "not measured, only to those at 95 % (docs/measured.md)",
}
_MEASURED = 0.95  # the level of the simulations


@dataclass(frozen=True)
class UntilResult:
    """The rule of a run, and the interval of its last look, from complete rounds alone."""

    half_width: float  #: that the rule asks for
    most: int  #: rounds
    metric: str
    over: Over
    level: float
    proof: bool
    start: int  #: rounds that there were when the rule was set
    reason: (
        Literal["reached", "most", "floor"] | None
    )  #: why it stopped: "reached", "most" or "floor"; None if it did not
    rounds: int  #: complete ones, up to the stop
    n_problems: int
    n_trials: int  #: with a score, of these rounds
    value: float | None
    low: float | None
    high: float | None
    reached: float | None  #: the half-width, not cut to the scale
    needed: int | None  #: rounds that would do, about; problems, where the reason is "floor"
    left_out: int  #: trials of incomplete rounds
    against: str = ""  #: what is known about the data that forbids the interval

    @property
    def statement(self) -> str:
        """What stopped the run, and what that guarantees."""
        return "; ".join(filter(None, (self._ending(), self._left_out(), self._guarantee())))

    def _ending(self) -> str:
        goal = f"±{self.half_width:g}"
        if self.value is None or self.reached is None:
            return f"--until {goal}: no complete round yet"
        where = (
            f"these {self.n_problems} problems" if self.over == "trials" else "problems like these"
        )
        shown = f"{self.metric} {rounded(self.value, self.low, self.high)}"
        if self.level != _MEASURED:
            shown += f" at {self._level}"
        state = f"{_count(self.rounds, 'round')} ({self.n_trials} trials): {shown} for {where}"
        width = f"±{self.reached:.2g}"
        if self.reason == "reached":
            return f"stopped after {state}, {width} <= {self.half_width:g}"
        if self.reason == "floor":
            return (
                f"stopped after {state}: cannot reach {goal} for problems like these with "
                f"{self.n_problems} problems, however many trials; about {self.needed} problems "
                f"are needed, or --over trials for these very ones"
            )
        more = "" if self.needed is None else f"; about {self.needed} rounds would do"
        if self.reason == "most":
            return f"{goal} not reached: {width} after the most rounds, {state}{more}"
        return f"{goal} not reached yet: {width} after {state}{more}"

    def _left_out(self) -> str:
        if not self.left_out:
            return ""
        are = "is" if self.left_out == 1 else "are"
        return (
            f"{_count(self.left_out, 'trial')} of incomplete rounds {are} left out: those that "
            f"came back first would bias the value"
        )

    def _guarantee(self) -> str:
        if self.against:
            return f"that width means nothing: {self.against}"
        if self.reason != "reached":
            return ""
        is_guarded = self.over == "trials" and self.metric in ("pass@1", "pass^1", "avg")
        kind = "guarded" if is_guarded else "default"
        if self.proof or self.level != _MEASURED:
            kind = "proof" if self.proof else "unmeasured"
        return _GUARANTEES[kind].format(level=self._level) + self._proviso()

    def _proviso(self) -> str:
        """What the proof takes for granted of a goal that was set after some rounds."""
        if not self.proof or not self.start:
            return ""
        there = f"{_count(self.start, 'round')} {'was' if self.start == 1 else 'were'} there"
        return f", unless ±{self.half_width:g}, set when {there}, was chosen by what they showed"

    @property
    def _level(self) -> str:
        return f"{100 * self.level:.10g} %"


def until_result(
    trials: Trials, run: RunRecord, evidence: Evidence = NOTHING
) -> UntilResult | None:
    """Return where a run's rule stands; None if it has none, or none that its scores allow.

    A run with scores other than 0 and 1 ended with an error at its first look; its trials are
    there nonetheless.
    """
    if "until" not in run.config or not run.scorers:
        return None
    from passband.stats.sequential import WidthRule, replay

    rule = WidthRule(**run.config["until"])
    try:
        stop = replay(rule, _rounds(trials, run))
    except InvalidInput:
        return None
    result = _result(rule.as_json(), stop, trials.beyond_rounds(run))
    against = evidence.against(rule.over, rule.k)
    return result if against is None else replace(result, low=None, high=None, against=against.text)


def _result(rule: dict[str, object], stop: WidthStop | None, left_out: int) -> UntilResult:
    look = None if stop is None else stop.look
    values = rule | {
        "reason": None if stop is None else stop.reason,
        "rounds": 0 if look is None else look.rounds,
        "n_problems": 0 if look is None else look.estimate.n_problems,
        "n_trials": 0 if look is None else look.estimate.n_trials,
        "value": None if look is None else look.estimate.value,
        "low": None if look is None else look.estimate.low,
        "high": None if look is None else look.estimate.high,
        "reached": None if look is None or look.estimate.low is None else look.half_width,
        "needed": None if stop is None else stop.needed,
        "left_out": left_out,
    }
    return UntilResult(**values)  # type: ignore[arg-type]


def _rounds(trials: Trials, run: RunRecord) -> Rounds:
    """Return the complete rounds of a run, by its main scorer."""
    import numpy as np

    from passband.stats.sequential import Rounds

    problems = list(trials.problems(run.number))
    index = {problem.number: position for position, problem in enumerate(problems)}
    scores = np.full((len(problems), trials.complete_rounds(run) or 0), np.nan)
    for number, trial, score in trials.scores(run.scorer().number):
        if score.value is not None and trial < scores.shape[1]:
            scores[index[number], trial] = score.value
    clusters = [problem.cluster for problem in problems if problem.cluster is not None]
    return Rounds(scores, clusters=clusters if len(clusters) == len(problems) else None)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
