"""Results of tau-bench: its pass^k comes out, and exceptions are not failures."""

from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from support.samples.tool_logs import tau_error, tau_trial, write_json


@given(wins=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=6))
def test_pass_hat_k_is_that_of_tau_bench(tmp_path: Path, wins: list[list[bool]]) -> None:
    trials = [
        tau_trial(task, trial, float(row[trial]))
        for trial in range(4)  # tau-bench asks every task once before it asks it again
        for task, row in enumerate(wins)
    ]
    outcomes = read(write_json(tmp_path / "t.json", trials)).only()
    for k in range(1, 5):
        expected = sum(comb(sum(row), k) / comb(4, k) for row in wins) / len(wins)
        assert measure(outcomes, f"pass^{k}").value == pytest.approx(expected, abs=1e-14)


def test_a_reward_near_1_is_a_success(tmp_path: Path) -> None:
    rewards = [1.0, 1 - 9e-7, 1 + 9e-7, 1 - 2e-6, 0.5, 0.0]
    trials = [tau_trial(0, n, reward) for n, reward in enumerate(rewards)]
    path = write_json(tmp_path / "t.json", trials)
    assert read(path).only().required_successes().tolist() == [3]
    assert measure(read(path, columns={"score": "reward"}).only(), "avg").value == pytest.approx(
        sum(rewards) / 6
    )


def test_exceptions_are_no_failures(tmp_path: Path) -> None:
    trials = [tau_trial(0, 0, 1.0), tau_error(0, 1), tau_trial(1, 0, 0.0), tau_error(1, 1)]
    groups = read(write_json(tmp_path / "gpt-4o.json", trials))
    outcomes = groups.only()
    assert outcomes.trials.tolist() == [1, 1]
    assert outcomes.unscored["errored"].tolist() == [1, 1]
    assert [str(remark) for remark in groups.remarks if remark.important] == [
        "2 trials ended in an exception, which tau-bench counts as a failure: left without a "
        "score (--policy fail counts such trials)"
    ]
    assert measure(outcomes, "pass@1", policy="fail").value == 0.25  # as tau-bench has it
    assert (groups.groups[0].task, groups.groups[0].model) == ("tau-bench", "gpt-4o")


def test_a_failure_that_mentions_an_error_is_one(tmp_path: Path) -> None:
    talked = tau_trial(0, 0, 0.0)
    talked["info"]["error"] = "wrong tool"
    assert read(write_json(tmp_path / "t.json", [talked])).only().trials.tolist() == [1]


def test_trials_that_are_missing(tmp_path: Path) -> None:
    trials = [tau_trial(0, 0, 1.0), tau_trial(1, 0, 1.0), tau_trial(0, 1, 1.0)]
    outcomes = read(write_json(tmp_path / "t.json", trials)).only()
    assert outcomes.unscored["missing"].tolist() == [0, 1]


def test_conversations_are_kept_if_wanted(tmp_path: Path) -> None:
    path = write_json(tmp_path / "t.json", [tau_trial(0, 0, 1.0), tau_error(0, 1)])
    (log,) = readers.get("tau-bench").read(path, Options(texts=True))
    first, second = log.trials
    assert first.text == "done"
    assert first.transcript == tau_trial(0, 0, 1.0)["traj"]
    assert (second.status, second.transcript) == ("errored", None)
    assert log.attempts[0].detail == "rate limit"
    assert log.data("instruction") == {"0": "book"}


def test_a_long_conversation_hides_no_file(tmp_path: Path) -> None:
    long = tau_trial(0, 0, 1.0)
    long["traj"] = [{"role": "user", "content": "x" * 1_000}] * 400  # longer than what is sniffed
    groups = read(write_json(tmp_path / "t.json", [long | {"note": 1}]))
    assert (groups.reader, groups.only().trials.tolist()) == ("tau-bench", [1])


def test_what_is_wrong(tmp_path: Path) -> None:
    good = tau_trial(0, 0, 1.0)
    path = write_json(tmp_path / "t.json", [good, good])
    with pytest.raises(InvalidInput, match=r"item 2: problem '0' has trial 0 twice"):
        read(path, skip_bad=True)
    lacking = {key: value for key, value in good.items() if key != "reward"}
    path = write_json(tmp_path / "t.json", [good, lacking, tau_trial(0, 1, 1) | {"trial": "1"}])
    with pytest.raises(InvalidInput, match="item 2: the trial has no reward"):
        read(path)
    groups = read(path, skip_bad=True)
    assert groups.only().trials.tolist() == [1]
    with pytest.raises(InvalidInput, match="must be a list of trials"):
        read(write_json(tmp_path / "t.json", {}), reader="tau-bench")
    nan = write_json(tmp_path / "t.json", [tau_trial(0, 0, float("nan"))])
    assert read(nan).only().unscored["unscored"].tolist() == [1]
