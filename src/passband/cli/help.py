"""Help texts: what the value of an option is called, examples of each verb, exit codes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

EXIT_CODES = """\
Exit codes:
  0    done
  1    failed, stopped early, or nothing could be scored
  2    wrong options, files or names
  3    gate: worse, beyond noise
  4    gate: not decided by the data, or not certified
  5    another process has the run directory
  6    the disk is nearly full
  130  interrupted (Ctrl-C); 143: terminated
"""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": (
        "passband run problems.jsonl --model openai:NAME -n 8 -m pass@1,vote@8 \\",
        "    --base-url http://localhost:8000/v1",
        "passband run arithmetic --model tiny -n 16        # no server needed",
        "passband run task.yaml --model NAME -n 64 --dry-run",
    ),
    "init": (
        "passband init problems.jsonl                      # writes problems.yaml",
        "passband init data.csv --question text --answer key --scorer math",
    ),
    "stats": (
        "passband stats runs/tiny -m pass@1-8,vote@8",
        "passband stats trials.csv --by model --format latex",
    ),
    "report": (
        "passband report runs/tiny -o report.html",
        "passband report runs/a runs/b --tolerance 0.02     # compared",
        "passband report log.eval --no-transcripts          # logs of other tools",
    ),
    "compare": ("passband compare runs/a runs/b", "passband compare trials.csv --by checkpoint"),
    "gate": (
        "passband gate runs/base runs/new -m pass@1 --tolerance 0.02",
        "passband gate runs/base runs/new --policy gate.yaml --markdown gate.md",
    ),
    "score": (
        "passband score runs/tiny                          # as its task says now",
        "passband score runs/tiny --scorer math --extract boxed,marker",
    ),
    "label": (
        "passband label runs/tiny -m 100 -o labels.csv     # draws what to label",
        "passband label runs/tiny --read labels.csv        # enters the labels",
    ),
    "show": (
        "passband show runs/tiny --wrong --limit 3",
        "passband show runs/tiny --problem add2-01 --diff 0 1",
        "passband show runs/tiny --same-wrong              # are the keys right?",
    ),
    "view": (
        "passband view                                     # the runs in runs/",
        "passband view runs/tiny --open",
    ),
    "export": (
        "passband export runs/tiny -o trials.jsonl",
        "passband export runs/tiny -o trials.csv --with prompt,detail",
    ),
    "plan": (
        "passband plan --half-width 0.02 --pilot runs/tiny",
        "passband plan --difference 0.03 --pilot runs/tiny",
    ),
    "validate": ("passband validate task.yaml --all",),
    "summarize": ("passband summarize runs/tiny",),
    "import": ("passband import logs/*.eval -o runs/imported",),
    "merge": ("passband merge runs/a runs/b -o runs/both",),
    "check": ("passband check runs/tiny",),
    "backup": ("passband backup runs/tiny copies/tiny",),
    "doctor": ("passband doctor", "passband doctor --bundle bug.zip runs/tiny  # for a bug report"),
    "salvage": ("passband salvage runs/tiny runs/rescued",),
}


def epilog_of(verb: str) -> str | None:
    """Return the examples of a verb, and the exit codes of `run`; lines are kept as they are."""
    lines = EXAMPLES.get(verb)
    if lines is None:
        return None
    examples = "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines)
    return f"{examples}\n\b\n{EXIT_CODES}" if verb == "run" else examples


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a help text, whole.

    >>> first_sentence("Copy a run directory, even one that is\\n being written. Then stop.")
    'Copy a run directory, even one that is being written.'
    """
    words = " ".join((text or "").split("\n\n")[0].split())
    return words.partition(". ")[0].rstrip(".") + "." if words else ""


# -- values --------------------------------------------------------------------------------


def name_value(parameter: inspect.Parameter) -> None:
    """Name the value of an option or argument by what it is: N, X, TEXT, PATH."""
    if get_origin(parameter.annotation) is not Annotated:
        return
    kind, *infos = get_args(parameter.annotation)
    for info in infos:
        if info.metavar is None:
            is_argument = type(info).__name__ == "ArgumentInfo"
            info.metavar = parameter.name.upper() if is_argument else _value_of(kind)


def _value_of(kind: Any) -> str | None:
    """Return what a value of a type is called; None for flags and for choices.

    >>> _value_of(int | None), _value_of(list[str] | None), _value_of(bool)
    ('N', 'TEXT', None)
    """
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return None
    return {int: "N", float: "X", str: "TEXT", Path: "PATH"}.get(kind)
