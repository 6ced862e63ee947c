"""passband evaluates stochastic models by asking every problem many times.

>>> import passband
>>> outcomes = passband.Outcomes.from_counts(successes=[3, 0, 8], trials=8)
>>> round(passband.measure(outcomes, "pass@4").value, 4)
0.6429
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Curve",
    "Estimate",
    "InvalidInput",
    "Measurement",
    "NotEnoughData",
    "Outcomes",
    "PassbandError",
    "PassbandWarning",
    "curve",
    "estimate",
    "measure",
    "measure_all",
    "register_metric",
]

if TYPE_CHECKING:
    from passband.errors import InvalidInput, NotEnoughData, PassbandError, PassbandWarning
    from passband.stats.estimate import Estimate, estimate
    from passband.stats.measure import Curve, Measurement, curve, measure, measure_all
    from passband.stats.metrics import register_metric
    from passband.stats.outcomes import Outcomes

_HOME = {
    "Curve": "passband.stats.measure",
    "Estimate": "passband.stats.estimate",
    "InvalidInput": "passband.errors",
    "Measurement": "passband.stats.measure",
    "NotEnoughData": "passband.errors",
    "Outcomes": "passband.stats.outcomes",
    "PassbandError": "passband.errors",
    "PassbandWarning": "passband.errors",
    "curve": "passband.stats.measure",
    "estimate": "passband.stats.estimate",
    "measure": "passband.stats.measure",
    "measure_all": "passband.stats.measure",
    "register_metric": "passband.stats.metrics",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that importing passband is instant."""
    if name not in _HOME:
        raise AttributeError(f"module 'passband' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
