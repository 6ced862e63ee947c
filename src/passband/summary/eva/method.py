"""Fill EVA's fields from a run, whichever method computes the numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from passband.readers import MetricScore
from passband.summary.eva.composed import Column
from passband.summary.eva.composites import Composite, Composites
from passband.summary.eva.document import CompositeEntry, MetricFields, PassK
from passband.summary.eva.run import Run


@dataclass(frozen=True)
class EvaMethod(ABC):
    """The numbers of a run: EVA's own (`EvaRules`), or passband's (`Estimates`)."""

    run: Run
    composites: Composites
    k: int

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, list[MetricScore]]:
        """The scores that each metric gave to the records."""

    @property
    @abstractmethod
    def composite_columns(self) -> Mapping[str, list[MetricScore]]:
        """The scores of each composite."""

    @cached_property
    def entries(self) -> dict[str, MetricFields]:
        """The metrics of the run."""
        return {name: self._metric(name, column) for name, column in self.columns.items()}

    def overall_scores(self) -> dict[str, CompositeEntry | dict[str, PassK]]:
        """Return the composites, and their pass@k where there are several draws."""
        entries: dict[str, CompositeEntry | dict[str, PassK]] = {}
        blocks = {}
        for composite in self.composites.composites:
            column = self.composite_columns[composite.name]
            entries[composite.name] = self._composite(composite, column)
            if (block := self._composite_pass_k(composite, column)) is not None:
                blocks[composite.name] = block
        return entries | ({"pass_k": blocks} if blocks else {})

    @abstractmethod
    def _metric(self, name: str, column: Column) -> MetricFields: ...

    @abstractmethod
    def _composite(self, composite: Composite, column: Column) -> CompositeEntry: ...

    @abstractmethod
    def _composite_pass_k(self, composite: Composite, column: Column) -> PassK | None:
        """Return pass@k of a composite, where it passes or fails and there are several draws."""
