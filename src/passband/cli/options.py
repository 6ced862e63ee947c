"""Groups of options that several verbs share; a verb's options are a class made of them.

Each field is one option, defined once: its name, type, default and help. `GROUP` is the heading
that the fields of a class have in the help; `passband.cli.command` builds the command from them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

if TYPE_CHECKING:
    from passband.report import Style
    from passband.run import JudgeChoice
    from passband.stats.data import Scale
    from passband.tasks import DataOptions

Option = typer.Option


# Options of small verbs too, which have no class of their own.
JsonOption = Annotated[bool, Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[
    bool, Option("--quiet", "-q", help="Print only the result and warnings, no notes.")
]
SkipBad = Annotated[bool, Option("--skip-bad", help="Skip and count records that cannot be read.")]
TrustTaskCode = Annotated[
    bool, Option("--trust-task-code", help="Run the Python code that comes with a task.")
]
DataOption = Annotated[
    list[str] | None,
    Option(
        "--data",
        metavar="FILE",
        help="Local copy of the task's data: a file, a folder with a file for each split, or "
        "SPLIT=FILE (repeatable).",
    ),
]
TaskArgs = Annotated[
    list[str] | None,
    Option("-T", metavar="KEY=VALUE", help="Argument of an Inspect task, in YAML (repeatable)."),
]
SystemPrompt = Annotated[
    str | None, Option("--system", help="System prompt instead of the task's; '' for none.")
]


def split_metrics(values: list[str] | None) -> list[str] | None:
    """Return the names of metrics one by one; a comma before a letter begins another.

    >>> split_metrics(["pass@1,8,vote@8", "spectrum@2:.5,.5"])
    ['pass@1,8', 'vote@8', 'spectrum@2:.5,.5']
    """
    if values is None:
        return None
    return [name for value in values for name in re.split(r",\s*(?=[A-Za-z])", value)]


def seed_of(text: str | None) -> int | str | None:
    """Return a seed of digits as a number, and any other as a name.

    >>> seed_of("12"), seed_of("run a")
    (12, 'run a')
    """
    return int(text) if text and text.isdecimal() else text


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OptionGroup:
    """Options with a heading of their own in the help."""

    GROUP: ClassVar[str] = "Options"
    COMMON: ClassVar[tuple[str, ...]] = ()  # fields that --help shows where there are many
    MOVED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {}
    )  # headings of bases to the heading they have here


# -- what to compute ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MetricOptions(OptionGroup):
    """Which metrics."""

    GROUP = "Metrics"
    metric: Annotated[
        tuple[str, ...],
        Option(
            "--metric",
            "-m",
            help="Metrics, e.g. pass@8, pass@1-8,vote@8 or avg (repeatable).",
            callback=split_metrics,
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class IntervalOptions(OptionGroup):
    """The level of intervals, and how they treat trials without a score."""

    GROUP = "Intervals"
    level: Annotated[float, Option(help="Confidence level of the intervals.")] = 0.95
    policy: Annotated[
        Literal["drop", "fail", "error"],
        Option(help="Trials without a score: leave out, count as wrong, or stop with an error."),
    ] = "drop"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TargetOptions(IntervalOptions):
    """Intervals, and their target."""

    over: Annotated[
        Literal["problems", "trials"],
        Option(help="Target: problems like these, or exactly these (trials)."),
    ] = "problems"


# -- which trials to read ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScaleOptions(OptionGroup):
    """The direction of scores."""

    GROUP = "Reading"
    lower_is_better: Annotated[
        tuple[str, ...],
        Option(metavar="NAME", help="Score column, or scorer, where lower is better (repeatable)."),
    ] = ()

    @property
    def scales(self) -> "dict[str, Scale]":
        """The stated scales, by name of the score."""
        from passband.stats.data import Scale

        return {name: Scale(lower_is_better=True) for name in self.lower_is_better}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecordOptions(ScaleOptions):
    """Scores and records of a source."""

    skip_bad: SkipBad = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ThresholdOptions(OptionGroup):
    """Graded scores as successes."""

    GROUP = "Reading"
    threshold: Annotated[
        float | None,
        Option(help="Scores of at least this (at most, if lower is better) are successes."),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChoiceOptions(OptionGroup):
    """Trials used, and findings accepted."""

    GROUP = "Reading"
    first: Annotated[
        int | None, Option(metavar="N", help="Use the first N trials of each problem.", min=1)
    ] = None
    accept: Annotated[
        tuple[str, ...],
        Option(
            metavar="CODE",
            help="Give intervals in spite of finding CODE (docs/evidence.md; repeatable).",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskFilterOptions(OptionGroup):
    """Which tasks and models of a source."""

    GROUP = "Reading"
    task: Annotated[tuple[str, ...], Option(help="Only this task (repeatable).")] = ()
    model: Annotated[tuple[str, ...], Option(help="Only this model (repeatable).")] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnOptions(OptionGroup):
    """Columns of a table of trials."""

    GROUP = "Columns"
    problem: Annotated[str | None, Option(help="Column that names the problem.")] = None
    trial: Annotated[str | None, Option(help="Column that numbers the trial.")] = None
    score: Annotated[
        str | None, Option(help="Column with the score; in a run directory, name of a scorer.")
    ] = None
    status: Annotated[str | None, Option(help="Column with the trial's status.")] = None
    cluster: Annotated[str | None, Option(help="Column with the problem's cluster.")] = None

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns, by what they hold."""
        return {name: getattr(self, name) for name in _COLUMNS if hasattr(self, name)}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnswerColumnOptions(ColumnOptions):
    """Columns of answers and judgements too."""

    answer: Annotated[str | None, Option(help="Column with the trial's answer, for vote@k.")] = None
    judge: Annotated[
        str | None, Option(help="Column, or scorer of a run, with the scores of a judge.")
    ] = None
    label: Annotated[
        str | None, Option(help="Column, or scorer of a run, with people's labels of some trials.")
    ] = None


