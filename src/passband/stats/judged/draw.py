"""The trials to label, drawn at random with known probabilities.

Every problem and every trial has a random number, made from the seed and its name. The trials are
put in an order by these numbers, and the first of them are drawn: so the order of rows does not
matter, and a larger draw begins with the smaller one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import as_whole
from passband.stats.data.values import ArrayValue, frozen
from passband.stats.judged.judged import Design, Judged, labels_in_rounds
from passband.types import ArrayLike, Floats, Ints


@dataclass(frozen=True, eq=False)
class Drawn(ArrayValue):
    """Trials to label, in the order in which to label them."""

    rows: Ints  #: positions among the trials that were given
    probability: Floats  #: of each drawn trial, of being drawn
    design: Design
    seed: int | str

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class TrialKeys:
    """Random numbers, one of each problem and one of each trial."""

    problem: Floats
    trial: Floats


def draw_labels(
    problem: Sequence[object] | ArrayLike,
    trial: Sequence[int] | ArrayLike,
    count: int,
    *,
    seed: int | str,
    design: Design = "spread",
    score: Sequence[float | None] | ArrayLike | None = None,
    threshold: float = 0.5,
    each: int | None = None,
) -> Drawn:
    """Draw `count` trials to label; the same for the same trials and seed, in whatever order.

    "spread", the default, takes the problems in random order and one random trial of each, and
    begins a second round only when all have one: it is the narrowest for the same labels. "trial"
    draws trials, "problem" whole problems, which pass@k needs: `each` labels in each of them (all
    trials by default), in as many problems as `count` labels are worth. "verdict" draws half from
    the trials that the judge passes and half from those that it fails, by their `score`.

    A larger count keeps what a smaller one drew, in front. The probabilities are those of the
    whole draw, so take them from the last one.

    >>> drawn = draw_labels(["a", "a", "b", "b", "c", "c"], [0, 1] * 3, 2, seed="sums")
    >>> len(set((drawn.rows // 2).tolist())), drawn.probability.round(4).tolist()
    (2, [0.3333, 0.3333])
    """
    if design in ("unknown", "chosen"):
        raise InvalidInput(
            f"labels can be drawn by spread, trial, problem or verdict; got {design!r}."
        )
    if design == "verdict" and score is None:
        raise InvalidInput("design 'verdict' needs the judge's score of every trial.")
    if each is not None and (design != "problem" or as_whole("each", each) < 1):
        raise InvalidInput(f"each is for the design 'problem'; got each={each} and {design!r}.")
    names = [str(name) for name in np.asarray(problem, dtype=object)]
    judged = Judged.of(
        names, trial, np.zeros(len(names)) if score is None else score, threshold=threshold
    )
    if as_whole("count", count) > judged.n_trials:
        raise InvalidInput(f"there are {judged.n_trials} trials to label; got a count of {count}.")
    order = np.lexsort((np.asarray(trial, dtype=np.int64), np.array(names)))
    rows, chance = drawn_rows(judged, count, design, _keys(judged, seed), each)
    return Drawn(frozen(order[rows]), frozen(chance), design, seed)


def _keys(judged: Judged, seed: int | str) -> TrialKeys:
    problems = [_uniform(seed, name) for name in judged.problems]
    pairs = zip(judged.problem.tolist(), judged.trial.tolist(), strict=True)
    trials = [_uniform(seed, judged.problems[code], number) for code, number in pairs]
    return TrialKeys(np.array(problems), np.array(trials))


def _uniform(*parts: object) -> float:
    """Return a number between 0 and 1 that looks random, and is the same for the same parts."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2.0**53


def drawn_rows(
    judged: Judged, count: int, design: Design, keys: TrialKeys, each: int | None = None
) -> tuple[Ints, Floats]:
    """Return the rows of `judged` that are drawn, first to last, and the probability of each."""
    problem, trials = judged.problem, judged.trials
    if design == "trial":
        rows = np.argsort(keys.trial, kind="stable")[:count]
        return rows, np.full(count, count / judged.n_trials)
    if design == "verdict":
        return _by_verdict(judged.verdict, count, keys)
    rank = _rank(problem, keys.trial)
    if design == "spread":
        rows = np.lexsort((keys.problem[problem], rank))[:count]
        return rows, (labels_in_rounds(trials, count) / trials)[problem[rows]]
    labels = trials if each is None else np.minimum(trials, each)
    chosen = min(math.ceil(count / float(labels.mean()) - 1e-9), len(trials))
    order = np.lexsort((rank, keys.problem[problem]))
    order = order[rank[order] < labels[problem[order]]]
    place = np.argsort(np.argsort(keys.problem, kind="stable"), kind="stable")
    rows = order[place[problem[order]] < chosen]
    return rows, (chosen / len(trials) * labels / trials)[problem[rows]]


def _by_verdict(verdict: Ints, count: int, keys: TrialKeys) -> tuple[Ints, Floats]:
    """Draw half from passed, half from failed trials; of those without a verdict, their share."""
    size = np.bincount(verdict, minlength=3)
    missing = size[2] / len(verdict)
    wanted = np.array([(1.0 - missing) / 2.0, (1.0 - missing) / 2.0, max(missing, 1e-9)])
    turn = (_rank(verdict, keys.trial) + 0.5) / wanted[verdict]
    rows = np.lexsort((verdict, turn))[:count]
    drawn = np.bincount(verdict[rows], minlength=3)
    return rows, (drawn / np.maximum(size, 1))[verdict[rows]]


def _rank(group: Ints, key: Floats) -> Ints:
    """Return each entry's rank within its group, by key."""
    order = np.lexsort((key, group))
    size = np.bincount(group)
    starts = np.cumsum(size) - size
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - starts[group[order]]
    return rank
