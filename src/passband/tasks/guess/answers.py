r"""The kind of the answers in plain data, which decides how they are asked for and scored.

>>> kind_of(["204", "33"]).scorer, kind_of([r"\frac{x}{2}", "3"]).scorer, kind_of(["Paris"]).scorer
('numeric', 'math', 'exact_match')

The choices of multiple-choice questions in plain data, and which of them is the answer.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from types import MappingProxyType
from typing import Any

from passband.errors import InvalidInput
from passband.files import matching, normalized
from passband.score import find_boxed, read_number
from passband.tasks.guess.columns import DataField, expression_of, is_absent

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


Row = Mapping[str, Any]

NAMES = ("choices", "options", "candidates", "endings", "answer_choices", "multiple_choices")
_LETTERS = string.ascii_uppercase
_WRONG = ("incorrectanswer", "wronganswer", "distractor")
_LETTERED = re.compile(r"(?:option|choice|answer|op)[\s_-]*([A-Ja-j]|[1-9])|([A-J])")
_LETTER_plain_data_choices = re.compile(r"[(\[]?([A-Z])[)\]]?[.:]?")


@dataclass(frozen=True)
class Choices:
    """The choices of every row: how a task names them, how a prompt shows them."""

    setting: str  # doc_to_choice
    expression: str  # that gives their list in a template
    lines: str  # of a template: each choice with its letter
    texts: Sequence[Sequence[Any]]  # of each row
    columns: tuple[str, ...]
    labels: DataField | None = None  # names of the choices, where the data have any
    is_shuffled: bool = False  # the right one comes first in the data, and not in the prompt


def find_choices(
    rows: Sequence[Row], fields: Sequence[DataField], question: DataField | None, answer: DataField
) -> Choices | None:
    """Return the choices that rows hold in one column, or in a column each; None if in none.

    Wrong answers beside the right one are choices as well, unless the user has written the prompt,
    which then shows them in some other order, or not at all.
    """
    taken = {answer.name, question.name if question else None}
    by_name = {each.name: each for each in fields if each.is_column and each.name not in taken}
    for name in matching(by_name, NAMES):
        return _of_column(by_name[name], fields)
    lettered = _of_letters(rows, list(by_name))
    wrong = [name for name in by_name if normalized(name).startswith(_WRONG)]
    if lettered is not None or question is None or not wrong or not answer.is_column:
        return lettered
    return _of_wrong_answers(rows, (answer.name, *wrong))


def _of_column(field: DataField, fields: Sequence[DataField]) -> Choices:
    """Return the choices of a column: a list, or texts and labels as in ARC."""
    by_name = {each.name: each for each in fields}
    texts, labels = (by_name.get(f"{field.name}.{part}") for part in ("text", "label"))
    listed = field if texts is None else texts
    for number, value in enumerate(listed.values, start=1):
        if not isinstance(value, list) or not value:
            got = "nothing" if is_absent(value) else f"{value!r:.60}"
            raise InvalidInput(
                f"column {field.name} must hold a list of choices; row {number} has {got}. Choices "
                "that are part of the question need no column: write the prompt with --prompt."
            )
    lines = _loop_over(listed.expression)
    return Choices(listed.setting, listed.expression, lines, listed.values, (field.name,), labels)


def _loop_over(expression: str) -> str:
    letter = f'"{_LETTERS}"[loop.index0]'
    return f"{{% for choice in {expression} %}}{{{{ {letter} }}}}. {{{{ choice }}}}\n{{% endfor %}}"


def _of_wrong_answers(rows: Sequence[Row], columns: tuple[str, ...]) -> Choices:
    """Return the choices of a right answer and wrong ones, as in GPQA; they have to be shuffled."""
    _require_full(rows, columns)
    nested = next((n for n in columns if any(isinstance(row[n], list | dict) for row in rows)), "")
    if nested:
        raise InvalidInput(
            f"column {nested} holds lists of choices beside {columns[0]}, and one list of all is "
            "needed: add a column choices to the data, or leave the choices out of the prompt "
            "with --prompt."
        )
    every = f"[{', '.join(map(expression_of, columns))}]"
    texts = [[row.get(name) for name in columns] for row in rows]
    lines = _loop_over("choices")  # in the order in which they are shown
    return Choices(f"{{{{ {every} }}}}", every, lines, texts, columns, is_shuffled=True)


def _of_letters(rows: Sequence[Row], names: Sequence[str]) -> Choices | None:
    """Return choices that have a column each: A, B, C; option_1, option_2; Choice A, ..."""
    lettered: dict[str, str] = {}  # column by letter
    for name in names:
        if match := _LETTERED.fullmatch(name):
            mark = match[1] or match[2]
            letter = _LETTERS[int(mark) - 1] if mark.isdecimal() else mark.upper()
            lettered.setdefault(letter, name)
    columns = []
    for letter in _LETTERS:
        if letter not in lettered:
            break
        columns.append(lettered[letter])
    if len(columns) < 2:
        return None
    _require_full(rows, columns)
    expressions = [expression_of(name) for name in columns]
    lines = "".join(
        f"{letter}. {{{{ {expression} }}}}\n"
        for letter, expression in zip(_LETTERS, expressions, strict=False)
    )
    texts = [[row.get(name) for name in columns] for row in rows]
    every = f"[{', '.join(expressions)}]"
    return Choices(f"{{{{ {every} }}}}", every, lines, texts, tuple(columns))


def _require_full(rows: Sequence[Row], columns: Sequence[str]) -> None:
    for number, row in enumerate(rows, start=1):
        empty = next((name for name in columns if is_absent(row.get(name))), None)
        if empty is not None:
            raise InvalidInput(
                f"columns {', '.join(columns)} look like choices, but {empty} is empty in row "
                f"{number}. Put the choices into one column that holds a list."
            )


# -- the answer ----------------------------------------------------------------------------


def target_of(answer: DataField, choices: Choices, *, is_template: bool = False) -> str | int:
    """Return doc_to_target of answers that are labels, letters, texts or positions of choices.

    A position is a number from 0 in a task. Where the data do not show what a number means, the
    user is asked; a template that was given (`is_template`) is taken by its word.
    """
    if choices.is_shuffled:
        return 0
    pairs = [
        (_plain(value), texts) for value, texts in zip(answer.values, choices.texts, strict=True)
    ]
    if is_template and all(_is_position(value, texts, 0) for value, texts in pairs):
        return answer.setting
    if choices.labels is not None and all(
        value in map(str, labels)
        for (value, _), labels in zip(pairs, choices.labels.values, strict=True)
    ):
        return f"{{{{ {choices.labels.expression}.index({answer.expression}) }}}}"
    if all(_is_letter(value, texts) for value, texts in pairs):
        is_bare = all(len(value) == 1 for value, _ in pairs)
        letter = answer.expression if is_bare else f'{answer.expression}.strip("()[].: ")'
        return f'{{{{ "{_LETTERS}".index({letter}) }}}}'
    return _of_texts_or_positions(answer, choices, pairs)


def _of_texts_or_positions(
    answer: DataField, choices: Choices, pairs: list[tuple[str, Sequence[Any]]]
) -> str:
    are_texts = all(value in map(str, texts) for value, texts in pairs)
    from_0, from_1 = (all(_is_position(v, texts, first) for v, texts in pairs) for first in (0, 1))
    has_numbers = any(value.isdecimal() for value, _ in pairs)
    if are_texts and not has_numbers:
        return answer.setting
    if are_texts + from_0 + from_1 == 1:
        if from_0:
            return answer.setting
        if from_1:
            return f"{{{{ ({answer.expression} | int) - 1 }}}}"
        return _position_of_text(answer, choices)
    if are_texts or from_0 or from_1:
        raise InvalidInput(
            f"column {answer.name} holds numbers, such as {pairs[0][0]}, and the rows do not show "
            "whether they are choices, or positions of choices from 0 or from 1. For positions "
            f"give --answer '{{{{ {answer.expression} }}}}' if the first is 0, or --answer "
            f"'{{{{ {answer.expression} - 1 }}}}'."
        )
    strange = [(row, pair) for row, pair in enumerate(pairs, start=1) if not _is_any(*pair)]
    if not strange:
        raise InvalidInput(
            f"column {answer.name} names choices in several ways, such as {pairs[0][0][:40]!r} and "
            f"{pairs[-1][0][:40]!r}; name all by their letter, their text or their position."
        )
    number, (value, texts) = strange[0]
    known = json.dumps([str(text)[:40] for text in texts[:6]], ensure_ascii=False)
    raise InvalidInput(
        f"column {answer.name} of row {number} is {value[:60]!r}, which is neither one of the "
        f"choices {known} nor a letter or a position of one."
    )


def _position_of_text(answer: DataField, choices: Choices) -> str:
    """Return the template of a number's place among choices that are numbers themselves."""
    are_texts = all(isinstance(text, str) for texts in choices.texts for text in texts)
    is_text = all(isinstance(value, str) for value in answer.values)
    value = answer.expression if is_text or not are_texts else f"({answer.expression} | string)"
    return f"{{{{ {choices.expression}.index({value}) }}}}"


def _plain(value: Any) -> str:
    """Return an answer as text; a position that was read as 2.0 is 2."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value).strip()


def _is_letter(value: str, texts: Sequence[Any]) -> bool:
    match = _LETTER_plain_data_choices.fullmatch(value)
    return match is not None and _LETTERS.index(match[1]) < len(texts)


def _is_position(value: str, texts: Sequence[Any], first: int) -> bool:
    return value.isdecimal() and first <= int(value) < first + len(texts)


def _is_any(value: str, texts: Sequence[Any]) -> bool:
    is_position = _is_position(value, texts, 0) or _is_position(value, texts, 1)
    return value in map(str, texts) or _is_letter(value, texts) or is_position
