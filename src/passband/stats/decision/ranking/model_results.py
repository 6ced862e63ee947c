"""Collect the results of every model on every problem of any model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.metric import Metric
from passband.types import Bools, Floats, Ints

__all__ = ["ModelResults"]


@dataclass(frozen=True, eq=False)
class ModelResults:
    """All models on all problems; a model may have been asked some of them only."""

    models: tuple[str, ...]
    sides: tuple[Outcomes, ...]
    rows: tuple[Ints, ...]  # for each model, the rows of its problems
    unit: Ints  # for each problem, its cluster by number, or its own number

    @staticmethod
    def of(models: Mapping[str, Outcomes]) -> ModelResults:
        """Collect the problems of all models, in the order in which they first occur."""
        names = [side.problems[:] for side in models.values()]
        if all(one == names[0] for one in names[1:]):
            rows: list[Ints] = [np.arange(len(names[0]))] * len(names)
        else:
            place: dict[str, int] = {}
            rows = [np.array([place.setdefault(n, len(place)) for n in one]) for one in names]
        unit = _units(models, rows, 1 + max(int(row.max()) for row in rows))
        return ModelResults(tuple(models), tuple(models.values()), tuple(rows), unit)

    @property
    def n_problems(self) -> int:
        return len(self.unit)

    def _spread(self, columns: list[Ints]) -> Ints:
        """Return a column for each model, with 0 where it was not asked."""
        table = np.zeros((self.n_problems, len(self.models)), dtype=np.int64)
        for model, (row, column) in enumerate(zip(self.rows, columns, strict=True)):
            table[row, model] = column
        return table

    def trials(self) -> Ints:
        """Return the number of trials: (problems, models)."""
        return self._spread([side.trials for side in self.sides])

    def successes(self) -> Ints:
        """Return the number of successes: (problems, models)."""
        return self._spread([side.required_successes() for side in self.sides])

    def values(self, metric: Metric) -> Floats:
        """Return a metric by problem, NaN where a model lacks the trials: (problems, models)."""
        if not metric.is_mean:
            raise InvalidInput(
                f"{metric.name} blends averages over all problems, so that no problem has a value "
                "to be compared; choose a metric such as pass@1."
            )
        table = np.full((self.n_problems, len(self.models)), np.nan)
        for model, (row, side) in enumerate(zip(self.rows, self.sides, strict=True)):
            side.require(metric.k)
            enough = side.trials >= max(metric.k, 1)
            table[row[enough], model] = metric.by_problem(side)[:, 0]
        return table

    def require_connected(self, has_trials: Bools) -> None:
        """Refuse models that share no problem, not even through others."""
        shared = (has_trials.T.astype(np.float64) @ has_trials) > 0.0
        linked = shared[0]
        for _ in self.models:
            linked = shared[linked].any(axis=0)
        if not linked.all():
            apart = self.models[int(np.flatnonzero(~linked)[0])]
            raise InvalidInput(
                f"{self.models[0]!r} and {apart!r} were asked no problem in common, neither "
                "directly nor through other models, so nothing relates their abilities; leave one "
                "out, or use compare with paired=False."
            )


def _units(models: Mapping[str, Outcomes], rows: list[Ints], problems: int) -> Ints:
    """Return the cluster of each problem by number; a problem without one is its own."""
    if not any(side.is_clustered for side in models.values()):
        return np.arange(problems)
    label: dict[int, str] = {}
    for (model, side), row in zip(models.items(), rows, strict=True):
        if side.clusters is None:
            continue
        for name, place, cluster in zip(side.problems, row.tolist(), side.clusters, strict=True):
            if label.setdefault(place, cluster) != cluster:
                raise InvalidInput(
                    "the models must put the same problems into the same clusters; problem "
                    f"{name!r} is in {label[place]!r}, and in {cluster!r} for {model!r}."
                )
    number: dict[tuple[str, ...] | int, int] = {}
    keys = ((label[p],) if p in label else p for p in range(problems))
    return np.array([number.setdefault(key, len(number)) for key in keys])
