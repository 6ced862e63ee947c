"""Which engine a task of Inspect gets, that it is recorded, and that both give the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.model import get_model

from passband.errors import InvalidInput
from passband.generate.inspect.engine import EngineChoice, choose_engine
from passband.generate.inspect.source import InspectTask
from passband.run.request import make_request
from passband.run.session import RunResult
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from support.runs.runs import HURRIED, Notes
from support.samples import light_tasks
from support.servers.fault_server import Behaviour, FaultServer, Received, says

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
N = 4


def run(task: str, url: str, out: Path, notes: Notes | None = None, **options: Any) -> RunResult:
    options = dict[str, Any](n=N, seed="s", concurrency=4, base_url=url) | options
    request = make_request(
        f"inspect:support.samples.light_tasks:{task}",
        "openai:m",
        out=out,
        patience=HURRIED,
        **options,
    )
    return request.run(notes or Notes())


def subject_config(out: Path) -> dict[str, Any]:
    with Trials(out) as trials:
        (recorded,) = trials.runs()
        config: dict[str, Any] = recorded.config["subject"]
        return config


def rows(out: Path) -> list[tuple[Any, ...]]:
    """Return what must not depend on the engine, of every trial."""
    with Trials(out) as trials:
        (recorded,) = trials.runs()
        names = {scorer.number: scorer.name for scorer in recorded.scorers}
        return [_features(row, names) for row in trials.trials(recorded)]


def _features(row: TrialRow, names: dict[int, str]) -> tuple[Any, ...]:
    scores = sorted((names[score.scorer], *score[1:]) for score in row.scores)
    texts = row.text, row.reasoning, [turn["content"] for turn in row.transcript or ()]
    tokens = row.prompt_tokens, row.completion_tokens
    return row.problem, row.trial, row.status, row.seed, texts, tokens, scores


def source(make: Callable[[], Task]) -> InspectTask:
    task = make()
    return InspectTask("t", "t", {}, "1", task, {str(s.id): s for s in task.dataset})


# -- both engines --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", ["plain", "prompted", "chosen", "thought_through", "scored_by_itself", "twice"]
)
def test_both_engines_record_the_same_trials(task: str, tmp_path: Path) -> None:
    with FaultServer(light_tasks.reply_to) as server:
        for engine in ("light", "inspect"):
            run(task, server.url, tmp_path / engine, engine=engine)
    assert subject_config(tmp_path / "light")["engine"] == "light"
    assert subject_config(tmp_path / "inspect")["engine"] == "inspect"
    assert len(rows(tmp_path / "light")) >= 3 * N
    assert rows(tmp_path / "light") == rows(tmp_path / "inspect")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["light", "inspect"])
def test_a_run_of_one_engine_is_topped_up_by_the_other(first: str, tmp_path: Path) -> None:
    second = "inspect" if first == "light" else "light"
    with FaultServer(light_tasks.reply_to) as server:
        run("prompted", server.url, tmp_path / "mixed", engine=first, n=2)
        asked = len(server.requests)
        notes = Notes()
        run("prompted", server.url, tmp_path / "mixed", notes, engine=second)
        assert len(server.requests) == 2 * asked  # only what was missing
        run("prompted", server.url, tmp_path / "whole", engine="light")
    assert rows(tmp_path / "mixed") == rows(tmp_path / "whole")
    recorded = subject_config(tmp_path / "mixed")
    assert (recorded["engine"], recorded["engines"]) == (second, [first, second])


@pytest.mark.slow
def test_a_task_that_is_handed_back_is_run_by_inspect_and_recorded_so(tmp_path: Path) -> None:
    with FaultServer(light_tasks.reply_to) as server:
        run("judged_now_and_then", server.url, tmp_path / "auto")
        run("judged_now_and_then", server.url, tmp_path / "inspect", engine="inspect")
    recorded = subject_config(tmp_path / "auto")
    assert (recorded["engine"], recorded["engines"]) == ("inspect", ["light", "inspect"])
    assert recorded["reasons"] == ["a scorer asks a model"]
    assert rows(tmp_path / "auto") == rows(tmp_path / "inspect")


@pytest.mark.slow
def test_what_was_drawn_before_is_not_drawn_again(tmp_path: Path) -> None:
    """Without seeds another draw would be another answer, and the recorded ones a selection."""
    with FaultServer(numbered) as server:
        run("judged_now_and_then", server.url, tmp_path, send_seeds=False, seed=None)
    drawn = [r for r in server.requests if not r.prompt.startswith("Is ")]
    assert len(drawn) == 5 * N
    with Trials(tmp_path) as trials:
        texts = [row.text for row in trials.trials(trials.run())]
    assert sorted(texts) == sorted(f"request {r.number}: {r.number % 4}" for r in drawn)
    assert subject_config(tmp_path)["engines"] == ["light", "inspect"]


def numbered(request: Received) -> Behaviour:
    return says(f"request {request.number}: {request.number % 4}")


# -- the choice ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [*light_tasks.ALL, light_tasks.twice], ids=lambda f: f.__name__)
def test_tasks_that_only_generate_take_the_light_engine(make: Callable[[], Task]) -> None:
    assert choose_engine(source(make), "openai:m") == EngineChoice("light")
    assert choose_engine(source(make), lambda prompt: "3") == EngineChoice("light")


def test_the_engine_can_be_chosen() -> None:
    plain = source(light_tasks.plain)
    assert choose_engine(plain, "openai:m", "inspect") == EngineChoice(
        "inspect", ("--engine inspect",)
    )
    assert choose_engine(plain, "openai:m", "light") == EngineChoice("light")
    with pytest.raises(InvalidInput, match="--engine light cannot run t: its model is one of"):
        choose_engine(plain, "mockllm/model", "light")


def test_models_of_inspect_are_asked_by_inspect() -> None:
    plain = source(light_tasks.plain)
    by_name = choose_engine(plain, "mockllm/model")
    assert by_name == EngineChoice("inspect", ("its model is one of Inspect's providers",))
    model = choose_engine(plain, get_model("mockllm/model", memoize=False))
    assert model == EngineChoice("inspect", ("its model is one of Inspect",))
