"""The characters that `tiny` reads and writes, its context length, and a completion to sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draw:
    """Everything that a completion depends on; nothing about its neighbours is part of it."""

    prompt: str
    seed: int
    temperature: float  # 0 always takes the likeliest token
    top_p: float
    length: int  # tokens at most, the one that ends the text included


VOCABULARY = "\n0123456789+-*="
END = 0  # the token that ends a text: a newline, which no prompt may contain
CONTEXT = 32  # characters of prompt and completion together


def encode(text: str) -> list[int]:
    """Return the token of each character.

    >>> encode("2*3=")
    [3, 13, 4, 14]
    """
    return [VOCABULARY.index(character) for character in text]


def decode(tokens: Iterable[int]) -> str:
    """Return the text of tokens, up to and with the first that ends it.

    >>> decode([7, 0, 0, 0])
    '6\\n'
    """
    text = "".join(VOCABULARY[token] for token in tokens)
    return text[: text.find(VOCABULARY[END]) + 1] or text
