"""The keys of a task file: their kinds, and which are refused or have no effect.

The schema is that of lm-evaluation-harness for ``generate_until`` tasks, with a few keys of
passband's own. Every mistake is reported, not only the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from passband.errors import nearest
from passband.score import Truncated, scorers
from passband.tasks.file.yaml_file import FunctionReference, KeyPath, YamlFile

IGNORED: Mapping[str, str] = {
    "tag": "names several tasks at once when tasks are looked up; does not change this one",
    "group": "an older spelling of tag",
    "task_alias": "a name for tables only",
    "group_alias": "a name for tables only",
    "should_decontaminate": "passband does not look for contamination",
    "doc_to_decontamination_query": "passband does not look for contamination",
    "unsafe_code": "nothing of a task is executed unless it is trusted as a whole",
}
"""Keys that are accepted and have no effect on the task, each with the reason."""

REFUSED: Mapping[str, str] = {
    "class": "a task that is a Python class cannot be read; write it as a YAML task",
    "use_prompt": "promptsource templates cannot be read; write doc_to_text instead",
    "doc_to_image": "prompts are text; tasks with images cannot be run",
    "doc_to_audio": "prompts are text; tasks with sound cannot be run",
    "doc_to_video": "prompts are text; tasks with video cannot be run",
    "task_list": "a file with several tasks cannot be read; write one file for each",
}
"""Keys that would change the task in a way that passband does not support."""

_T = TypeVar("_T")


# -- kinds of values -----------------------------------------------------------------------


def _kind(accepts: Callable[[Any], bool], description: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if not accepts(value):
            raise ValueError(f"must be {description}; got {_short(value)}.")
        return value

    return BeforeValidator(check)


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, FunctionReference) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_column_or_template(value: Any) -> bool:
    return isinstance(value, str | FunctionReference)


def _is_names(value: Any) -> bool:
    names = value if isinstance(value, list) and value else [value]
    return all(isinstance(name, str) and name for name in names)


Text = Annotated[str, _kind(lambda v: isinstance(v, str), "text")]
Flag = Annotated[bool, _kind(lambda v: isinstance(v, bool), "true or false")]
Count = Annotated[int, _kind(_is_count, "a whole number, 0 or more")]
Positive = Annotated[int, _kind(lambda v: _is_count(v) and v > 0, "a whole number, 1 or more")]
Map = Annotated[dict[Any, Any], _kind(lambda v: isinstance(v, dict), "a mapping")]
Function = Annotated[Any, _kind(lambda v: isinstance(v, FunctionReference), "a !function")]
TextField = Annotated[Any, _kind(_is_column_or_template, "a column, a template or a !function")]
TargetField = Annotated[
    Any,
    _kind(
        lambda v: isinstance(v, str | int | float | list | FunctionReference),
        "a column, a template, a number, a list of texts or a !function",
    ),
]
ChoiceField = Annotated[
    Any,
    _kind(
        lambda v: isinstance(v, str | list | dict | FunctionReference),
        "a list, a column, a template or a !function",
    ),
]
Samples = Annotated[
    Any,
    _kind(
        lambda v: (
            isinstance(v, FunctionReference)
            or (isinstance(v, list) and all(isinstance(row, dict) for row in v))
        ),
        "a list of mappings, each one example, or a !function",
    ),
]
Indices = Annotated[
    list[int],
    _kind(lambda v: isinstance(v, list) and all(map(_is_count, v)), "a list of row numbers"),
]
Name = Annotated[Any, _kind(_is_column_or_template, "a name or a !function")]
Columns = Annotated[
    Any, _kind(lambda v: _is_names(v), "the name of a column, or a list of names")
]  # of which the first that the data have counts
ColumnList = Annotated[
    list[Any],
    _kind(
        lambda v: isinstance(v, list) and bool(v) and all(map(_is_names, v)),
        "a list of columns, each a name or a list of names of which one will do",
    ),
]
Seed = Annotated[
    int, _kind(lambda v: isinstance(v, int) and not isinstance(v, bool), "a whole number")
]
Version = Annotated[Any, _kind(lambda v: isinstance(v, str | int | float), "text or a number")]
Truncation = Annotated[
    Truncated, _kind(lambda v: v in get_args(Truncated), " or ".join(get_args(Truncated)))
]


# -- parts of the file ---------------------------------------------------------------------


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FilterLine(_Keys):
    """One step of a filter pipeline; further keys are its options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    function: Name

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class FilterPipeline(_Keys):
    """A named sequence of steps between a completion and the answer in it."""

    name: Text
    filter: list[FilterLine]


