"""Options that several verbs share, so that they read and behave alike."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband import plugins
from passband.cli.help import name_values

if TYPE_CHECKING:
    from passband.stats.data import Scale


class Format(str, enum.Enum):
    """Output formats."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


def is_json(format: Format, json: bool) -> bool:
    """Return whether JSON is wanted; raise `InvalidInput` if --format asks for something else."""
    if json and format not in (Format.table, Format.json):
        from passband.errors import InvalidInput

        raise InvalidInput(f"--json and --format {format.value} ask for different output.")
    return json or format is Format.json


class Layouts(str, enum.Enum):
    """Layouts of a table."""

    long = "long"
    wide = "wide"


class Target(str, enum.Enum):
    """Targets of an interval."""

    problems = "problems"
    trials = "trials"


class Tests(str, enum.Enum):
    """Tests that give the p-value of a difference."""

    interval = "interval"
    exact = "exact"
    mid_p = "mid-p"


class Rankings(str, enum.Enum):
    """Models of ability by which models are ranked."""

    logit = "logit"
    bradley_terry = "bradley-terry"


class Policies(str, enum.Enum):
    """Policies for trials without a score."""

    drop = "drop"
    fail = "fail"
    error = "error"


class Engine(str, enum.Enum):
    """Engines for tasks of Inspect."""

    auto = "auto"
    inspect = "inspect"
    light = "light"


class Truncated(str, enum.Enum):
    """Treatments of truncated completions."""

    leave = "leave"
    score = "score"


def scales_of(names: list[str] | None) -> dict[str, Scale]:
    """Return the scales that --lower-is-better states, by name of the score."""
    from passband.stats.data import Scale

    return {name: Scale(lower_is_better=True) for name in names or ()}


