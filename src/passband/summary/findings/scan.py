"""Read the scores of a run once, for several findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from passband.stats.data import Scale
from passband.trials import RunRecord, ScoreRow, ScorerRecord, Trials

WRONG, RIGHT, UNSCORED = b"01."  #: marks of trials, as letters
_LONGEST = 80  # characters that are kept of an answer


class MarkedAnswer(NamedTuple):
    """What was found in a trial, and whether it is right."""

    trial: int
    mark: int
    answer: str | None  #: its beginning; None for no answer, and where it is the whole completion
    status: str
    value: float | None = None  #: its score


class Scan:
    """Reads the scores of a run once, marks every trial, and keeps the answers of some problems.

    Of a run with a rule for its width, only complete rounds count, as everywhere.
    """

    def __init__(
        self,
        trials: Trials,
        run: RunRecord,
        scorer: ScorerRecord,
        scale: Scale,
        wanted: frozenset[int],
    ) -> None:
        self._trials, self._scorer, self._scale = trials, scorer, scale
        self._wanted = wanted
        self._rounds = trials.complete_rounds(run)
        self._recorded = trials.recorded(run.number)
        self._marks = {
            number: bytearray([UNSCORED]) * self._length(mask)
            for number, mask in self._recorded.items()
        }
        self.answers: dict[int, list[MarkedAnswer]] = {number: [] for number in wanted}
        self.is_whole = False  #: whether a wrong answer is a whole completion

    def _length(self, mask: int) -> int:
        length = mask.bit_length()
        return length if self._rounds is None else min(length, self._rounds)

    @property
    def marks(self) -> Mapping[int, bytearray]:
        """The marks of each problem by its number, one byte per trial."""
        return self._marks

    def trials_of(self, number: int) -> list[int]:
        """Return the recorded trials of a problem; numbers may be missing between them."""
        mask = self._recorded.get(number, 0)
        return [trial for trial in range(len(self._marks.get(number, b""))) if mask >> trial & 1]

    def rows(self) -> Iterator[tuple[int, int, ScoreRow]]:
        """Yield every score, for others to read along."""
        is_right, marks, wanted = self._scale.is_right, self._marks, self._wanted
        for row in self._trials.scores(self._scorer.number):
            number, trial, score = row
            mark = UNSCORED
            if score.value is not None:
                mark = RIGHT if is_right(score.value) else WRONG
                marked = marks.get(number, b"")
                if trial < len(marked):
                    marked[trial] = mark  # type: ignore[index]
                if mark == WRONG and score.answer is None and score.status == "ok":
                    self.is_whole = True
            if number in wanted:
                kept = None if score.answer is None else score.answer[:_LONGEST]
                self.answers[number].append(
                    MarkedAnswer(trial, mark, kept, score.status, score.value)
                )
            yield row

    def finish(self) -> None:
        """Read all scores, where nobody else does."""
        for _ in self.rows():
            pass
