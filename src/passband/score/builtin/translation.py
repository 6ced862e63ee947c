"""BLEU, chrF and TER of one trial, by sacrebleu.

On sacrebleu's scale: a perfect BLEU or chrF is 100, a perfect TER is 0 and lower is better. The
BLEU of one sentence uses effective order, so that a short one is not 0 for want of 4-grams. The
value of a whole test set is not the mean of these; see `passband.score.corpus`.
"""

from __future__ import annotations

import functools
from typing import Any

from passband.errors import InvalidInput
from passband.score.registry import Extra, register_scorer
from passband.score.scorer import Reference

__all__ = ["SACREBLEU", "bleu", "chrf", "ter"]

SACREBLEU = Extra("sacrebleu", "sacrebleu", "translation")


@register_scorer("bleu", best=100.0, slow=True, extra=SACREBLEU)
def bleu(answer: str, reference: Reference) -> float:
    """Return the BLEU of one sentence, 0 to 100, against all targets at once.

    >>> round(bleu("the cat sat on the mat", Reference(("the cat sat on a mat",))), 1)
    53.7
    """
    return _score("BLEU", answer, reference)


@register_scorer("chrf", best=100.0, slow=True, extra=SACREBLEU)
def chrf(answer: str, reference: Reference) -> float:
    """Return the chrF of one sentence, 0 to 100; the best target counts."""
    return _score("CHRF", answer, reference)


@register_scorer("ter", best=0.0, worst=100.0, slow=True, extra=SACREBLEU)
def ter(answer: str, reference: Reference) -> float:
    """Return the translation edit rate of one sentence: edits per 100 words of the targets.

    No answer is 100, which is what deleting everything costs.
    """
    return _score("TER", answer, reference)


def _score(metric: str, answer: str, reference: Reference) -> float:
    if not reference.targets:
        raise InvalidInput("a translation is scored against at least one target.")
    return float(_metric(metric).sentence_score(answer, list(reference.targets)).score)


@functools.cache
def _metric(name: str) -> Any:
    import sacrebleu

    return sacrebleu.BLEU(effective_order=True) if name == "BLEU" else getattr(sacrebleu, name)()
