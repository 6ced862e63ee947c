"""The results of an evaluation, in the shapes that Scorebook gives them.

The seed of this interface reads `results["aggregate_results"]`; released Scorebook returns the list
of them. `Results` is that list, and answers to the names of its parts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import SupportsIndex, overload

from passband.errors import UnknownName, describe, nearest
from passband.generate import JsonMapping, JsonObject
from passband.scorebook.run_spec import AdaptiveEvalRunSpec, RunSpec

Row = JsonObject


@dataclass(frozen=True)
class EvalRun:
    """A run that has ended: its numbers, its items, or the error that ended it."""

    spec: RunSpec
    engine: str  # "local", or the address of the server
    directory: Path  # with the trials
    values: JsonMapping = field(default_factory=dict)
    items: Sequence[Row] = ()
    error: Exception | None = None

    def aggregate(self) -> Row:
        """Return the run as one row: its data set, settings and results."""
        spec, metadata = self.spec, dict(self.spec.metadata or {})
        own: Row = {"dataset": spec.label}
        if isinstance(spec, AdaptiveEvalRunSpec):
            own |= {"test_id": spec.dataset, "split": spec.split}
        own |= {
            "experiment_id": spec.experiment_id,
            "project_id": spec.project_id,
            "hyperparameters": dict(spec.hyperparameter_config),
            "metadata": metadata,
            **self.values,
            "engine": self.engine,
            "trials": str(self.directory),
            "run_completed": self.error is None,
        }
        if self.error is not None:
            own["error"] = describe(self.error, 1000)
        return {**metadata, **spec.hyperparameter_config, **own}  # the run's own fields hold

    def item_rows(self) -> list[Row]:
        """Return the rows of the items, each with its data set and hyperparameters."""
        split = {"split": self.spec.split} if isinstance(self.spec, AdaptiveEvalRunSpec) else {}
        settings = dict(self.spec.hyperparameter_config)
        return [
            {**settings, "id": item["id"], "dataset": self.spec.label, **split, **item}
            for item in self.items
        ]


class Results(list[Row]):
    """The aggregate of every run, in order; `results["aggregate_results"]` is the list itself.

    >>> results = Results([{"dataset": "a", "theta": 0.5}])
    >>> results[0] is results["aggregate_results"][0]
    True
    """

    @overload
    def __getitem__(self, key: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> list[Row]: ...
    @overload
    def __getitem__(self, key: str) -> list[Row]: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Row | list[Row]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key == "aggregate_results":
            return list(self)
        if key == "item_results":
            raise UnknownName("item_results are there with return_items=True.")
        raise UnknownName(f"results have no part {key!r}.{nearest(key, ['aggregate_results'])}")


def shape_results(runs: Sequence[EvalRun], *, return_items: bool) -> Results | dict[str, list[Row]]:
    """Return aggregates, or with `return_items` a dict of aggregates and items."""
    aggregates = [run.aggregate() for run in runs]
    if not return_items:
        return Results(aggregates)
    items = [row for run in runs for row in run.item_rows()]
    return {"aggregate_results": aggregates, "item_results": items}
