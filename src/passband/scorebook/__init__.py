"""Evaluating an inference function as Scorebook does: on classic and on adaptive data sets."""

from passband.errors import ScoreBookError
from passband.scorebook.datasets import AdaptiveEvalDataset
from passband.scorebook.eval_dataset import EvalDataset
from passband.scorebook.evaluation import (
    evaluate,
    evaluate_all_splits,
    evaluate_all_splits_async,
    evaluate_async,
)
from passband.scorebook.run_spec import AdaptiveEvalRunSpec

__all__ = [
    "AdaptiveEvalDataset",
    "AdaptiveEvalRunSpec",
    "EvalDataset",
    "ScoreBookError",
    "evaluate",
    "evaluate_all_splits",
    "evaluate_all_splits_async",
    "evaluate_async",
]
