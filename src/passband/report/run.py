"""Render the end of a run: one table, its notes, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from passband.report import summary as text
from passband.report.layout import rows
from passband.report.rendering import Row
from passband.report.style import PLAIN, Style
from passband.report.words import counted, duration, money
from passband.run import JudgeReport, RunResult, Shard
from passband.summary import Summary

_ENDINGS = {
    "finished": "finished",
    "interrupted": "interrupted; what was answered is recorded",
    "terminated": "terminated; what was answered is recorded",
    "max_cost": "stopped at --max-cost; what was answered is recorded",
}


@dataclass(frozen=True)
class RunReport:
    """The result that `passband run` prints; no summary if no trial is recorded."""

    finished: RunResult
    summary: Summary | None
    task_options: Sequence[str] = ()  # for commands that are to see this run's tasks alone
    style: Style = PLAIN

    @property
    def shard(self) -> Shard | None:
        """The part of a run that this was; None if it was the run."""
        return self.finished.task_runs[0].shard

    def rows(self) -> list[Row]:
        """Return the rows of the table."""
        return [] if self.summary is None else rows(self.summary, self.style)

    def headline(self) -> str:
        """Return in one line how the run ended and its cost."""
        trials = self._counts()
        return (
            f"{_ENDINGS[self.finished.ending]}: {trials['recorded']}/{trials['planned']} trials "
            f"recorded ({trials['asked']} new) in {duration(self.finished.seconds)}"
            f"{self._cost()}{self._parts()}{self._brackets()}"
        )

    def _cost(self) -> str:
        """Return the cost of the model and, separately, of its judges."""
        model, judges = self.finished.cost, self.finished.judge_cost
        parts = [money(model)] if model else []
        parts += [f"{money(judges)} for judging"] if judges else []
        return f", cost {' and '.join(parts)}" if parts else ""

    def _parts(self) -> str:
        """Return the numbers of cached and reasoning tokens, if counted."""
        tokens, text = self._tokens(), ""
        if tokens["cached_tokens"]:
            text += (
                f", {tokens['cached_tokens']:,} of {tokens['prompt_tokens']:,} tokens in were "
                "from a cache"
            )
        if tokens["reasoning_tokens"]:
            text += (
                f", {tokens['reasoning_tokens']:,} of {tokens['completion_tokens']:,} tokens out "
                "were reasoning"
            )
        return text

    def _tokens(self) -> dict[str, int]:
        counters = [task_run.counters for task_run in self.finished.task_runs]
        names = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
        return {name: sum(getattr(one, name) for one in counters) for name in names}

    def _brackets(self) -> str:
        groups = () if self.summary is None else self.summary.groups
        return "".join(text.bracket_text(group, named=True) for group in groups)

    def warnings(self) -> list[str]:
        """Return warnings on the trials, which are printed even with --quiet."""
        return [] if self.summary is None else text.warning_lines(self.summary)

    def _counts(self) -> dict[str, int]:
        counters = [task_run.counters for task_run in self.finished.task_runs]
        return {
            "planned": sum(counter.planned for counter in counters),
            "recorded": sum(counter.done for counter in counters),
            "asked": sum(counter.fresh for counter in counters),  # by this process
        }

    def notes(self) -> list[str]:
        """Return the target of the intervals, and the notes."""
        if self.summary is None or self.shard is not None:  # of which no numbers are shown
            return []
        return [
            *map(_judge_line, self.finished.judges),
            f"{text.meaning(self.summary)}.",
            *text.style_notes(self.summary, self.style),
            *text.combined_meaning(self.summary),
            *text.remarks_below(self.summary, self.style, self._command_for_notes()),
        ]

    def _command_for_notes(self) -> str:
        where = shlex.join([str(self.finished.directory), *self.task_options])
        return f"passband stats {where} --notes"

    def next_steps(self, again: Sequence[str]) -> list[tuple[str, str]]:
        """Return the next commands with their purposes."""
        where = shlex.join([str(self.finished.directory), *self.task_options])
        done = all(run.counters.done >= run.counters.planned for run in self.finished.task_runs)
        steps = [] if done else [(shlex.join(again), "go on where it stopped")]
        if self.summary is None:
            return steps
        if self.shard is not None:
            return [*steps, (_merge_command(self.finished), f"all {self.shard.of} shards together")]
        groups = self.summary.groups
        if any(group.adaptive is not None for group in groups):
            return [*steps, (f"passband stats {where} --json", "theta after every item")]
        if all(group.n_trials for group in groups):
            metric = "'pass@*'" if all(group.is_binary for group in groups) else "avg"
            steps += [
                (f"passband stats {where} -m {metric} --over trials", "any metric, any interval")
            ]
        wrong = " --wrong" if all(group.n_trials for group in groups) else ""
        steps.append((f"passband show {where}{wrong}", "what was asked, answered and expected"))
        steps.append((f"passband report {where} -o report.html", "one page to read and to send"))
        steps.append((f"passband export {where} -o trials.jsonl", "every trial, one line each"))
        if all(group.n_trials for group in groups):
            both = shlex.join([str(self.finished.directory), "OTHER_RUN", *self.task_options])
            steps.append((f"passband compare {both}", "is another model better, beyond noise?"))
        return steps

    def as_json(self) -> dict[str, object]:
        """Return the report as JSON-serialisable values, numbers in full."""
        judges = self.finished.judges
        return {
            "directory": str(self.finished.directory),
            "ending": self.finished.ending,
            **self._counts(),
            "seconds": self.finished.seconds,
            "cost": self.finished.cost,
            "tokens": self._tokens(),
            **(_judges_json(judges, self.finished.judge_cost) if judges else {}),
            "summary": None if self.summary is None else self.summary.as_json(),
        }


def _merge_command(finished: RunResult) -> str:
    """Return the command that merges a shard with the others."""
    folder = finished.directory.parent
    if folder.name.endswith("-shards"):
        run = folder.with_name(folder.name.removesuffix("-shards"))
        return shlex.join(["passband", "merge", str(folder), "-o", str(run)])
    return f"passband merge {shlex.quote(str(finished.directory))} ... -o RUN"


def _judges_json(judges: Sequence[JudgeReport], cost: float | None) -> dict[str, object]:
    return {"judge_cost": cost, "judges": [asdict(judge) for judge in judges]}


def _judge_line(judge: JudgeReport) -> str:
    """Return how often a judge was asked, and how often it did not have to be."""
    said = f"judge {judge.model}: {counted(judge.replies, 'call')} answered"
    reused = f", {judge.reused} reused for equal answers" if judge.reused else ""
    cost = f", cost {money(judge.cost)}" if judge.cost else ""
    return f"{said}{reused}{cost}."
