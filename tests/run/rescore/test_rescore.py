"""Scores for trials that are recorded already."""

from dataclasses import replace
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.run.loop.grader import Grader
from passband.run.rescore.rescore import RunScorers, chosen_scorers, score_again, score_recorded
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference, Score, Scorer
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.rows import ScorerEntry
from passband.trials.store import Store
from support.runs.runs import NAME, Bench, number_scorer, sums
from support.servers import fault_server as faults


class Counting(Scorer):
    """A scorer that counts how often it is asked."""

    slow = False

    def __init__(self, name: str = "counting", identity: str = "1", *, slow: bool = False) -> None:
        self.name, self.identity, self.slow = name, identity, slow
        self.texts: list[str | None] = []
        self.closed = 0

    def score(self, text: str | None, reference: Reference) -> Score:
        self.texts.append(text)
        return Score(float(len(reference.targets)), answer=text)

    def close(self) -> None:
        self.closed += 1


def run_of(bench: Bench) -> RunRecord:
    with Trials(bench.directory) as trials:
        return trials.run(NAME)


def again(bench: Bench, own: list[Any], added: list[Any], **options: Any) -> int:
    store = Store(bench.directory, low_water=0)
    try:
        return score_again(store, RunScorers(run_of(bench), own, added), **options)
    finally:
        store.close()


@pytest.mark.parametrize("slow", [False, True])
def test_a_scorer_is_added_and_asked_once_for_each_trial(bench: Bench, slow: bool) -> None:
    bench.play()
    scorer = Counting(slow=slow)
    assert again(bench, [number_scorer()], [scorer]) == 6
    assert len(scorer.texts) == 6
    assert scorer.closed == 1
    assert [each.name for each in run_of(bench).scorers] == ["exact_match", "counting"]
    assert again(bench, [number_scorer()], [Counting(slow=slow)]) == 0


def test_a_scorer_may_become_the_main_one(bench: Bench) -> None:
    bench.play()
    again(bench, [number_scorer()], [Counting()], main=True)
    assert [each.name for each in run_of(bench).scorers] == ["counting", "exact_match"]


def test_another_identity_scores_anew_and_keeps_the_old(bench: Bench) -> None:
    bench.play()
    again(bench, [], [Counting(identity="1")])
    assert again(bench, [], [Counting(identity="2")]) == 6
    assert again(bench, [], [Counting(identity="1")]) == 0


def test_what_is_cut_off_is_scored_if_wanted(bench: Bench) -> None:
    bench.play(faults.says("It is 42", finish="length"))
    assert again(bench, [number_scorer()], []) == 0
    assert again(bench, [number_scorer()], [], truncated="score") == 6


def test_a_run_catches_up_with_a_new_scorer(bench: Bench) -> None:
    bench.play(task=sums(scorers=[]))
    scorer = Counting()
    server = bench.play(task=sums(scorers=[scorer]))
    assert server.requests == []
    assert len(scorer.texts) == 6
    assert {row.scores[0].value for row in bench.rows} == {1.0}


def test_a_run_catches_up_only_on_problems_it_has(bench: Bench) -> None:
    bench.play(task=sums(5, scorers=[]), n=1)
    scorer = Counting()
    bench.play(task=sums(5, scorers=[scorer]), n=1, limit=2)
    assert len(scorer.texts) == 2


def test_slow_scores_that_were_left_are_made_up_for(bench: Bench) -> None:
    bench.play(task=sums(scorers=[Counting(slow=True)]), n=2)
    assert {row.scores[0].value for row in bench.rows} == {1.0}


def test_scoring_stops_when_told_to(bench: Bench) -> None:
    bench.play(task=sums(20, scorers=[]), n=2)
    scorer = Counting()
    store = Store(bench.directory, low_water=0)
    try:
        (number,) = store.set_scorers(run_of(bench).number, [ScorerEntry("counting", "1")])
        grader = Grader([(number, scorer)], [Reference(("1",))] * 20)
        noted: list[int] = []
        made = score_recorded(
            store,
            run_of(bench).number,
            grader,
            range(20),
            lambda: len(scorer.texts) >= 5,
            lambda problem, score: noted.append(problem),
        )
    finally:
        store.close()
    assert made == len(noted) == len(scorer.texts) == 5
    assert sum(bool(row.scores) for row in bench.rows) == 5


def test_names_that_are_not_there(bench: Bench) -> None:
    bench.play()
    with pytest.raises(InvalidInput, match="there are no trials of 'arithmetic' here"):
        chosen_scorers([run_of(bench)], [], None, ["arithmetic"])


def test_scorers_by_name(bench: Bench) -> None:
    bench.play(task=sums(scorers=[make_scorer("exact_match")]))
    run = run_of(bench)
    renamed = replace(run, task="arithmetic", config={})
    (plan,) = chosen_scorers([renamed], ["numeric", "f1"], ["last_number"], [])
    assert [scorer.name for scorer in plan.added] == ["numeric", "f1"]
    assert [scorer.name for scorer in plan.own] != []
