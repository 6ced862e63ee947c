"""Rebuild recorded scorers without their task, and with them their equality of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from passband.errors import PassbandError
from passband.notes import Note
from passband.score.scorer import Scorer

if TYPE_CHECKING:
    from passband.score.scorer import Options
    from passband.trials import ScorerRecord

ANSWERS_AS_TEXT = Note(
    "answers-as-text",
    "the scorer cannot be rebuilt from the recorded trials, so votes count answers as the same "
    "only where their text is",
)
OTHER_SCORER_VERSION = Note(
    "other-scorer-version",
    "votes were counted with another version of the scorer than the scores; `passband score` "
    "scores again",
)

Same = Callable[[str, str], bool]


@dataclass(frozen=True)
class Equality:
    """The answer equality of a scorer; None compares answers as text."""

    same: Same | None
    notes: tuple[Note, ...] = ()


@contextmanager
def recorded_equality(scorer: ScorerRecord) -> Iterator[Equality]:
    """Rebuild the equality of answers of a recorded scorer.

    A scorer that came as code of a task cannot be rebuilt, and neither can one whose package is
    not installed: answers are then compared as text, and a note says so.
    """
    try:
        rebuilt = rebuilt_scorer(scorer)
    except PassbandError as error:
        from passband.stats.metric import not_measurable  # loads numpy, which asking does without

        yield Equality(None, (ANSWERS_AS_TEXT, not_measurable(str(error))))
        return
    if rebuilt is None:
        yield Equality(None, (ANSWERS_AS_TEXT,))
        return
    changed = not scorer.identity.startswith(rebuilt.identity)
    try:
        yield Equality(rebuilt.same, (OTHER_SCORER_VERSION,) if changed else ())
    finally:
        rebuilt.close()


def rebuilt_scorer(record: ScorerRecord) -> Scorer | None:
    """Return a recorded scorer, rebuilt from its specification; None if it has none."""
    if record.spec is None or not record.is_rebuildable:
        return None
    return scorer_of(record.spec)


def scorer_of(spec: Options) -> Scorer:
    """Return the scorer of a specification, as `Scorer.spec` has it."""
    from passband.score.pipeline import make_scorer

    return make_scorer(**{name: spec[name] for name in _ARGUMENTS})


_ARGUMENTS = ("name", "function", "options", "steps")
