"""The code that describes splits of adaptive data sets; only its import lines are changed.

Every block is run on local banks, on a server over HTTP, and on passband's own.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from passband.errors import ScoreBookError
from passband.scorebook import evaluate_async
from passband.scorebook.client import create_trismik_async_client
from passband.scorebook.datasets import AdaptiveEvalDataset
from passband.scorebook.run_spec import AdaptiveEvalRunSpec
from passband.scorebook.splits import resolve_split_async
from passband.system.event_loop import complete
from support.samples.item_banks import make_bank, solve, write_banks
from support.servers.served_banks import served_banks
from support.servers.trismik_server import TrismikServer

BOTH = ("validation", "test")
SPLITS = {
    "my_dataset": BOTH,
    "dataset_a": BOTH,
    "dataset_b": BOTH,
    "dataset_c": ("train", "test"),
    "broken_dataset": ("train",),
    "mmlu": BOTH,
    "math_qa": BOTH,
}

SPECIFYING_A_SPLIT = """
from passband.scorebook import evaluate_async

results = await evaluate_async(
    inference=my_inference_function,
    datasets="my_dataset:adaptive:validation",
    experiment_id="exp_123",
    project_id="proj_456"
)

results = await evaluate_async(
    inference=my_inference_function,
    datasets="my_dataset:adaptive:test",
    experiment_id="exp_123",
    project_id="proj_456"
)
"""
AUTOMATIC_FALLBACK = """
results = await evaluate_async(
    inference=my_inference_function,
    datasets="my_dataset:adaptive",
    experiment_id="exp_123",
    project_id="proj_456"
)
"""
SEVERAL = """
results = await evaluate_async(
    inference=my_inference_function,
    datasets=[
        "dataset_a:adaptive:validation",
        "dataset_a:adaptive:test",
        "dataset_b:adaptive",
    ],
    experiment_id="exp_123",
    project_id="proj_456"
)
"""
SPLIT_NOT_FOUND = """
results = await evaluate_async(
    inference=my_inference_function,
    datasets="my_dataset:adaptive:train",
    experiment_id="exp_123",
    project_id="proj_456"
)
"""
NO_VALID_SPLITS = """
results = await evaluate_async(
    inference=my_inference_function,
    datasets="broken_dataset:adaptive",
    experiment_id="exp_123",
    project_id="proj_456"
)
"""
TUNING = """
validation_results = await evaluate_async(
    inference=my_model,
    datasets="mmlu:adaptive:validation",
    hyperparameters=[
        {"temperature": 0.7},
        {"temperature": 0.9},
        {"temperature": 1.0},
    ],
    experiment_id="hp_tuning",
    project_id="my_project"
)

best_temp = select_best(validation_results)

test_results = await evaluate_async(
    inference=my_model,
    datasets="mmlu:adaptive:test",
    hyperparameters={"temperature": best_temp},
    experiment_id="final_eval",
    project_id="my_project"
)
"""
CROSS_SPLIT = """
results = await evaluate_async(
    inference=my_model,
    datasets=[
        "math_qa:adaptive:validation",
        "math_qa:adaptive:test",
    ],
    experiment_id="split_comparison",
    project_id="my_project"
)

for result in results["aggregate_results"]:
    print(f"{result['dataset']}: {result['theta']:.3f} ± {result['std_error']:.3f}")
"""
AUTO_SPLIT = """
results = await evaluate_async(
    inference=my_model,
    datasets=[
        "dataset_a:adaptive",
        "dataset_b:adaptive",
        "dataset_c:adaptive",
    ],
    experiment_id="auto_split",
    project_id="my_project"
)
"""
AVAILABLE_SPLITS = """
from passband.scorebook.evaluate_helpers import create_trismik_async_client

async with create_trismik_async_client() as client:
    dataset_info = await client.get_dataset_info("my_dataset:adaptive")
    print(f"Available splits: {dataset_info.splits}")
