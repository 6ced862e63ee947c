"""Evaluators in a training loop: what they take, that they take turns, how they end."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import get_model

from passband.errors import InvalidInput, PassbandWarning, WrongType
from passband.inspect_evals.answer_scorer import extracted_answer
from passband.inspect_evals.inspect_evaluators import (
    BootstrappedInspectEvaluator,
    InspectEvaluator,
    InspectEvaluatorBuilder,
)
from passband.trials.reader import Trials
from support.samples import seed_tasks
from support.servers.fault_server import FaultServer, held, ok

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
KEYS = {f"aime2024/pass@1{end}" for end in ("", "_bootstrap_stderr", "_bootstrap_mean")}


def builder(**options: Any) -> InspectEvaluatorBuilder:
    return InspectEvaluatorBuilder(
        **({"tasks": "support.samples.seed_tasks:aime2024", "limit": 3} | options)  # type: ignore[arg-type]
    )


def evaluated(target: Any = None, **options: Any) -> dict[str, float]:
    return asyncio.run(builder(**options)()(target))


# -- the choice of the evaluator -----------------------------------------------------------


def test_the_builder_chooses_the_evaluator() -> None:
    assert type(builder()()) is BootstrappedInspectEvaluator
    assert type(builder(pass_at_k=None)()) is BootstrappedInspectEvaluator
    assert type(builder(bootstrap_stderr=False)()) is BootstrappedInspectEvaluator
    assert type(builder(pass_at_k=None, bootstrap_stderr=False)()) is InspectEvaluator


def test_fewer_generations_than_k_are_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidInput, match="give num_choices=4 or more"):
        builder(num_choices=3, pass_at_k=4)()


def test_it_is_an_evaluator_of_tinker_cookbook_where_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tinker_cookbook" / "eval"
    folder.mkdir(parents=True)
    for package in (folder.parent, folder):
        (package / "__init__.py").touch()
    (folder / "evaluators.py").write_text("class SamplingClientEvaluator:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    name = "passband.inspect_evals.inspect_evaluators"
    for loaded in (name, *(n for n in sys.modules if n.startswith("tinker_cookbook"))):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    import importlib

    module = importlib.import_module(name)
    base = importlib.import_module("tinker_cookbook.eval.evaluators").SamplingClientEvaluator
    assert issubclass(module.BootstrappedInspectEvaluator, base)
    assert isinstance(module.InspectEvaluatorBuilder(tasks="t")(), base)
    for loaded in ("tinker_cookbook.eval.evaluators", "tinker_cookbook.eval", "tinker_cookbook"):
        monkeypatch.delitem(sys.modules, loaded)


# -- targets -------------------------------------------------------------------------------


def test_the_configured_model_and_a_name() -> None:
    with FaultServer(ok) as server:
        configured = evaluated(model_name="m", base_url=server.url, seed=1)
        named = evaluated("m", base_url=server.url, seed=1)
    assert configured.keys() == KEYS
    assert configured == named
    assert all(type(value) is float for value in configured.values())


def test_a_function_is_called_in_the_caller_s_loop() -> None:
    loops, threads = set(), set()

    async def policy(messages: list[dict[str, str]], settings: dict[str, Any]) -> str:
        loops.add(asyncio.get_running_loop())
        threads.add(threading.current_thread())
        assert settings["temperature"] == 0.5
        return await seed_tasks.adds(messages, settings)

    async def train() -> dict[str, float]:
        metrics = await builder(num_choices=2, temperature=0.5)()(policy)
        assert loops == {asyncio.get_running_loop()}
        return metrics

    assert asyncio.run(train())["aime2024/pass@1"] == 1.0
    assert threads == {threading.main_thread()}


def test_a_model_of_inspect_can_be_asked_again_and_again() -> None:
    """Its connections belong to the caller's loop, not to that of one of the runs."""

    async def train(url: str) -> list[dict[str, float]]:
        model = get_model("openai-api/loopback/m", base_url=url, api_key="none", memoize=False)
        evaluator = builder(seed=1)()
        metrics = [await evaluator(model), await evaluator(model)]
        assert (await model.generate("What is 1 + 1?")).completion
        await model.api.aclose()
        return metrics

    with FaultServer(ok) as server:
        first, second = asyncio.run(train(server.url))
        by_name = evaluated("m", base_url=server.url, seed=1)
    assert first == second == by_name  # the same seeds, whichever way it is asked


