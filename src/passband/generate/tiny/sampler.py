"""Sample many completions at once, each the same as if it had been alone.

A generator that is shared by a batch would tie each completion to its neighbours. Here every
completion has a stream of its own, which depends on its seed and its prompt alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from passband.generate.tiny.model import Cache, Model, steady
from passband.generate.tiny.vocabulary import END, Draw, decode, encode
from passband.types import Bools, Floats, Ints


def uniforms(seed: int, prompt: str, count: int) -> Floats:
    """Return the first numbers of a stream in [0, 1): 53 bits from every 8 bytes of SHAKE-256.

    >>> uniforms(0, "2*3=", 2).tolist() == uniforms(0, "2*3=", 9)[:2].tolist()
    True
    """
    stream = hashlib.shake_256(f"{seed}|{prompt}".encode()).digest(8 * count)
    integers = np.frombuffer(stream, dtype=">u8") >> np.uint64(11)
    return integers.astype(np.float64) * 2.0**-53


_COLDEST = 1e-9  # logits differ by 1e-6 or not at all: colder than this changes nothing
_SLACK = 1e-9  # rounding must not keep a token beyond those that reach top_p exactly
_CROWDED = 0.75  # rows are thinned out when a smaller share of them is still being written


def sample(model: Model, draws: Sequence[Draw]) -> list[str]:
    """Return a text for each draw; their prompts must be of one length.

    A text ends in a newline, unless its draw's length was reached before.
    """
    limits = np.array([draw.length for draw in draws])
    written = np.full((len(draws), limits.max()), END)
    luck = np.array([uniforms(draw.seed, draw.prompt, limits.max()) for draw in draws])
    temperature = np.array([draw.temperature for draw in draws])
    top_p = np.array([draw.top_p for draw in draws])

    logits, cache = _read_prompts(model, draws)
    rows = np.arange(len(draws))  # the draw that each row of the cache belongs to
    for step in range(limits.max()):
        tokens = choose(steady(logits), luck[rows, step], temperature[rows], top_p[rows])
        written[rows, step] = tokens
        unfinished = (written[rows, : step + 1] != END).all(axis=1) & (step + 1 < limits[rows])
        if not unfinished.any():
            break
        if unfinished.mean() < _CROWDED:
            kept = np.flatnonzero(unfinished)
            rows, tokens, cache = rows[kept], tokens[kept], cache.take(kept)
        logits = model.read(tokens[:, None], cache)
    return [decode(row[:limit]) for row, limit in zip(written.tolist(), limits, strict=True)]


def choose(logits: Floats, luck: Floats, temperature: Floats, top_p: Floats) -> Ints:
    """Return one token for each row of logits, by one uniform number each.

    The number is looked up in the running sum of the probabilities, tokens in the order of the
    vocabulary. A temperature of zero takes the first of the likeliest tokens.

    >>> logits = np.log([[0.5, 0.3, 0.2]] * 4)
    >>> choose(logits, np.array([0, 0.49, 0.51, 0.81]), np.ones(4), np.ones(4)).tolist()
    [0, 0, 1, 2]
    """
    likeliest = logits.argmax(axis=1)
    above = logits - logits.max(axis=1, keepdims=True)
    odds = np.exp(above / np.maximum(temperature, _COLDEST)[:, None])
    odds[~_nucleus(odds / odds.sum(axis=1, keepdims=True), top_p)] = 0.0
    running = odds.cumsum(axis=1)
    total = running[:, -1]
    # A number close to 1 may be rounded up to the total, which no token exceeds.
    target = np.minimum(luck * total, np.nextafter(total, 0.0))
    drawn = (running > target[:, None]).argmax(axis=1)
    tokens: Ints = np.where(temperature == 0, likeliest, drawn)
    return tokens


def _nucleus(probability: Floats, top_p: Floats) -> Bools:
    """Return which tokens to keep: the fewest, likeliest first, that together reach top_p."""
    kept = np.ones(probability.shape, dtype=np.bool_)
    cut = np.flatnonzero(top_p < 1)
    if len(cut):
        order = np.argsort(-probability[cut], axis=1, kind="stable")
        ranked = np.take_along_axis(probability[cut], order, axis=1)
        before = ranked.cumsum(axis=1) - ranked
        wanted = before < top_p[cut, None] - _SLACK
        wanted[:, 0] = True
        kept[cut[:, None], order] = wanted
    return kept


def _read_prompts(model: Model, draws: Sequence[Draw]) -> tuple[Floats, Cache]:
    """Return the logits after each draw's prompt, and the cache; a prompt is read only once."""
    distinct = {prompt: row for row, prompt in enumerate(dict.fromkeys(d.prompt for d in draws))}
    cache = model.cache(len(distinct))
    logits = model.read(np.array([encode(prompt) for prompt in distinct]), cache)
    rows = np.array([distinct[draw.prompt] for draw in draws])
    return logits[rows], cache.take(rows)
