"""Notes on how plain data were understood, in the manner of `passband stats`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from passband.tasks.plain_data_guess import DataOptions, Guess
from passband.tasks.problem_set import USUAL_NAMES
from passband.tasks.template import Template

__all__ = ["notes_of", "warnings_of"]

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
    choices = guess.choices.columns if guess.choices else ()
    used = {guess.question.name, guess.answer.name.split(".")[0], *choices, *USUAL_NAMES}
    used |= Template(guess.prompt).columns | Template(str(guess.target)).columns
    unused = [name for name in columns if name not in used]
    more = ", ..." if len(unused) > _MOST_UNUSED else ""
    return f"; not used: {', '.join(unused[:_MOST_UNUSED])}{more}" if unused else ""


def warnings_of(guess: Guess) -> Iterator[str]:
    """Yield a warning of questions that come again: every row is taken for a new problem."""
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
