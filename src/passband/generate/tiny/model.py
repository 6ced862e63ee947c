"""The transformer itself: tokens in, logits out.

Three layers of width 64 with four heads, no biases, a norm without parameters before every part:

    x += out(attention(norm(x)));  x += down(relu(up(norm(x))))

A row's logits must not depend on how many other rows are computed beside it. BLAS does not
promise that: it sums in another order when a matrix has another shape. So all rows are
multiplied in tiles of one shape, in double precision, and `steady` rounds away the digits that may
still differ from one processor to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np

from passband.generate.tiny.vocabulary import CONTEXT
from passband.types import Floats, Ints

HEADS = 4
TILE = 16  # rows in one call of BLAS; so few that OpenBLAS does not split them among threads
EPSILON = 1e-5
DECIMALS = 6


class Cache:
    """Keys and values of the tokens read so far, for every layer and row."""

    def __init__(self, layers: int, rows: int, width: int) -> None:
        self._both = np.empty((2, layers, rows, HEADS, CONTEXT, width // HEADS))
        self.length = 0

    def take(self, rows: Ints) -> Cache:
        """Return a cache with copies of these rows, in this order; a row may come again."""
        _, layers, _, heads, _, size = self._both.shape
        taken = Cache(layers, len(rows), heads * size)
        taken.length = self.length
        taken._both[..., : self.length, :] = self._both[:, :, rows, :, : self.length]
        return taken

    def add(self, layer: int, both: Floats) -> tuple[Floats, Floats]:
        """Write keys and values of new tokens; return those of all tokens so far."""
        stop = self.length + both.shape[-2]
        self._both[:, layer, :, :, self.length : stop] = both
        keys, values = self._both[:, layer, :, :, :stop]
        return keys, values


@dataclass(frozen=True)
class Model:
    """The weights; the matrices of one kind are stacked over the layers."""

    tokens: Floats
    positions: Floats
    qkv: Floats
    out: Floats
    up: Floats
    down: Floats
    head: Floats

    def cache(self, rows: int) -> Cache:
        """Return an empty cache for `rows` rows."""
        return Cache(len(self.qkv), rows, self.tokens.shape[1])

    def read(self, tokens: Ints, cache: Cache) -> Floats:
        """Read more tokens (rows, count) into the cache; return the logits after the last one."""
        rows, count = tokens.shape
        stop = cache.length + count
        start = self.tokens[tokens] + self.positions[cache.length : stop]
        x = _padded(start.reshape(rows * count, -1))
        for layer in range(len(self.qkv)):
            qkv = _tiled(_norm(x), self.qkv[layer])[: rows * count]
            mixed = _attend(qkv.reshape(rows, count, -1), layer, cache)
            x += _tiled(_padded(mixed), self.out[layer])
            x += _tiled(np.maximum(_tiled(_norm(x), self.up[layer]), 0), self.down[layer])
        cache.length = stop
        last = _padded(x[count - 1 : rows * count : count])
        return _tiled(_norm(last), self.head)[:rows]


@lru_cache(maxsize=1)
def load_model() -> Model:
    """Return the model with the weights that come with the package; they are read once."""
    with (
        resources.files(__package__).joinpath("weights.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        return Model(**{name: arrays[name].astype(np.float64) for name in arrays.files})


def steady(logits: Floats) -> Floats:
    """Return logits without the digits that depend on the processor, and without minus zero.

    >>> steady(np.array([1.00000000001, -0.0000000001])).tolist()
    [1.0, 0.0]
    """
    rounded: Floats = logits.round(DECIMALS) + 0.0
    return rounded


def _attend(qkv: Floats, layer: int, cache: Cache) -> Floats:
    """Return the attention of each new token over those up to itself; heads side by side, flat."""
    rows, count, width = qkv.shape
    heads = qkv.reshape(rows, count, 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
    keys, values = cache.add(layer, heads[1:])
    scores = heads[0] @ keys.swapaxes(-1, -2) / np.sqrt(heads.shape[-1])
    if count > 1:
        scores += np.triu(np.full(scores.shape[-2:], -np.inf), k=cache.length + 1)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    gathered: Floats = weights @ values
    return gathered.swapaxes(1, 2).reshape(rows * count, width // 3)


def _norm(x: Floats) -> Floats:
    scaled: Floats = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled


def _padded(x: Floats) -> Floats:
    """Return a copy with rows of zeros below, up to a whole number of tiles."""
    whole = np.zeros((-(-len(x) // TILE) * TILE, x.shape[1]))
    whole[: len(x)] = x
    return whole


def _tiled(x: Floats, matrix: Floats) -> Floats:
    """Return ``x @ matrix``, tile by tile: numpy calls BLAS once for each, always alike."""
    product: Floats = x.reshape(-1, TILE, len(matrix)) @ matrix
    return product.reshape(len(x), -1)
