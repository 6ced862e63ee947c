"""Render the end of a study: one table of all models, how each ended, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from passband.errors import ExitCode, PassbandError
from passband.report import summary as text
from passband.report.abilities import span
from passband.report.closing import step_lines
from passband.report.layout import rows
from passband.report.rendering import Row, printable
from passband.report.run import RunReport
from passband.report.style import PLAIN, Style
from passband.run import StudyEnd
from passband.stats.interval import rounded_interval, rounded_value
from passband.summary import ComparisonSummary, Summary, TaskComparison

_MOST = 4  # directories that a command names one by one


@dataclass(frozen=True)
class StudyReport:
    """The result that `passband run` prints of several models."""

    end: StudyEnd
    summary: Summary | None  # None if no trial is recorded
    directories: Sequence[Path]
    style: Style = PLAIN
    comparison: ComparisonSummary | None = None  # of the models, by one metric

    def rows(self) -> list[Row]:
        """Return the rows of the table of all models."""
        return [] if self.summary is None else rows(self.summary, self.style)

    def warnings(self) -> list[str]:
        """Return warnings on the trials, which are printed even with --quiet."""
        return [] if self.summary is None else text.warning_lines(self.summary)

    def lines(self, command: Sequence[str]) -> list[str]:
        """Return how each model ended, notes, and next steps; `command` is the one that was run."""
        return [
            "",
            *map(printable, (*self._endings(), *self.warnings(), *self._notes())),
            "",
            *step_lines(self._steps(command)),
        ]

    def _endings(self) -> list[str]:
        lines = [
            f"{label}: {RunReport(finished, None).headline()}"
            for label, finished in self.end.finished.items()
        ]
        lines += [f"{label}: failed, see the warning above" for label in self.end.failed]
        return lines + [f"{label}: not asked" for label in self.end.unasked]

    def _notes(self) -> list[str]:
        if self.summary is None:
            return []
        return [
            f"{text.meaning(self.summary)}, one model at a time.",
            *self._ranks(),
            *text.style_notes(self.summary, self.style),
            *text.combined_meaning(self.summary),
            *text.remarks_below(self.summary, self.style, self._command_for_notes()),
        ]

    def _command_for_notes(self) -> str:
        return f"passband stats {shlex.join(map(str, self._named()))} --notes"

    def _ranks(self) -> list[str]:
        """Return for each task which model is better, or the ranks of three or more."""
        if self.comparison is None:
            return []
        several = len(self.comparison.tasks) > 1
        return [
            f"{f'{one.task}: ' if several else ''}{line}"
            for one in self.comparison.tasks
            for line in _rank_lines(one, self.comparison.options.level)
        ]

    def _steps(self, command: Sequence[str]) -> list[tuple[str, str]]:
        ends = self.end.finished.values()
        runs = [run for end in ends for run in end.task_runs]
        is_done = all(run.counters.done >= run.counters.planned for run in runs)
        steps = []
        if not is_done or self.end.failed or self.end.unasked:
            is_spent = any(end.ending == "max_cost" for end in ends)
            more = ", with a larger --max-cost" if is_spent else ""
            steps.append((shlex.join(command), f"go on where it stopped{more}"))
        if self.summary is not None and len(self.directories) > 1:
            where = shlex.join(map(str, self._named()))
            steps += [
                (f"passband stats {where}", "this table again, any metric"),
                (f"passband compare {where}", "which is better, beyond noise?"),
            ]
        return steps

    def _named(self) -> Sequence[Path]:
        """Return the directories, or of many in one folder, the folder."""
        parents = {path.parent for path in self.directories}
        is_long = len(self.directories) > _MOST and len(parents) == 1
        return [*parents] if is_long else self.directories

    def as_json(self) -> dict[str, object]:
        """Return the report as JSON-serialisable values, numbers in full."""
        return {
            "models": {
                label: RunReport(finished, None).as_json()
                for label, finished in self.end.finished.items()
            },
            "failed": {label: _error(error) for label, error in self.end.failed.items()},
            "unasked": list(self.end.unasked),
            "exit_code": int(self.end.exit_code),
            "comparison": None if self.comparison is None else self.comparison.as_json(),
            "summary": None if self.summary is None else self.summary.as_json(),
        }


def _rank_lines(task: TaskComparison, level: float) -> Iterator[str]:
    """Yield the difference of two models by the first metric, or the ranks of more, in words."""
    percent = f"{100 * level:.10g}%"
    for comparison in task.comparisons[:1]:
        a, b = task.models
        interval = rounded_interval(comparison.low, comparison.high)
        value = rounded_value(comparison.value, comparison.low, comparison.high)
        verdict = comparison.decision.words(a, b)
        yield f"{comparison.metric} of {b} less {a}, paired: {value} {interval} ({verdict})."
    for ranking in task.rankings[:1]:
        ranks = ", ".join(
            f"{one.model} {span(one.rank_low, one.rank_high)}" for one in ranking.standings
        )
        yield f"Ranks by {ranking.metric} ({percent}, all of them at once): {ranks}."


def _error(error: PassbandError | OSError) -> dict[str, object]:
    lines = error.lines() if isinstance(error, PassbandError) else [str(error)]
    code = error.exit_code if isinstance(error, PassbandError) else ExitCode.FAILED
    return {"text": "\n".join(lines), "exit_code": int(code)}
