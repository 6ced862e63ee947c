"""Settings of an inference function, and the grids that they are searched on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from passband.errors import InvalidInput, WrongType
from passband.generate import JsonMapping, JsonObject

Hyperparameters: TypeAlias = "JsonMapping | Sequence[JsonMapping] | None"


def expand_grid(hyperparameters: Hyperparameters) -> list[JsonObject]:
    """Return every setting: of a mapping the product of its lists, of a list each as it is.

    >>> expand_grid({"temperature": [0.0, 1.0], "top_p": 0.9})
    [{'temperature': 0.0, 'top_p': 0.9}, {'temperature': 1.0, 'top_p': 0.9}]
    >>> expand_grid(None)
    [{}]
    """
    if hyperparameters is None:
        return [{}]
    if isinstance(hyperparameters, Mapping):
        values = [one if isinstance(one, list) else [one] for one in hyperparameters.values()]
        settings = [dict(zip(hyperparameters, cell, strict=True)) for cell in product(*values)]
    elif isinstance(hyperparameters, (list, tuple)):
        settings = [_setting(one) for one in hyperparameters]
    else:
        raise WrongType(f"hyperparameters are a dict or a list of dicts; got {hyperparameters!r}.")
    if not settings:
        raise InvalidInput("hyperparameters hold no setting: a list in them is empty.")
    for setting in settings:
        _check(setting)
    return settings


def _setting(one: Any) -> JsonObject:
    if not isinstance(one, Mapping):
        raise WrongType(f"a list of hyperparameters holds dicts; got {one!r:.60}.")
    return dict(one)


def _check(setting: dict[Any, Any]) -> None:
    """Refuse names that are no arguments and values that cannot be recorded."""
    for name in setting:
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidInput(f"a hyperparameter has a name of letters and digits; got {name!r}.")
    try:
        json.dumps(setting, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"hyperparameters are recorded as JSON, and {setting!r:.80} cannot be: {error}."
        ) from None
