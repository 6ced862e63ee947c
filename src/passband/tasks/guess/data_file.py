"""Plain data as a task: `passband run problems.jsonl`, and the file that `passband init` writes.

The columns of the question and of the answer, the prompt and the scorer are guessed, and each
guess is a note for the user. What comes out are the keys of a task file, so that running the data
and running the file that holds these keys are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import form_of, require_file
from passband.tasks.guess.columns import fields_of, first_rows, refuse_media, refuse_other_files
from passband.tasks.guess.guess import DataOptions, Guess, make_guess
from passband.tasks.guess.notes import notes_of, used_columns, warnings_of


@dataclass(frozen=True)
class Draft:
    """The keys of a task for a data file, and how they were found."""

    path: Path
    values: Mapping[str, Any]
    columns: tuple[str, ...]
    guess: Guess
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def is_data_file(name: object) -> bool:
    """Return whether a name is that of a data file, which need not exist.

    >>> is_data_file("problems.jsonl.gz"), is_data_file("problems.yaml")
    (True, False)
    """
    return isinstance(name, str | Path) and form_of(Path(name).name) is not None


def draft_task(path: Path, options: DataOptions | None = None) -> Draft:
    """Return the task that a data file makes.

    Raise `InvalidInput` where no guess can be made, or where it could go wrong unseen.
    """
    require_file(path)
    if not path.is_file():
        raise InvalidInput(f"{path}: a pipe or a device; write what comes out of it to a file.")
    options = options or DataOptions()
    rows, inner, media = first_rows(path)
    fields = fields_of(rows)
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    try:
        if not (options.question or options.prompt):
            refuse_other_files(fields)
        guess = make_guess(fields, rows, options)
        if media or options.ignore_columns:
            every = [*columns, *media]
            refuse_media(media, used_columns(guess, every), every, options.ignore_columns or ())
    except InvalidInput as error:
        raise type(error)(f"{path}: {error.message}") from None
    return Draft(
        path=path,
        values=_values(path, inner, guess, options.system),
        columns=columns,
        guess=guess,
        notes=tuple(notes_of(guess, path, columns, options)),
        warnings=tuple(warnings_of(guess, options)),
    )


def _values(path: Path, inner: str | None, guess: Guess, system: str | None) -> dict[str, Any]:
    """Return the keys of the task; `inner` is the field of a document that holds the rows."""
    kind = guess.kind
    extraction = {"function": "extract", "rules": list(guess.rules)}
    return {
        "task": Path(path.name.removesuffix(".gz")).stem,
        "dataset_path": path.name,
        **({"dataset_kwargs": {"field": inner}} if inner else {}),
        **({"system": system} if system else {}),
        "doc_to_text": guess.prompt,
        "doc_to_target": guess.target,
        **({"doc_to_choice": guess.choices.setting} if guess.choices else {}),
        **({"shuffle_choices": {"seed": 0}} if guess.choices and guess.choices.is_shuffled else {}),
        "generation_kwargs": {"until": []},
        "repeats": 1,
        "filter_list": [{"name": "answer", "filter": [extraction]}],
        "metric_list": [{"metric": kind.scorer, **kind.options, "repeat_aggregation": "mean"}],
    }
