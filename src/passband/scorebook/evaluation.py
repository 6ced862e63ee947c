"""`evaluate` and `evaluate_async`: an inference function on data sets, classic and adaptive.

results = await evaluate_async(
    inference=answer,  # answer(inputs, **hyperparameters) -> outputs
    datasets=["arithmetic:adaptive:validation", "arithmetic:adaptive:test"],
)
for result in results["aggregate_results"]:
    print(f"{result['dataset']}: {result['theta']:.3f} ± {result['std_error']:.3f}")
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from passband.adaptive import ALL_SPLITS
from passband.errors import InvalidInput, WrongType
from passband.scorebook.datasets import Datasets
from passband.scorebook.hyperparameters import Hyperparameters
from passband.scorebook.inference import InferenceFunction
from passband.scorebook.options import EvaluateOptions, EvaluationSettings
from passband.scorebook.results import Results, Row, shape_results
from passband.scorebook.sweep import Sweep
from passband.system import complete_anywhere

if TYPE_CHECKING:
    from typing_extensions import Unpack


T = TypeVar("T")
Shape = Results | dict[str, list[Row]]


@overload
async def evaluate_async(
    inference: InferenceFunction,
    datasets: Datasets,
    hyperparameters: Hyperparameters = None,
    split: str | None = None,
    experiment_id: str | None = None,
    project_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    seed: int | None = None,
    return_items: Literal[False] = False,
    **options: Unpack[EvaluateOptions],
) -> Results: ...
@overload
async def evaluate_async(
    inference: InferenceFunction,
    datasets: Datasets,
    hyperparameters: Hyperparameters = None,
    split: str | None = None,
    experiment_id: str | None = None,
    project_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    seed: int | None = None,
    return_items: bool = False,
    **options: Unpack[EvaluateOptions],
) -> Shape: ...
async def evaluate_async(
    inference: InferenceFunction,
    datasets: Datasets,
    hyperparameters: Hyperparameters = None,
    split: str | None = None,
    experiment_id: str | None = None,
    project_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    seed: int | None = None,
    return_items: bool = False,
    **options: Unpack[EvaluateOptions],
) -> Shape:
    """Evaluate a function on data sets, once with each set of hyperparameters.

    `inference(inputs, **hyperparameters)` returns one output for each input, at once or when
    awaited; a coroutine function is awaited in the event loop that this runs in. `datasets` are
    names (`ID:adaptive[:SPLIT]`, or of tasks), data files, rows, `Task` and `EvalDataset`, one or
    a list. `hyperparameters` are a dict, whose lists span a grid, or a list of dicts.

    Adaptive tests run on the local bank of that name, or else on the server of
    TRISMIK_SERVICE_URL. Every run writes its trials to a directory of its own, under `out` or a
    new folder of runs/. Ids and `metadata` are recorded. A run that fails is in the results, with
    its error, and warned of; if all fail, or there is only one, the error is raised.

    The further options are those of `passband.scorebook.options.EvaluationSettings`.
    """
    _check(seed, metadata, {"experiment_id": experiment_id, "project_id": project_id})
    sweep = Sweep(
        EvaluationSettings.of(options),
        experiment_id,
        project_id,
        dict(metadata or {}),
        seed,
        return_items,
    )
    runs = await sweep.run(inference, datasets, hyperparameters, split)
    return shape_results(runs, return_items=return_items)


@overload
def evaluate(
    inference: InferenceFunction,
    datasets: Datasets,
    hyperparameters: Hyperparameters = None,
    split: str | None = None,
    experiment_id: str | None = None,
    project_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    seed: int | None = None,
    return_items: Literal[False] = False,
    **options: Unpack[EvaluateOptions],
) -> Results: ...
@overload
def evaluate(
    inference: InferenceFunction,
    datasets: Datasets,
    hyperparameters: Hyperparameters = None,
    split: str | None = None,
    experiment_id: str | None = None,
    project_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    seed: int | None = None,
    return_items: bool = False,
    **options: Unpack[EvaluateOptions],
) -> Shape: ...
def evaluate(
    inference: InferenceFunction,
    datasets: Datasets,
    hyperparameters: Hyperparameters = None,
    split: str | None = None,
    experiment_id: str | None = None,
    project_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    seed: int | None = None,
    return_items: bool = False,
    **options: Unpack[EvaluateOptions],
) -> Shape:
    """Do what `evaluate_async` does, and wait for it; also where an event loop is running.

    A coroutine function is awaited in an event loop of this call.
    """
    return complete_anywhere(
        evaluate_async(
            inference,
            datasets,
            hyperparameters,
            split,
            experiment_id,
            project_id,
            metadata,
            seed,
            return_items,
            **options,
        )
    )


async def evaluate_all_splits_async(
    inference: InferenceFunction, dataset: str, **arguments: Any
) -> Shape:
    """Evaluate a function on every split of an adaptive data set, `ID` or `ID:adaptive`."""
    name = dataset.removesuffix(":adaptive") + f":adaptive:{ALL_SPLITS}"
    results: Shape = await evaluate_async(inference, name, **arguments)
    return results


def evaluate_all_splits(inference: InferenceFunction, dataset: str, **arguments: Any) -> Shape:
    """Do what `evaluate_all_splits_async` does, and wait for it."""
    return complete_anywhere(evaluate_all_splits_async(inference, dataset, **arguments))


def _check(seed: object, metadata: object, ids: Mapping[str, object]) -> None:
    if seed is not None and (type(seed) is not int or seed < 0):
        raise InvalidInput(f"seed must be a whole number, 0 or more; got {seed!r}.")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise WrongType(f"metadata must be a dict; got {metadata!r:.60}.")
    try:
        json.dumps(dict(metadata or {}), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"metadata are recorded as JSON, and cannot be: {error}.") from None
    for name, value in ids.items():
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise WrongType(f"{name} must be text; got {value!r}.")