def test_tasks_and_functions_of_tasks() -> None:
    for tasks in (seed_tasks.aime2024, seed_tasks.aime2024(), [seed_tasks.aime2024]):
        assert evaluated(seed_tasks.adds, tasks=tasks).keys() == KEYS
    with pytest.raises(WrongType, match="a task is a name, a Task of Inspect or a function"):
        evaluated(seed_tasks.adds, tasks=[5])


def test_a_sampling_client_needs_a_renderer() -> None:
    class Client:
        async def sample_async(self) -> None:
            """Never called."""

    with pytest.raises(InvalidInput, match="renderer_name is missing"):
        evaluated(Client(), model_name="m")


def test_other_targets_are_refused() -> None:
    with pytest.raises(WrongType, match="an evaluator takes a model's name"):
        evaluated(5)


# -- runs ----------------------------------------------------------------------------------


def test_every_call_is_a_run_of_its_own_and_a_step_is_resumed(tmp_path: Path) -> None:
    asked: list[str] = []

    async def policy(messages: list[dict[str, str]], settings: dict[str, Any]) -> str:
        asked.append(messages[-1]["content"])
        return await seed_tasks.adds(messages, settings)

    async def train() -> None:
        evaluator = builder(out=str(tmp_path / "evals"), model_name="policy")()
        await evaluator(policy)
        await evaluator(policy)
        assert len(asked) == 6
        await evaluator(policy, step=100)
        await evaluator(policy, step=100)
        assert len(asked) == 9

    asyncio.run(train())
    names = sorted(path.name for path in (tmp_path / "evals").iterdir())
    assert names == ["100", "call-000", "call-001"]
    with Trials(tmp_path / "evals" / "100") as trials:
        assert trials.run().model == "policy"


def test_evaluators_that_are_gathered_take_turns() -> None:
    under_way: list[str] = []

    def policy(name: str) -> Any:
        async def answer(messages: list[dict[str, str]], settings: dict[str, Any]) -> str:
            under_way.append(name)
            await asyncio.sleep(0)
            return await seed_tasks.adds(messages, settings)

        return answer

    async def train() -> list[dict[str, float]]:
        evaluator = builder(num_choices=2)()
        return await asyncio.gather(evaluator(policy("a")), evaluator(policy("b")))  # type: ignore[return-value]

    first, second = asyncio.run(train())
    assert first == second
    assert sorted(under_way) == ["a"] * 6 + ["b"] * 6
    assert under_way in (["a"] * 6 + ["b"] * 6, ["b"] * 6 + ["a"] * 6)


def test_a_call_that_is_cancelled_ends_the_run_and_lets_the_next_begin(tmp_path: Path) -> None:
    async def train(server: FaultServer) -> dict[str, float]:
        evaluator = builder(model_name="m", base_url=server.url, num_choices=50, limit=None)()
        call = asyncio.ensure_future(evaluator())
        await asyncio.to_thread(server.wait_for, 1)
        call.cancel()
        server.release()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert len(server.requests) < 300
        return await builder(model_name="m", base_url=server.url)()()

    with FaultServer(held()) as server:
        assert asyncio.run(train(server)).keys() == KEYS


def test_the_first_scorer_decides() -> None:
    async def policy(messages: list[dict[str, str]], settings: dict[str, Any]) -> str:
        return "It is 42 or 44 or 7."  # includes the sums; the last number is another

    metrics = evaluated(policy, tasks="support.samples.seed_tasks:other_scorer")
    assert metrics["other_scorer/pass@1"] == 1.0


def test_tasks_of_the_same_name_keep_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import Task

    tasks = [
        Task(seed_tasks.sums(2), scorer=extracted_answer(), name=name)
        for name in ("one/sums", "two/sums", "three/others")
    ]
    metrics = evaluated(seed_tasks.adds, tasks=tasks, bootstrap_stderr=False)
    assert set(metrics) == {"one/sums/pass@1", "two/sums/pass@1", "others/pass@1"}


def test_right_answers_that_are_read_wrongly_are_a_warning() -> None:
    from inspect_ai import Task

    async def policy(messages: list[dict[str, str]], settings: dict[str, Any]) -> str:
        answer = await seed_tasks.adds(messages, settings)
        return f"{answer.removeprefix('The answer is ').rstrip('.')} apples, counted in 10001 ways."

    task = Task(seed_tasks.sums(10), scorer=extracted_answer(), name="apples")
    with pytest.warns(PassbandWarning, match="apples: nearly every score is 0"):
        metrics = evaluated(policy, tasks=[task], limit=None, num_choices=2)
    assert metrics["apples/pass@1"] == 0.0