def split_metrics(values: list[str] | None) -> list[str] | None:
    """Return the names of metrics one by one; a comma before a letter begins another.

    >>> split_metrics(["pass@1,8,vote@8", "spectrum@2:.5,.5"])
    ['pass@1,8', 'vote@8', 'spectrum@2:.5,.5']
    """
    if values is None:
        return None
    return [name for value in values for name in re.split(r",\s*(?=[A-Za-z])", value)]


Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        help="Metrics, e.g. pass@8, pass@1-8,vote@8 or avg (repeatable).",
        callback=split_metrics,
    ),
]
ProblemColumn = Annotated[
    str | None, typer.Option("--problem", help="Column that names the problem.")
]
TrialColumn = Annotated[str | None, typer.Option("--trial", help="Column that numbers the trial.")]
ScoreColumn = Annotated[
    str | None,
    typer.Option("--score", help="Column with the score; in a run directory, name of a scorer."),
]
StatusColumn = Annotated[
    str | None, typer.Option("--status", help="Column with the trial's status.")
]
ClusterColumn = Annotated[
    str | None, typer.Option("--cluster", help="Column with the cluster of the problem.")
]
AnswerColumn = Annotated[
    str | None, typer.Option("--answer", help="Column with the answer of the trial, for vote@k.")
]
JudgeColumn = Annotated[
    str | None,
    typer.Option("--judge", help="Column, or scorer of a run, whose scores are a judge's."),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label", help="Column, or scorer of a run, with what people say of some of its trials."
    ),
]
ModelPrice = Annotated[
    str | None,
    typer.Option(metavar="IN,OUT", help="Price of the model per million tokens, in and out."),
]
PricesOption = Annotated[
    str | None,
    typer.Option(
        "--prices",
        metavar="NAME=X,...",
        help="Prices of what would help a judged number: label, vote, trial, problem.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold", help="Count scores of at least this (of at most, if lower) as successes."
    ),
]
LowerIsBetter = Annotated[
    list[str] | None,
    typer.Option(
        "--lower-is-better",
        metavar="NAME",
        help="Column of scores, or scorer, of which lower ones are better (repeatable).",
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out, and count, records that cannot be read.")
]
Over = Annotated[
    Target,
    typer.Option("--over", help="Intervals for problems like these, or for these very problems."),
]
Level = Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")]
PolicyOption = Annotated[
    Policies,
    typer.Option(
        "--policy", help="Trials without a score: leave out, count as wrong, or stop with an error."
    ),
]
First = Annotated[
    int | None,
    typer.Option("--first", metavar="N", help="Use the first N trials of each problem.", min=1),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="CODE",
        help="Give intervals in spite of the finding CODE (docs/evidence.md; repeatable).",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Output format.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Digits = Annotated[
    int | None,
    typer.Option("--digits", help="Decimals of numbers; by default by their error.", min=0, max=12),
]
Percent = Annotated[bool, typer.Option("--percent", help="Print shares of 1 as percentages.")]
LayoutOption = Annotated[
    Layouts,
    typer.Option("--layout", help="A row for each metric (long), or a column (wide)."),
]
Notes = Annotated[
    bool, typer.Option("--notes", help="Print every note below the table, not the first two.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only the result and warnings, no notes.")
]
TrustTaskCode = Annotated[
    bool, typer.Option("--trust-task-code", help="Run the Python code that comes with a task.")
]
UnsafeCode = Annotated[
    bool,
    typer.Option(
        "--unsafe-code", help="Run programs of models even without a sandbox; it is recorded."
    ),
]
QuestionColumn = Annotated[
    str | None, typer.Option("--question", help="Data file: column of the question.")
]
AnswerText = Annotated[
    str | None,
    typer.Option("--answer", help="Data file: column of the right answer, or a template of it."),
]
PromptTemplate = Annotated[
    str | None,
    typer.Option("--prompt", help="Data file: the prompt, such as '{{ question }} Be brief.'."),
]
ScorerName = Annotated[
    str | None,
    typer.Option("--scorer", help="Data file: numeric, math, exact_match, choice, f1, ..."),
]
IgnoredColumns = Annotated[
    str | None,
    typer.Option(
        "--ignore-columns",
        help="Data file: columns of pictures or sounds that no prompt needs, with commas between.",
    ),
]
ExtractRules = Annotated[
    str | None,
    typer.Option(
        "--extract",
        help="Data file: rules that find the answer, such as boxed,marker,last_number; or whole.",
    ),
]
DataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="Local copy of the task's data: a file, a folder with a file for each split, or "
        "SPLIT=FILE (repeatable).",
    ),
]
TaskArgs = Annotated[
    list[str] | None,
    typer.Option(
        "-T", metavar="KEY=VALUE", help="Argument of a task of Inspect, value in YAML (repeatable)."
    ),
]
SystemPrompt = Annotated[
    str | None,
    typer.Option("--system", help="System prompt, in place of the task's; '' for none."),
]
GenFields = Annotated[
    list[str] | None,
    typer.Option(
        "--gen",
        metavar="KEY=VALUE",
        help="Field of every request, e.g. top_k=20 or reasoning_effort=low, value in JSON; KEY= "
        "leaves a field out (repeatable).",
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="NAME=VALUE",
        help="Header of every request; '$VAR' in VALUE is taken from the environment. Values are "
        "never stored or printed (repeatable).",
    ),
]
Stream = Annotated[
    bool, typer.Option("--stream", help="Ask for answers as streams; for servers that need it.")
]
NumFewshot = Annotated[
    int | None, typer.Option("--num-fewshot", help="Worked examples in each prompt.", min=0)
]
FewshotAsTurns = Annotated[
    bool,
    typer.Option("--fewshot-as-turns", help="Give worked examples as turns of a conversation."),
]
ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="MODULE",
        help="Python module to import first, e.g. one that registers a metric (repeatable).",
    ),
]


Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Log what is done to stderr; -vv: every request and write. See PASSBAND_LOG.",
    ),
]


def open_logs(verbose: int, variable: str | None = None) -> None:
    """Open the logs that -v and the variable PASSBAND_LOG ask for."""
    wanted = [to for to in (variable, ("", "info", "debug")[min(verbose, 2)]) if to]
    if wanted:
        from passband.generate import redacted
        from passband.log import open_log

        for to in wanted:
            open_log(to, redacted)


def with_shared_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that also takes --verbose and --import, which come into effect before it."""
    word = verb.__name__.rstrip("_")

    @functools.wraps(verb)
    def command(*, imports: list[str] | None = None, verbose: int = 0, **options: Any) -> None:
        open_logs(verbose)
        plugins.import_modules(imports)
        with _logged(word):
            verb(**options)

    signature = inspect.signature(verb, eval_str=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *signature.parameters.values(),
        inspect.Parameter("verbose", kind, default=0, annotation=Verbose),
        inspect.Parameter("imports", kind, default=None, annotation=ImportOption),
    ]
    name_values(parameters)
    # typer reads both: the signature for the order, the annotations for the types.
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _logged(verb: str) -> AbstractContextManager[None]:
    """Log how long a verb takes, if there is a log: the module is not imported for nothing."""
    log = sys.modules.get("passband.log")
    return nullcontext() if log is None else log.phase("command", verb=verb)
