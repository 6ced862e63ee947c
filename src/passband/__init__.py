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
    "Band",
    "Comparison",
    "Curve",
    "Detectable",
    "Estimate",
    "Extrapolation",
    "InvalidInput",
    "Measurement",
    "NotEnoughData",
    "Outcomes",
    "PassbandError",
    "PassbandWarning",
    "Plan",
    "Ranking",
    "VarianceSplit",
    "band",
    "compare",
    "compare_all",
    "curve",
    "detectable",
    "estimate",
    "extrapolate",
    "measure",
    "measure_all",
    "plan_difference",
    "plan_width",
    "register_metric",
    "split_variance",
]

if TYPE_CHECKING:
    from passband.errors import InvalidInput, NotEnoughData, PassbandError, PassbandWarning
    from passband.stats.band import Band, band
    from passband.stats.compare import Comparison, compare
    from passband.stats.estimate import Estimate, estimate
    from passband.stats.extrapolate import Extrapolation, extrapolate
    from passband.stats.measure import Curve, Measurement, curve, measure, measure_all
    from passband.stats.metrics import register_metric
    from passband.stats.outcomes import Outcomes
    from passband.stats.plan import Detectable, Plan, detectable, plan_difference, plan_width
    from passband.stats.several import Ranking, compare_all
    from passband.stats.variance import VarianceSplit, split_variance

_HOME = {
    "Band": "passband.stats.band",
    "Comparison": "passband.stats.compare",
    "Curve": "passband.stats.measure",
    "Detectable": "passband.stats.plan",
    "Estimate": "passband.stats.estimate",
    "Extrapolation": "passband.stats.extrapolate",
    "InvalidInput": "passband.errors",
    "Measurement": "passband.stats.measure",
    "NotEnoughData": "passband.errors",
    "Outcomes": "passband.stats.outcomes",
    "PassbandError": "passband.errors",
    "PassbandWarning": "passband.errors",
    "Plan": "passband.stats.plan",
    "Ranking": "passband.stats.several",
    "VarianceSplit": "passband.stats.variance",
    "band": "passband.stats.band",
    "compare": "passband.stats.compare",
    "compare_all": "passband.stats.several",
    "curve": "passband.stats.measure",
    "detectable": "passband.stats.plan",
    "estimate": "passband.stats.estimate",
    "extrapolate": "passband.stats.extrapolate",
    "measure": "passband.stats.measure",
    "measure_all": "passband.stats.measure",
    "plan_difference": "passband.stats.plan",
    "plan_width": "passband.stats.plan",
    "register_metric": "passband.stats.metrics",
    "split_variance": "passband.stats.variance",
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
