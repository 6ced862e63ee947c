r"""Find an answer by its typography: a box, a marker, the last number, the whole text.

Each returns None where it does not apply, so that the next one is tried. One that applies but finds
a broken answer, such as a box cut off by the token limit, says so: an earlier, superseded answer
must not win.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import NamedTuple


class Extracted(NamedTuple):
    """An extracted answer, None for no answer, and the rule that found it."""

    answer: str | None
    rule: str | None


Rule = Callable[[str], Extracted | None]  # None: the rule does not apply, so the next one is tried


# -- boxed ---------------------------------------------------------------------------------

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped character is one piece and no brace
_WORD = re.compile(r"[^\s$]*")


def find_boxed(text: str) -> Extracted | None:
    r"""Return the content of the last ``\boxed`` or ``\fbox`` that is not empty.

    >>> find_boxed(r"\boxed{\{1, \frac{1}{2}\}}").answer
    '\\{1, \\frac{1}{2}\\}'
    >>> find_boxed(r"$\boxed 5$").answer
    '5'
    """
    if "box" not in text:
        return None
    for box in reversed(list(_BOX.finditer(text))):
        start = box.end()
        if not text.startswith("{", start):
            word = _WORD.match(text, start)
            content = word.group().rstrip(".,;:!?") if word else ""
        else:
            end = _closing_brace(text, start)
            if end is None:
                return Extracted(None, "boxed-unclosed")
            content = text[start + 1 : end]
        if answer := _peel(content):
            return Extracted(answer, "boxed")
        # An empty box is part of an instruction: "put the answer in \boxed{}".
    return None


def _closing_brace(text: str, opening: int) -> int | None:
    """Return the position that closes the brace opened at a position, counting inner braces."""
    depth = 0
    for piece in _BRACE.finditer(text, opening):
        mark = piece.group()
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return piece.start()
    return None


_WRAPS = (("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ("*", "*"))
_TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s*(?=\{)")
_PEELS = 4  # deeper nesting is not typography; a fixed number keeps the work linear


def _peel(answer: str) -> str:
    r"""Return an answer without the typography around the whole of it.

    >>> _peel(r" $\text{Paris}$ "), _peel("**(B)**"), _peel("$$5$$"), _peel(r"\text{a} + \text{b}")
    ('Paris', '(B)', '5', '\\text{a} + \\text{b}')
    """
    if (bare := answer.strip()).isalnum():  # the usual case, and nothing to take off
        return bare
    for _ in range(_PEELS):
        before = answer = answer.strip()
        for left, right in _WRAPS:
            inner = answer[len(left) : len(answer) - len(right)]
            wrapped = answer.startswith(left) and answer.endswith(right)
            if wrapped and len(answer) > len(left) + len(right) and left not in inner.strip(left):
                answer = inner
        text = _TEXT.match(answer)
        if text and _closing_brace(answer, text.end()) == len(answer) - 1:
            answer = answer[text.end() + 1 : -1]
        if answer == before:
            break
    return answer.strip()


# -- marker --------------------------------------------------------------------------------

# Spelt out instead of IGNORECASE, and one set of first letters, so that the engine can skip ahead.
_MARKER = re.compile(
    r"[Aa#](?:(?<![A-Za-z].)[Nn][Ss][Ww][Ee][Rr](?:[*_ ]{0,4}(:|[Ii][Ss]\b)|\*\*(?= ?\n))|###)"
    r":?[*_]{0,3}\s{0,8}"
)
_SENTENCE_END = re.compile(r"[.!]\**\s+(?=[A-Z])")


def find_marked(text: str) -> Extracted | None:
    r"""Return the text after the last marker, up to the end of the line.

    Markers are "Answer:", "Final Answer:", "the answer is", "the final answer is" in any case,
    "####", and "**Final Answer**" on a line of its own. After "is" the answer also ends with the
    sentence.

    >>> find_marked("Therefore, the answer is **12**. I checked it.\nBye.").answer
    '12'
    >>> find_marked("2 * 9 = 18\n#### 18").answer
    '18'
    """
    last = last_match(_MARKER, text)
    if last is None:
        return None
    end = text.find("\n", last.end())
    answer = text[last.end() : end if end >= 0 else len(text)]
    boxed = find_boxed(answer)
    if boxed is not None:
        return boxed if boxed.answer is None else Extracted(boxed.answer, "marker")
    if (last.group(1) or "").lower() == "is":
        answer = _SENTENCE_END.split(answer, maxsplit=1)[0]
    answer = _peel(_without_stop(answer.strip()))
    if answer.count("**") % 2:  # opened before the marker
        answer = answer.removesuffix("**")
    answer = _peel(_without_stop(answer))
    # Truncated right after the marker: the text before it is not the answer.
    return Extracted(answer, "marker") if answer.strip("*_") else Extracted(None, "marker-empty")


def _without_stop(answer: str) -> str:
    """Return an answer without the full stop of its sentence; an ellipsis as in 0.333... stays."""
    return answer if answer.endswith("..") else answer.removesuffix(".")


# -- last number ---------------------------------------------------------------------------

_MINUS = "-\u2212\u2013\ufe63\uff0d"  # hyphen, minus, en dash, small and full-width hyphen
_NUMBER = re.compile(
    rf"""
    (?<![A-Za-z0-9_^]) (?<![0-9]\.)            # not within a word, an index or a longer number
    (?P<sign> (?<![0-9A-Za-z)\]}}{_MINUS}]) [{_MINUS}] )?   # in "3-4" the dash is no sign
    (?:
      \\[dt]?frac\s?\{{\s?(?P<top>[0-9]+)\s?\}}\s?\{{\s?(?P<bottom>[0-9]+)\s?\}}
    | (?P<plain>
        (?: [0-9]{{1,3}}(?:\{{?,\}}?[0-9]{{3}}(?![0-9]))+ | [0-9]+ )
        (?: \.[0-9]+ )?
      | \.[0-9]+
      )
      (?P<exponent> [eE][+{_MINUS}]?[0-9]+(?![0-9A-Za-z]) )?
      (?P<over> /[0-9]+(?![0-9/]) )?
    )
    """,
    re.VERBOSE,
)
_TO_HYPHEN = str.maketrans(dict.fromkeys(_MINUS, "-"))
_NO_COMMAS = str.maketrans("", "", "{,}")


def find_last_number(text: str) -> Extracted | None:
    r"""Return the last number of a text, without thousands separators and with a plain minus.

    Only for tasks whose answers are numbers: the last number of a text is often a year, a page or
    the number of a step.

    >>> [find_last_number(t).answer for t in ("-5", "3-4", "it is \u22127", "1,234.50", "2e-3 m")]
    ['-5', '4', '-7', '1234.50', '2e-3']
    >>> [find_last_number(t).answer for t in ("x = 3/4", r"-\frac{3}{4}", "x2 is 8")]
    ['3/4', '-3/4', '8']
    """
    last = last_match(_NUMBER, text)
    if last is None:
        return None
    sign = "-" if last["sign"] else ""
    if last["top"]:
        return Extracted(f"{sign}{last['top']}/{last['bottom']}", "last_number")
    exponent = (last["exponent"] or "").translate(_TO_HYPHEN)
    plain = last["plain"].translate(_NO_COMMAS)
    return Extracted(f"{sign}{plain}{exponent}{last['over'] or ''}", "last_number")


# -- the whole text ------------------------------------------------------------------------


def find_whole(text: str) -> Extracted | None:
    """Return the whole text without the typography around it; the last rule of a list.

    >>> find_whole(" **Paris**\\n").answer
    'Paris'
    """
    answer = _peel(text.strip().removesuffix("."))
    return Extracted(answer, "whole") if answer else None


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a pattern in a text, or None."""
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)
