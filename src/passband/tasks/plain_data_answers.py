r"""The kind of the answers in plain data, which decides how they are asked for and scored.

>>> kind_of(["204", "33"]).scorer, kind_of([r"\frac{x}{2}", "3"]).scorer, kind_of(["Paris"]).scorer
('numeric', 'math', 'exact_match')
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from types import MappingProxyType
from typing import Any

from passband.errors import InvalidInput
from passband.score.extract.answer import find_boxed
from passband.score.extract.parse_number import read_number

__all__ = [
    "CHOICE",
    "LETTER",
    "AnswerKind",
    "ShortAnswers",
    "kind_of",
    "of_scorer",
    "short_answers",
]

BOXED = "Work step by step, then put the final answer in \\boxed{}."
LINE = 'Work step by step. The last line must be "Answer: " and the answer alone.'
LETTER_LINE = 'Work step by step. The last line must be "Answer: " and the letter of the choice.'

_LONGEST = 200  # characters of a usual answer, above which no completion will be equal to it
_NOTHING: Mapping[str, Any] = MappingProxyType({})
# Neither $5 and $6 nor get_item.
_LATEX = re.compile(
    r"\\[A-Za-z]|\^|\$(?=\S)[^$]{0,200}[^\s$]\$(?![0-9])"
    r"|(?<![A-Za-z0-9_])[A-Za-z]_\{?[A-Za-z0-9](?![A-Za-z])|[0-9]_\{?[0-9]{1,2}(?![0-9])"
)
_LIST = re.compile(r"\s*\[\s*(['\"]).*\1\s*\]\s*", re.DOTALL)
# A digit, an operator or a coefficient, and no words: 2x+1, pi/4, (1, 2); neither dates nor grades.
_FORMULA = re.compile(
    r"(?=.*[0-9])(?=.*(?:[+*/=()<>\[\]\u00b0\u221a\u03c0]|[0-9][a-z](?![a-z])))(?!.*[A-Za-z]{4})"
    r"[0-9A-Za-z\s+*/=().,:%\[\]<>\u00b0\u221a\u03c0-]{1,60}"
)
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_LETTER = re.compile(r"[(\[]?[A-J][)\]]?[.:]?")


@dataclass(frozen=True)
class AnswerKind:
    """How answers of one kind are asked for, found in a completion, and scored."""

    scorer: str
    rules: tuple[str, ...]
    instruction: str
    reason: str  # what the answers are, for the user
    options: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


_OF_CHOICES = ("letter", "boxed", "marker", "whole")  # a choice may be given by its text
NUMBER = AnswerKind("numeric", ("boxed", "marker", "last_number"), BOXED, "numbers")
MATH = AnswerKind("math", ("boxed", "marker"), BOXED, "formulas")
LETTER = AnswerKind("choice", _OF_CHOICES, LETTER_LINE, "letters")
CHOICE = AnswerKind(
    "choice", _OF_CHOICES, LETTER_LINE, "choices", MappingProxyType({"letters": True})
)
TEXT = AnswerKind(
    "exact_match",
    ("boxed", "marker", "whole"),
    LINE,
    "text",
    MappingProxyType({"ignore_case": True}),
)


def kind_of(answers: Sequence[Any]) -> AnswerKind:
    """Return the kind that all answers are of; lists hold several answers to one question."""
    texts = [
        str(one) for value in answers for one in (value if isinstance(value, list) else [value])
    ]
    numbers = [read_number(text) is not None for text in texts]
    if all(numbers):
        return NUMBER
    if all(map(_is_number_with_comma, texts)):
        text = texts[numbers.index(False)]
        raise InvalidInput(
            f"the answer {text!r} could be a decimal number or two numbers; write it with a point, "
            "or choose how answers are compared with --scorer."
        )
    if all(_LETTER.fullmatch(text.strip()) for text in texts):
        return LETTER
    if all(map(_LIST.fullmatch, texts)):
        raise InvalidInput(
            f"the answers are lists that are written as text, such as {texts[0][:60]!r}, and no "
            "completion will be equal to one; write them as lists in a .jsonl file, or choose one "
            "with a template for --answer."
        )
    formulas = [
        is_number or _FORMULA.fullmatch(text) is not None
        for is_number, text in zip(numbers, texts, strict=True)
    ]
    if all(formulas) or _are_latex(texts, formulas):
        return MATH
    if median(map(len, texts)) > _LONGEST:
        raise InvalidInput(
            f"the answers are long texts, such as {texts[0][:60]!r}..., and no completion will be "
            "equal to one. Choose the column of the short answers with --answer, or how answers "
            "are compared with --scorer: f1, contains, bleu, ..."
        )
    return TEXT


def _are_latex(texts: Sequence[str], formulas: Sequence[bool]) -> bool:
    """Return whether LaTeX is among answers; words are few, as their letters would be factors."""
    latex = [_LATEX.search(text) is not None for text in texts]
    fitting = sum(a or b for a, b in zip(latex, formulas, strict=True))
    return any(latex) and 2 * fitting > len(texts) and not any(map(_is_long, texts))


def _is_number_with_comma(text: str) -> bool:
    return read_number(text) is not None or _COMMA.fullmatch(text.strip()) is not None


def _is_long(text: str) -> bool:
    return len(text) > _LONGEST


def of_scorer(name: str) -> AnswerKind:
    """Return how answers are asked for and found, for a scorer that the user has chosen."""
    known = {kind.scorer: kind for kind in (TEXT, CHOICE, MATH, NUMBER)}
    usual = known.get("exact_match" if name == "acc" else name)
    return usual or AnswerKind(name, ("boxed", "marker", "whole"), LINE, "")


# -- answers inside of solutions -----------------------------------------------------------


@dataclass(frozen=True)
class ShortAnswers:
    """The short answers inside of solutions: their template, what they are, what marks them."""

    template: str | None  # None: the whole solution
    values: list[str]
    mark: str  # in words: after ####


def short_answers(expression: str, solutions: Sequence[Any]) -> ShortAnswers | None:
    r"""Return the answers at the end of solutions, after ``####`` or in a box; None if in neither.

    A formula in a box stays in its solution, where the scorer `math` finds it.

    >>> print(short_answers("solution", [r"So it is \boxed{204}."]).template)
    {{ solution.split("\\boxed{")[-1].split("}")[0] }}
    """
    if not all(isinstance(value, str) for value in solutions):
        return None
    tails = [value.rpartition("####")[2].strip() for value in solutions]
    if all("####" in value for value in solutions) and all(map(read_number, tails)):
        return ShortAnswers(
            f'{{{{ {expression}.split("####")[-1].strip() }}}}', tails, "after ####"
        )
    found = [boxed.answer if (boxed := find_boxed(value)) else None for value in solutions]
    boxes = [answer for answer in found if answer is not None]
    if len(boxes) < len(solutions):
        return None
    cut = [value.rpartition("\\boxed{")[2].partition("}")[0].strip() for value in solutions]
    if cut == boxes and all(map(read_number, cut)):
        box, end = "\\\\boxed{", "}"
        template = f'{{{{ {expression}.split("{box}")[-1].split("{end}")[0] }}}}'
        return ShortAnswers(template, cut, "in \\boxed{}")
    return ShortAnswers(None, boxes, "in \\boxed{}")
