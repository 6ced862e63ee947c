"""Logs are built trial by trial; what would be counted twice or confused is refused."""

import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.readers import log_builder
from passband.readers.log import Source
from passband.readers.log_builder import LogBuilder, LogBuilders
from passband.score.scorer import Score

SOURCE = Source("none", "x.json", "0" * 64)


def builder(*scorers: str, texts: bool = False) -> LogBuilder:
    return LogBuilder("sums", "M", SOURCE, scorers, texts=texts)


def test_problems_come_in_order_of_appearance_and_trials_are_numbered() -> None:
    one = builder("right")
    for key, right in (("b", True), ("a", False), ("b", 0.5), ("b", None)):
        one.add(key, scores={"right": right}, targets=["4"], doc={"level": key})
    log = one.log(planned=3)
    assert [(problem.position, problem.key) for problem in log.problems] == [(0, "b"), (1, "a")]
    assert [(row.problem, row.trial) for row in log.trials] == [(0, 0), (1, 0), (0, 1), (0, 2)]
    assert log.data("level") == {"b": "b", "a": "a"}
    outcomes = log.outcomes()
    assert outcomes.trials.tolist() == [2, 1]
    assert {name: counts.tolist() for name, counts in outcomes.unscored.items()} == {
        "missing": [0, 2], "unscored": [1, 0],
    }  # fmt: skip


def test_scores_have_a_value_or_none() -> None:
    one = builder("main")
    one.add(1, scores={"main": math.nan, "other": 2, "third": Score(None, "error", detail="boom")})
    one.add(2, scores={"main": Score(0, "no_answer"), "third": Score(math.nan)})
    log = one.log()
    assert log.scorers == ("main", "other", "third")
    first, second = log.trials
    assert [(row.scorer, row.value, row.status, row.detail) for row in first.scores] == [
        (1, 2.0, "ok", None), (2, None, "error", "boom"),
    ]  # fmt: skip
    assert [(row.scorer, row.value, row.status) for row in second.scores] == [(0, 0.0, "no_answer")]
    assert set(log.outcomes("third").unscored) == {"scorer_error", "unscored"}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([1, "1"], 'both 1 and "1" are ids of problems'),
        (["-7", -7], 'both -7 and "-7" are ids of problems'),
        ([None], "must be text or a whole number; got None"),
        ([True], "must be text or a whole number; got True"),
        ([1.0], "must be text or a whole number; got 1.0"),
        ([["a"]], "must be text or a whole number"),
    ],
)
def test_ids_that_could_be_confused_are_refused(keys: list[Any], message: str) -> None:
    one = builder("right")
    for key in keys[:-1]:
        one.add(key, scores={"right": 1})
    with pytest.raises(InvalidInput, match=message):
        one.add(keys[-1], scores={"right": 1})


def test_other_ids_are_apart() -> None:
    one = builder()
    for key in (1, "01", "1.0", " 1", "one", "9" * 5000):
        one.add(key)
    assert len(one.log().problems) == 6


@pytest.mark.parametrize(
    ("trials", "message"),
    [
        ([0, 0], "problem 'a' has trial 0 twice"),
        ([1, None], "problem 'a' has trial 1 twice"),
        ([-1], "must be a whole number of at least 0; got -1"),
        ([True], "must be a whole number of at least 0; got True"),
        (["1"], "must be a whole number of at least 0; got '1'"),
        ([2**31], "must be a whole number of at least 0"),
    ],
)
def test_trials_that_would_be_counted_twice_are_refused(trials: list[Any], message: str) -> None:
    one = builder()
    for trial in trials[:-1]:
        one.add("a", trial)
    with pytest.raises(InvalidInput, match=message):
        one.add("a", trials[-1])


@pytest.mark.parametrize("value", ["1", [1], math.inf, -math.inf, 10**400, {}])
def test_a_score_is_a_number(value: Any) -> None:
    with pytest.raises(InvalidInput, match="a score of right"):
        builder("right").add("a", scores={"right": value})


def test_different_targets_under_one_id_are_remarked() -> None:
    one = builder("right")
    for target in ("4", "4", "5"):
        one.add("a", scores={"right": 1}, targets=[target])
    one.add("a", scores={"right": 1})
    (remark,) = one.log().remarks
    assert remark.important
    assert "1 problem has trials with different targets (the first is 'a')" in remark.text


