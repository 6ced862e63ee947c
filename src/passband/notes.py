"""Notes on numbers: a code for programs, a sentence for people, a severity.

A note says what to keep in mind about a number that is shown, or why there is none. Its code is
stable and is what programs match; its text is for people and may be reworded. Notes whose code
begins with ``no-`` explain a number that is missing. A note is made beside the code that can tell
when it is true; docs/files-and-codes.md lists them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

ACCEPTED = " (accepted)"  #: ends a note on a finding that shall not count

#: "invalid": the claim cannot be made; "weak": the interval may be too short; "remark": to know.
Severity = Literal["invalid", "weak", "remark"]
SEVERITIES: tuple[Severity, ...] = ("invalid", "weak", "remark")


class Note(NamedTuple):
    """A sentence on a number, with a stable code for programs and a severity.

    >>> note = Note("one-problem", "only one problem")
    >>> print(f"{note.code}: {note}")
    one-problem: only one problem
    """

    code: str
    text: str
    severity: Severity = "remark"

    def __str__(self) -> str:
        return self.text

    def as_weak(self) -> Note:
        """Return the note where it means that the interval may be too short."""
        return self._replace(severity="weak")


def claim_refused(notes: Iterable[Note]) -> str:
    """Return why no claim can be made, from the notes that say so; nothing if none does."""
    return "; ".join(note.text for note in notes if note.severity == "invalid")


def joined(notes: Iterable[Note]) -> str:
    """Join the texts of notes into one sentence."""
    return "; ".join(note.text for note in notes)


def of_side(side: str, note: Note) -> Note:
    """Return a note on one side of a comparison."""
    return note._replace(text=f"{side}: {note.text}")


def plural(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "trial"), plural(2, "trial")
    ('1 trial', '2 trials')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tail_of(text: str, most: int = 60) -> str:
    """Return the end of a text, where answers are."""
    text = text.strip()
    return text if len(text) <= most else f"...{text[3 - most :]}"
