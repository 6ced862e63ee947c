"""`judge`: the verdict of a model by a rubric; see `passband.score.judge`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from passband.errors import PassbandError
from passband.score.registry import ScorerFunction, scorers

if TYPE_CHECKING:
    from passband.score.filters import FilterStep
    from passband.score.judge.scorer import JudgeScorer

__all__ = ["judge"]


def judge(answer: str, target: str, **options: Any) -> NoReturn:
    """Raise: a judge is asked by a run, and is no function of two texts."""
    raise PassbandError("a judge scores trials of a run; there is none here.")


def _make(name: str, options: Mapping[str, Any], steps: Sequence[FilterStep]) -> JudgeScorer:
    from passband.score.judge.options import JudgeOptions
    from passband.score.judge.scorer import JudgeScorer

    return JudgeScorer(name, JudgeOptions.of(options), steps)


scorers.add(
    "judge",
    ScorerFunction(
        "judge", judge, bounds=(0.0, 1.0), is_async=True, slow=True, equates=False, make=_make
    ),
)
