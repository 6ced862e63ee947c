r"""Find the letter of the choice that an answer picks, and no letter of mere prose: rule `letter`.

In order: the last box; the last statement such as "the answer is B" or "B is correct", or a last
line that is a letter and nothing else, whichever comes later ("Answer: B" on a line of its own
holds whatever is said of other choices after it); a cue in the last line ("I think B",
"(B) 20 m"); a first line that is a letter. "A dog", "I think so" and "vitamin A" pick nothing, and
neither do a list of all choices and two letters at once.

>>> [find_letter(text).answer for text in ("B", "**Answer:** (B) 20 m.", "I think B")]
['B', 'B', 'B']
>>> find_letter("A dog is what I think it is.") is None
True
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from passband.score.extract.rules import Extracted, find_boxed

LETTERS = string.ascii_uppercase[:10]  # where the choices are not known

_OF_TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s?\{([^{}]{0,500})\}")
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_MARKUP = re.compile(r"[*`$_]|\\[()\[\]]|^[ \t]{0,8}[#>]{1,6}", re.MULTILINE)
_TOKEN = re.compile(r"([(\[{\"'“‘]{0,2})([A-Z])([)\]}\"'”’]{0,2})(?![A-Za-z0-9'’])")
_WHOLE = re.compile(r"\W{0,4}(?:(?i:option|choice|answer)[: ]{1,2})?\W{0,2}\b([A-Za-z])\b\W{0,4}")
_END = re.compile(
    r"\s*$|[.,;:!?)\]]{1,3}(?=\s|$)|\s{0,2}(?:because|since)\b|\s[-–—]\s|"
    r"\s\((?!(?:or|and|also)\b)"
)
_ANOTHER = re.compile(
    r"\s{0,3}(?:,|/|&|and\b|or\b|,\s?and\b|,\s?or\b)\s{0,3}[(\[]?[A-Z](?![A-Za-z'’])"
)
_NOT = re.compile(r"(?:not|n't|neither|none|never)\b", re.IGNORECASE)
_STATED = re.compile(
    r"\b(?:answer|ans|option|choice|solution)\b"
    r"(?:\s(?:to|for|of)\s(?:this|the)(?:\s[a-z]{1,20}){1,3})?"
    r"(?:\s{0,3}(?::|=|(?:is|would be|must be|should be|will be)\b)|(?<=swer)[ \t]{0,4}(?=\n))"
    r"[:\s]{0,8}"
    r"(?:(?:therefore|thus|hence|then|clearly|most likely|likely|probably|definitely|indeed),?\s)?"
    r"(?:(?:option|choice|answer|letter)\s)?",
    re.IGNORECASE,
)
_AFFIRMED = re.compile(
    r"(?P<before>[A-Za-z']{0,12}\s)?(?:(?:option|choice|answer)\s)?(?<![A-Za-z0-9'])"
    r"(?P<token>[(\[\"'“]{0,2}[A-Z][)\]\"'”]{0,2})\s"
    r"(?:is|must be|seems|appears to be|should be)\s"
    r"(?:the\s)?(?:only\s|most\s)?(?:(?:correct|right|best)\b|answer\b)"
    r"(?!(?:\s(?:answer|choice|option))?,?\s(?:only|if|when|unless)\b)",  # not of this question
    re.IGNORECASE,
)
_UNSURE = {"if", "whether", "suppose", "assume", "unless", "neither", "nor", "say", "why", "not"}
_CUE = re.compile(
    r"(?:\b(?:I|we)(?:['’](?:d|ll)|\swould|\swill)?\s(?:think|believe|choose|chose|pick|picked|"
    r"select|selected|say|guess|go with|went with|go for|vote for)|^\W{0,2}(?:choose|pick|select)|"
    r"\b(?:so|thus|therefore|hence)\b,?|\b(?:it is|it['’]s|must be|should be)|\bcorrect:)\s"
    r"(?:(?:that\s)?it(?:['’]s|\sis)\s)?(?:the\s)?(?:option\s|choice\s|answer\s|letter\s)?",
    re.IGNORECASE,
)
_FRONT = re.compile(r"\W{0,2}(?:\(([A-Z])\)|([A-Z])[).:])\s+\S")


class _Statement(NamedTuple):
    """A statement of the answer in a text, with its letter, if there is one."""

    position: int
    letter: str | None
    is_marked: bool = False  # "Answer: B" on a line of its own, which later remarks leave as it is


def find_letter(text: str, choices: Sequence[str] = ()) -> Extracted | None:
    """Return the letter of the choice that a text picks; None if it picks none by a letter.

    Letters are A to J, or as many as there are choices.
    """
    boxed = find_boxed(text)
    if boxed is not None and boxed.answer is None:
        return boxed
    letter = _Reader(choices).letter(text) if boxed is None else _in_box(boxed.answer, choices)
    return (
        letter if letter is None or isinstance(letter, Extracted) else Extracted(letter, "letter")
    )


def _in_box(answer: str | None, choices: Sequence[str]) -> str | None:
    reader, content = _Reader(choices), _plain(answer or "").strip()
    return reader.whole(content) or reader.at(content)


def _plain(text: str) -> str:
    """Return a text without the marks of Markdown and of mathematics, and tags as lines."""
    untagged = _TAG.sub(lambda tag: "\n" if tag[1] else "\nAnswer: ", text)
    return _MARKUP.sub("", _OF_TEXT.sub(r"\1", untagged))


class _Reader:
    """Reads letters of as many choices as there are."""

    def __init__(self, choices: Sequence[str]) -> None:
        self._choices = [_folded(choice) for choice in choices]
        self._letters = string.ascii_uppercase[: len(choices)] or LETTERS

    def letter(self, text: str) -> Extracted | str | None:
        plain = _plain(text).strip()
        lines = [line.strip() for line in plain.split("\n") if line.strip()]
        if not lines:
            return None
        last = _Statement(plain.rfind(lines[-1]), self.whole(lines[-1], alone=len(lines) == 1))
        stated = self._stated(plain)
        if last.letter and (stated is None or last.position >= stated.position):
            return last.letter
        if stated is not None:
            is_cut = stated.letter is None and stated.position >= len(plain)
            return Extracted(None, "marker-empty") if is_cut else stated.letter
        return self._cued(lines[-1]) or self._in_front(lines, -1) or self._first(lines)

    def whole(self, line: str, *, alone: bool = True) -> str | None:
        """Return the letter of a line with nothing else; a lower-case one only if `alone`."""
        match = _WHOLE.fullmatch(line)
        if match is None or not (alone or match[1].isupper()):
            return None
        return self._known(match[1].upper())

    def at(self, content: str) -> str | None:
        """Return the letter that a text begins with, if it is set off from the rest."""
        token = _TOKEN.match(content)
        if token is None or self._known(token[2]) is None:
            return None
        rest = content[token.end() : token.end() + 500].partition("\n")[0]
        if _ANOTHER.match(rest) or self._is_text(content):
            return None
        is_set_off = bool(token[3]) or _END.match(rest) is not None
        return token[2] if is_set_off or self._is_choice(token[2], rest) else None

    # -- places ----------------------------------------------------------------------------

    def _stated(self, plain: str) -> _Statement | None:
        """Return the last statement that is not a negation."""
        statements = sorted(self._statements(plain), key=lambda statement: statement.position)
        marked = [statement for statement in statements if statement.is_marked]
        return next(reversed(marked or statements), None)

    def _statements(self, plain: str) -> Iterator[_Statement]:
        for match in _STATED.finditer(plain):
            content = plain[match.end() : match.end() + 600]
            if not _NOT.match(content):
                line = content.partition("\n")[0].strip()
                is_marker = match[0].rstrip().endswith((":", "="))
                letter = (self.whole(line) if is_marker else self._lone(line)) or self.at(content)
                is_marked = is_marker and letter is not None and _is_line(plain, match.start())
                yield _Statement(match.end(), letter, is_marked)
        for match in _AFFIRMED.finditer(plain):
            letter = (
                self.at(f"{match['token']}.") if match["token"].upper() == match["token"] else None
            )
            is_sure = (match["before"] or "").strip().lower() not in _UNSURE
            if letter and is_sure:
                yield _Statement(match.start("token"), letter)

    def _lone(self, line: str) -> str | None:
        """Return the letter of a line that is nothing else; "a" and "i" only in brackets."""
        letter = self.whole(line)
        return None if line.rstrip(".") in ("a", "i") else letter

    def _cued(self, line: str) -> str | None:
        for match in _CUE.finditer(line):
            if letter := self.at(line[match.end() :]):
                return letter
        return None

    def _in_front(self, lines: Sequence[str], index: int) -> str | None:
        """Return the letter in front of a line, as in "(B) 20 m", unless it is one of a list."""
        match = _FRONT.match(lines[index])
        around = lines[-2:-1] if index == -1 else lines[1:2]
        if match is None or any(_FRONT.match(line) for line in around):
            return None
        letter, rest = match[1] or match[2], lines[index][match.end() - 1 :]
        is_dotted = lines[index][match.end(2) : match.end(2) + 1] == "." if match[2] else False
        if self._choices:
            return letter if self._is_choice(letter, rest) else None
        # "A. Smith" and "E. coli" begin sentences.
        return self._known(letter) if len(lines) == 1 or not is_dotted else None

    def _first(self, lines: Sequence[str]) -> str | None:
        return self.whole(lines[0], alone=False) or self._in_front(lines, 0)

    # -- choices ---------------------------------------------------------------------------

    def _known(self, letter: str) -> str | None:
        return letter if letter in self._letters else None

    def _is_choice(self, letter: str, text: str) -> bool:
        """Return whether a text begins with the choice of a letter, or is its beginning."""
        index, words = self._letters.find(letter), _folded(text)
        if not self._choices or index < 0 or not words:
            return False
        choice = self._choices[index]
        return bool(choice) and (words.startswith(choice) or choice.startswith(words))

    def _is_text(self, content: str) -> bool:
        """Return whether a line is the text of a choice that happens to begin with a letter."""
        line = _folded(content.partition("\n")[0])
        return len(line) > 1 and line in self._choices


def _is_line(plain: str, position: int) -> bool:
    """Return whether the line up to a position is at most "My final" or "The correct"."""
    before = plain[max(0, position - 40) : position].rpartition("\n")[2]
    return re.fullmatch(r"\W{0,3}(?:(?:[A-Za-z]{1,8})\s){0,2}", before) is not None


def _folded(text: str) -> str:
    return " ".join(_plain(text).casefold().split()).strip(".:)( ")
