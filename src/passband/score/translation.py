"""Scores of one translation, by sacrebleu.

On sacrebleu's scale: a perfect BLEU or chrF is 100, a perfect TER is 0 and lower is better. The
value of a whole test set is not the mean of these; see `passband.score.corpus`.
"""

from __future__ import annotations

import functools
from typing import Any

from passband.errors import InvalidInput
from passband.score.registry import Extra
from passband.score.scorer import Reference

__all__ = ["SACREBLEU", "sentence_score"]

SACREBLEU = Extra("sacrebleu", "sacrebleu", "translation")


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
