"""Scores for some trials on a node of a cluster: what is sent there, and what is done with it.

Names and texts are sent, never a scorer: a node builds it from its specification, and refuses if
what it has built is not the same.
"""

from __future__ import annotations

import functools
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from passband import plugins
from passband.errors import InvalidInput, PassbandError
from passband.run.grade import Grader, slow_threads
from passband.run.sandboxed import needs_sandbox, open_sandbox
from passband.run.settings import Truncated
from passband.score.recorded import scorer_of
from passband.score.scorer import Reference, Score, Scorer
from passband.trials.rows import ScoreRow, TrialRow

__all__ = [
    "AgainChunk",
    "Chunk",
    "ShippedScorer",
    "score_chunk",
    "score_chunk_again",
    "shipped",
    "try_scorers",
]

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
    from passband.score.sandbox import find_sandbox

    return [dict(find_sandbox().identity)]
