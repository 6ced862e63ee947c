"""Plain data as a task: `passband run problems.jsonl`, and the file that `passband init` writes.

The columns of the question and of the answer, the prompt and the scorer are guessed, and each
guess is a note for the user. What comes out are the keys of a task file, so that running the data
and running the file that holds these keys are the same.

Notes on how plain data were understood, in the manner of `passband stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import form_of, require_file
from passband.score import read_number
from passband.tasks.data.problem_set import USUAL_NAMES
from passband.tasks.guess.columns import fields_of, first_rows, refuse_media, refuse_other_files
from passband.tasks.guess.guess import DataOptions, Guess, make_guess
from passband.tasks.prompt.template import Template

_MOST_UNUSED = 12  # columns that a note lists


def notes_of(
    guess: Guess, path: Path, columns: Sequence[str], options: DataOptions
) -> Iterator[str]:
    """Yield what was guessed: columns, prompt, scorer, and how to say otherwise."""
    yield f"columns: {_roles(guess)}{_unused(guess, columns)}"
    if guess.question is not None:
        has_choices = guess.choices is not None and guess.choices.lines in guess.prompt
        shuffled = " (shuffled)" if guess.choices and guess.choices.is_shuffled else ""
        parts = [guess.question.name, *([f"choices{shuffled} with letters"] if has_choices else [])]
        has_more = guess.kind.instruction in guess.prompt
        more = f", then: {guess.kind.instruction}" if has_more else " alone"
        yield f"prompt: {', '.join(parts)}{more}"
    because = "" if options.scorer else f" (the answers are {guess.kind.reason})"
    yield f"scorer: {guess.kind.scorer}{because}; answers are found by: {', '.join(guess.rules)}"
    if any(isinstance(value, list) for value in guess.answer.values):
        yield f"answers: {guess.answer.name} holds lists; any one of a list is right"
    yield (
        "guessed; say otherwise with --question, --answer, --prompt, --scorer, --extract, or in "
        f"the task file that passband init {path} writes"
    )


def _roles(guess: Guess) -> str:
    mark = guess.short.mark if guess.short else None
    roles = {
        "question": guess.question.name if guess.question else None,
        "answer": guess.answer.name + (f" ({mark})" if mark else ""),
        "choices": ", ".join(guess.choices.columns) if guess.choices else None,
    }
    return ", ".join(f"{role} = {name}" for role, name in roles.items() if name)


def _unused(guess: Guess, columns: Sequence[str]) -> str:
    """Return the columns that have no part in the task, unless the user wrote the prompt."""
    if guess.question is None:
        return ""
    used = used_columns(guess, columns)
    unused = [name for name in columns if name not in used]
    more = ", ..." if len(unused) > _MOST_UNUSED else ""
    return f"; not used: {', '.join(unused[:_MOST_UNUSED])}{more}" if unused else ""


def used_columns(guess: Guess, columns: Iterable[str]) -> set[str]:
    """Return the names that have a part in the task, those of `doc["name"]` among them."""
    asked = {guess.question.name} if guess.question else set()
    choices = guess.choices.columns if guess.choices else ()
    used = {*asked, guess.answer.name.split(".")[0], *choices, *USUAL_NAMES}
    for template in (guess.prompt, str(guess.target)):
        used |= Template(template).columns
        used |= {name for name in columns if f'"{name}"' in template or f"'{name}'" in template}
    return used


def warnings_of(guess: Guess, options: DataOptions) -> Iterator[str]:
    """Yield warnings of numbers compared as text, and of questions that come again."""
    if options.scorer is None:
        yield from _numbers_as_text(guess)
    if guess.question is None:
        return
    first: dict[str, int] = {}
    again = [
        (row, earlier)
        for row, text in enumerate(map(str, guess.question.values), start=1)
        if (earlier := first.setdefault(text, row)) != row
    ]
    if again:
        row, earlier = again[0]
        answers = guess.answer.values
        differs = ", with another answer" if answers[row - 1] != answers[earlier - 1] else ""
        yield (
            f"{len(again)} of {len(answers)} rows repeat an earlier question (row {row} that of "
            f"row {earlier}{differs}); each counts as a problem of its own, which makes intervals "
            "too narrow. To ask a problem several times, give -n."
        )


def _numbers_as_text(guess: Guess) -> Iterator[str]:
    """Yield a warning where a few answers that are no numbers make text of all."""
    if guess.choices is not None or guess.short is not None or guess.kind.scorer != "exact_match":
        return
    texts = [str(value) for value in guess.answer.values if not isinstance(value, list)]
    others = [(row, t) for row, t in enumerate(texts, start=1) if read_number(t) is None]
    numbers = len(texts) - len(others)
    if others and numbers >= len(others):
        row, text = others[0]
        yield (
            f"{numbers} of {len(texts)} answers are numbers, and others are not (row {row}: "
            f"{text[:40]!r}), so all are compared as text: 3.0 is not 3. Correct or leave out "
            "these rows, or give --scorer numeric or math."
        )


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
