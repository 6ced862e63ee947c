"""One run of an evaluation: a data set with one set of hyperparameters."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from passband.run import default_directory
from passband.scorebook.eval_dataset import EvalDataset
from passband.tasks import Task
from passband.trials import canonical_json


@dataclass(frozen=True)
class AdaptiveEvalRunSpec:
    """An adaptive test that is to be run."""

    dataset: str  # "mmlu:adaptive"
    dataset_index: int
    hyperparameter_config: Mapping[str, Any]
    hyperparameters_index: int
    experiment_id: str | None = None
    project_id: str | None = None
    split: str | None = None
    metadata: Mapping[str, Any] | None = None
    given: str = ""  # the data set in the words of the caller

    @property
    def label(self) -> str:
        """The data set as the caller named it."""
        return self.given or self.dataset

    @property
    def test(self) -> str:
        """The name of the test: data set and split."""
        return self.dataset if self.split is None else f"{self.dataset}:{self.split}"


@dataclass(frozen=True)
class ClassicEvalRunSpec:
    """A data set of which every problem is to be asked."""

    dataset: EvalDataset | Task
    dataset_index: int
    hyperparameter_config: Mapping[str, Any]
    hyperparameters_index: int
    experiment_id: str | None = None
    project_id: str | None = None
    metadata: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        """The name of the data set."""
        return self.dataset.name

    @property
    def test(self) -> str:
        """The name of the data set."""
        return self.dataset.name


RunSpec: TypeAlias = AdaptiveEvalRunSpec | ClassicEvalRunSpec


def folder_name(spec: RunSpec) -> str:
    """Return the name of the run's directory: the data set, and a digest of hyperparameters.

    >>> folder_name(AdaptiveEvalRunSpec("a:adaptive", 0, {}, 0, split="test"))
    'a-adaptive-test'
    >>> folder_name(AdaptiveEvalRunSpec("a:adaptive", 0, {"temperature": 1}, 0, split="test"))
    'a-adaptive-test-54c01160'
    """
    name = default_directory(spec.test).name
    if not spec.hyperparameter_config:
        return name
    digest = hashlib.sha256(canonical_json(dict(spec.hyperparameter_config)).encode()).hexdigest()
    return f"{name}-{digest[:8]}"
