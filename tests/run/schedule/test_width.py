"""`--until`: complete rounds, the same stop however often a run was killed, and what is said."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband import Outcomes, compare, summarize
from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Crashed, Provider, Request
from passband.generate.registry import Connection
from passband.run.schedule.width import until_schedule
from passband.run.session import RunResult
from passband.run.settings import Settings, WidthGoal
from passband.score.scorer import Reference, Score, Scorer
from passband.stats.data.evidence import Evidence, Finding
from passband.stats.data.scale import UNIT
from passband.stats.sequential.bernstein import Rounds
from passband.stats.sequential.width import WidthRule, replay
from passband.summary.summary import Summary
from passband.summary.until import UntilResult, until_result
from passband.tasks.task import Task
from passband.trials.reader import Trials
from support.runs.commands import process, run
from support.runs.runs import HURRIED, Bench, run_watched, sums

GOAL = WidthGoal(0.07)
RATES = [0.9, 0.1, 0.5, 0.7, 1.0, 0.0, 0.3, 0.6, 0.95, 0.2]


class Chancy(Provider):
    """A model whose answer to a problem is right at its rate; the seed decides."""

    name = "chancy"

    def __init__(
        self,
        rates: Sequence[float] = RATES,
        *,
        stop_after: int | None = None,
        batch: int = 1,
        fails: bool = False,
    ) -> None:
        self.rates, self.stop_after, self.batch, self.fails = rates, stop_after, batch, fails
        self.asked: list[int] = []

    async def generate(self, request: Request) -> list[Completion]:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyError("stopped here")
        await asyncio.sleep(0)
        problem = int(request.messages[-1].content.split()[2]) - 17
        self.asked.append(problem)
        completions = []
        for seed in request.seeds:
            assert seed is not None
            if self.fails and seed % 11 == 0:
                raise Crashed("no answer")
            wrong = (seed % 9973) / 9973 >= self.rates[problem]
            completions.append(Completion(f"It is {42 + 2 * problem + wrong}", seed=seed))
        return completions

    async def close(self) -> None:
        pass


def start(
    bench: Bench,
    model: Any = None,
    until: WidthGoal | None = None,
    tasks: Sequence[Task] | None = None,
    **settings: Any,
) -> RunResult:
    model = model or Chancy()
    return run_watched(
        bench.notes,
        tasks or [sums(len(model.rates))],
        model,
        bench.directory,
        settings=Settings(
            until=until or WidthGoal(0.1),
            patience=HURRIED,
            seed="s",
            **{"concurrency": 8} | settings,
        ),
        connection=Connection(),
        schedule=until_schedule(bench.notes),
        low_water=0,
    )


def stood(bench: Bench) -> UntilResult:
    (group,) = summarize(bench.directory).groups
    assert group.until is not None
    return group.until


def test_data_that_forbid_the_interval_are_said(bench: Bench) -> None:
    """Evidence on the run keeps the value, and takes the interval and its guarantee away."""
    start(bench, Chancy())
    copied = Finding("copied-trials", "invalid", "pairs of trials agree", {"trials": 1})
    with Trials(bench.directory) as trials:
        run = trials.run()
        plain = until_result(trials, run)
        found = until_result(trials, run, Evidence((copied,)))
        accepted = until_result(trials, run, Evidence((copied,), ("copied-trials",)))
        other = until_result(trials, run, Evidence((replace(copied, targets={"problems": 1}),)))
    assert plain is not None
    assert found is not None
    assert (found.value, found.low, found.high) == (plain.value, None, None)
    assert found.statement.endswith("that width means nothing: pairs of trials agree")
    assert "held the truth" in plain.statement
    assert "held the truth" not in found.statement
    assert accepted == other == plain
    summary = summarize(bench.directory)
    (group,) = summary.groups
    told = replace(summary, groups=(replace(group, until=found),))
    assert Summary.from_json(told.to_json()).groups[0].until == found


def rounds_of(bench: Bench) -> list[int]:
    return [sum(problem == at for problem, _ in bench.keys) for at in range(len(RATES))]


@pytest.mark.parametrize("batch", [1, 4])
def test_a_run_stops_where_the_rule_stops_on_its_scores(bench: Bench, batch: int) -> None:
    finished = start(bench, Chancy(batch=batch))
    assert finished.ending == "finished"
    result = stood(bench)
    assert result.reason == "reached"
    assert rounds_of(bench) == [result.rounds] * len(RATES)
    scores: list[list[float | None]] = [[None] * result.rounds for _ in RATES]
    for row in bench.rows:
        scores[row.problem][row.trial] = row.scores[0].value
    stop = replay(WidthRule(0.1, 64), Rounds.of(scores))
    assert stop is not None
    assert (stop.look.rounds, stop.reason) == (result.rounds, "reached")
    assert (stop.look.estimate.low, stop.look.estimate.high) == (result.low, result.high)
    assert result.reached is not None
    assert result.reached <= 0.1


@pytest.mark.parametrize("stop_after", [1, 15, 27, 43])
@pytest.mark.parametrize("batch", [1, 2])
def test_a_resumed_run_stops_at_the_same_round(
    bench: Bench, another: Bench, stop_after: int, batch: int
) -> None:
    with pytest.raises(KeyError):
        start(bench, Chancy(stop_after=stop_after, batch=batch), GOAL)
    start(bench, Chancy(batch=batch), GOAL)
    start(another, Chancy(batch=batch), GOAL)
    assert bench.content == another.content
    assert stood(bench) == stood(another)
    assert start(bench, last := Chancy(), GOAL).ending == "finished"
    assert last.asked == []
    assert any("nothing to ask" in note for note in bench.notes.notes)


def test_an_incomplete_round_is_left_out_of_every_number(bench: Bench) -> None:
    with pytest.raises(KeyError):
        start(bench, Chancy(stop_after=37), concurrency=1)
    result = stood(bench)
    assert (len(bench.keys), result.rounds, result.left_out) == (37, 3, 7)
    assert "of incomplete rounds are left out" in result.statement
    first = [row for row in bench.rows if row.trial < result.rounds]
    expected = sum(row.scores[0].value or 0 for row in first) / len(first)
    (group,) = summarize(bench.directory, "pass@1").groups
    assert group.n_trials == len(first)
    assert group.lines[0].estimate is not None
    assert group.lines[0].estimate.value == pytest.approx(expected)
    with Trials(bench.directory) as trials:
        outcomes, numbers = trials.outcomes(), trials.numbers(trials.run().number)
        assert len(list(trials.trials(trials.run()))) == len(bench.keys)  # all are recorded
    names = [f"p{at}" for at in range(len(RATES))]
    assert outcomes == Outcomes.from_array(
        [[r.scores[0].value for r in first if r.problem == numbers[name]] for name in names],
        problems=names,
        scale=UNIT,
    )
    assert compare(str(bench.directory), outcomes, "pass@1").value == 0.0
    said = run("export", bench.directory, "-o", bench.directory.parent / "trials.jsonl").err
    assert "sums: 7 of the trials written are of incomplete rounds" in said


def test_before_the_first_complete_round_there_is_no_value(bench: Bench) -> None:
    with pytest.raises(KeyError):
        start(bench, Chancy(stop_after=3))
    assert "no complete round yet" in stood(bench).statement


def test_trials_that_fail_count_as_made(bench: Bench) -> None:
    start(bench, Chancy(fails=True))
    result = stood(bench)
    assert rounds_of(bench) == [result.rounds] * len(RATES)
    assert result.n_trials < result.rounds * len(RATES)


def test_a_round_without_any_score_is_no_reason_to_fail(bench: Bench) -> None:
    class Cut(Chancy):
        async def generate(self, request: Request) -> list[Completion]:
            answers = await super().generate(request)
            return [answer._replace(finish="length") for answer in answers]

    assert start(bench, Cut(), n=3).ending == "finished"
    assert rounds_of(bench) == [3] * len(RATES)
    assert start(bench, Cut(), n=4).ending == "finished"
    assert rounds_of(bench) == [4] * len(RATES)


def test_the_most_rounds_end_it(bench: Bench) -> None:
    start(bench, n=3)
    result = stood(bench)
    assert (result.reason, result.rounds) == ("most", 3)
    assert "±0.1 not reached" in result.statement
    start(bench, n=40)  # more are allowed: the same goal goes on
    assert stood(bench).reason == "reached"
    assert stood(bench).start == 0


def test_another_goal_begins_where_the_run_is(bench: Bench) -> None:
    start(bench, until=WidthGoal(0.15))
    before = stood(bench).rounds
    start(bench, until=WidthGoal(0.1))
    assert stood(bench).start == before
    assert stood(bench).rounds > before
    after = stood(bench).rounds
    start(bench, last := Chancy(), until=WidthGoal(0.2))
    assert last.asked == []
    assert (stood(bench).rounds, stood(bench).reason) == (after, "reached")


def test_each_task_has_its_own_stop(bench: Bench) -> None:
    easy = replace(sums(4), name="easy")
    start(bench, Chancy([1.0, 1.0, 0.98, 1.0, *RATES[4:]]), tasks=[easy, sums(len(RATES))])
    groups = summarize(bench.directory).groups
    rounds = {group.task: group.until.rounds for group in groups if group.until}
    assert rounds["easy"] != rounds["sums"]
    assert all(group.until and group.until.reason == "reached" for group in groups)


def test_with_a_proof_it_takes_longer_and_says_so(bench: Bench, another: Bench) -> None:
    start(bench, until=WidthGoal(0.15))
    start(another, until=WidthGoal(0.15, proof=True))
    assert stood(another).rounds > stood(bench).rounds
    assert "holds with at least 95 %" in stood(another).statement
    assert "looks only at the width" in stood(bench).statement
    assert "unless" not in stood(another).statement
    before = stood(another).rounds
    start(another, until=WidthGoal(0.14, proof=True))
    said = f"unless ±0.14, set when {before} rounds were there, was chosen by what they showed"
    assert said in stood(another).statement


def test_another_level_is_said_and_not_vouched_for(bench: Bench) -> None:
    start(bench, until=WidthGoal(0.1, level=0.9))
    assert "] at 90 % for these" in stood(bench).statement
    assert "at 90 % was not measured" in stood(bench).statement
    assert "held the truth" not in stood(bench).statement


def test_a_floor_is_said_after_four_rounds_and_before_the_rest(bench: Bench) -> None:
    start(bench, until=WidthGoal(0.19, over="problems"))
    result = stood(bench)
    assert (result.reason, result.rounds) == ("floor", 4)
    assert "cannot reach ±0.19 for problems like these with 10 problems" in result.statement
    with pytest.raises(InvalidInput, match=r"with 10 problems: at least ±0\.15, whatever"):
        start(bench, last := Chancy(), until=WidthGoal(0.1, over="problems"))
    assert last.asked == []


def test_the_target_and_a_forecast_are_said(bench: Bench) -> None:
    start(bench, until=WidthGoal(0.05))
    first, second = (note for note in bench.notes.notes if note.startswith("sums: "))
    assert "until pass@1 is known to ±0.05 for these 10 problems, the model sampled" in first
    assert "after 4 rounds; about" in second
    counters = bench.notes.progress[-1].tasks[0]
    assert counters.planned == counters.done


class Halves(Scorer):
    """A scorer that gives half a point."""

    name = "halves"
    identity = "halves"
    slow = False

    def score(self, completion: str, reference: Reference) -> Score:
        return Score(0.5)

    def close(self) -> None:
        pass


def test_what_is_refused(bench: Bench, another: Bench) -> None:
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        start(bench, tasks=[sums(10, scorers=[Halves()])])
    assert len(bench.keys) == 20  # one stage
    (group,) = summarize(bench.directory, "avg").groups  # the trials are not lost
    assert group.until is None
    assert group.lines[0].estimate is not None
    assert group.lines[0].estimate.value == 0.5
    clustered = sums(10)
    problems = [replace(problem, cluster="c") for problem in clustered.load(None)]

    def load(limit: int | None) -> list[Problem]:
        return problems[:limit]

    with pytest.raises(InvalidInput, match="not for problems in clusters"):
        start(another, until=WidthGoal(0.3, over="problems"), tasks=[replace(clustered, load=load)])
    start(another, tasks=[replace(clustered, load=load)])
    with pytest.raises(InvalidInput, match="trials of 5 other problems"):
        start(another, limit=5)
    with pytest.raises(InvalidInput, match="first looks after 2 rounds"):
        start(another, n=1)


# -- the command ----------------------------------------------------------------------------------

COMMAND = ("run", "arithmetic", "--model", "tiny", "--seed", "s", "--limit", 40)


@pytest.mark.process
def test_killed_and_run_again_it_stops_at_the_same_round(tmp_path: Path) -> None:
    words = (*COMMAND, "--until", "0.04", "--json")
    whole = run(*words, "--out", tmp_path / "whole")
    assert whole.code == 0, whole.err
    out = tmp_path / "killed"
    for trials in (1, 120):
        with process(*words, "--out", out) as started:
            assert started.stdout is not None
            for line in started.stdout:
                event = json.loads(line)
                if event["event"] == "progress" and event["tasks"][0]["done"] >= trials:
                    break
            started.kill()
    assert run(*words, "--out", out).code == 0
    found = [summarize(path, "pass@1") for path in (tmp_path / "whole", out)]
    assert found[0].groups[0].until == found[1].groups[0].until
    assert found[0].groups[0].until is not None
    assert found[0].groups[0].lines == found[1].groups[0].lines


def test_stats_says_what_the_run_said(tmp_path: Path) -> None:
    done = run(*COMMAND, "--until", "0.05", "-m", "pass@1", "--out", tmp_path / "r")
    (said,) = (line for line in done.err.splitlines() if line.startswith("stopped after"))
    assert "these 40 problems" in said
    again = run("stats", tmp_path / "r")
    assert said in again.err.splitlines()
    values = json.loads(run("stats", tmp_path / "r", "--json").out)
    assert values["groups"][0]["until"]["reason"] == "reached"
    assert f"[{values['groups'][0]['until']['low']:.3f}" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--proof"], "--proof goes with --until"),
        (["--over", "trials"], "--over goes with --until"),
        (["--until", "0.02", "-m", "pass@1", "-m", "pass@2"], "--until is for one metric"),
        (["--until", "0.02", "-m", "maj@4"], "pass@k or pass^k; got 'maj@4'"),
        (["--until", "2"], "half_width must be below 0.5; got 2"),
        (["--until", "0.02", "--proof", "-m", "pass@4"], "the proof is for the mean score"),
        (["--until", "0.001", "--over", "problems"], "cannot reach ±0.001 for problems like these"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, options: list[str], message: str) -> None:
    done = run(*COMMAND, "--out", tmp_path / "r", *options)
    assert done.code == 2
    assert message in done.err
