"""Recorded scorers, rebuilt without their task: equality of answers, and the scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passband import notes
from passband.errors import InvalidInput, PassbandError
from passband.notes import Note
from passband.score.scorer import Scorer
from passband.trials.reader import ScorerRecord
from passband.trials.records import Bounds

if TYPE_CHECKING:
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.interval.estimate import Estimate
    from passband.summary.summary import Line

__all__ = [
    "Equality",
    "clip_to_bounds",
    "clipped",
    "rebuilt_scorer",
    "recorded_equality",
    "refuse_best_as_failure",
]

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
        yield Equality(None, (notes.ANSWERS_AS_TEXT, notes.not_measurable(str(error))))
        return
    if rebuilt is None:
        yield Equality(None, (notes.ANSWERS_AS_TEXT,))
        return
    changed = not scorer.identity.startswith(rebuilt.identity)
    try:
        yield Equality(rebuilt.same, (notes.OTHER_SCORER_VERSION,) if changed else ())
    finally:
        rebuilt.close()


def rebuilt_scorer(record: ScorerRecord) -> Scorer | None:
    """Return a recorded scorer, rebuilt from its specification; None if it has none."""
    from passband.score.pipeline import make_scorer

    if record.spec is None or not record.is_rebuildable:
        return None
    return make_scorer(**{name: record.spec[name] for name in _ARGUMENTS})


_ARGUMENTS = ("name", "function", "options", "steps")


def refuse_best_as_failure(
    record: ScorerRecord, outcomes: Outcomes, policy: str, *, higher_is_better: bool = True
) -> None:
    """Refuse to count trials without a score as 0 where lower scores are better.

    A 0 would be the best score there is: every error would improve the mean.
    """
    if policy != "fail" or not outcomes.n_unscored:
        return
    if higher_is_better and not _falls(record):
        return
    raise InvalidInput(
        f"lower scores of {record.name} are better, so the {outcomes.n_unscored} without a "
        "score cannot count as 0, which would be the best; use policy 'drop'."
    )


def _falls(record: ScorerRecord) -> bool:
    """Return whether a lower score of a scorer is the better one, as far as that is recorded."""
    from passband.score.registry import scorers

    name = str((record.spec or {}).get("function", ""))
    if name not in scorers:
        return False
    function = scorers.get(name)
    return function.best < function.worst


def clip_to_bounds(estimate: Estimate, bounds: Bounds | None) -> Estimate:
    """Cut an interval to the scale of its scorer: a mean BLEU is at most 100."""
    if bounds is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = (
        end if end is not None else default for end, default in zip(bounds, _OPEN, strict=True)
    )
    if not low <= estimate.value <= high:
        return estimate
    return replace(estimate, low=max(estimate.low, low), high=min(estimate.high, high))


def clipped(lines: Sequence[Line], bounds: Bounds | None) -> list[Line]:
    """Cut the intervals of lines to the scale of their scorer."""
    return [
        replace(line, estimate=line.estimate and clip_to_bounds(line.estimate, bounds))
        for line in lines
    ]


_OPEN = (float("-inf"), float("inf"))
