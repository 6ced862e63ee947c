"""Results of terminal-bench: trials by task, failures of the agent's code without a score."""

from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from support.samples.log_samples import TERMINAL_BENCH, attempt, document, terminal_bench


def written(folder: Path, results: list[Any]) -> Path:
    return document("results.json", {"id": "x", "results": results})(folder)


def test_trials_and_what_is_missing(tmp_path: Path) -> None:
    groups = read(terminal_bench(tmp_path))
    (group,) = groups.groups
    assert (group.task, group.model) == ("terminal-bench-core 0.1.1", "terminus org/m")
    assert group.outcomes.problems == ("hello", "chess", "never")
    assert group.outcomes.required_successes().tolist() == [1, 0, 0]
    assert group.outcomes.trials.tolist() == [2, 0, 0]
    assert {name: found.tolist() for name, found in group.outcomes.unscored.items()} == {
        "errored": [0, 2, 0], "missing": [0, 0, 2],
    }  # fmt: skip
    (remark,) = [remark for remark in groups.remarks if remark.important]
    assert "2 trials without a score (test_timeout 1, unknown_agent_error 1)" in str(remark)


def test_without_metadata(tmp_path: Path) -> None:
    path = written(tmp_path, TERMINAL_BENCH["results.json"]["results"][:1])
    (group,) = read(path).groups
    assert (group.task, group.model) == ("terminal-bench", "unknown")
    assert group.outcomes.unscored["missing"].tolist() == [1]  # of 1-of-2


def test_metadata_that_cannot_be_read_are_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, [attempt("hello", 1, True)])
    (tmp_path / "run_metadata.json").write_text("{")
    assert read(path).groups[0].model == "unknown"


def test_an_agent_that_failed_has_no_score_even_if_the_tests_pass(tmp_path: Path) -> None:
    """To leave out only failures would make the share of passes too large."""
    outcomes = read(written(tmp_path, [attempt("a", 1, True, "unknown_agent_error")])).only()
    assert (outcomes.trials.tolist(), outcomes.unscored["errored"].tolist()) == ([0], [1])


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_trial_is_not_counted_twice(tmp_path: Path, skip_bad: bool) -> None:
    path = written(tmp_path, [attempt("a", 1, True)] * 2)
    with pytest.raises(InvalidInput, match=r"item 2: the trial 'a.1-of-2.run1' is there twice"):
        read(path, skip_bad=skip_bad)


def test_a_bad_trial_is_named(tmp_path: Path) -> None:
    for field, value, message in (
        ("is_resolved", "yes", "is_resolved must be true or false; got 'yes'"),
        ("task_id", None, "task_id must be text or a whole number; got None"),
        ("trial_name", 7, "trial_name must be text; got 7"),
    ):
        bad = {**attempt("a", 2, False), field: value}
        path = written(tmp_path, [attempt("a", 1, True), bad])
        with pytest.raises(InvalidInput, match=f"results.json: item 2: {message}"):
            read(path)
        groups = read(path, skip_bad=True)
        assert groups.only().trials.tolist() == [1]
        assert "left out 1 item" in str(groups.remarks[1])