_COLUMNS = ("problem", "trial", "score", "status", "cluster", "answer", "judge", "label")


# -- output ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QuietOptions(OptionGroup):
    """Whether to print notes."""

    GROUP = "Output"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NoteOptions(QuietOptions):
    """Which notes to print."""

    notes: Annotated[
        bool, Option("--notes", help="Print every note below the table, not the first two.")
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JsonOptions(OptionGroup):
    """JSON instead of a table."""

    GROUP = "Output"
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FormatOptions(JsonOptions):
    """The output format."""

    format: Annotated[
        Literal["table", "json", "csv", "markdown", "latex"], Option(help="Output format.")
    ] = "table"

    @property
    def is_json(self) -> bool:
        """Whether to print JSON; raises `InvalidInput` if --format asks for something else."""
        if self.json and self.format not in ("table", "json"):
            from passband.errors import InvalidInput

            raise InvalidInput(f"--json and --format {self.format} ask for different output.")
        return self.json or self.format == "json"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NumberOptions(NoteOptions):
    """How numbers are written."""

    digits: Annotated[
        int | None, Option(help="Decimals of numbers. Default: by their error.", min=0, max=12)
    ] = None
    percent: Annotated[bool, Option("--percent", help="Print shares of 1 as percentages.")] = False

    @property
    def style(self) -> "Style":
        """The style of tables."""
        from passband.report import Style

        return Style(self.digits, self.percent, notes=self.notes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableOptions(NumberOptions):
    """How a table of metrics is written."""

    layout: Annotated[
        Literal["long", "wide"], Option(help="A row for each metric (long), or a column (wide).")
    ] = "long"

    @property
    def style(self) -> "Style":
        """The style of tables; the import is heavy, and a run's first request comes earlier."""
        from passband.report import Style

        return Style(self.digits, self.percent, self.layout, self.notes)


# -- money -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PurchaseOptions(OptionGroup):
    """Prices of what would narrow the interval of a judged metric."""

    GROUP = "Metrics"
    prices: Annotated[
        str | None,
        Option(
            metavar="NAME=X,...",
            help="Price per label, vote, trial or problem, to rank what to buy next.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PriceOptions(OptionGroup):
    """The price of a model."""

    GROUP = "Limits"
    max_cost: Annotated[
        float | None,
        Option(help="Stop before the cost exceeds this; in passband score, the judges' cost."),
    ] = None
    prices: Annotated[
        Path | None,
        Option(help="YAML file of prices, or genai for those of genai-prices."),
    ] = None
    price: Annotated[
        str | None,
        Option(metavar="IN,OUT", help="Price of the model per million tokens, in and out."),
    ] = None


# -- tasks, models and judges ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrustOptions(OptionGroup):
    """Code that may run."""

    GROUP = "Code"
    trust_task_code: TrustTaskCode = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeOptions(TrustOptions):
    """Code of tasks and of models that may run."""

    unsafe_code: Annotated[
        bool,
        Option("--unsafe-code", help="Run models' programs even without a sandbox; recorded."),
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataFileOptions(OptionGroup):
    """What would be guessed about a data file."""

    GROUP = "Data file"
    question: Annotated[str | None, Option(help="Column of the question.")] = None
    answer: Annotated[
        str | None, Option(help="Column of the right answer, or a template of it.")
    ] = None
    prompt: Annotated[
        str | None, Option(help="The prompt, such as '{{ question }} Be brief.'.")
    ] = None
    scorer: Annotated[
        str | None, Option(help="Scorer: numeric, math, exact_match, choice, f1, ...")
    ] = None
    extract: Annotated[
        str | None,
        Option(help="Rules that find the answer, such as boxed,marker,last_number, or whole."),
    ] = None
    ignore_columns: Annotated[
        str | None,
        Option(help="Columns of images or sounds that no prompt needs, separated by commas."),
    ] = None

    def data_options(self, system: str | None = None) -> "DataOptions":
        """Return the options as `passband.tasks` takes them."""
        from passband.tasks import DataOptions

        return DataOptions.of(
            self.question, self.answer, self.prompt, self.scorer, self.extract, system,
            self.ignore_columns,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TruncatedOptions(OptionGroup):
    """Truncated completions."""

    GROUP = "Scoring"
    truncated: Annotated[
        Literal["leave", "score"] | None,
        Option(help="Truncated completions: leave unscored, or score."),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ServerOptions(OptionGroup):
    """Whether a server may have moved."""

    GROUP = "Model"
    moved_server: Annotated[
        bool, Option("--moved-server", help="Continue although the model's address has changed.")
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgingOptions(OptionGroup):
    """Judges, and what they are sent."""

    GROUP = "Judging"
    judge: Annotated[
        str | None,
        Option(help="Model that judges the answers, named as for --model. It is sent requests."),
    ] = None
    judge_base_url: Annotated[str | None, Option(help="Address of the judge's server.")] = None
    rubric: Annotated[
        Path | None, Option(help="Instructions for the judge: a YAML file, or a text template.")
    ] = None
    votes: Annotated[int | None, Option(help="Verdicts per trial. Default: 1.")] = None
    against: Annotated[
        str | None, Option(help="Run directory whose answers a pairwise rubric compares with.")
    ] = None
    canaries: Annotated[
        int | None,
        Option(help="Problems whose null answers test what the judge lets pass. Default: 3."),
    ] = None
    judge_concurrency: Annotated[
        int, Option(help="Maximum concurrent requests to judges.", min=1)
    ] = 64

    def judge_choice(self, prices: Path | None) -> "JudgeChoice":
        """Return the judge, and how to ask it."""
        from passband.run import DEFAULT_CANARIES, JudgeChoice
        from passband.tasks import read_rubric_file

        return JudgeChoice(
            self.judge,
            self.judge_base_url,
            None if self.rubric is None else read_rubric_file(self.rubric),
            self.votes,
            self.against,
            self.judge_concurrency,
            DEFAULT_CANARIES if self.canaries is None else self.canaries,
            prices,
        )
