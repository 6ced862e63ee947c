"""Notes on how plain data were understood, in the manner of `passband stats`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from passband.score import read_number
from passband.tasks.data.problem_set import USUAL_NAMES
from passband.tasks.guess.guess import DataOptions, Guess
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
