"""`ter`: the translation edit rate of one trial."""

from __future__ import annotations

from passband.score.registry import register_scorer
from passband.score.scorer import Reference
from passband.score.translation import SACREBLEU, sentence_score

__all__ = ["ter"]


@register_scorer("ter", best=0.0, worst=100.0, bounds=(0.0, None), slow=True, extra=SACREBLEU)
def ter(answer: str, reference: Reference) -> float:
    """Return the translation edit rate of one sentence: edits per 100 words of the targets.

    No answer is 100, which is what deleting everything costs. A long wrong answer costs more.
    """
    return sentence_score("TER", answer, reference)
