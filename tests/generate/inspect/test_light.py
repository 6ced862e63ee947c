"""The light engine: the texts and scores of Inspect's own, and what is handed back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import accuracy, match, scorer
from inspect_ai.solver import chain, generate, multiple_choice, user_message
from inspect_ai.solver._task_state import sample_state
from inspect_ai.util import sandbox, sandbox_with, store
from inspect_ai.util._display import init_display_type

from passband.generate.inspect import light as light_module
from passband.generate.inspect.calls import call_seed
from passband.generate.inspect.guard import KeptAnswers
from passband.generate.inspect.light import LightSubject
from passband.generate.inspect.source import InspectTask
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Sampling, TaskError, Unavailable
from passband.generate.registry import Connection
from passband.generate.subject import Seeds, Subject, make_subject
from passband.run.schedule.blocks import trial_seed
from passband.score.inspect_value import inspect_scores
from passband.score.scorer import Reference
from support.samples import light_tasks
from support.samples.light_tasks import numbers, reply_to
from support.servers.fault_server import FaultServer, says, status

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
N = 4
FEATURES = ("text", "finish", "reasoning", "scores")


class Elsewhere(Subject):
    """Stands for Inspect's engine, and notes what it is given."""

    name, batch = "elsewhere", 1

    def __init__(self, replay: KeptAnswers | None = None) -> None:
        self.trials: list[int] = []
        self.closed = 0

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> list[Completion]:
        self.trials += trials
        return [Completion("from elsewhere", seed=seed) for seed in seeds]

    async def close(self) -> None:
        self.closed += 1


def light(
    task: Task, model: Any, elsewhere: Callable[[KeptAnswers], Any] = Elsewhere
) -> LightSubject:
    source = InspectTask("t", "t", {}, "1", task, {str(s.id): s for s in task.dataset})
    asked = make_subject(model) if not isinstance(model, str) else _server(model)
    return LightSubject(source, asked, elsewhere)  # type: ignore[arg-type]


def _server(url: str) -> Subject:
    return make_subject("openai:m", Connection(base_url=url))


def engine_of(subject: LightSubject) -> tuple[str, list[str]]:
    return subject.config["engine"], subject.config["reasons"]


def seed_of(key: str, trial: int) -> int:
    return trial_seed("light", "t", key, trial)


async def answered(
    subject: LightSubject, key: str, trial: int, sampling: Sampling | None = None
) -> Completion:
    problem = Problem(key, (), Reference(()))
    seeds, trials = (seed_of(key, trial),), (trial,)
    (completion,) = await subject.answer(problem, sampling or Sampling(), seeds, trials)
    return completion


def by_light(task: Task, url: str) -> dict[tuple[str, int], dict[str, Any]]:
    async def run() -> dict[tuple[str, int], dict[str, Any]]:
        subject = light(task, url)
        places = [(str(sample.id), trial) for sample in task.dataset for trial in range(N)]
        try:
            completions = await asyncio.gather(*(answered(subject, *place) for place in places))
        finally:
            await subject.close()
        assert subject.config["engine"] == "light"
        return {
            place: {name: getattr(completion, name) for name in FEATURES}
            for place, completion in zip(places, completions, strict=True)
        }

    return asyncio.run(run())