class MetricLine(_Keys):
    """One entry of `metric_list`; further keys are options of the metric."""

    model_config = ConfigDict(extra="allow", frozen=True)

    metric: Name
    aggregation: Name | None = None
    higher_is_better: Flag | None = None
    repeat_aggregation: Text | None = None
    repeat_options: Map = Field(default_factory=dict)
    values: list[Text] | None = None  # of a function that returns several
    hf_evaluate: Flag = False

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ShuffleKeys(_Keys):
    """How choices are put in order."""

    seed: Seed


class BadKey(_Keys):
    """One problem whose key or text is known to be wrong, by its name or a condition on its row."""

    problem: Version | None = None
    where: Text | None = None
    reason: Text


class FewshotKeys(_Keys):
    """Keys of worked examples: how they are chosen and written; by default as in the task."""

    sampler: Text = "default"
    split: Text | None = None
    where: Text | None = None
    match: Text | None = None
    process_docs: Function | None = None
    fewshot_indices: Indices | None = None
    samples: Samples | None = None
    doc_to_text: TextField | None = None
    doc_to_target: TargetField | None = None
    doc_to_choice: ChoiceField | None = None
    gen_prefix: Text | None = None
    fewshot_delimiter: Text | None = None
    target_delimiter: Text | None = None


class TaskKeys(_Keys):
    """Every key of a task file that has an effect."""

    task: Text | None = None
    # data
    dataset_path: Text | None = None
    dataset_name: Text | None = None
    dataset_kwargs: Map = Field(default_factory=dict)
    custom_dataset: Function | None = None
    training_split: Text | None = None
    validation_split: Text | None = None
    test_split: Text | None = None
    fewshot_split: Text | None = None
    process_docs: Function | None = None
    columns: ColumnList | None = None
    where: Text | None = None
    problem_id: Columns | None = None
    cluster: Text | None = None
    by: Text | None = None
    known_bad: list[BadKey] | None = None
    # prompt
    system: Text | None = None
    description: TextField = ""
    doc_to_text: TextField | None = None
    doc_to_target: TargetField | None = None
    doc_to_choice: ChoiceField | None = None
    shuffle_choices: ShuffleKeys | None = None
    target_delimiter: Text = " "
    fewshot_delimiter: Text = "\n\n"
    gen_prefix: Text | None = None
    num_fewshot: Count = 0
    fewshot_config: FewshotKeys = Field(default_factory=FewshotKeys)
    # generation
    output_type: Text = "generate_until"
    generation_kwargs: Map = Field(default_factory=dict)
    repeats: Positive = 1
    truncated: Truncation = "leave"
    # scoring
    filter_list: list[FilterPipeline] | None = None
    metric_list: list[MetricLine] | None = None
    process_results: Function | None = None
    metadata: Map = Field(default_factory=dict)


# -- reading -------------------------------------------------------------------------------


def read_keys(file: YamlFile) -> TaskKeys | None:
    """Return the keys of a file, or None; mistakes go to the file's diagnostics."""
    known = _known_keys(file)
    try:
        keys = TaskKeys.model_validate(known)
    except ValidationError as invalid:
        _report(file, invalid)
        return None
    _check_whole(file, keys)
    return keys


