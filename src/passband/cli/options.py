"""Options that several verbs share, so that they read and behave alike."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

__all__ = [
    "ClusterColumn",
    "Format",
    "FormatOption",
    "JsonOption",
    "Level",
    "Metrics",
    "Over",
    "Policies",
    "PolicyOption",
    "ProblemColumn",
    "Quiet",
    "ScoreColumn",
    "StatusColumn",
    "Target",
    "Threshold",
    "TrialColumn",
]


class Format(str, enum.Enum):
    """How a result is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


class Target(str, enum.Enum):
    """What an interval is for."""

    problems = "problems"
    trials = "trials"


class Policies(str, enum.Enum):
    """What to do with trials that have no score."""

    drop = "drop"
    fail = "fail"
    error = "error"


Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="Such as pass@1,8, pass^8, pass@*, avg; repeatable."),
]
ProblemColumn = Annotated[
    str | None, typer.Option("--problem", help="Column that names the problem.")
]
TrialColumn = Annotated[str | None, typer.Option("--trial", help="Column that numbers the trial.")]
ScoreColumn = Annotated[str | None, typer.Option("--score", help="Column that holds the score.")]
StatusColumn = Annotated[
    str | None, typer.Option("--status", help="Column with the trial's status.")
]
ClusterColumn = Annotated[
    str | None, typer.Option("--cluster", help="Column that groups problems.")
]
Threshold = Annotated[
    float | None, typer.Option("--threshold", help="Scores of at least this count as successes.")
]
Over = Annotated[
    Target,
    typer.Option("--over", help="Intervals for problems like these, or for these very problems."),
]
Level = Annotated[float, typer.Option("--level", help="Coverage that the intervals aim at.")]
PolicyOption = Annotated[
    Policies,
    typer.Option("--policy", help="Trials without a score: leave out, count as 0, or stop."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
