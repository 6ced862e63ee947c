"""Options that can only fail once every trial is paid for, refused before the first."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

from passband.errors import InvalidInput

if TYPE_CHECKING:
    from passband.inspect_evals.inspect_evaluators import InspectEvaluatorBuilder


_AT_LEAST_ONE = ("num_choices", "max_tokens", "max_connections", "limit")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def check_config(config: InspectEvaluatorBuilder) -> None:
    """Refuse values that no evaluation can be made with."""
    for name in _AT_LEAST_ONE:
        value = getattr(config, name)
        if value is not None and value < 1:
            raise InvalidInput(f"{name} must be at least 1; got {value}.")
    if not (math.isfinite(config.temperature) and config.temperature >= 0):
        raise InvalidInput(f"temperature must be 0 or more; got {config.temperature}.")
    if not 0 < config.top_p <= 1:
        raise InvalidInput(f"top_p must be above 0 and at most 1; got {config.top_p}.")
    if config.top_k < 1 and config.top_k != -1:
        raise InvalidInput(f"top_k must be at least 1, or -1 for all tokens; got {config.top_k}.")
    if config.bootstrap_stderr and config.bootstrap_iters < 2:
        raise InvalidInput(f"bootstrap_iters must be at least 2; got {config.bootstrap_iters}.")
    if config.bootstrap_seed is not None and config.bootstrap_seed < 0:
        raise InvalidInput(f"bootstrap_seed must be 0 or more; got {config.bootstrap_seed}.")
    level_of(config.log_level)


def level_of(name: str) -> int:
    """Return the number of a level of logging.

    >>> level_of("warning")
    30
    """
    if name.upper() not in _LEVELS:
        raise InvalidInput(f"log_level must be {', '.join(_LEVELS[:-1])}; got {name!r}.")
    level: int = logging.getLevelName(name.upper())
    return level
