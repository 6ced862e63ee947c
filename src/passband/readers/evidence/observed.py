"""Observations of a source beyond its scores, from which evidence is computed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passband.stats.data import Evidence, Finding, Outcomes
from passband.types import Ints

if TYPE_CHECKING:
    from passband.stats.data import AskedScores


ANSWERS = 1_000  #: whose texts are looked at, about
EACH = 16  #: of a problem, at most
_SHORT = 20  # characters; a letter or a number may well be the same each time


@dataclass(frozen=True)
class AnswerTexts:
    """The full texts of the answers by number, equal for equal texts, in the order of asking.

    Problem i has ``codes[offsets[i]:offsets[i + 1]]``.
    """

    codes: Ints
    offsets: Ints
    is_short: bool  #: whether a confident model may well repeat itself

    @staticmethod
    def of_rows(rows: Iterable[Iterable[str | None]]) -> AnswerTexts:
        """Number the texts of problems, a row each; trials without a text are left out.

        >>> texts = AnswerTexts.of_rows([["4", "4", None], ["5"]])
        >>> texts.codes.tolist(), texts.offsets.tolist(), texts.is_short
        ([0, 0, 1], [0, 2, 3], True)
        """
        numbers: dict[str, int] = {}
        codes: list[int] = []
        offsets, characters = [0], 0
        for row in rows:
            for text in row:
                if text is not None:
                    codes.append(numbers.setdefault(text, len(numbers)))
                    characters += len(text)
            offsets.append(len(codes))
        length = characters / max(len(codes), 1)
        return AnswerTexts.of_numbers(np.array(codes, np.int64), np.array(offsets), length)

    @staticmethod
    def of_numbers(numbers: Ints, offsets: Ints, mean_length: float) -> AnswerTexts:
        """Take texts by any numbers, and how many characters they have on average."""
        codes = np.unique(numbers, return_inverse=True)[1]
        return AnswerTexts(codes, offsets, mean_length < _SHORT)

    @property
    def each(self) -> int:
        """The median number of answers of problems with several."""
        counts = np.diff(self.offsets)
        return int(np.median(counts[counts > 1])) if (counts > 1).any() else 1


@dataclass(frozen=True)
class Progress:
    """How many problems have been asked, and how many of those asked are no longer in the task."""

    asked: int
    not_asked: int
    gone: int = 0
    is_shuffled: bool = False  #: whether they were asked in random order
    limit: int | None = None  #: of the first problems of the data, if the task was cut to them


@dataclass(frozen=True)
class Observed:
    """What a reader saw of one task, model and scorer; None where the source does not say."""

    scores: AskedScores | None = None  #: in the order of asking, of all problems or some
    texts: AnswerTexts | None = None
    is_greedy: bool = False  #: whether the decoding always takes the likeliest token
    prompts: Ints | None = None  #: a number for each problem, equal for equal prompts
    progress: Progress | None = None
    findings: tuple[Finding, ...] = ()  #: that the reader made itself

    def evidence(self, outcomes: Outcomes) -> Evidence:
        """Return what all of this shows about outcomes."""
        return Evidence().joined(self._found(outcomes))

    def _found(self, outcomes: Outcomes) -> Iterable[Finding]:
        from passband.stats.evidence import (
            order_findings,
            problem_copies,
            solved_share,
            text_findings,
            unasked_findings,
        )

        yield from self.findings
        if self.texts is not None:
            texts = self.texts
            yield from text_findings(
                texts.codes,
                texts.offsets,
                short=texts.is_short,
                greedy=self.is_greedy,
                solved=solved_share(outcomes.trials, _right(outcomes), texts.each),
            )
        if self.scores is not None:
            yield from order_findings(self.scores)
        if self.prompts is not None and not outcomes.is_clustered:
            yield from problem_copies(self.prompts)
        if self.progress is not None:
            progress = self.progress
            yield from unasked_findings(
                progress.asked,
                progress.not_asked,
                progress.gone,
                progress.is_shuffled,
                progress.limit,
            )


def some_places(offsets: Ints) -> tuple[Ints, Ints]:
    """Return the places of some problems' first trials among those of all, and their offsets.

    Problem i has the places from ``offsets[i]`` on, before ``offsets[i + 1]``.

    >>> places, few = some_places(np.array([0, 1, 3]))
    >>> places.tolist(), few.tolist()
    ([0, 1, 2], [0, 1, 3])
    """
    counts = np.minimum(np.diff(offsets), EACH)
    step = max(1, math.ceil(int(counts.sum()) / ANSWERS))
    starts, counts = offsets[:-1][::step], counts[::step]
    few = np.append(0, np.cumsum(counts))
    return np.repeat(starts - few[:-1], counts) + np.arange(few[-1]), few


def with_evidence(outcomes: Outcomes, observed: Observed) -> Outcomes:
    """Return outcomes that know what was found where they were read."""
    known = outcomes.knowing(observed.evidence(outcomes).findings)
    if observed.texts is None:
        return known
    return replace(known, found=replace(known.found, has_texts=True))


def _right(outcomes: Outcomes) -> Ints:
    """Return how many trials of each problem have the score of a right answer."""
    upright = outcomes.upright
    if upright.successes is not None:
        return upright.successes
    graded = upright.required_graded()
    is_right = np.append(0, np.cumsum(graded.values >= upright.range.right))
    return np.diff(is_right[graded.offsets])