def by_inspect(task: Task, url: str, folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Run a task with Inspect itself, its requests given the seeds of passband."""
    model = get_model("openai-api/loopback/m", base_url=url, api_key="none", memoize=False)
    inner, calls = model.api.generate, dict[tuple[str, int], int]()

    async def seeded(input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
        state = sample_state()
        assert state is not None
        place = str(state.sample_id), state.epoch - 1
        calls[place] = 1 + calls.get(place, -1)
        config.seed = call_seed(seed_of(*place), calls[place])
        return await inner(input, tools, tool_choice, config)

    model.api.generate = seeded

    async def run() -> Any:
        init_display_type("none")
        (log,) = await eval_async(task, model=model, epochs=N, log_dir=str(folder))
        await model.api.aclose()
        return log

    log = asyncio.run(run())
    assert log.status == "success", log.error
    return {(str(sample.id), sample.epoch - 1): _features(sample) for sample in log.samples or ()}


def _features(sample: Any) -> dict[str, Any]:
    content = sample.output.message.content
    parts = [] if isinstance(content, str) else content
    scores = {}
    for name, score in sample.scores.items():
        scores |= inspect_scores(
            name, score.value, answer=score.answer, explanation=score.explanation
        )
    finish = {"max_tokens": "length"}.get(sample.output.stop_reason, sample.output.stop_reason)
    reasoning = [part.reasoning for part in parts if part.type == "reasoning"]
    return {
        "text": sample.output.completion,
        "finish": finish,
        "reasoning": reasoning[0] if reasoning else None,
        "scores": scores,
    }


# -- as Inspect ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("make", [*light_tasks.ALL, light_tasks.twice], ids=lambda f: f.__name__)
def test_texts_and_scores_are_those_of_inspect(make: Callable[[], Task], tmp_path: Path) -> None:
    with FaultServer(reply_to) as server:
        expected = by_inspect(make(), server.url, tmp_path)
        found = by_light(make(), server.url)
    assert len(expected) == N * len(make().dataset)
    assert found == expected
    assert len({features["text"] for features in found.values()}) > N  # answers do differ


@pytest.mark.slow
def test_a_run_s_parameters_beat_the_task_s_and_a_solver_s_beat_both(tmp_path: Path) -> None:
    with FaultServer(reply_to) as server:

        async def run() -> None:
            subject = light(light_tasks.prompted(), server.url)
            await answered(subject, "p0", 0, Sampling(temperature=0.1, top_p=0.3, max_tokens=9))
            await subject.close()

        asyncio.run(run())
    (request,) = server.requests
    sent = {name: request.body[name] for name in ("temperature", "top_p", "max_tokens")}
    assert sent == {"temperature": 0.6, "top_p": 0.3, "max_tokens": 9}
    assert request.body["frequency_penalty"] == 0.25


def test_several_requests_leave_a_transcript_and_add_up() -> None:
    with FaultServer(reply_to) as server:

        async def run() -> Completion:
            subject = light(light_tasks.twice(), server.url)
            completion = await answered(subject, "p0", 2)
            await subject.close()
            return completion

        completion = asyncio.run(run())
    assert len(server.requests) == 2
    seeds = [request.body["seed"] for request in server.requests]
    assert seeds == [seed_of("p0", 2), call_seed(seed_of("p0", 2), 1)]
    assert completion.transcript is not None
    roles = [message["role"] for message in completion.transcript]
    assert roles == ["system", "user", "assistant", "user", "assistant", "assistant", "user",
                     "assistant"]  # fmt: skip
    assert completion.transcript[-1]["content"] == completion.text
    assert completion.seed == seeds[0]
    assert completion.completion_tokens == 20


def test_a_function_is_a_model() -> None:
    def answer(prompt: str) -> str:
        return "3" if "p" not in prompt else "?"

    completion = asyncio.run(answered(light(light_tasks.plain(), answer), "p3", 0))
    assert completion.text == "3"
    assert completion.scores is not None
    assert completion.scores["match"].value == 1.0


# -- faults --------------------------------------------------------------------------------


def test_faults_of_the_server_are_the_caller_s_to_judge() -> None:
    with FaultServer(status(503)) as server, pytest.raises(Unavailable):
        by_light(light_tasks.plain(), server.url)


def test_an_error_of_a_solver_is_an_error_of_the_task() -> None:
    task = Task([Sample("x", id="p0")], solver=multiple_choice(), scorer=match())
    with pytest.raises(TaskError, match=r"a solver raised ValueError: .* requires samples with"):
        asyncio.run(answered(light(task, lambda prompt: "x"), "p0", 0))


def test_an_error_of_a_simple_scorer_is_an_error_of_the_task() -> None:
    from inspect_ai.scorer import choice

    task = Task([Sample("x", id="p0", target="Q")], solver=generate(), scorer=choice())
    with pytest.raises(TaskError, match="a scorer raised"):
        asyncio.run(answered(light(task, lambda prompt: "x"), "p0", 0))


# -- handed back ---------------------------------------------------------------------------


async def ask_the_model(state: Any, target: Any) -> InspectScore:
    await get_model().generate("Is that right?")
    raise AssertionError


async def ask_another(state: Any, target: Any) -> InspectScore:
    await get_model("mockllm/model").generate("Is that right?")
    raise AssertionError


async def swallow(state: Any, target: Any) -> InspectScore:
    try:
        await get_model().generate("Is that right?")
    except Exception:
        return InspectScore(value=0)
    raise AssertionError


async def use_a_sandbox(state: Any, target: Any) -> InspectScore:
    await sandbox().exec(["true"])
    raise AssertionError


async def look_for_a_sandbox(state: Any, target: Any) -> InspectScore:
    try:
        await sandbox_with("/tmp/x")
    except Exception:
        return InspectScore(value=0)
    raise AssertionError


async def fail(state: Any, target: Any) -> InspectScore:
    raise KeyError("grade")


def task_scored_by(score: Callable[..., Any]) -> Task:
    @scorer(metrics=[accuracy()])
    def own() -> Any:
        return score

    return Task(numbers(), solver=generate(), scorer=own())


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (ask_the_model, "a scorer asks a model"),
        (ask_another, "a scorer asks a model"),
        (swallow, "a scorer asks a model"),
        (use_a_sandbox, "a scorer uses a sandbox"),
        (look_for_a_sandbox, "a scorer uses a sandbox"),
        (fail, "a scorer raised KeyError: 'grade'"),
    ],
)
def test_what_a_scorer_wants_in_vain_hands_the_task_back(
    score: Callable[..., Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = Elsewhere()

    async def run() -> LightSubject:
        subject = light(task_scored_by(score), lambda prompt: "3", lambda replay: elsewhere)
        first, second = [await answered(subject, "p3", trial) for trial in (0, 1)]
        assert first.text == second.text == "from elsewhere"
        await subject.close()
        return subject

    subject = asyncio.run(run())
    assert engine_of(subject) == ("inspect", [reason])
    assert elsewhere.trials == [0, 1]  # the trial that fired it, and all that follow
    assert elsewhere.closed == 1
    messages = [r.msg % r.args for r in caplog.records if r.name == light_module.__name__]
    assert messages == [f"Inspect's own engine runs the task from here: {reason}."]


def test_trials_under_way_are_handed_back_too_and_one_engine_is_made() -> None:
    made: list[Elsewhere] = []

    def elsewhere(replay: KeptAnswers) -> Elsewhere:
        made.append(Elsewhere())
        return made[-1]

    async def run() -> None:
        subject = light(task_scored_by(swallow), lambda prompt: "3", elsewhere)
        await asyncio.gather(*(answered(subject, "p3", trial) for trial in range(8)))
        await subject.close()

    asyncio.run(run())
    assert [sorted(one.trials) for one in made] == [list(range(8))]


def test_scorers_find_their_sample() -> None:
    async def score(state: Any, target: Any) -> InspectScore:
        store().set("seen", 1 + store().get("seen", 0))
        assert sample_state() is state
        assert store() is state.store
        assert state.epoch in (1, 2)
        return InspectScore(value=store().get("seen"))

    async def run() -> list[Completion]:
        subject = light(task_scored_by(score), lambda prompt: "3")
        return [await answered(subject, "p3", trial) for trial in (0, 1)]

    for completion in asyncio.run(run()):
        assert completion.scores is not None
        assert completion.scores["own"].value == 1.0  # a store of its own
    assert sample_state() is None


def test_reasoning_in_a_conversation_is_handed_back() -> None:
    with FaultServer(says("<think>Hm.</think>3")) as server:

        async def run() -> LightSubject:
            subject = light(light_tasks.twice(), server.url)
            assert (await answered(subject, "p0", 0)).text == "from elsewhere"
            await subject.close()
            return subject

        subject = asyncio.run(run())
    reason = "a conversation has reasoning, media or tool calls"
    assert engine_of(subject) == ("inspect", [reason])


def test_nothing_that_a_scorer_changes_reaches_the_next_trial() -> None:
    async def score(state: Any, target: Any) -> InspectScore:
        state.input.append(state.input[0])
        state.metadata["seen"].append(1)
        return InspectScore(value=len(state.input) + len(state.metadata["seen"]))

    async def run() -> list[Completion]:
        task = task_scored_by(score)
        for sample in task.dataset:
            sample.input, sample.metadata = [ChatMessageUser(content="3?")], {"seen": []}
        subject = light(task, lambda prompt: str(len(prompt)))
        return [await answered(subject, "p3", trial) for trial in (0, 1, 2)]

    answers = asyncio.run(run())
    assert len({one.text for one in answers}) == 1
    assert [one.scores["own"].value for one in answers if one.scores] == [3.0] * 3


def test_scorers_find_the_tokens_of_all_calls() -> None:
    async def score(state: Any, target: Any) -> InspectScore:
        return InspectScore(value=state.token_usage)

    async def run(url: str) -> Completion:
        task = task_scored_by(score)
        task.solver = chain(generate(), user_message("Sure?"), generate())
        subject = light(task, url)
        completion = await answered(subject, "p3", 0)
        await subject.close()
        return completion

    with FaultServer() as server:
        completion = asyncio.run(run(server.url))
    tokens = completion.prompt_tokens, completion.completion_tokens
    assert completion.scores is not None
    assert None not in tokens
    assert completion.scores["own"].value == sum(tokens) > 0
