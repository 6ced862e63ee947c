"""A classic data set: rows in memory or in a file, with a column of inputs and one of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, WrongType, nearest
from passband.files import form_of, read_records
from passband.generate import JsonMapping, Message, Problem, Sampling
from passband.score import Reference, Scorer, make_scorer
from passband.tasks import MetricEntry, Task, plain_rows

_INPUTS = ("input", "question", "prompt")
_LABELS = ("label", "answer", "target")
_NAMED: Mapping[str, tuple[str, JsonMapping]] = {
    "accuracy": ("exact_match", {}),
    "exactmatch": ("exact_match", {"ignore_case": True}),
}


@dataclass(frozen=True)
class EvalDataset:
    """Rows, and how an output is scored against the label of its row.

    `metrics` are names of scorers of passband, or `accuracy` (the texts are equal) and `exactmatch`
    (equal but for case). Without `input` and `label`, the columns are those of the usual names.

    >>> rows = [{"input": "1 + 1", "label": 2}, {"input": "1 + 2", "label": 3}]
    >>> EvalDataset.from_list("sums", "accuracy", rows).columns
    ('input', 'label')
    """

    name: str
    rows: Sequence[JsonMapping]
    metrics: tuple[str, ...] = ("accuracy",)
    input: str | None = None
    label: str | None = None

    @classmethod
    def from_list(
        cls,
        name: str,
        metrics: str | Sequence[str],
        items: Iterable[JsonMapping],
        input: str | None = None,
        label: str | None = None,
    ) -> EvalDataset:
        """Return the data set of rows in memory."""
        return cls(name, list(items), _listed(metrics), input, label)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        metrics: str | Sequence[str] = "accuracy",
        input: str | None = None,
        label: str | None = None,
        name: str | None = None,
    ) -> EvalDataset:
        """Return the data set of a CSV, TSV, JSON, JSONL or Parquet file."""
        form = form_of(Path(path).name)
        if form is None:
            raise InvalidInput(f"{path} is no CSV, TSV, JSON, JSONL or Parquet file by its name.")
        rows = plain_rows(read_records(Path(path), form))
        return cls(name or Path(path).name.split(".")[0], rows, _listed(metrics), input, label)

    from_csv = from_file
    from_json = from_file

    def __post_init__(self) -> None:
        if not self.rows:
            raise InvalidInput(f"data set {self.name!r} has no rows.")
        for row in self.rows:
            if not isinstance(row, Mapping):
                raise WrongType(f"data set {self.name!r}: a row is a dict; got {row!r:.60}.")
        object.__setattr__(self, "rows", plain_rows(self.rows))
        for field, usual in (("input", _INPUTS), ("label", _LABELS)):
            object.__setattr__(self, field, self._column(field, usual))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the rows."""
        return tuple(dict.fromkeys(str(name) for row in self.rows for name in row))

    def task(self) -> Task:
        """Return the data set as a task, which asks every row."""
        scorers = tuple(_scorer(name) for name in self.metrics)
        return Task(
            name=self.name,
            path=None,
            sampling=Sampling(),
            repeats=1,
            scorers=scorers,
            metrics=tuple(
                MetricEntry(scorer.name, scorer.name, repeat_aggregation="mean")
                for scorer in scorers
            ),
            load=lambda limit: [self._problem(i, row) for i, row in enumerate(self.rows[:limit])],
            config={"input": self.input, "label": self.label},
        )

    def input_of(self, problem: Problem) -> Any:
        """Return the input of a row as the data have it."""
        return problem.reference.doc[str(self.input)]

    def _column(self, field: str, usual: Sequence[str]) -> str:
        chosen = getattr(self, field)
        named = chosen or next((name for name in usual if name in self.columns), None)
        if named is None or named not in self.columns:
            hint = nearest(str(chosen), self.columns) if chosen else ""
            raise InvalidInput(
                f"data set {self.name!r} has no column {chosen or ', '.join(usual)!r} of "
                f"{field}s.{hint} Its columns are {', '.join(self.columns)}; give {field}=."
            )
        return named

    def _problem(self, index: int, row: JsonMapping) -> Problem:
        for field in (self.input, self.label):
            if row.get(str(field)) is None:
                raise InvalidInput(f"data set {self.name!r}: row {index + 1} has no {field}.")
        labels = row[str(self.label)]
        targets = labels if isinstance(labels, list) else [labels]
        message = Message("user", str(row[str(self.input)]))
        return Problem(str(index), (message,), Reference(tuple(map(str, targets)), (), dict(row)))


def is_data_file(text: str | Path) -> bool:
    """Return whether a name is that of a data file, by its ending."""
    return form_of(Path(text).name) is not None


def _listed(metrics: str | Sequence[str]) -> tuple[str, ...]:
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    if not names or not all(isinstance(name, str) for name in names):
        raise WrongType(f"metrics are names of scorers, at least one; got {metrics!r}.")
    return names


def _scorer(name: str) -> Scorer:
    function, options = _NAMED.get(name.lower(), (name, {}))
    return make_scorer(name, function, options)
