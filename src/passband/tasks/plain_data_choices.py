"""The choices of multiple-choice questions in plain data, and which of them is the answer."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.column_names import matching, normalized
from passband.errors import InvalidInput
from passband.tasks.plain_data_fields import Field, expression_of, is_absent

__all__ = ["Choices", "find_choices", "target_of"]

Row = Mapping[str, Any]

NAMES = ("choices", "options", "candidates", "endings", "answer_choices", "multiple_choices")
_LETTERS = string.ascii_uppercase
_WRONG = ("incorrectanswer", "wronganswer", "distractor")
_LETTERED = re.compile(r"(?:option|choice|answer|op)[\s_-]*([A-Ja-j]|[1-9])|([A-J])")
_LETTER = re.compile(r"[(\[]?([A-Z])[)\]]?[.:]?")


@dataclass(frozen=True)
class Choices:
    """The choices of every row: how a task names them, how a prompt shows them."""

    setting: str  # doc_to_choice
    expression: str  # that gives their list in a template
    lines: str  # of a template: each choice with its letter
    texts: Sequence[Sequence[Any]]  # of each row
    columns: tuple[str, ...]
    labels: Field | None = None  # names of the choices, where the data have any
    is_shuffled: bool = False  # the right one comes first in the data, and not in the prompt


def find_choices(
    rows: Sequence[Row], fields: Sequence[Field], question: Field | None, answer: Field
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


def _of_column(field: Field, fields: Sequence[Field]) -> Choices:
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


def target_of(answer: Field, choices: Choices, *, is_template: bool = False) -> str | int:
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
    answer: Field, choices: Choices, pairs: list[tuple[str, Sequence[Any]]]
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


def _position_of_text(answer: Field, choices: Choices) -> str:
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
    match = _LETTER.fullmatch(value)
    return match is not None and _LETTERS.index(match[1]) < len(texts)


def _is_position(value: str, texts: Sequence[Any], first: int) -> bool:
    return value.isdecimal() and first <= int(value) < first + len(texts)


def _is_any(value: str, texts: Sequence[Any]) -> bool:
    is_position = _is_position(value, texts, 0) or _is_position(value, texts, 1)
    return value in map(str, texts) or _is_letter(value, texts) or is_position
