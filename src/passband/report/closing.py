"""Render the last lines of a run: how it ended, what to keep in mind, what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from passband.report.rendering import printable
from passband.report.run import RunReport
from passband.run import RunResult

_WIDEST = 80  # letters of a command that the comments of all are aligned with


def closing_lines(report: RunReport, command: Sequence[str]) -> list[str]:
    """Return headline, notes and next steps; `command` is the one that was run."""
    return [
        "",
        *map(printable, (report.headline(), *report.warnings(), *report.notes())),
        "",
        *step_lines(report.next_steps(command_to_go_on(command, report.finished))),
    ]


def step_lines(steps: Sequence[tuple[str, str]]) -> list[str]:
    """Return commands with their purposes as aligned comments.

    >>> print(*step_lines([("passband ls", "tasks"), ("passband metrics", "metrics")]), sep="\\n")
      passband ls       # tasks
      passband metrics  # metrics
    """
    width = max((len(step) for step, _ in steps if len(step) <= _WIDEST), default=0)
    return [f"  {printable(step):{width}}  # {purpose}" for step, purpose in steps]


def command_to_go_on(command: Sequence[str], finished: RunResult) -> list[str]:
    """Return the command that goes on with a run; one stopped at --max-cost gets a larger one."""
    words = list(command)
    if finished.ending != "max_cost" or not finished.total_cost:
        return words
    done = sum(run.counters.done for run in finished.task_runs)
    planned = sum(run.counters.planned for run in finished.task_runs)
    shard = finished.task_runs[0].shard
    shards = 1 if shard is None else shard.of  # --max-cost is that of all of them
    limit = _rounded_up(1.1 * shards * finished.total_cost * planned / max(1, done))
    for place, word in enumerate(words):
        if word == "--max-cost":
            words[place + 1] = limit
        elif word.startswith("--max-cost="):
            words[place] = f"--max-cost={limit}"
    return words


def _rounded_up(amount: float) -> str:
    """Return an amount with two digits, not less than it is.

    >>> _rounded_up(28.92), _rounded_up(0.00123), _rounded_up(1234.5)
    ('29', '0.0013', '1300')
    """
    digits = 1 - math.floor(math.log10(amount))
    value = math.ceil(round(amount * 10.0**digits, 6)) / 10.0**digits
    return f"{value:.{max(0, digits)}f}"
