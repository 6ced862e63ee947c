"""passband evaluates stochastic models by asking every problem many times.

>>> import passband
>>> outcomes = passband.Outcomes.from_counts(successes=[3, 0, 8], trials=8)
>>> round(passband.measure(outcomes, "pass@4").value, 4)
0.6429
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from passband.version import __version__

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
    "Trials",
    "VarianceSplit",
    "__version__",
    "band",
    "bounds",
    "compare",
    "compare_all",
    "curve",
    "detectable",
    "estimate",
    "extrapolate",
    "load_task",
    "measure",
    "measure_all",
    "plan",
    "plan_difference",
    "plan_width",
    "register_method",
    "register_metric",
    "register_provider",
    "register_repeat_aggregation",
    "register_scorer",
    "simple_evaluate",
    "split_variance",
]

if TYPE_CHECKING:
    from passband.errors import InvalidInput, NotEnoughData, PassbandError, PassbandWarning
    from passband.generate.providers import register_provider
    from passband.run.simple_evaluate import simple_evaluate
    from passband.score.registry import register_scorer
    from passband.score.repeats import register_repeat_aggregation
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.decision.compare import Comparison, compare
    from passband.stats.decision.plan.plan import (
        Detectable,
        Plan,
        detectable,
        plan,
        plan_difference,
        plan_width,
    )
    from passband.stats.decision.ranking import Ranking, compare_all
    from passband.stats.decision.variance import VarianceSplit, split_variance
    from passband.stats.interval.band import Band, band
    from passband.stats.interval.estimate import Estimate, estimate
    from passband.stats.interval.extrapolate import Extrapolation, extrapolate
    from passband.stats.interval.methods import register_method
    from passband.stats.metric.bounds import bounds
    from passband.stats.metric.measure import Curve, Measurement, curve, measure, measure_all
    from passband.stats.metric.registry import register_metric
    from passband.tasks.loader import load_task
    from passband.trials.reader import Trials

_HOME = {
    "Band": "passband.stats.interval.band",
    "Comparison": "passband.stats.decision.compare",
    "Curve": "passband.stats.metric.measure",
    "Detectable": "passband.stats.decision.plan.plan",
    "Estimate": "passband.stats.interval.estimate",
    "Extrapolation": "passband.stats.interval.extrapolate",
    "InvalidInput": "passband.errors",
    "Measurement": "passband.stats.metric.measure",
    "NotEnoughData": "passband.errors",
    "Outcomes": "passband.stats.data.outcomes",
    "PassbandError": "passband.errors",
    "PassbandWarning": "passband.errors",
    "Plan": "passband.stats.decision.plan.plan",
    "Ranking": "passband.stats.decision.ranking",
    "Trials": "passband.trials.reader",
    "VarianceSplit": "passband.stats.decision.variance",
    "band": "passband.stats.interval.band",
    "bounds": "passband.stats.metric.bounds",
    "compare": "passband.stats.decision.compare",
    "compare_all": "passband.stats.decision.ranking",
    "curve": "passband.stats.metric.measure",
    "detectable": "passband.stats.decision.plan.plan",
    "estimate": "passband.stats.interval.estimate",
    "extrapolate": "passband.stats.interval.extrapolate",
    "load_task": "passband.tasks.loader",
    "measure": "passband.stats.metric.measure",
    "measure_all": "passband.stats.metric.measure",
    "plan": "passband.stats.decision.plan.plan",
    "plan_difference": "passband.stats.decision.plan.plan",
    "plan_width": "passband.stats.decision.plan.plan",
    "register_method": "passband.stats.interval.methods",
    "register_metric": "passband.stats.metric.registry",
    "register_provider": "passband.generate.providers",
    "register_repeat_aggregation": "passband.score.repeats",
    "register_scorer": "passband.score.registry",
    "simple_evaluate": "passband.run.simple_evaluate",
    "split_variance": "passband.stats.decision.variance",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that importing passband is instant."""
    if name == "eval":
        return importlib.import_module("passband.eval")
    if name not in _HOME:
        raise AttributeError(f"module 'passband' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
