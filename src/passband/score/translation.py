"""Score translations by sacrebleu: single sentences, and whole test sets with an interval.

On sacrebleu's scale a perfect BLEU or chrF is 100, and a perfect TER is 0, where lower is better.
The value of a test set is not the mean over its problems: counts are summed over all problems
first, and likewise in every bootstrap replicate over the problems drawn. No text is scored twice.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput, UnknownName, nearest
from passband.score.registry import Extra
from passband.score.scorer import Reference
from passband.stats import as_level

if TYPE_CHECKING:
    from passband.types import Floats


SACREBLEU = Extra("sacrebleu", "sacrebleu")


def sentence_score(metric: str, answer: str, reference: Reference) -> float:
    """Return the BLEU, CHRF or TER of one answer."""
    if not reference.targets:
        raise InvalidInput("a translation is scored against at least one target.")
    return float(_metric(metric).sentence_score(answer, list(reference.targets)).score)


@functools.cache
def _metric(name: str) -> Any:
    import sacrebleu

    # By effective order a sentence of fewer than four words is not 0 for its missing 4-grams.
    return sacrebleu.BLEU(effective_order=True) if name == "BLEU" else getattr(sacrebleu, name)()


CORPUS_METRICS = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
_CHUNK = 100  # replicates drawn at once, so that memory stays small


def corpus_value(
    metric: str, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> float:
    """Return the value of a metric over all problems; problems may have several references.

    >>> round(corpus_value("bleu", ["the cat sat on the mat"], [["the cat sat on a mat"]]), 1)
    53.7
    """
    scorer, counts = _counts(metric, predictions, references)
    return _value(scorer, counts.sum(axis=0))


def corpus_interval(
    metric: str,
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    level: float = 0.95,
    seed: int = 0,
    replicates: int = 1000,
) -> tuple[float, float]:
    """Return a percentile bootstrap interval for problems like these."""
    import numpy as np

    level = as_level(level)
    values = corpus_replicates(metric, predictions, references, seed=seed, replicates=replicates)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def corpus_replicates(
    metric: str,
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    clusters: Sequence[object] | None = None,
    seed: int = 0,
    replicates: int = 1000,
) -> Floats:
    """Return the values of bootstrap replicates, of problems or of whole clusters."""
    import numpy as np

    if replicates < 2:
        raise InvalidInput(f"replicates must be at least 2; got {replicates!r}.")
    scorer, counts = _counts(metric, predictions, references)
    if clusters is not None:
        counts = _by_cluster(counts, clusters)
    generator, units = np.random.default_rng(seed), len(counts)
    values: list[float] = []
    for start in range(0, replicates, _CHUNK):
        size = min(_CHUNK, replicates - start)
        draws = generator.multinomial(units, np.full(units, 1 / units), size=size)
        values += [_value(scorer, total) for total in draws @ counts]
    return np.asarray(values)


def _by_cluster(counts: Floats, clusters: Sequence[object]) -> Floats:
    import numpy as np

    index = {name: position for position, name in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(index), counts.shape[1]))
    np.add.at(sums, [index[name] for name in clusters], counts)
    return sums


def _counts(
    metric: str, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[Any, Floats]:
    """Return sacrebleu's scorer and its counts, one row per problem."""
    if metric not in CORPUS_METRICS:
        hint = nearest(metric, CORPUS_METRICS) or f" Known: {', '.join(CORPUS_METRICS)}."
        raise UnknownName(f"no corpus metric named {metric!r}.{hint}")
    if len(predictions) != len(references):
        raise InvalidInput(f"{len(predictions)} predictions, but {len(references)} references.")
    if not predictions or not all(references):
        raise InvalidInput("every problem needs at least one reference, and there must be one.")
    SACREBLEU.check(metric)
    import numpy as np
    import sacrebleu

    scorer = getattr(sacrebleu, CORPUS_METRICS[metric])()
    most = max(len(group) for group in references)
    # One list per reference, as sacrebleu wants them; None where a problem has fewer.
    streams = [[group[i] if i < len(group) else None for group in references] for i in range(most)]
    # The counts have no public name; they are what sacrebleu's own bootstrap sums.
    rows = scorer._extract_corpus_statistics(list(predictions), streams)
    return scorer, np.asarray(rows, dtype=np.float64)


def _value(scorer: Any, total: Floats) -> float:
    return float(scorer._compute_score_from_stats(total.tolist()).score)
