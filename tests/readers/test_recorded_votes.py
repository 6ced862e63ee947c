"""Answers from tables, logs and run directories, and the votes that they make."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband import Outcomes, compare, estimate
from passband.readers import read
from passband.summary.from_sources import summarize
from support.runs.commands import run
from support.runs.scripted import evaluated
from support.samples import inspect_logs
from support.samples.tool_logs import write_lines

ROWS = [("a", "12", 1), ("a", "12", 1), ("a", "15", 0), ("b", "7", 0), ("b", "9", 1), ("b", "7", 0)]


def table(name: str = "extracted", **more: list[Any]) -> dict[str, list[Any]]:
    problem, answer, score = (list(column) for column in zip(*ROWS, strict=True))
    return {"problem": problem, name: answer, "correct": score, **more}


def lines_of(path: Path, *metrics: str, **options: Any) -> dict[str, float]:
    group = summarize(path, metrics, **options).groups[0]
    return {line.metric: line.estimate.value for line in group.lines if line.estimate}


# -- tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["extracted", "prediction", "Pred", "filtered_resps", "answer"])
def test_the_column_is_guessed_where_a_vote_is_asked_for(name: str) -> None:
    groups = read(table(name), answers=True)
    assert groups.columns is not None
    assert groups.columns.answer == name
    assert f"answer = {name}" in str(groups.remarks[0])
    assert estimate(table(name), "vote@3").value == 0.5
    assert read(table(name)).only().votes is None


def test_a_column_that_is_the_target_is_not_guessed() -> None:
    gold = ["12", "12", "12", "9", "9", "9"]
    assert read(table("pred", answer=gold), answers=True).columns.answer == "pred"
    columns = table("said", answer=gold)
    assert read(columns, answers=True).only().votes is None
    assert Outcomes.from_table(columns, answer="said").votes is not None


def test_lists_of_answers_beside_lists_of_scores() -> None:
    records = [
        {"problem": "a", "score": [1, 1, 0], "answers": ["12", "12", "15"]},
        {"problem": "b", "score": [0, 1, 0], "answers": ["7", "9", "7"]},
    ]
    assert estimate(records, "vote@3").value == 0.5


def test_two_tables_are_compared() -> None:
    better = table()
    better["extracted"][3:], better["correct"][3:] = ["9", "9", "7"], [1, 1, 0]
    assert compare(table(), better, "vote@3").value == 0.5


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("problem,said,correct\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS))
    done = run("stats", path, "-m", "vote@1-3", "-m", "maj@3", "--answer", "said", "--json")
    group = json.loads(done.out)["groups"][0]
    assert [line["metric"] for line in group["lines"]] == ["vote@1", "vote@2", "vote@3", "maj@3"]
    assert "majority-of-scores" in [note["code"] for note in group["notes"]]
    assert "vote@k" in run("stats", path, "-m", "maj@3").err
    assert "avg@2 is the mean score of all trials" in run("stats", path, "-m", "avg@2").err
    refused = run("stats", path, "-m", "vote@3")
    assert refused.code != 0
    assert "--answer" in refused.err
    assert run("compare", path, path, "-m", "vote@3", "--answer", "said").code != 0  # the same file


# -- runs ------------------------------------------------------------------------------------

ENTRY = "- {{metric: {0}, aggregation: mean, repeat_aggregation: '{1}'}}"


def test_a_run_votes_by_the_equality_of_its_scorer(tmp_path: Path) -> None:
    answers: dict[str, list[Any]] = {
        "a": ["0.5", "1/2", "3", "3", "3/1", ""],
        "b": ["2", "2.0", "5", "5", "6", "7"],
    }
    metrics = "\n".join(ENTRY.format("numeric", name) for name in ("vote@6", "majority"))
    results = evaluated(tmp_path, metrics, {"a": "3", "b": "2"}, answers, out=tmp_path / "run")
    found = list(results["estimates"]["t"].values())
    assert [one["value"] for one in found] == [0.75, 1.0]  # b is a tie, which majority breaks
    values = lines_of(tmp_path / "run", "vote@6", "vote@1", "pass@1")
    assert values["vote@6"] == 0.75
    assert values["vote@1"] == values["pass@1"]
    assert estimate(tmp_path / "run", "vote@6").value == 0.75
    assert read(tmp_path / "run").only().votes is None


def test_trials_without_a_score_do_not_vote(tmp_path: Path) -> None:
    from support.runs.scripted import CUT_OFF

    answers: dict[str, list[Any]] = {"a": [CUT_OFF, "1", "1", "0"], "b": ["2", "2", "1", CUT_OFF]}
    with pytest.warns(match="no score"):
        evaluated(
            tmp_path, ENTRY.format("exact_match", "vote@3"), {"a": "1", "b": "1"}, answers,
            out=tmp_path / "run",
        )  # fmt: skip
    assert lines_of(tmp_path / "run", "vote@3") == {"vote@3": 0.5}
    assert lines_of(tmp_path / "run", "vote@4", policy="fail") == {"vote@4": 0.5}


# -- logs of other tools ---------------------------------------------------------------------


def test_an_inspect_log_has_answers(tmp_path: Path) -> None:
    records = [
        inspect_logs.sample(key, epoch, "C" if score else "I")
        for key in ("a", "b")
        for epoch, (_, _, score) in enumerate([row for row in ROWS if row[0] == key], start=1)
    ]
    answers = [answer for _, answer, _ in ROWS]
    for record, answer in zip(records, answers, strict=True):
        for score in record["scores"].values():
            score["answer"] = answer
    path = inspect_logs.write_eval(tmp_path / "log.eval", records)
    assert lines_of(path, "vote@3", "pass@1") == {"vote@3": 0.5, "pass@1": 0.5}
    assert "text" in " ".join(map(str, summarize(path, "vote@3").remarks))


def test_filtered_responses_of_lm_eval_are_answers(tmp_path: Path) -> None:
    lines = [
        {
            "doc_id": number, "doc": {}, "target": "1", "filter": "none",
            "metrics": ["exact_match"],
            "resps": [["so " + answer for answer in answers]], "filtered_resps": [answers],
            "exact_match": 0.0, "exact_match_repeats": [float(a == "1") for a in answers],
        }
        for number, answers in enumerate((["1", "1", "2"], ["2", "2", "1"]))
    ]  # fmt: skip
    path = write_lines(tmp_path / "samples_t_2026-01-31T12-00-00.123456.jsonl", lines)
    assert lines_of(path, "vote@3") == {"vote@3": 0.5}


def test_whole_completions_are_not_answers(tmp_path: Path) -> None:
    lines = [
        {
            "doc_id": number, "doc": {}, "target": "1", "filter": "none",
            "metrics": ["exact_match"],
            "resps": [["x" * 200, "y" * 200]], "filtered_resps": ["1"], "exact_match": 1.0,
            "exact_match_repeats": [1.0, 0.0],
        }
        for number in range(2)
    ]  # fmt: skip
    path = write_lines(tmp_path / "samples_t_2026-01-31T12-00-00.123456.jsonl", lines)
    (line,) = summarize(path, "vote@2").groups[0].lines
    assert line.estimate is None
    assert "needs the answer" in str(line.reason)
