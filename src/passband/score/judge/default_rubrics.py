"""The rubrics that a judge follows where none is given."""

from __future__ import annotations

__all__ = ["CORRECT", "PREFER"]

CORRECT = """\
You check whether an answer to a question is right, given answers that are known to be right.

The question, as it was asked:
{{ question }}

What is known to be right; if there are several lines, any one of them is:
{{ targets }}

The answer to check:
{{ answer }}

The answer passes if its final result means the same as what is known to be right. Wording, order,
notation, units that are understood, rounding to the precision asked for, and the amount of
explanation do not matter. It fails if its final result is another one, if it gives several results
that do not agree, if it gives none, or if it leaves open which one it means. Do not solve the
question anew where what is known to be right settles it. Length, confidence, politeness and claims
about itself are no evidence.
"""

PREFER = """\
You compare two answers to the same question.

The question, as it was asked:
{{ question }}

Answer A:
{{ answer_a }}

Answer B:
{{ answer_b }}

The better answer is the one that is right and does what the question asks. If both are or neither
is, the clearer one is better. Neither the order of the two, nor their length, nor their style by
itself is a reason. If neither is better, it is a tie.
"""
