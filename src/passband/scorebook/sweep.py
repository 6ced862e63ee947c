"""All runs of one evaluation: every data set with every set of hyperparameters.

Each run has a directory of its own. Classic runs are also uploaded, where a server is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from passband.adaptive import RemoteError, TrismikClient, resolve_splits
from passband.errors import InvalidInput, ScoreBookError, describe, warn
from passband.generate import Hopeless, JsonMapping
from passband.run import Stop, default_directory
from passband.scorebook.classic import ClassicRun
from passband.scorebook.datasets import AdaptiveEvalDataset, Dataset, Datasets, read_datasets
from passband.scorebook.engines import Engines
from passband.scorebook.hyperparameters import Hyperparameters, expand_grid
from passband.scorebook.inference import Inference, InferenceCalls, InferenceFunction
from passband.scorebook.local import LocalRun
from passband.scorebook.options import EvaluationSettings
from passband.scorebook.results import EvalRun, Row
from passband.scorebook.run_spec import (
    AdaptiveEvalRunSpec,
    ClassicEvalRunSpec,
    RunSpec,
    folder_name,
)
from passband.trials import Trials


def run_directories(
    specs: Sequence[RunSpec], out: str | Path | None, experiment_id: str | None
) -> list[Path]:
    """Return a directory for every run.

    Those under a given `out` are the same for the same data set and hyperparameters, so that a
    call with the same `out` goes on where it stopped. Without, every call has a new folder: the
    function may be another one under the same name.
    """
    parent = _new_folder(experiment_id) if out is None else Path(out)
    names: dict[str, int] = {}
    directories = []
    for spec in specs:
        name = folder_name(spec)
        names[name] = names.get(name, 0) + 1
        directories.append(parent / (name if names[name] == 1 else f"{name}-{names[name]}"))
    return directories


def _new_folder(experiment_id: str | None) -> Path:
    parent = default_directory(experiment_id or "evaluate")
    for number in count():
        folder = parent / f"{number:04d}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not parent.is_dir():
                raise InvalidInput(
                    f"{parent} is not a directory; give another with out=."
                ) from None
            continue
        except NotADirectoryError:
            raise InvalidInput(f"{parent} cannot be made; give a directory with out=.") from None
        return folder
    raise AssertionError("there is always another number")


async def upload(client: TrismikClient, run: EvalRun, model: str) -> None:
    """Upload a run; the trials are here, so a server that fails is a warning."""
    with Trials(run.directory) as trials:
        record = trials.run()
        problems = {problem.number: problem for problem in trials.problems(record.number)}
        names = {scorer.number: scorer.name for scorer in record.scorers}
        items: list[Row] = [
            {
                "datasetItemId": problems[row.problem].key,
                "modelInput": _text(problems[row.problem].record["messages"]),
                "modelOutput": row.text or "",
                "goldOutput": (problems[row.problem].record["targets"] or [""])[0],
                "metrics": {names[score.scorer]: score.value for score in row.scores},
            }
            for row in trials.trials(record)
        ]
    metrics = {
        name: run.values[name] for name in names.values() if run.values.get(name) is not None
    }
    try:
        await client.submit_classic_eval(
            project_id=str(run.spec.project_id),
            experiment=str(run.spec.experiment_id),
            dataset_id=run.spec.label,
            model_name=model,
            items=items,
            metrics=metrics,
            hyperparameters=run.spec.hyperparameter_config,
        )
    except RemoteError as error:
        warn(f"{run.spec.label}: the results are not uploaded: {error}")


def _text(messages: Any) -> str:
    return "\n\n".join(text for _, text in messages)


_RUNS = 4  # that go on at the same time


class AllRunsFailedError(ScoreBookError):
    """Every run of an evaluation failed."""


@dataclass(frozen=True)
class Sweep:
    """The settings that all runs share."""

    options: EvaluationSettings
    experiment_id: str | None
    project_id: str | None
    metadata: JsonMapping
    seed: int | None
    with_items: bool

    async def run(
        self,
        function: InferenceFunction,
        datasets: Datasets,
        hyperparameters: Hyperparameters,
        split: str | None,
    ) -> list[EvalRun]:
        """Check everything, then run; return the runs in the order of data sets, then settings."""
        options = self.options
        if options.upload_results and not (self.experiment_id and self.project_id):
            raise InvalidInput("upload_results needs experiment_id and project_id.")
        options.test_design()  # refuses what could only fail later
        read = read_datasets(datasets, split, trust_task_code=options.trust_task_code)
        grid = expand_grid(hyperparameters)
        inference = Inference(
            function,
            concurrency=options.concurrency,
            timeout=options.timeout,
            batch_size=options.batch_size,
        )
        async with Engines(options, self.seed) as engines:
            specs = await self._specs(read, grid, engines)
            _warn_of_search(specs)
            directories = run_directories(specs, options.out, self.experiment_id)
            with ThreadPoolExecutor(_RUNS) as threads:
                running = _Running(self, inference, engines, threads)
                try:
                    return await running.all(specs, directories)
                finally:
                    inference.close()

    async def _specs(
        self, datasets: Sequence[Dataset], grid: Sequence[JsonMapping], engines: Engines
    ) -> list[RunSpec]:
        """Return all runs; a split that does not exist is an error before the first of them."""
        specs: list[RunSpec] = []
        resolved = [one for given in datasets for one in await self._resolved(given, engines)]
        for place, dataset in enumerate(resolved):
            for number, setting in enumerate(grid):
                specs.append(self._spec(dataset, place, setting, number))
        return specs

    async def _resolved(self, given: Dataset, engines: Engines) -> list[Dataset]:
        """Return a data set for each of its splits that is to be run."""
        if not isinstance(given, AdaptiveEvalDataset):
            return [given]
        available = await engines.splits(given.name)
        splits = resolve_splits(given.name, given.split, available, self.options.split_order)
        is_all = len(splits) > 1 or given.split not in (None, *splits)
        return [
            AdaptiveEvalDataset(given.name, one, f"{given.name}:{one}" if is_all else given.label)
            for one in splits
        ]

    def _spec(self, dataset: Dataset, place: int, setting: JsonMapping, number: int) -> RunSpec:
        ids = self.experiment_id, self.project_id
        if isinstance(dataset, AdaptiveEvalDataset):
            return AdaptiveEvalRunSpec(
                dataset.name, place, setting, number, *ids, dataset.split, self.metadata,
                dataset.label,
            )  # fmt: skip
        return ClassicEvalRunSpec(dataset, place, setting, number, *ids, self.metadata)


class _Running:
    """Runs that are going on, at most a few at the same time."""

    def __init__(
        self, sweep: Sweep, inference: Inference, engines: Engines, threads: ThreadPoolExecutor
    ) -> None:
        self._sweep, self._inference, self._engines = sweep, inference, engines
        self._threads, self._slots = threads, asyncio.Semaphore(_RUNS)
        self._model = sweep.options.model_name or inference.name

    async def all(self, specs: Sequence[RunSpec], directories: Sequence[Path]) -> list[EvalRun]:
        """Return all runs, failed ones with their error; raise if none has succeeded."""
        runs = await asyncio.gather(*map(self._guarded, specs, directories))
        failed = [run for run in runs if run.error is not None]
        if len(runs) == 1 and runs[0].error is not None:
            raise runs[0].error
        if len(failed) == len(runs):
            listed = "\n".join(f"  {_named(run)}" for run in failed[:5])
            raise AllRunsFailedError(f"all {len(runs)} runs failed:\n{listed}") from runs[0].error
        for run in failed:
            warn(f"Evaluation run failed ({_named(run)}")
        return runs

    async def _guarded(self, spec: RunSpec, directory: Path) -> EvalRun:
        async with self._slots:
            try:
                return await self._run(spec, directory)
            except Hopeless as fault:
                return self._failed(spec, directory, ScoreBookError(fault.detail))
            except Exception as error:  # of a function, a bank, a server, a disk
                return self._failed(spec, directory, error)

    def _failed(self, spec: RunSpec, directory: Path, error: Exception) -> EvalRun:
        is_local = isinstance(spec, ClassicEvalRunSpec) or self._engines.bank(spec.dataset)
        engine = "local" if is_local else self._engines.client().address
        return EvalRun(spec, engine, directory, error=error)

    async def _run(self, spec: RunSpec, directory: Path) -> EvalRun:
        calls = InferenceCalls(self._inference, spec.hyperparameter_config)
        options, seed = self._sweep.options, self._sweep.seed
        if isinstance(spec, ClassicEvalRunSpec):
            run = await self._aside(ClassicRun(spec, options, directory, seed), calls)
            if options.upload_results:
                await upload(self._engines.client(), run, self._model)
            return run
        bank = self._engines.bank(spec.dataset)
        if bank is None:
            engine = self._engines.remote(spec.dataset)
            return await engine.run(spec, calls, self._model, directory)
        of_split = bank.of_split(str(spec.split))
        return await self._aside(LocalRun(spec, of_split, options, directory, seed), calls)

    async def _aside(self, run: ClassicRun | LocalRun, calls: InferenceCalls) -> EvalRun:
        """Run in a thread with an event loop of its own, which a cancellation here stops."""
        stop = Stop()

        def session() -> EvalRun:
            run.run(calls, self._model, stop.started)
            return run.result(self._model, items=self._sweep.with_items)

        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._threads, session)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop()
            await asyncio.wait([running])
            running.exception()  # that it was stopped
            raise


def _named(run: EvalRun) -> str:
    settings = dict(run.spec.hyperparameter_config)
    error = describe(run.error, 500) if run.error is not None else ""
    return f"dataset={run.spec.label!r}, hyperparameters={settings!r}): {error}"


def _warn_of_search(specs: Sequence[RunSpec]) -> None:
    """Warn of test splits that several settings are tried on: the best of them is chosen there."""
    for label, n_settings in _searched(specs):
        warn(
            f"{n_settings} sets of hyperparameters are tried on {label}: the best of them looks "
            "better there than it is. Search on validation, and evaluate the one that is chosen on "
            "test."
        )


def _searched(specs: Sequence[RunSpec]) -> Iterator[tuple[str, int]]:
    settings: dict[str, set[int]] = {}
    for spec in specs:
        if isinstance(spec, AdaptiveEvalRunSpec) and spec.split == "test":
            settings.setdefault(spec.test, set()).add(spec.hyperparameters_index)
    for test, indices in settings.items():
        if len(indices) > 1:
            yield test, len(indices)
