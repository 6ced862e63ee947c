"""passband evaluates stochastic models by asking every problem many times.

>>> import passband
>>> outcomes = passband.Outcomes.from_counts(successes=[3, 0, 8], trials=8)
>>> round(passband.measure(outcomes, "pass@4").value, 4)
0.6429

Types of the public names are in `__init__.pyi`.
"""

from __future__ import annotations

import importlib

from passband.display import draw_with as _draw_with
from passband.version import __version__

_draw_with("passband.report.notebook.html")

#: Every public name, by the module that it comes from.
_EXPORTS = {
    "passband.api": (
        "band bounds combine compare compare_all curve detectable estimate extrapolate measure "
        "measure_all plan plan_difference plan_width rank_models split_variance"
    ),
    "passband.errors": "InvalidInput NotEnoughData PassbandError PassbandWarning",
    "passband.generate.registry": "register_provider",
    "passband.readers": "Groups Log read register_reader",
    "passband.run.lm_eval.simple_evaluate": "simple_evaluate",
    "passband.score.filtering": "register_filter",
    "passband.score.registry": "register_scorer",
    "passband.score.repeats": "register_repeat_aggregation",
    "passband.scorebook.evaluation": "evaluate evaluate_async",
    "passband.stats.data.outcomes": "Outcomes",
    "passband.stats.data.scale": "Scale",
    "passband.stats.decision.comparison": "Comparison",
    "passband.stats.decision.planning.plans": "Detectable Plan",
    "passband.stats.decision.ranking": "Abilities Ranking",
    "passband.stats.decision.variance": "VarianceSplit",
    "passband.stats.interval.bands": "Band",
    "passband.stats.interval.certify.certificate": "Certificate",
    "passband.stats.interval.estimation": "Estimate",
    "passband.stats.interval.extrapolation": "Extrapolation",
    "passband.stats.interval.registry": "register_method",
    "passband.stats.interval.strata.combination": "Stratified",
    "passband.stats.metric.measurement": "Curve Measurement",
    "passband.stats.metric.registry": "register_metric",
    "passband.summary.eva.document": "MetricsSummary",
    "passband.summary.eva.summarize": "metrics_summaries metrics_summary",
    "passband.summary.from_sources": "summarize",
    "passband.summary.summary": "Summary",
    "passband.tasks.file.loader": "load_task",
    "passband.trials.reader": "Trials",
}
_HOMES = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]
__all__.sort()


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for, so that importing passband is instant."""
    if name == "eval":
        return importlib.import_module("passband.eval")
    if name not in _HOMES:
        raise AttributeError(f"module 'passband' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
