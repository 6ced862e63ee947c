"""One completion to be sampled by `tiny`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draw:
    """Everything that a completion depends on; nothing about its neighbours is part of it."""

    prompt: str
    seed: int
    temperature: float  # 0 always takes the likeliest token
    top_p: float
    length: int  # tokens at most, the one that ends the text included