def _known_keys(file: YamlFile) -> dict[str, Any]:
    fields = TaskKeys.model_fields
    for key in file.values:
        if key in REFUSED and file.values[key] is not None:
            file.report(f"{key}: {REFUSED[key]}.", key)
        elif key not in fields and key not in IGNORED and key not in REFUSED:
            hint = nearest(key, [*fields, *IGNORED, "include"])  # never a key that is refused
            file.report(f"unknown key {key!r}.{hint}", key)
    # Null is how lm-evaluation-harness writes "not given".
    return {
        key: _without_null(value)
        for key, value in file.values.items()
        if key in fields and value is not None
    }


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: inner for key, inner in value.items() if inner is not None}
    return value


def _report(file: YamlFile, invalid: ValidationError) -> None:
    for error in invalid.errors(include_url=False):
        path: KeyPath = tuple(error["loc"])
        name = ".".join(str(key) for key in path if not isinstance(key, int))
        if error["type"] == "extra_forbidden":
            hint = nearest(str(path[-1]), _siblings(path))
            file.report(f"unknown key {path[-1]!r} in {_above(path)}.{hint}", *path)
        elif error["type"] == "missing":
            file.report(f"{_above(path)}: the key {path[-1]!r} is missing.", *path)
        elif error["type"] == "value_error":
            file.report(f"{name} {error['ctx']['error']}", *path)
        elif error["type"] == "invalid_key":
            file.report(f"{_above(path)}: a key must be text; got {path[-1]!r}.", *path)
        else:
            kind = "a list" if error["type"] == "list_type" else "a mapping"
            file.report(f"{name} must be {kind}; got {_short(error['input'])}.", *path)


def _above(path: KeyPath) -> str:
    return ".".join(str(key) for key in path[:-1] if not isinstance(key, int))


def _siblings(path: KeyPath) -> Iterable[str]:
    models: Mapping[Any, type[_Keys]] = {
        "fewshot_config": FewshotKeys,
        "shuffle_choices": ShuffleKeys,
        "known_bad": BadKey,
    }
    return models.get(path[0], FilterPipeline).model_fields


def _has_own_key(keys: TaskKeys) -> bool:
    """Return whether all scorers find what is right in the row themselves, as tests of code do."""
    names = [line.metric for line in keys.metric_list or ()]
    return bool(names) and all(
        isinstance(name, str) and name in scorers and not scorers.get(name).takes_target
        for name in names
    )


def _check_whole(file: YamlFile, keys: TaskKeys) -> None:
    """Check rules that involve more than the kind of one key."""
    if keys.output_type != "generate_until":
        file.report(
            f"output_type {keys.output_type!r} needs likelihoods of given texts, and passband "
            "samples answers; only generate_until can be run.",
            "output_type",
        )
    if keys.dataset_path is None and keys.custom_dataset is None:
        file.report("dataset_path is missing: json, csv, parquet, a file, or a data set's name.")
    if keys.doc_to_text is None:
        file.report("doc_to_text is missing: the template of the prompt.")
    if keys.doc_to_target is None and keys.process_results is None and not _has_own_key(keys):
        file.report("doc_to_target is missing: what the answer is compared with.")
    if keys.shuffle_choices is not None and keys.doc_to_choice is None:
        file.report("shuffle_choices needs doc_to_choice: what to shuffle.", "shuffle_choices")
    for position, bad in enumerate(keys.known_bad or ()):
        if bad.problem is None and bad.where is None:
            message = "known_bad: an entry needs a problem, a where, or both."
            file.report(message, "known_bad", position)
    for key in ("metric_list", "filter_list"):
        if getattr(keys, key) == []:
            file.report(f"{key} is empty; leave it out or fill it.", key)
    if keys.fewshot_config.sampler not in ("default", "first_n"):
        sampler = keys.fewshot_config.sampler
        hint = nearest(sampler, ("default", "first_n"))
        message = f"fewshot_config.sampler must be default or first_n; got {sampler!r}.{hint}"
        file.report(message, "fewshot_config", "sampler")
