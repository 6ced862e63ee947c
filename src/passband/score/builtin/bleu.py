"""`bleu`: the BLEU of one trial."""

from __future__ import annotations

from passband.score.registry import register_scorer
from passband.score.scorer import Reference
from passband.score.translation import SACREBLEU, sentence_score

__all__ = ["bleu"]


@register_scorer("bleu", best=100.0, bounds=(0.0, 100.0), slow=True, extra=SACREBLEU)
def bleu(answer: str, reference: Reference) -> float:
    """Return the BLEU of one sentence, 0 to 100, against all targets at once.

    >>> round(bleu("the cat sat on the mat", Reference(("the cat sat on a mat",))), 1)
    53.7
    """
    return sentence_score("BLEU", answer, reference)