def test_what_is_known_of_a_problem_later_is_kept() -> None:
    one = builder("right")
    one.problem("never")
    one.add("a", status="errored", error="boom")
    one.add("a", scores={"right": 1}, targets=["4"], doc={"level": 1})
    one.add("a", scores={"right": 1}, targets=["4"], doc={"level": 2})
    log = one.log(planned=3)
    assert log.data("level") == {"never": None, "a": 1}
    assert not log.remarks
    assert log.outcomes().unscored["missing"].tolist() == [3, 0]


def test_a_record_that_is_refused_leaves_nothing_behind() -> None:
    one = builder("right", texts=True)
    for arguments in ({"scores": {"right": "x"}}, {"trial": -1}):
        with pytest.raises(InvalidInput):
            one.add("a", **arguments)
    assert (len(one), one.log().problems) == (0, [])


@pytest.mark.parametrize("in_memory", [1 << 24, 1])
def test_texts_are_kept_only_if_wanted(monkeypatch: pytest.MonkeyPatch, in_memory: int) -> None:
    monkeypatch.setattr(log_builder, "_IN_MEMORY", in_memory)
    for texts in (False, True):
        one = builder("right", texts=texts)
        one.add("a", text="half \ud800", transcript=[{"role": "user"}], seed=-3)
        one.add("a", scores={"right": 1})
        one.add("b", text="", reasoning="so", completion_tokens=7.0)
        log = one.log()
        for _ in range(2):
            rows = list(log.trials)
            assert [row.text for row in rows] == (
                ["half \ud800", None, ""] if texts else [None] * 3
            )
            assert rows[0].transcript == ([{"role": "user"}] if texts else None)
            assert (rows[2].reasoning, rows[2].completion_tokens) == ("so" if texts else None, 7)
            assert (rows[0].seed, rows[1].scores[0].value) == (-3, 1.0)
        assert list(pickle.loads(pickle.dumps(log)).trials) == rows


def test_fields_that_are_no_numbers_are_left_out() -> None:
    one = builder()
    one.add("a", prompt_tokens="7", completion_tokens=-1, latency_ms=math.nan, cost=math.inf)
    one.add("a", prompt_tokens=True, completion_tokens=1.5, seed=10**30, cost=2)
    rows = list(one.log().trials)
    names = ("prompt_tokens", "completion_tokens", "latency_ms", "seed")
    assert [getattr(row, name) for row in rows for name in names] == [None] * 8
    assert [row.cost for row in rows] == [None, 2.0]


def test_an_error_is_kept_with_its_trial() -> None:
    one = builder("right")
    one.add("a", scores={"right": 1})
    one.add("a", status="errored", error="boom" * 1000)
    log = one.log()
    (attempt,) = log.attempts
    assert (attempt.problem, attempt.trial, attempt.outcome) == (0, 1, "errored")
    assert len(attempt.detail) == 2000
    assert {name: int(counts.sum()) for name, counts in log.outcomes().unscored.items()} == {
        "errored": 1
    }


def test_tasks_and_models_are_never_pooled() -> None:
    several = LogBuilders(SOURCE, ("right",))
    for task, model in (("t", "M"), ("u", "M"), ("t", "N"), ("t", "M")):
        several.of(task, model).add("a", scores={"right": 1})
    assert [(log.task, log.model, len(list(log.trials))) for log in several.logs()] == [
        ("t", "M", 2), ("u", "M", 1), ("t", "N", 1),
    ]  # fmt: skip


def test_data_too_deep_to_store_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="problem 'a': its data cannot be stored"):
        builder().add("a", doc={"deep": deep})
    with pytest.raises(InvalidInput, match="a trial: its data cannot be stored"):
        builder(texts=True).add("a", transcript=deep)
    while deep:
        deep = deep.pop()


@given(st.lists(st.tuples(st.sampled_from(["a", "b", 1, 2]), st.sampled_from([0, 1, None]))))
def test_every_trial_is_counted_once(added: list[tuple[str | int, int | None]]) -> None:
    one = builder("right")
    for key, score in added:
        one.add(key, scores={"right": score})
    if not added:
        return
    outcomes = one.log().outcomes()
    assert list(outcomes.problems) == list(dict.fromkeys(str(key) for key, _ in added))
    unscored = sum(int(counts.sum()) for counts in outcomes.unscored.values())
    assert int(outcomes.trials.sum()) + unscored == len(added)
    assert int(outcomes.required_successes().sum()) == sum(score or 0 for _, score in added)


def test_the_source_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    log = LogBuilder("t", "M", Source.of("none", path)).log()
    assert (log.source.reader, log.source.file, len(log.source.sha256)) == ("none", str(path), 64)
