"""Terms of the likelihood of items, for calibration: log-probabilities and their derivatives.

Items are written with slopes and intercepts, x_j = a θ + d_j, in which the likelihood is close to
quadratic: a row (a, d) for 1pl, 2pl and continuous items, (a, d, logit c) for 3pl items, and
(a, d_1 > ... > d_m) for graded ones. An intercept that an item lacks is `ABSENT`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passband.stats.irt.curves import log_sigmoid, sigmoid
from passband.stats.irt.items import Items, Model
from passband.types import Bools, Floats

__all__ = ["ABSENT", "Terms", "items_of", "present", "rows_of", "terms"]

ABSENT = -700.0  # exp of it is 1e-304
_SMALLEST_GAP = 1e-9


class Terms(NamedTuple):
    """Log-probabilities (grades, items, nodes), and their derivatives (grades, rows, ...)."""

    log: Floats
    slope: Floats


def terms(model: Model, rows: Floats, nodes: Floats) -> Terms:
    """Return the log-probability of every grade of every item, and its derivatives."""
    if model == "3pl":
        return _guessing(rows, nodes)
    return _binary(rows, nodes) if rows.shape[1] == 2 else _graded(rows, nodes)


def _binary(rows: Floats, nodes: Floats) -> Terms:
    x = rows[:, :1] * nodes + rows[:, 1:]
    right = log_sigmoid(x)
    chance = np.exp(right)
    rest = 1.0 - chance
    slope = np.array([[-chance * nodes, -chance], [rest * nodes, rest]])
    return Terms(np.array([right - x, right]), slope)


def _guessing(rows: Floats, nodes: Floats) -> Terms:
    a, d, logit = rows[:, :1], rows[:, 1:2], rows[:, 2:]
    s, c = sigmoid(a * nodes + d), sigmoid(logit)
    right = c + (1.0 - c) * s
    wrong = log_sigmoid(-logit) + log_sigmoid(-(a * nodes + d))
    bell = (1.0 - c) * s * (1.0 - s) / right
    guess = np.broadcast_to(c, s.shape)
    slope = np.array(
        [[-s * nodes, -s, -guess], [bell * nodes, bell, (1.0 - s) * c * (1 - c) / right]]
    )
    return Terms(np.array([wrong, np.log(right)]), slope)


def _graded(rows: Floats, nodes: Floats) -> Terms:
    a, d = rows[:, :1, None], rows[:, 1:]
    x = a * nodes + d[:, :, None]  # items, steps, nodes
    passed, failed = log_sigmoid(x), log_sigmoid(-x)
    gap = np.maximum(d[:, :-1] - d[:, 1:], _SMALLEST_GAP)[:, :, None]
    count = rows.shape[1]
    log = np.zeros((count, len(rows), len(nodes)))
    slope = np.zeros((count, count, len(rows), len(nodes)))
    log[1:] += passed.transpose(1, 0, 2)
    log[:-1] += failed.transpose(1, 0, 2)
    log[1:-1] += np.log(-np.expm1(-gap)).transpose(1, 0, 2)
    up, down = np.exp(failed).transpose(1, 0, 2), np.exp(passed).transpose(1, 0, 2)
    pull = np.broadcast_to(1.0 / np.expm1(np.minimum(gap, 600.0)), x[:, 1:].shape).transpose(
        1, 0, 2
    )
    for step in range(count - 1):
        slope[step + 1, step + 1] += up[step]
        slope[step, step + 1] -= down[step]
        slope[step + 1, 0] += up[step] * nodes
        slope[step, 0] -= down[step] * nodes
    for step in range(count - 2):
        slope[step + 1, step + 1] += pull[step]
        slope[step + 1, step + 2] -= pull[step]
    return Terms(log, slope)


def present(rows: Floats) -> Bools:
    """Return which entries of the rows an item has."""
    there: Bools = rows != ABSENT
    return there


def rows_of(items: Items) -> Floats:
    """Return the rows of items."""
    if items.steps is not None:
        d = np.where(np.isnan(items.steps), ABSENT, -items.a[:, None] * items.steps)
        return np.column_stack([items.a, d])
    rows = [items.a, -items.a * items.b]
    if items.model == "3pl":
        c = np.clip(items.c, 1e-12, 1.0)
        rows.append(np.log(c) - np.log1p(-c))
    return np.column_stack(rows)


def items_of(model: Model, rows: Floats, phi: Floats | None = None) -> Items:
    """Return the items of rows."""
    a, d = rows[:, 0], rows[:, 1:]
    if model == "graded":
        return Items(model, a, steps=np.where(present(d), -d / a[:, None], np.nan))
    c = sigmoid(rows[:, 2]) if model == "3pl" else None
    return Items(model, a, -d[:, 0] / a, c, phi=phi)  # type: ignore[arg-type]
