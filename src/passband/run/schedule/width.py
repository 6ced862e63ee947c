"""Schedule complete rounds until the interval is narrow enough: `--until`.

A round is one trial of every problem. The rule looks after complete rounds only, and decides from
rows on disk, so a run that was killed stops where it would have stopped. Which problem is asked how
often never depends on what it answered: sizes that follow a run's own outcomes bias what is
measured, and are less efficient than equal ones (docs/measured.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.generate import Problem
from passband.run.progress import Watcher
from passband.run.schedule.blocks import Block, missing_blocks
from passband.run.schedule.schedule import Schedule, ScheduleFactory
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.trials import TrialRow, count_complete_rounds

if TYPE_CHECKING:
    from passband.stats.sequential import Reason, Rounds, WidthLook, WidthRule


def make_rule(
    config: Mapping[str, Any], settings: Settings, problems: Sequence[Problem]
) -> WidthRule | None:
    """Return the rule that the settings ask for; one with the same goal goes on from its start.

    A goal that these problems cannot reach whatever they answer is refused here, before a request.
    """
    until = settings.until
    if until is None:
        return None
    from passband.stats.metric import parse_name
    from passband.stats.sequential import WidthRule, most_rounds

    k = max(parse_name(until.metric).ks or (1,))
    rule = WidthRule(
        half_width=until.half_width,
        most=max(2, k + 1) if settings.n is None else settings.n,
        metric=until.metric,
        over=until.over,
        level=until.level,
        proof=until.proof,
    )
    if settings.n is None:
        rule = replace(rule, most=most_rounds(rule, len(problems)))
    if rule.over == "problems" and any(problem.cluster for problem in problems):
        raise InvalidInput(
            "--until --over problems is not for problems in clusters: the error of stopping there "
            "has not been measured. --over trials is right for them."
        )
    _refuse_unreachable(rule, len(problems))
    return replace(rule, start=config["until"]["start"]) if _goes_on(rule, config) else rule


def start_rule(run: TaskRun, config: Mapping[str, Any]) -> TaskRun:
    """Return the run with a rule that begins where it is now, unless it has begun before."""
    if run.rule is None:
        return run
    if run.unasked:
        raise InvalidInput(
            f"{run.task.name}: the directory holds trials of {run.unasked} other problems, and "
            f"--until counts complete rounds of all; use another --out DIR or --name."
        )
    if _goes_on(run.rule, config):
        return run
    return replace(run, rule=replace(run.rule, start=_complete(run.recorded, len(run.problems))))


def until_schedule(watcher: Watcher) -> ScheduleFactory:
    """Return the factory of the schedule that makes complete rounds until a rule stops it."""

    def make(run: TaskRun, size: int, rows: Iterable[TrialRow]) -> Schedule:
        return UntilSchedule(run, size, rows, watcher)

    return make


class UntilSchedule:
    """Ask every problem once more, round after round, until the rule of the run stops it.

    The rounds between two looks are one stage: all of them are requested, and once every trial of
    them is on disk the rule looks.
    """

    def __init__(self, run: TaskRun, size: int, rows: Iterable[TrialRow], watcher: Watcher) -> None:
        if run.rule is None:
            raise InvalidInput(f"{run.task.name}: there is no rule that says when to stop.")
        self._run, self._rule, self._size, self._watcher = run, run.rule, size, watcher
        self._scores: list[dict[int, float]] = [{} for _ in run.problems]
        self._seen = [0] * len(run.problems)  # trials of each problem, as bits
        self._looks = run.rule.looks()
        self._before, self._goal = 0, next(self._looks)  # rounds of the last look, of the next
        self._blocks: Iterator[Block] = iter(())
        self._reason: Reason | None = None
        self._has_forecast = False
        self._note(rows)
        self._announce()
        self._go_on()

    def next(self) -> Block | None:
        """Return the next block of the stage, or None until all of it is committed."""
        return next(self._blocks, None)

    @property
    def is_finished(self) -> bool:
        return self._reason is not None

    def committed(self, rows: Sequence[TrialRow]) -> None:
        """Take note of rows, and look at the end of a stage."""
        self._note(rows)
        if not self.is_finished and self._complete() >= self._goal:
            self._go_on()

    def _note(self, rows: Iterable[TrialRow]) -> None:
        main = self._run.counters.main
        for row in rows:
            self._seen[row.problem] |= 1 << row.trial
            for score in row.scores:
                if score.scorer == main and score.value is not None:
                    self._scores[row.problem][row.trial] = score.value

    def _go_on(self) -> None:
        """Look as often as the rounds on disk allow, then begin the next stage."""
        from passband.stats.sequential import can_look, look_at, reason_to_stop

        while self._complete() >= self._goal:
            rounds = self._rounds(self._goal)
            if not can_look(self._rule, rounds, self._goal):
                if self._goal >= self._rule.most:
                    self._reason = "most"
                    return
                self._before, self._goal = self._goal, next(self._looks)
                continue
            look = look_at(self._rule, rounds, self._goal)
            self._reason = reason_to_stop(self._rule, look, rounds)
            if self._reason is not None:
                return
            self._forecast(look, rounds)
            self._before, self._goal = self._goal, next(self._looks)
        self._blocks = self._stage()

    def _stage(self) -> Iterator[Block]:
        """Yield the blocks that are missing between the last look and the next."""
        before = self._before
        recorded = {problem: seen >> before for problem, seen in enumerate(self._seen)}
        blocks = missing_blocks(self._run.order, self._goal - before, recorded, self._size)
        for problem, trials, _ in blocks:
            yield Block(problem, range(trials.start + before, trials.stop + before))

    def _complete(self) -> int:
        return count_complete_rounds(self._seen)

    def _rounds(self, count: int) -> Rounds:
        from passband.stats.sequential import Rounds

        scores = [[row.get(trial) for trial in range(count)] for row in self._scores]
        rounds = Rounds.of(scores)
        problems = self._run.problems
        clusters = [problem.cluster for problem in problems if problem.cluster is not None]
        return replace(rounds, clusters=clusters if len(clusters) == len(problems) else None)

    # -- what the user is told while it runs -----------------------------------------------------

    def _announce(self) -> None:
        """Say the target, before the first request."""
        rule, problems = self._rule, len(self._seen)
        target = (
            f"these {problems} problems, the model sampled again"
            if rule.over == "trials"
            else "problems like these"
        )
        most = max(rule.most, rule.first)
        self._watcher.note(
            f"{self._run.task.name}: until {rule.metric} is known to ±{rule.half_width:g} for "
            f"{target}; complete rounds of {problems} trials, at most {most} "
            f"({most * problems} trials)"
        )

    def _forecast(self, look: WidthLook, rounds: Rounds) -> None:
        """Say about how many rounds it will take, once."""
        from passband.stats.sequential import FORECAST_AFTER, forecast

        needed = forecast(self._rule, look, rounds)
        if needed is None or look.rounds < FORECAST_AFTER:
            return
        expected = min(needed, self._rule.most)
        self._run.counters.planned = max(self._run.counters.done, expected * len(self._seen))
        if not self._has_forecast:
            self._has_forecast = True
            short = f", more than the {self._rule.most} allowed" if needed > self._rule.most else ""
            self._watcher.note(
                f"{self._run.task.name}: ±{look.half_width:.2g} after {look.rounds} rounds; about "
                f"{needed} rounds ({needed * len(self._seen)} trials) will do{short}"
            )


def _goes_on(rule: WidthRule, config: Mapping[str, Any]) -> bool:
    """Return whether the run had this goal before."""
    from passband.stats.sequential import WidthRule

    return "until" in config and rule.is_same_goal(WidthRule(**config["until"]))


def _complete(recorded: Mapping[int, int], problems: int) -> int:
    return count_complete_rounds(recorded.get(problem, 0) for problem in range(problems))


def _refuse_unreachable(rule: WidthRule, problems: int) -> None:
    """Refuse a half-width over problems that so few problems cannot give."""
    from passband.stats.sequential import least_half_width

    least = least_half_width(problems, rule.level)
    if rule.over == "problems" and rule.half_width < least:
        needed = problems
        while least_half_width(needed, rule.level) > rule.half_width:
            needed = needed * 5 // 4 + 1
        raise InvalidInput(
            f"cannot reach ±{rule.half_width:g} for problems like these with {problems} problems: "
            f"at least ±{least:.2g}, whatever they answer; more than {needed * 4 // 5} are needed. "
            f"--over trials is for these very problems."
        )
