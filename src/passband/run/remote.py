"""Scoring on the nodes of a cluster: chunks go out, scores come back, one process writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

from passband.cluster.address import Address
from passband.cluster.connection import connect
from passband.cluster.nodes import on_each_node
from passband.cluster.tasks import map_tasks
from passband.run.grade import Grader
from passband.run.sandboxed import needs_sandbox
from passband.run.score_chunk import (
    AgainChunk,
    Chunk,
    ShippedScorer,
    score_chunk,
    score_chunk_again,
    shipped,
    try_scorers,
)
from passband.score.scorer import Reference, Score, Scorer
from passband.trials.rows import ScoreRow, TrialRow

__all__ = ["RemoteScoring"]

_QUICK = 100  # trials of a chunk; of scorers that compute for long, each node gets several
_SLOW = 50  # of scorers that take milliseconds
_PROGRAMS = 20  # that run in a sandbox, for seconds perhaps
_LARGEST = 4_000_000  # characters of a chunk, beyond one trial

Graded = tuple[Sequence[TrialRow], Sequence[list[ScoreRow]]]


@dataclass
class RemoteScoring:
    """Scorers on a cluster. Async ones wait and do not compute, so they stay in this process.

    Nothing is kept on a node: a chunk that is lost with one is scored on another, and one that
    this process has not committed is scored by the next.
    """

    address: Address
    workers: int | None = None  # chunks at a time; by default as many as there are processors
    unsafe: bool = False
    tick: Callable[[int], None] = lambda trials: None  # called with the number of trials scored
    sandboxes: list[dict[str, str]] = field(default_factory=list)  # that the nodes use
    _trials: int = 0

    @contextmanager
    def connected(self, scorers: Iterable[Scorer]) -> Iterator[None]:
        """Connect to the cluster for a while, once every node has shown that it has the scorers."""
        sent = [self._shipped(scorer) for scorer in scorers if self.takes(scorer)]
        with connect(self.address):
            for _, used in on_each_node(try_scorers, sent):
                self.sandboxes += [one for one in used if one not in self.sandboxes]
            yield

    def takes(self, scorer: Scorer) -> bool:
        """Return whether a scorer's scores are made on the nodes."""
        return not scorer.is_async

    def sandboxes_of(self, scorers: Iterable[Scorer]) -> list[dict[str, str]]:
        """Return the sandboxes that give the verdicts of scorers."""
        return self.sandboxes if any(map(needs_sandbox, scorers)) else []

    def graded(self, grader: Grader, rows: Iterable[TrialRow]) -> Iterator[Graded]:
        """Yield rows with their scores by a grader of one scorer, some at a time, in any order."""
        sent: dict[int, Sequence[TrialRow]] = {}
        for number, scores in map_tasks(
            score_chunk, self._chunks(grader, rows, sent), workers=self.workers, ordered=False
        ):
            done = sent.pop(number)
            yield done, scores  # comes back once they are committed
            self._trials += len(done)
            self.tick(self._trials)

    def verdicts_again(
        self,
        scorer: Scorer,
        programs: Sequence[tuple[str | None, Reference]],
        hash_seed: int,
        times: float,
    ) -> list[Score]:
        """Return second verdicts of programs; those with longer limits one after the other."""
        sent = self._shipped(scorer)
        size = 1 if times > 1 else _PROGRAMS
        chunks = (
            AgainChunk(sent, programs[start : start + size], hash_seed, times)
            for start in range(0, len(programs), size)
        )
        workers = 1 if times > 1 else self.workers
        made = map_tasks(score_chunk_again, chunks, workers=workers)
        return [score for scores in made for score in scores]

    def _chunks(
        self, grader: Grader, rows: Iterable[TrialRow], sent: dict[int, Sequence[TrialRow]]
    ) -> Iterator[Chunk]:
        """Yield the chunks of rows, and keep which rows each has."""
        ((scorer_number, scorer),) = grader.scorers
        shipped_scorer, whole = self._shipped(scorer), scorer.takes_trial
        for number, chunk in enumerate(_pieces(rows, _size(scorer))):
            sent[number] = chunk
            yield Chunk(
                number,
                shipped_scorer,
                scorer_number,
                grader.truncated,
                [row if whole else _slim(row) for row in chunk],
                {row.problem: grader.references[row.problem] for row in chunk},
            )

    def _shipped(self, scorer: Scorer) -> ShippedScorer:
        return shipped(scorer, unsafe=self.unsafe)


def _size(scorer: Scorer) -> int:
    if needs_sandbox(scorer):
        return _PROGRAMS
    return _SLOW if scorer.slow else _QUICK


def _slim(row: TrialRow) -> TrialRow:
    """Return what scorers see that look at the text alone."""
    return TrialRow(row.problem, row.trial, row.status, row.text)


def _pieces(rows: Iterable[TrialRow], most: int) -> Iterator[list[TrialRow]]:
    """Yield rows in lists of at most `most`, and fewer where they are long."""
    waiting = iter(rows)
    while piece := list(islice(waiting, 1)):
        length = len(piece[0].text or "")
        while len(piece) < most and length < _LARGEST:
            row = next(waiting, None)
            if row is None:
                break
            piece.append(row)
            length += len(row.text or "")
        yield [replace(row, scores=[]) for row in piece]
