"""Rubrics: the template of a judge's prompt, the words of its verdict and their values."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from passband.errors import InvalidInput, nearest

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


Form = Literal["pointwise", "pairwise"]
ANSWERS: dict[Form, tuple[str, ...]] = {
    "pointwise": ("answer",),
    "pairwise": ("answer_a", "answer_b"),
}
"""The variables of a template for the judged texts; each occurs exactly once."""

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_.\- ]*?)\s*\}\}")
_TEMPLATING = re.compile(r"\{%|\{#|\{\{")
_RANGE = re.compile(r"\s*(-?\d{1,3})\s*(?:-|to|\.\.)\s*(-?\d{1,3})\s*")
_KEYS = ("template", "form", "scale", "system", "against")
_WORD = re.compile(r"[^\W_][\w+\- ]{0,30}")
_PAIR = {"A": 1.0, "B": 0.0, "TIE": 0.5}
_PASS = {"PASS": 1.0, "FAIL": 0.0}
_MOST_STEPS = 101


@dataclass(frozen=True)
class Rubric:
    """A template with its variables, the form of the comparison and the scale of the verdict."""

    template: str
    form: Form = "pointwise"
    scale: Mapping[str, float] = field(default_factory=lambda: _PASS)  # 0..1 by word
    system: str | None = None
    against: str = "reference"  # pairwise: the reference, "run", or a column of the data

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names in the template, in order, each once."""
        return tuple(dict.fromkeys(_VARIABLE.findall(self.template)))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a verdict may be."""
        return tuple(self.scale)

    @cached_property
    def digest(self) -> str:
        """A hash of all that it says."""
        text = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def as_json(self) -> dict[str, object]:
        """Return it as plain values, from which `read_rubric` makes the same again."""
        scale = {} if self.form == "pairwise" else {"scale": dict(self.scale)}
        system = {} if self.system is None else {"system": self.system}
        against = {"against": self.against} if self.form == "pairwise" else {}
        return {"template": self.template, "form": self.form, **scale, **system, **against}

    def fill(self, values: Mapping[str, str]) -> str:
        """Fill in the template, in one pass: a `{{ name }}` within a value is plain text."""
        return _VARIABLE.sub(lambda match: values[match[1]], self.template)


def read_rubric(value: object) -> Rubric:
    """Return a rubric from plain values, all checked; None is the default rubric.

    A text is a template. A mapping has `template`, and may have `form` (pointwise or pairwise),
    `scale` (a range such as 1-5, a list of words from worst to best, or values by word), `system`,
    and `against` for pairs.

    >>> read_rubric({"template": "Rate {{ answer }}", "scale": "1-5"}).scale["4"]
    0.75
    """
    if value is None:
        return Rubric(CORRECT)
    if isinstance(value, str):
        value = {"template": value}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"a rubric is a text or has the keys {_list(_KEYS)}; got {value!r:.60}.")
    for key in value:
        if key not in _KEYS:
            hint = nearest(str(key), _KEYS) or f" Known: {_list(_KEYS)}."
            raise InvalidInput(f"a rubric has no key {key!r}.{hint}")
    form = value.get("form", "pointwise")
    if not isinstance(form, str) or form not in ANSWERS:
        raise InvalidInput(f"form of a rubric is pointwise or pairwise; got {form!r:.60}.")
    rubric = Rubric(
        _text(value, "template", PREFER if form == "pairwise" else CORRECT) or "",
        form,
        _scale(form, value.get("scale")),
        _text(value, "system", None),
        _against(form, value.get("against")),
    )
    _check_template(rubric)
    return rubric


def _text(value: Mapping[str, object], key: str, default: str | None) -> str | None:
    text = value.get(key, default)
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise InvalidInput(f"{key} of a rubric is a text; got {text!r:.60}.")
    return text


def _check_template(rubric: Rubric) -> None:
    """Refuse a template without the answer, with it twice, or with more than variables."""
    rest = _VARIABLE.sub("", rubric.template)
    if mark := _TEMPLATING.search(rest):
        around = rest[mark.start() : mark.start() + 30]
        raise InvalidInput(
            f"the template of a rubric has variables such as {{{{ answer }}}} and nothing else in "
            f"such brackets; got {around!r}."
        )
    for name in ANSWERS[rubric.form]:
        number = _VARIABLE.findall(rubric.template).count(name)
        if number != 1:
            raise InvalidInput(
                f"the template of a {rubric.form} rubric has {{{{ {name} }}}} exactly once; got it "
                f"{number} times."
            )
    foreign = [n for f, names in ANSWERS.items() if f != rubric.form for n in names]
    if wrong := next((name for name in foreign if name in rubric.variables), None):
        raise InvalidInput(
            f"{{{{ {wrong} }}}} does not belong in a {rubric.form} rubric, whose judged text is "
            f"{_list(ANSWERS[rubric.form])}."
        )


def _against(form: Form, value: object) -> str:
    if value is not None and form != "pairwise":
        raise InvalidInput("against is for pairwise rubrics (form: pairwise).")
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise InvalidInput(f"against is reference, run or a column of the data; got {value!r:.60}.")
    return value or "reference"


# -- scales --------------------------------------------------------------------------------


def _scale(form: Form, value: object) -> Mapping[str, float]:
    if form == "pairwise":
        if value is not None:
            raise InvalidInput("a pairwise rubric has no scale: its verdicts are A, B and TIE.")
        return _PAIR
    if value is None:
        return _PASS
    if isinstance(value, str) and (match := _RANGE.fullmatch(value)):
        low, high = int(match[1]), int(match[2])
        return _steps([str(number) for number in range(low, min(high, low + _MOST_STEPS) + 1)])
    if isinstance(value, list):
        if any(isinstance(word, bool) for word in value):
            raise InvalidInput('yes and no are truth values in YAML; write "yes" and "no".')
        return _steps([str(word) for word in value])
    if isinstance(value, Mapping):
        return _checked({str(word): number for word, number in value.items()})
    raise InvalidInput(
        f"scale is a range such as 1-5, words from worst to best, or values by word; got "
        f"{value!r:.60}."
    )


def _steps(words: list[str]) -> Mapping[str, float]:
    """Return equal steps from 0 to 1."""
    return _checked({word: step / max(1, len(words) - 1) for step, word in enumerate(words)})


def _checked(scale: Mapping[str, object]) -> Mapping[str, float]:
    if not 2 <= len(scale) <= _MOST_STEPS:
        raise InvalidInput(f"a scale has 2 to {_MOST_STEPS} words; got {len(scale)}.")
    values: dict[str, float] = {}
    for word, number in scale.items():
        if not (_WORD.fullmatch(word) or re.fullmatch(r"-?\d{1,4}(\.\d{1,3})?", word)):
            raise InvalidInput(f"a word of the scale is letters or a number; got {word!r:.60}.")
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number <= 1:
            raise InvalidInput(f"{word!r} of the scale is worth 0 to 1; got {number!r:.60}.")
        values[" ".join(word.split())] = float(number)
    if len({" ".join(_folded(word).split()) for word in scale}) < len(scale):
        raise InvalidInput(f"words of the scale differ by more than case: {_list(scale)}.")
    if len(set(values.values())) == 1:
        raise InvalidInput("the words of a scale are all worth the same.")
    return values


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def _list(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))