"""
CUSTOM_SPLIT = """
results = await evaluate_async(
    inference=my_model,
    datasets="my_dataset:adaptive:custom_split_name",
    experiment_id="exp",
    project_id="proj"
)
"""
EXPLICIT = """
results = await evaluate_async(
    inference=my_model,
    datasets="my_dataset:adaptive:validation",
    experiment_id="exp",
    project_id="proj"
)
"""
TRISMIK_RUN = """
trismik_results = await trismik_client.run(
    test_id=adaptive_run_spec.dataset,
    split=resolved_split,
    project_id=project_id,
    experiment=experiment_id,
    run_metadata=run_metadata,
    item_processor=item_processor,
    return_dict=False,
)
"""


class Engine:
    """Where the data sets are: banks in the folder, or a server."""

    def __init__(self, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kind, self._folder, self._monkeypatch = kind, folder, monkeypatch
        self._stack = ExitStack()
        self.server: TrismikServer | None = None
        self.name = "local"

    def offer(self, splits: dict[str, tuple[str, ...]]) -> None:
        if self.kind == "local":
            write_banks(self._folder, splits)
            return
        if self.kind == "served":
            banks = [make_bank(name, of_name) for name, of_name in splits.items()]
            served = served_banks(banks, self._folder / "state")
            self._address(self._stack.enter_context(served), "any")
            return
        named = {f"{name}:adaptive": of_name for name, of_name in splits.items()}
        self.serve(named)

    def serve(self, named: dict[str, tuple[str, ...]]) -> None:
        self.server = self._stack.enter_context(TrismikServer(named, items=30))
        self._address(self.server.url, self.server.key)

    def _address(self, url: str, key: str) -> None:
        self.name = url
        self._monkeypatch.setenv("TRISMIK_SERVICE_URL", url)
        self._monkeypatch.setenv("TRISMIK_API_KEY", key)

    def close(self) -> None:
        self._stack.close()


@pytest.fixture(params=["local", "remote", "served"])
def engine(
    request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    made = Engine(request.param, folder, monkeypatch)
    yield made
    made.close()


async def my_inference_function(inputs: list[Any]) -> list[str]:
    return solve(inputs)


async def my_model(inputs: list[Any], temperature: float = 0.7) -> list[str]:
    return solve(inputs, skill=round(20 - 60 * abs(temperature - 0.9)))


def select_best(results: Any) -> float:
    best = max(results["aggregate_results"], key=lambda result: result["theta"])
    temperature: float = best["temperature"]
    return temperature


def run(block: str, **more: Any) -> dict[str, Any]:
    """Run a block of code, which may await at its top."""
    names: dict[str, Any] = {
        "evaluate_async": evaluate_async,
        "my_inference_function": my_inference_function,
        "my_model": my_model,
        "select_best": select_best,
        **more,
    }
    code = compile(block, "seed", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    coroutine = eval(code, names)
    if coroutine is not None:
        complete(coroutine)
    return names


def splits_of(results: Any) -> list[tuple[str, str]]:
    return [(one["dataset"], one["split"]) for one in results["aggregate_results"]]


def test_specifying_a_split(engine: Engine) -> None:
    engine.offer(SPLITS)
    results = run(SPECIFYING_A_SPLIT)["results"]
    (result,) = results["aggregate_results"]
    assert splits_of(results) == [("my_dataset:adaptive:test", "test")]
    assert result["experiment_id"] == "exp_123"
    assert result["project_id"] == "proj_456"
    assert result["engine"] == engine.name
    assert result["score"] == {"theta": result["theta"], "std_error": result["std_error"]}
    assert len(result["path"]) == result["n_items"]
    assert -1 < result["theta"] < 1


def test_automatic_fallback(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    engine.offer(SPLITS)
    with caplog.at_level(logging.INFO):
        results = run(AUTOMATIC_FALLBACK)["results"]
    assert splits_of(results) == [("my_dataset:adaptive", "validation")]
    assert "Using 'validation' split for my_dataset:adaptive" in caplog.messages


def test_several_data_sets_with_different_splits(engine: Engine) -> None:
    engine.offer(SPLITS)
    assert splits_of(run(SEVERAL)["results"]) == [
        ("dataset_a:adaptive:validation", "validation"),
        ("dataset_a:adaptive:test", "test"),
        ("dataset_b:adaptive", "validation"),
    ]


def test_split_not_found(engine: Engine) -> None:
    engine.offer(SPLITS)
    with pytest.raises(ScoreBookError) as caught:
        run(SPLIT_NOT_FOUND)
    assert str(caught.value) == (
        "Specified split 'train' not found for dataset 'my_dataset:adaptive'. "
        "Available splits: ['validation', 'test']"
    )


def test_no_valid_splits_available(engine: Engine) -> None:
    engine.offer(SPLITS)
    with pytest.raises(ScoreBookError) as caught:
        run(NO_VALID_SPLITS)
    assert str(caught.value) == (
        "No suitable split found for dataset 'broken_dataset:adaptive'. "
        "Expected 'validation' or 'test' split. Available splits: ['train']"
    )


def test_hyperparameter_tuning(engine: Engine) -> None:
    engine.offer(SPLITS)
    names = run(TUNING)
    assert [one["temperature"] for one in names["validation_results"]] == [0.7, 0.9, 1.0]
    assert names["best_temp"] == 0.9
    (final,) = names["test_results"]["aggregate_results"]
    assert final["temperature"] == 0.9
    assert final["split"] == "test"


def test_cross_split_analysis(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.offer(SPLITS)
    results = run(CROSS_SPLIT)["results"]
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"math_qa:adaptive:{split}: {one['theta']:.3f} ± {one['std_error']:.3f}"
        for split, one in zip(BOTH, results, strict=True)
    ]


def test_each_data_set_falls_back(engine: Engine) -> None:
    engine.offer(SPLITS)
    assert [split for _, split in splits_of(run(AUTO_SPLIT)["results"])] == [
        "validation",
        "validation",
        "test",
    ]


def test_available_splits(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.offer({"my_dataset": BOTH})
    run(AVAILABLE_SPLITS)
    assert capsys.readouterr().out == "Available splits: ('validation', 'test')\n"


@pytest.mark.parametrize("block", [CUSTOM_SPLIT, EXPLICIT])
def test_custom_and_explicit_splits(engine: Engine, block: str) -> None:
    engine.offer({"my_dataset": (*BOTH, "custom_split_name")})
    (result,) = run(block)["results"]
    assert result["dataset"] == f"my_dataset:adaptive:{result['split']}"


def test_the_call_of_the_client(engine: Engine) -> None:
    engine.offer({"my_dataset": BOTH})
    spec = AdaptiveEvalRunSpec(
        dataset="my_dataset:adaptive",
        dataset_index=0,
        hyperparameter_config={},
        hyperparameters_index=0,
        experiment_id="e",
        project_id="p",
    )
    client = create_trismik_async_client()
    before = "resolved_split = await resolve(adaptive_run_spec.dataset, None, trismik_client)"
    block = f"{before}\n{TRISMIK_RUN}\nawait trismik_client.close()"
    names = run(
        block,
        trismik_client=client,
        adaptive_run_spec=spec,
        resolve=resolve_split_async,
        project_id=spec.project_id,
        experiment_id=spec.experiment_id,
        run_metadata={},
        item_processor=lambda item: "B",
    )
    assert names["trismik_results"].score.theta > 1
    assert names["resolved_split"] == "validation"
    if engine.server is not None:
        (body,) = engine.server.bodies
        assert (body["datasetId"], body["split"]) == ("my_dataset:adaptive", "validation")


def test_types() -> None:
    assert [field.name for field in fields(AdaptiveEvalDataset)][:2] == ["name", "split"]
    assert AdaptiveEvalDataset("a:adaptive").split is None
    names = [field.name for field in fields(AdaptiveEvalRunSpec)]
    assert names[:8] == [
        "dataset",
        "dataset_index",
        "hyperparameter_config",
        "hyperparameters_index",
        "experiment_id",
        "project_id",
        "split",
        "metadata",
    ]


@pytest.mark.parametrize("name", ["mmlu:validation:adaptive", "mmlu:adaptive:validation:extra"])
def test_invalid_examples(engine: Engine, name: str) -> None:
    engine.offer({"mmlu": BOTH})
    with pytest.raises(ScoreBookError, match=f"Invalid adaptive dataset format: '{name}'"):
        run(f"await evaluate_async(my_model, {name!r})")


def test_a_plain_name_is_a_classic_data_set(engine: Engine) -> None:
    engine.offer({"mmlu": BOTH})
    with pytest.raises(LookupError, match="no task, file or data set named 'mmlu'"):
        run("await evaluate_async(my_model, 'mmlu')")
