"""`chrf`: the chrF of one trial."""

from __future__ import annotations

from passband.score.registry import register_scorer
from passband.score.scorer import Reference
from passband.score.translation import SACREBLEU, sentence_score

__all__ = ["chrf"]


@register_scorer("chrf", best=100.0, bounds=(0.0, 100.0), slow=True, extra=SACREBLEU)
def chrf(answer: str, reference: Reference) -> float:
    """Return the chrF of one sentence, 0 to 100; the best target counts."""
    return sentence_score("CHRF", answer, reference)
