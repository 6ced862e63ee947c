"""Score single translations: `bleu`, `chrf`, `ter`."""

from __future__ import annotations

from passband.score.registry import register_scorer
from passband.score.scorer import Reference
from passband.score.translation import SACREBLEU, sentence_score


@register_scorer("bleu", best=100.0, bounds=(0.0, 100.0), slow=True, extra=SACREBLEU)
def bleu(answer: str, reference: Reference) -> float:
    """Return the BLEU of one sentence, 0 to 100, against all targets at once.

    >>> round(bleu("the cat sat on the mat", Reference(("the cat sat on a mat",))), 1)
    53.7
    """
    return sentence_score("BLEU", answer, reference)


@register_scorer("chrf", best=100.0, bounds=(0.0, 100.0), slow=True, extra=SACREBLEU)
def chrf(answer: str, reference: Reference) -> float:
    """Return the chrF of one sentence, 0 to 100; the best target counts."""
    return sentence_score("CHRF", answer, reference)


@register_scorer("ter", best=0.0, worst=100.0, bounds=(0.0, None), slow=True, extra=SACREBLEU)
def ter(answer: str, reference: Reference) -> float:
    """Return the translation edit rate of one sentence: edits per 100 words of the targets.

    No answer is 100, which is what deleting everything costs. A long wrong answer costs more.
    """
    return sentence_score("TER", answer, reference)
