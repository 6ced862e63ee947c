"""The data sets of an evaluation: names, files, rows and tasks, in any mixture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from passband.adaptive import list_banks, parse_dataset
from passband.errors import ConflictingArguments, InvalidInput, UnknownName, WrongType, nearest
from passband.generate import JsonMapping
from passband.run import load_tasks
from passband.scorebook.eval_dataset import EvalDataset, is_data_file
from passband.tasks import Task, list_tasks


@dataclass(frozen=True)
class AdaptiveEvalDataset:
    """A data set for an adaptive test, such as `mmlu:adaptive`, and the split, if one was named."""

    name: str
    split: str | None = None
    given: str = ""  # the words of the caller

    @property
    def label(self) -> str:
        """The data set as the caller named it."""
        return self.given or (self.name if self.split is None else f"{self.name}:{self.split}")


Dataset: TypeAlias = AdaptiveEvalDataset | EvalDataset | Task
Given: TypeAlias = "str | Path | Task | EvalDataset | AdaptiveEvalDataset | Sequence[JsonMapping]"
Datasets: TypeAlias = "Given | Sequence[Given]"


def read_datasets(
    datasets: Datasets, split: str | None = None, *, trust_task_code: bool = False
) -> list[Dataset]:
    """Return every data set, whatever kind it was given as; raise if one names nothing.

    A list of dicts is one data set of rows. `split` is that of adaptive ones that name none; where
    each names another, it is refused.
    """
    several: Sequence[Any] = datasets if _is_list_of_datasets(datasets) else [datasets]  # type: ignore[assignment]
    if not several:
        raise InvalidInput("datasets is empty; name at least one.")
    read = [one for given in several for one in _read(given, trust_task_code)]
    if split is None:
        return read
    adaptive = [one for one in read if isinstance(one, AdaptiveEvalDataset)]
    if not adaptive:
        raise InvalidInput(f"split={split!r} is for adaptive data sets, and none is named.")
    if all(one.split not in (None, split) for one in adaptive):
        raise ConflictingArguments(
            f"{adaptive[0].label!r} names the split {adaptive[0].split!r}, and split={split!r} "
            "another."
        )
    return [
        replace(one, split=one.split or split) if isinstance(one, AdaptiveEvalDataset) else one
        for one in read
    ]


def _is_list_of_datasets(datasets: object) -> bool:
    if isinstance(datasets, str) or not isinstance(datasets, Sequence):
        return False
    return not datasets or not all(isinstance(one, Mapping) for one in datasets)


def _read(given: Any, trust: bool) -> Iterator[Dataset]:
    if isinstance(given, str) and (name := parse_dataset(given)).is_adaptive:
        yield AdaptiveEvalDataset(name.dataset, name.split, given)
    elif isinstance(given, AdaptiveEvalDataset):
        name = parse_dataset(given.name)
        if not name.is_adaptive or name.split is not None:
            raise InvalidInput(f"an adaptive data set is named 'ID:adaptive'; got {given.name!r}.")
        yield given
    elif isinstance(given, EvalDataset):
        yield given
    elif isinstance(given, (str, Path)) and is_data_file(given):
        yield EvalDataset.from_file(given)
    elif isinstance(given, (str, Path, Task)):
        yield from _tasks(given, trust)
    elif isinstance(given, Sequence):
        yield EvalDataset.from_list("rows", "accuracy", given)
    else:
        raise WrongType(
            "a data set is a name, a file, a list of rows, a Task or an EvalDataset; "
            f"got {given!r:.60}."
        )


def _tasks(given: str | Path | Task, trust: bool) -> list[Task]:
    try:
        tasks = load_tasks(given, trust=trust)
    except UnknownName:
        raise _unknown(str(given)) from None
    for task in tasks:
        if task.subject is not None:
            raise InvalidInput(
                f"{task.name} brings the way in which it is asked, and cannot be put to an "
                "inference function; run it with passband run."
            )
    return tasks


def _unknown(name: str) -> UnknownName:
    """Return the error of a name that is neither a task nor a bank."""
    banks = [f"{entry.name}:adaptive" for entry in list_banks()]
    tasks = [entry.name for entry in list_tasks()]
    adaptive = f"{name}:adaptive"
    hint = f" Did you mean {adaptive!r}?" if adaptive in banks else nearest(name, [*tasks, *banks])
    known = f" Known: {', '.join([*tasks, *banks][:20])}." if not hint else ""
    return UnknownName(
        f"there is no task, file or data set named {name!r}.{hint}{known} An adaptive test of a "
        f"server is named {adaptive!r}."
    )
