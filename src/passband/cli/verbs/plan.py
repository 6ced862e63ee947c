"""`passband plan`: how many problems and trials an evaluation needs."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from passband.cli.options import ChoiceOptions, JsonOptions, NoteOptions, ScaleOptions
from passband.errors import InvalidInput

if TYPE_CHECKING:
    from passband.stats.decision import Detectable, Plan

Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanOptions(ChoiceOptions, ScaleOptions, JsonOptions, NoteOptions):
    """The options of `passband plan`."""

    GROUP = "Plan"
    COMMON = (
        "half_width", "difference", "pilot", "metric", "over", "trials", "problems", "level",
        "power", "out", "json", "quiet",
    )  # fmt: skip
    half_width: Annotated[float | None, Option(help="Half-width of the interval to plan for.")] = (
        None
    )
    difference: Annotated[
        float | None, Option(help="Difference between two models that should be detected.")
    ] = None
    pilot: Annotated[
        Path | None, Option(help="File of trials or run directory; gives the variances.")
    ] = None
    metric: Annotated[str, Option("--metric", "-m", help="Metric of the pilot.")] = "pass@1"
    over: Annotated[
        Literal["problems", "trials"] | None,
        Option(help="Target: problems like these (default), or exactly these problems."),
    ] = None
    between: Annotated[
        float | None, Option(help="Variance across problems, of values or of their differences.")
    ] = None
    within: Annotated[
        float | None, Option(help="Variance of one trial around its problem's value.")
    ] = None
    trials: Annotated[
        int | None, Option(help="Trials per problem, with --difference. Default: 1.")
    ] = None
    problems: Annotated[
        int | None, Option(help="Number of problems available, with --half-width.")
    ] = None
    correlation: Annotated[
        float | None,
        Option(help="Assumed correlation of the two models across problems. Default: 0.5."),
    ] = None
    level: Annotated[float, Option(help="Confidence level of the interval.")] = 0.95
    power: Annotated[
        float | None, Option(help="Probability of detecting the difference. Default: 0.8.")
    ] = None
    assurance: Annotated[
        float | None,
        Option(
            help="Probability of reaching the half-width, given the pilot; with --difference, the "
            "power. Default: 0.8."
        ),
    ] = None
    out: Annotated[
        Path | None, Option(help="Write the plan to this file, for passband stats --plan.")
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `passband.api.plan` that are given."""
        names = (
            "half_width", "difference", "pilot", "metric", "over", "between", "within", "trials",
            "problems", "correlation", "level", "power", "assurance",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.pilot is not None:
            from passband.readers import outcomes_of
            from passband.stats.metric import needs_answers

            answers = needs_answers([self.metric])
            pilot = outcomes_of(self.pilot, answers=answers, scales=self.scales, first=self.first)
            given["pilot"] = pilot.accepting(self.accept)
        return given


def plan(options: PlanOptions) -> None:
    """Compute the problems and trials needed, or what a pilot detects."""
    from passband.cli.output import print_notes
    from passband.report import plan_text, printable
    from passband.stats.decision import Detectable
    from passband.summary import choice_lines

    out, arguments = options.out, options.arguments()
    with with_option_names():
        result = _planned(arguments)
    if out is not None:
        if isinstance(result, Detectable):
            raise InvalidInput("there is no plan to write; give --half-width or --difference.")
        result.save(out)
    if options.json:
        from json import dumps

        typer.echo(dumps(result.as_json(), indent=2))
        return
    typer.echo(plan_text(result, every=options.notes, quiet=options.quiet), nl=False)
    print_notes(choice_lines(options.first, options.accept))
    if out is not None and not options.quiet:
        shown = printable(str(out))
        typer.echo(f"written to {shown}; check a run against it with passband stats --plan {shown}")


def _planned(options: Mapping[str, Any]) -> "Plan | Detectable":
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
