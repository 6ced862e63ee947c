"""Results of human-eval: its own pass@k comes out, and what was not graded is refused."""

import gzip
import json
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from passband.readers.names import plain_name
from passband.stats.data.scale import UNIT
from support.samples.tool_logs import human_eval_line, write_lines

LINES = [
    human_eval_line("HumanEval/0", True),
    human_eval_line("HumanEval/1", False, "failed: name 'x' is not defined"),
    human_eval_line("HumanEval/0", False, "timed out"),
    human_eval_line("HumanEval/1", True),
]


def test_lines_of_a_task_are_its_trials(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "gpt-4.jsonl_results.jsonl", LINES)
    groups = read(path)
    (group,) = groups.groups
    assert (group.task, group.model, group.outcomes.scale) == ("human-eval", "gpt-4", UNIT)
    assert list(group.outcomes.problems) == ["HumanEval/0", "HumanEval/1"]
    assert group.outcomes.required_successes().tolist() == [1, 1]
    assert group.outcomes.trials.tolist() == [2, 2]  # what timed out has failed
    assert measure(group.outcomes, "pass@2").value == 1.0


def test_texts_and_reasons_are_kept_if_wanted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", LINES)
    (log,) = readers.get("human-eval").read(path, Options(texts=True))
    assert [(t.text, t.scores[0].detail) for t in log.trials] == [
        ("    pass\n", None),
        ("    pass\n", "failed: name 'x' is not defined"),
        ("    pass\n", "timed out"),
        ("    pass\n", None),
    ]


@given(wins=st.lists(st.lists(st.booleans(), min_size=3, max_size=6), min_size=1, max_size=5))
def test_pass_at_k_is_that_of_human_eval(tmp_path: Path, wins: list[list[bool]]) -> None:
    lines = [human_eval_line(f"t/{at}", win) for at, row in enumerate(wins) for win in row]
    outcomes = read(write_lines(tmp_path / "r.jsonl", lines)).only()
    for k in (1, 2, 3):
        of_tasks = [1 - Fraction(comb(len(row) - sum(row), k), comb(len(row), k)) for row in wins]
        expected = float(sum(of_tasks) / len(of_tasks))
        assert measure(outcomes, f"pass@{k}").value == pytest.approx(expected, abs=1e-14)


def test_joined_results_are_a_table(tmp_path: Path) -> None:
    lines = [line | {"model": model} for model in ("M", "N") for line in LINES]
    groups = read(write_lines(tmp_path / "r.jsonl", lines))
    assert (groups.reader, [group.key for group in groups.groups]) == ("table", [("M",), ("N",)])


def test_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "gpt.jsonl_results.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, LINES)).encode()))
    assert read(path).groups[0].model == "gpt"


def test_samples_that_are_not_graded(tmp_path: Path) -> None:
    for name in ("completion", "solution"):
        path = write_lines(tmp_path / "s.jsonl", [{"task_id": "HumanEval/0", name: "pass"}])
        with pytest.raises(InvalidInput, match=r"not been graded yet\. Run evaluate_functional"):
            read(path)


def test_what_is_no_verdict(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", [LINES[0], LINES[1] | {"passed": "yes"}, LINES[2]])
    with pytest.raises(InvalidInput, match=r"r.jsonl:2: passed must be true or false; got 'yes'"):
        read(path)
    assert read(path, skip_bad=True).only().trials.tolist() == [2]
    path = write_lines(tmp_path / "r.jsonl", [LINES[0], LINES[1] | {"passed": None}])
    assert read(path).only().unscored["unscored"].tolist() == [0, 1]


def test_a_table_with_the_same_columns_stays_one(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "completion": "x", "passed": True, "trial": 1}]
    assert read(write_lines(tmp_path / "t.jsonl", rows)).reader == "table"


def test_names_of_files() -> None:
    assert plain_name(Path("a/x.parquet")) == "x"
    assert plain_name(Path("_results.jsonl"), "_results") == "_results"


def test_a_file_that_may_be_joined_is_named(tmp_path: Path) -> None:
    """Two files of two completions each; one in which the tasks take turns is as it should be."""
    path = tmp_path / "x.jsonl"
    for order, expected in [("aabbaabb", 1), ("aabb", 0), ("abab", 0), ("aabbaab", 0), ("aaaa", 0)]:
        rows = [
            {"task_id": task, "completion": "", "result": "passed", "passed": True}
            for task in order
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        remarks = [str(remark) for remark in read(path).remarks if remark.important]
        assert sum("the tasks come 2 times" in remark for remark in remarks) == expected


def test_ids_that_look_alike_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [
        {"task_id": task, "completion": "", "result": "passed", "passed": True}
        for task in ("a", "a ", "b")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (remark,) = [str(remark) for remark in read(path).remarks if remark.important]
    assert remark.startswith("'a' and 'a ' are read as two problems")
