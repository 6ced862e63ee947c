"""`passband plan`: how many problems and trials an evaluation needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.options import Accept, First, LowerIsBetter, Notes, Target, scales_of
from passband.errors import InvalidInput

if TYPE_CHECKING:
    from passband.stats.data import Outcomes
    from passband.stats.decision import Detectable, Plan


def plan(
    half_width: Annotated[
        float | None, typer.Option(help="Half-width that the interval should have.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="Difference between two models that should be detected.")
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option(help="File of trials, or run directory, to take the variances from."),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", help="Metric of the pilot.")] = "pass@1",
    over: Annotated[
        Target | None,
        typer.Option(help="Target: problems like these (default), or these very problems."),
    ] = None,
    between: Annotated[
        float | None,
        typer.Option(help="Variance across problems, of values or of their differences."),
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="Variance of one trial around its problem's value.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Trials per problem (with --difference; default 1).")
    ] = None,
    problems: Annotated[
        int | None, typer.Option(help="Number of problems available (with --half-width).")
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            help="Assumed correlation between the two models across problems (default 0.5)."
        ),
    ] = None,
    first: First = None,
    accept: Accept = None,
    level: Annotated[float, typer.Option(help="Confidence level of the interval.")] = 0.95,
    power: Annotated[
        float | None,
        typer.Option(help="Power: probability of detecting the difference (default 0.8)."),
    ] = None,
    assurance: Annotated[
        float | None,
        typer.Option(
            help="Probability that the half-width is met, given the pilot (default 0.8); with "
            "--difference, that the power is."
        ),
    ] = None,
    lower_is_better: LowerIsBetter = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the plan to this file, for passband stats --plan.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    notes: Notes = False,
) -> None:
    """Compute the problems and trials needed, or what a pilot detects."""
    from passband.cli.output import print_notes
    from passband.report import plan_text, printable
    from passband.stats.decision import Detectable
    from passband.summary import choice_lines

    options: dict[str, Any] = {
        "half_width": half_width, "difference": difference, "pilot": pilot, "metric": metric,
        "over": None if over is None else over.value, "between": between, "within": within,
        "trials": trials, "problems": problems, "correlation": correlation, "level": level,
        "power": power, "assurance": assurance,
    }  # fmt: skip
    if pilot is not None:
        options["pilot"] = _pilot(pilot, metric, lower_is_better, first, accept or ())
    with with_option_names():
        result = _planned({name: value for name, value in options.items() if value is not None})
    if out is not None:
        if isinstance(result, Detectable):
            raise InvalidInput("there is no plan to write; give --half-width or --difference.")
        result.save(out)
    if json:
        from json import dumps

        typer.echo(dumps(result.as_json(), indent=2))
        return
    typer.echo(plan_text(result, every=notes), nl=False)
    print_notes(choice_lines(first, accept or ()))
    if out is not None:
        shown = printable(str(out))
        typer.echo(f"written to {shown}; check a run against it with passband stats --plan {shown}")


def _pilot(
    source: Path,
    metric: str,
    lower_is_better: list[str] | None,
    first: int | None,
    accept: Sequence[str],
) -> Outcomes:
    from passband.readers import outcomes_of
    from passband.stats.metric import needs_answers

    answers, scales = needs_answers([metric]), scales_of(lower_is_better)
    return outcomes_of(source, answers=answers, scales=scales, first=first).accepting(accept)


def _planned(options: Mapping[str, Any]) -> Plan | Detectable:
    """Return the plan; without a goal, what the pilot detects."""
    from passband import api

    if "half_width" in options or "difference" in options:
        plan: Plan = api.plan(**options)
        return plan
    if "pilot" not in options:
        raise InvalidInput("give --half-width, --difference, or a --pilot to see what it detects.")
    for name in ("over", "between", "within", "trials", "problems", "assurance"):
        if name in options:
            raise InvalidInput(f"{name} does not apply to a pilot alone; leave it out.")
    detectable: Detectable = api.detectable(
        options["pilot"],
        **{name: value for name, value in options.items() if name != "pilot"},
    )
    return detectable


#: Arguments of the planning functions as they appear in messages, and the options they come from.
_OPTION_NAMES = (
    (r"\bwithin_a and within_b\b", "--within"),
    (r"\bover='(\w+)'", r"--over \1"),
    (r"\bhalf_width\b", "--half-width"),
    (r"\bdelta\b", "--difference"),
    (r"\bwithin_[ab]\b", "--within"),
    (r"(?<![-\w])(between|within)(?! -?\d)\b(?! (0|-1) and)", r"--\1"),
    (r"\b(trials|problems)=(\d+)", r"--\1 \2"),
    (r"\ba pilot\b", "a --pilot"),
    (r"\bor difference\b", "or --difference"),
    (
        r"^(trials|problems|power|level|assurance|correlation|over|metric)(?= (must|does|is))",
        r"--\1",
    ),
)


@contextmanager
def with_option_names() -> Iterator[None]:
    """Name options rather than arguments in the errors of planning functions."""
    try:
        yield
    except InvalidInput as error:
        message = str(error)
        for pattern, replacement in _OPTION_NAMES:
            message = re.sub(pattern, replacement, message)
        raise type(error)(message) from None
