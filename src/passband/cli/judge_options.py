"""Options about judges, which `run` and `score` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from passband.run import JudgeChoice


JudgeModel = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Model that judges the answers, named as --model names one. It is sent requests.",
    ),
]
JudgeUrl = Annotated[
    str | None, typer.Option("--judge-base-url", help="Address of the judge's server.")
]
RubricFile = Annotated[
    Path | None,
    typer.Option("--rubric", help="What the judge is told: a YAML file, or a text template."),
]
Votes = Annotated[int | None, typer.Option("--votes", help="Verdicts per trial. Default: 1.")]
Against = Annotated[
    str | None,
    typer.Option("--against", help="Run directory whose answers a pairwise rubric compares with."),
]
Canaries = Annotated[
    int | None,
    typer.Option(
        "--canaries",
        help="Problems whose null answers go to the judge, to see what it passes. Default: 3.",
    ),
]
JudgeConcurrency = Annotated[
    int, typer.Option("--judge-concurrency", help="Maximum concurrent requests to judges.", min=1)
]


def judge_choice(
    model: str | None,
    base_url: str | None,
    rubric: Path | None,
    votes: int | None,
    against: str | None,
    canaries: int | None,
    concurrency: int,
    prices: Path | None,
) -> JudgeChoice:
    """Return what the options say about judges."""
    from passband.run import DEFAULT_CANARIES, JudgeChoice
    from passband.tasks import read_rubric_file

    return JudgeChoice(
        model,
        base_url,
        None if rubric is None else read_rubric_file(rubric),
        votes,
        against,
        concurrency,
        DEFAULT_CANARIES if canaries is None else canaries,
        prices,
    )
