"""Subjects of one's own in a run: transcripts, costs, scores; and scorers that wait."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from passband.generate.problem import Problem
from passband.generate.provider import Completion, Crashed, Sampling
from passband.generate.providers import Connection
from passband.run.counters import Price
from passband.run.session import Finished
from passband.run.settings import Settings
from passband.score.scorer import Reference, Score
from passband.trials.reader import Trials
from runs import HURRIED, NAME, Bench, number_scorer, run_watched, sums


class Agent:
    """A subject that needs several steps for an answer, and scores it itself."""

    name = "agent"
    batch = 2

    def __init__(self, **more: Any) -> None:
        self.more = more
        self.attempts = 0

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Sequence[int | None]
    ) -> list[Completion]:
        self.attempts += 1
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


def run(bench: Bench, model: Any, task: Any = None, **options: Any) -> Finished:
    settings = {"seed": "s", "concurrency": 2, "n": 2} | options
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


class Judge:
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

    def same(self, one: str, other: str) -> bool:
        return one == other

    def close(self) -> None:
        pass


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
