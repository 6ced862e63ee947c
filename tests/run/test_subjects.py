"""Subjects of one's own in a run: transcripts, costs, scores; and scorers that wait."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Crashed, GaveUp, Sampling, TaskError
from passband.generate.registry import Connection
from passband.run.loop.attempts import NothingAnswered
from passband.run.session import RunResult
from passband.run.settings import Settings
from passband.run.task_run import Price
from passband.score.scorer import Reference, Score, Scorer
from passband.tasks.task import Task
from passband.trials.reader import Trials
from support.runs.runs import HURRIED, NAME, Bench, number_scorer, run_watched, sums


class Agent:
    """A subject that needs several steps for an answer, and scores it itself."""

    name = "agent"
    batch = 2

    def __init__(self, **more: Any) -> None:
        self.more = more
        self.attempts = 0
        self.asked: list[tuple[str, int]] = []

    async def answer(
        self,
        problem: Problem,
        sampling: Sampling,
        seeds: Sequence[int | None],
        trials: Sequence[int],
    ) -> list[Completion]:
        self.attempts += 1
        self.asked += [(problem.key, trial) for trial in trials]
        if self.attempts == 2:
            raise Crashed("a tool failed")  # one attempt; the run makes another
        await asyncio.sleep(0)
        return [
            Completion(
                f"It is {problem.reference.targets[0]}",
                seed=seed,
                transcript=[{"role": "tool", "content": "calculator"}],
                **self.more,
            )
            for seed in seeds
        ]

    async def close(self) -> None:
        self.attempts = -1


def run(bench: Bench, model: Any, task: Any = None, **options: Any) -> RunResult:
    settings: dict[str, Any] = {"seed": "s", "concurrency": 2, "n": 2} | options
    price = settings.pop("price", None)
    return run_watched(
        bench.notes,
        [task or sums()],
        model,
        bench.directory,
        settings=Settings(patience=HURRIED, **settings),
        connection=Connection(),
        price=price,
        low_water=0,
    )


def test_a_subject_is_run_like_a_model(bench: Bench) -> None:
    agent = Agent()
    assert run(bench, agent).ending == "finished"
    assert set(agent.asked) == {(f"p{at}", trial) for at in range(3) for trial in range(2)}
    assert bench.statuses == {"ok": 6}
    assert {row.scores[0].value for row in bench.rows} == {1.0}
    assert bench.outcomes == ["crashed"]
    assert agent.attempts == -1  # closed
    with Trials(bench.directory) as trials:
        assert trials.run(NAME).model == "agent"


def scores_by_name(bench: Bench) -> list[dict[str, float | None]]:
    with Trials(bench.directory) as trials:
        names = {scorer.number: scorer.name for scorer in trials.run(NAME).scorers}
    return [{names[s.scorer]: s.value for s in row.scores} for row in bench.rows]


def test_scores_that_come_with_an_answer_are_stored(bench: Bench) -> None:
    scores = {"judge": Score(0.25), "exact_match": Score(0.0)}
    run(bench, Agent(scores=scores), n=1)
    run(bench, Agent(scores=scores), n=2)  # a resumed run adds to the same scorers
    assert (
        scores_by_name(bench) == [{"exact_match": 1.0, "judge": 0.25, "exact_match,model": 0.0}] * 6
    )
    with Trials(bench.directory) as trials:
        assert trials.run(NAME).scorers[0].name == "exact_match"


def test_where_the_task_has_no_scorer_the_score_is_the_models(bench: Bench) -> None:
    finished = run(bench, Agent(scores={"judge": Score(1.0)}), sums(scorers=[]))
    assert scores_by_name(bench) == [{"judge": 1.0}] * 6
    found = finished.task_runs[0].counters.estimate()
    assert found is not None
    assert found.value == 1.0


def test_a_score_that_is_no_number_is_an_error_of_the_score(bench: Bench) -> None:
    run(bench, Agent(scores={"judge": Score(float("nan"))}), sums(scorers=[]))
    assert {(row.scores[0].value, row.scores[0].status) for row in bench.rows} == {(None, "error")}


def test_a_cost_that_is_known_counts_instead_of_the_tokens(bench: Bench) -> None:
    agent = Agent(cost=0.5, prompt_tokens=10**6, completion_tokens=10**6)
    finished = run(bench, agent, price=Price(7.0, 7.0))
    assert finished.cost == 3.0
    limited = run(bench, agent, n=20, price=Price(7.0, 7.0), max_cost=5.0)
    assert limited.ending == "max_cost"
    assert limited.task_runs[0].counters.fresh <= 4


# --- scorers that wait -----------------------------------------------------------------------


class Judge(Scorer):
    """A scorer that has to be awaited, and that looks at the trial."""

    name, identity, slow, is_async, takes_trial, spec = "judge", "judge 1", False, True, True, None

    def __init__(self) -> None:
        self.at_once = self.most = self.calls = 0
        self.loops: set[int] = set()

    async def score_async(self, text: Any, reference: Reference, trial: Any = None) -> Score:
        self.calls += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        self.loops.add(id(asyncio.get_running_loop()))
        for _ in range(20):  # rounds of the loop in which others may begin
            await asyncio.sleep(0)
        self.at_once -= 1
        if trial.text is None or reference.targets[0] == "44":
            raise ValueError("no opinion")
        return Score(float(reference.targets[0] in trial.text), answer=text)

    def score(self, text: Any, reference: Reference, trial: Any = None) -> Score:
        raise AssertionError("an async scorer must be awaited")


def test_async_scorers_are_awaited_beside_the_run(bench: Bench) -> None:
    judge: Any = Judge()
    run(bench, Agent(), sums(20, scorers=[number_scorer(), judge]), n=2)
    assert judge.calls == 40
    assert judge.most > 1
    scores = [(score["exact_match"], score["judge"]) for score in scores_by_name(bench)]
    assert scores == [(1.0, None if row.problem == 1 else 1.0) for row in bench.rows]


def test_async_scorers_catch_up_in_the_loop_of_the_run(bench: Bench) -> None:
    run(bench, Agent(), sums(5, scorers=[]), n=2)
    judge: Any = Judge()
    run(bench, Agent(), sums(5, scorers=[judge]), n=4)
    assert judge.calls == 20
    assert len(judge.loops) == 1
    assert all(row.scores for row in bench.rows)


@pytest.mark.parametrize("failing", [True, False])
def test_a_scorer_that_breaks_costs_its_score(bench: Bench, failing: bool) -> None:
    judge: Any = Judge()
    run(bench, Agent(), sums(2, scorers=[judge]))
    rows = [row for row in bench.rows if (row.problem == 1) == failing]
    assert {row.scores[0].status for row in rows} == {"error" if failing else "ok"}


# --- tasks that bring their own subject --------------------------------------------------------


class Harness(Agent):
    """A subject that does with a problem what the test says, and knows when it was closed."""

    batch = 1

    def __init__(self, name: str, answers: Callable[[str, int], Completion]) -> None:
        super().__init__()
        self.name, self.answers = name, answers
        self.closed = 0

    async def answer(self, problem: Any, sampling: Any, seeds: Any, trials: Any) -> Any:
        self.asked += [(problem.key, trial) for trial in trials]
        await asyncio.sleep(0)
        return [self.answers(problem.key, trials[0])]

    async def close(self) -> None:
        self.closed += 1


def own_task(harness: Any, name: str = NAME, count: int = 3, **changes: Any) -> Task:
    return sums(count, name=name, scorers=[], subject=lambda model, connection: harness, **changes)


def answered(key: str, trial: int) -> Completion:
    return Completion("42", scores={"judge": Score(1.0)})


def test_a_task_may_bring_its_own_subject(bench: Bench) -> None:
    harness = Harness("tiny", answered)
    run(bench, "tiny", own_task(harness))
    assert sorted(harness.asked) == [(f"p{at}", trial) for at in range(3) for trial in range(2)]
    assert harness.closed == 1
    assert bench.statuses == {"ok": 6}


def test_a_subject_is_closed_as_soon_as_its_task_is_done(bench: Bench) -> None:
    first = Harness("tiny", answered)
    seen: list[int] = []

    def look(key: str, trial: int) -> Completion:
        seen.append(first.closed)
        return answered(key, trial)

    second = Harness("tiny", look)
    tasks = [own_task(first, "a"), own_task(second, "b", 20)]
    run_watched(
        bench.notes, tasks, "tiny", bench.directory,
        settings=Settings(seed="s", concurrency=2, n=1, patience=HURRIED),
        connection=Connection(), low_water=0,
    )  # fmt: skip
    assert (first.closed, second.closed) == (1, 1)
    assert seen[-1] == 1  # while the second task was still asked


def test_errors_of_the_tasks_code_are_recorded_and_not_repeated(bench: Bench) -> None:
    def answers(key: str, trial: int) -> Completion:
        if (key, trial) == ("p1", 1):
            raise TaskError("ValueError: no such tool")
        return answered(key, trial)

    harness = Harness("tiny", answers)
    run(bench, "tiny", own_task(harness))
    assert len(harness.asked) == 6
    assert bench.statuses == {"ok": 5, "errored": 1}
    assert (bench.row(1, 1).status, bench.row(1, 1).scores) == ("errored", [])
    assert [(a["outcome"], a["detail"]) for a in bench.attempts] == [
        ("errored", "ValueError: no such tool")
    ]


def test_a_task_that_only_errs_is_stopped_and_leaves_nothing(bench: Bench) -> None:
    def answers(key: str, trial: int) -> Completion:
        raise TaskError("ValueError: no such tool")

    harness = Harness("tiny", answers)
    with pytest.raises(NothingAnswered, match=r"first 16 trials .* no such tool"):
        run(bench, "tiny", own_task(harness, count=40))
    assert len(harness.asked) <= 18
    assert bench.rows == []


def test_a_subject_that_gave_up_is_not_asked_again(bench: Bench) -> None:
    def answers(key: str, trial: int) -> Completion:
        if (key, trial) == ("p2", 0):
            raise GaveUp("APIConnectionError: five times")
        return answered(key, trial)

    harness = Harness("tiny", answers)
    run(bench, "tiny", own_task(harness))
    assert len(harness.asked) == 6
    assert (bench.row(2).status, bench.outcomes) == ("gave_up", ["gave_up"])


def test_a_trial_that_reached_a_limit_keeps_its_score(bench: Bench) -> None:
    def answers(key: str, trial: int) -> Completion:
        return answered(key, trial)._replace(finish="limit")

    finished = run(bench, "tiny", own_task(Harness("tiny", answers)))
    assert bench.statuses == {"limit": 6}
    summary = finished.summarize()
    assert summary is not None
    assert (summary.groups[0].n_trials, summary.groups[0].n_unscored) == (6, 0)
    assert scores_by_name(bench) == [{"judge": 1.0}] * 6


def test_the_main_score_stays_the_main_one_when_a_run_goes_on(bench: Bench) -> None:
    both = {"judge": Score(1.0), "length": Score(2.0)}
    run(bench, "tiny", own_task(Harness("tiny", lambda *_: Completion("42", scores=both))), n=1)
    other = {"length": Score(2.0)}
    task = own_task(Harness("tiny", lambda *_: Completion("42", scores=other)))
    finished = run(bench, "tiny", task, n=2)
    with Trials(bench.directory) as trials:
        assert [scorer.name for scorer in trials.run(NAME).scorers] == ["judge", "length"]
    estimate = finished.task_runs[0].counters.estimate()
    assert estimate is not None
    assert estimate.value == 1.0


def test_engines_that_asked_are_recorded_also_one_that_took_over(bench: Bench) -> None:
    harness: Any = Harness("tiny", answered)

    def hand_over(*_: Any) -> Completion:
        harness.config = {"engine": "second", "reasons": ["it had to"]}
        return Completion("42")

    harness.config = {"engine": "first"}
    harness.answers = hand_over
    run(bench, "tiny", own_task(harness))
    with Trials(bench.directory) as trials:
        subject = trials.run(NAME).config["subject"]
    assert subject == {
        "engine": "second",
        "engines": ["first", "second"],
        "reasons": ["it had to"],
    }


def test_settings_of_a_task_and_its_subject_are_those_of_the_run(bench: Bench) -> None:
    harness: Any = Harness("tiny", answered)
    harness.spec, harness.config = {"model_args": {"k": 1}}, {"engine": "own"}
    run(bench, "tiny", own_task(harness, spec={"args": {"shots": 2}}))
    with Trials(bench.directory) as trials:
        record = trials.run(NAME)
    assert record.spec["args"] == {"shots": 2}
    assert record.spec["model_args"] == {"k": 1}
    assert record.config["subject"] == {"engine": "own", "engines": ["own"]}
    with pytest.raises(InvalidInput, match="args"):
        run(bench, "tiny", own_task(harness, spec={"args": {"shots": 3}}))


def test_a_costly_trial_is_on_disk_before_the_next_takes_its_place(bench: Bench) -> None:
    class Costly(Agent):
        is_costly = True
        batch = 1

        async def answer(self, *arguments: Any) -> list[Completion]:
            if len(self.asked) > 1:
                with Trials(bench.directory) as trials:
                    on_disk.append(sum(1 for _ in trials.trials(trials.run())))
                    asked.append(len(self.asked))
            self.attempts = 2  # past the attempt that fails
            return await super().answer(*arguments)

    on_disk: list[int] = []
    asked: list[int] = []
    finished = run(bench, Costly(), n=4, concurrency=1)
    assert finished.ending == "finished"
    assert on_disk == asked
    assert len(asked) > 2


# --- functions that hang ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:a call of the model's function is late")
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_calls_that_hang_cost_their_own_trials_only(bench: Bench, kind: str) -> None:
    release = threading.Event()
    prompts = [f"{'hang' if at % 5 == 0 else 'answer'} {at}" for at in range(60)]

    def plain(prompt: str) -> str:
        if prompt.startswith("hang"):
            release.wait(60)
        return "42"

    async def waiting(prompt: str) -> str:
        if prompt.startswith("hang"):
            await asyncio.Event().wait()
        return "42"

    try:
        run_watched(
            bench.notes,
            [sums(prompts=prompts)],
            plain if kind == "plain" else waiting,
            bench.directory,
            settings=Settings(n=4, concurrency=16, patience=HURRIED),
            connection=Connection(timeout=0.25, concurrency=16),
        )
    finally:
        release.set()
    statuses = Counter((row.problem % 5 == 0, row.status) for row in bench.rows)
    assert statuses == {(True, "gave_up"): 48, (False, "ok"): 192}
