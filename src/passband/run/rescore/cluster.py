"""Scoring on the nodes of a cluster: chunks go out, scores come back, one process writes them.

Scores for some trials on a node of a cluster: what is sent there, and what is done with it.

Names and texts are sent, never a scorer: a node builds it from its specification, and refuses if
what it has built is not the same.
"""

from __future__ import annotations

import functools
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from passband import plugins
from passband.cluster import Address, connect, map_tasks, on_each_node
from passband.errors import InvalidInput, PassbandError
from passband.run.loop.grader import Grader, slow_threads
from passband.run.sandboxes import needs_sandbox, open_sandbox
from passband.score import Reference, Score, Scorer, Truncated, scorer_of
from passband.trials import ScoreRow, TrialRow

Result = TypeVar("Result")


@dataclass(frozen=True)
class ShippedScorer:
    """A scorer as it is sent to a node: its specification, and what it must come to."""

    name: str
    spec: str  # JSON
    identity: str
    modules: tuple[str, ...] = ()  # plug-ins that the user named
    unsafe: bool = False


@dataclass(frozen=True)
class Chunk:
    """Some trials to be scored by one scorer."""

    number: int  # of the chunk
    scorer: ShippedScorer
    scorer_number: int
    truncated: Truncated
    rows: Sequence[TrialRow]
    references: Mapping[int, Reference]  # by the rows' problems


@dataclass(frozen=True)
class AgainChunk:
    """Some programs that are to get a second verdict."""

    scorer: ShippedScorer
    programs: Sequence[tuple[str | None, Reference]]
    hash_seed: int
    times: float  # the limits


def shipped(scorer: Scorer, *, unsafe: bool = False) -> ShippedScorer:
    """Return a scorer as it is sent; raise `InvalidInput` for one that cannot be rebuilt."""
    if scorer.spec is None:
        raise InvalidInput(
            f"scorer {scorer.name!r} is code of its task, which other machines cannot build from a "
            "name; score without --on, or register it in a module (--import) that they have."
        )
    modules = tuple(plugins.named_modules())
    sent = ShippedScorer(
        scorer.name, json.dumps(scorer.spec), scorer.identity, modules, unsafe=unsafe
    )
    _rebuilt(sent)
    return sent


def try_scorers(scorers: Sequence[ShippedScorer]) -> list[dict[str, str]]:
    """Build scorers on a node, and return the sandboxes that they use there."""
    return _on_node(lambda: [one for each in scorers for one in _sandboxes(_opened(each))])


def score_chunk(chunk: Chunk) -> tuple[int, list[list[ScoreRow]]]:
    """Return the number of a chunk and the scores of its rows."""
    scorer = _on_node(lambda: _opened(chunk.scorer))
    grader = Grader([(chunk.scorer_number, scorer)], chunk.references, chunk.truncated)
    return chunk.number, _each(grader.grade, chunk.rows, is_slow=scorer.slow)


def score_chunk_again(chunk: AgainChunk) -> list[Score]:
    """Return second verdicts of programs."""
    scorer = _on_node(lambda: _opened(chunk.scorer))

    def again(program: tuple[str | None, Reference]) -> Score:
        return scorer.score_again(*program, hash_seed=chunk.hash_seed, times=chunk.times)

    return _each(again, chunk.programs, is_slow=chunk.times <= 1)  # longer ones run alone


Row = TypeVar("Row")


def _each(function: Callable[[Row], Result], rows: Sequence[Row], *, is_slow: bool) -> list[Result]:
    """Return the results for rows, in threads where most of the time is waiting for a process."""
    if not is_slow:
        return list(map(function, rows))
    with ThreadPoolExecutor(min(slow_threads(), max(1, len(rows)))) as threads:
        return list(threads.map(function, rows))


def _on_node(function: Callable[[], Result]) -> Result:
    """Return the result of a function; an error says on which node it was."""
    try:
        return function()
    except PassbandError as error:
        raise InvalidInput(f"node {platform.node()}: {error}") from None


@functools.lru_cache(maxsize=64)
def _opened(sent: ShippedScorer) -> Scorer:
    """Return a scorer that is ready on this node, once per process."""
    scorer = _rebuilt(sent)
    open_sandbox([scorer], unsafe=sent.unsafe)
    return scorer


def _rebuilt(sent: ShippedScorer) -> Scorer:
    plugins.import_modules(list(sent.modules))
    scorer = scorer_of(json.loads(sent.spec))
    if scorer.identity != sent.identity:
        scorer.close()
        difference = _difference(scorer.identity, sent.identity)
        raise InvalidInput(
            f"scorer {sent.name!r} is another one here, by other code or another version of a "
            f"package, so its scores would be others: {difference}."
        )
    return scorer


def _difference(here: str, there: str) -> str:
    """Return where two identities begin to differ."""
    first = next(
        (at for at, pair in enumerate(zip(here, there, strict=False)) if pair[0] != pair[1]),
        min(len(here), len(there)),
    )
    start = max(0, first - 20)
    return f"{here[start : first + 40]!r} here, {there[start : first + 40]!r} wanted"


def _sandboxes(scorer: Scorer) -> list[dict[str, str]]:
    if not needs_sandbox(scorer):
        return []
    from passband.score import find_sandbox

    return [dict(find_sandbox().identity)]


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
