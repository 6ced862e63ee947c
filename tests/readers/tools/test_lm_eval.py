"""Samples of lm-eval: responses are trials, scored as its own filters and metrics score them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from passband.readers.log import Log
from support.runs.commands import run
from support.runs.scripted import evaluated
from support.samples.tool_logs import lm_eval_line, lm_eval_results, write_json, write_lines

DATE = "2026-01-31T12-00-00.123456"
ANSWER = {"function": "regex", "regex_pattern": "answer is (-?[0-9,]+)"}
FIRST = {"function": "take_first"}
VOTE = {"function": "majority_vote"}
FILTERS: list[dict[str, Any]] = [
    {"name": "strict", "filter": [ANSWER, FIRST]},
    {"name": "maj", "filter": [ANSWER, VOTE, FIRST]},
    {"name": "maj@3", "filter": [{"function": "take_first_k", "k": 3}, ANSWER, VOTE, FIRST]},
    {
        "name": "loose",
        "filter": [ANSWER | {"regex_pattern": "([0-9]+)", "group_select": -1}, FIRST],
    },
]
METRIC = {
    "metric": "exact_match", "aggregation": "mean", "higher_is_better": True,
    "ignore_case": True, "regexes_to_ignore": [","],
}  # fmt: skip
SETTINGS: dict[str, Any] = {
    "doc_to_text": "{{question}}", "doc_to_target": "{{answer}}", "repeats": 4,
    "filter_list": FILTERS, "metric_list": [METRIC], "generation_kwargs": {"temperature": 0.7},
}  # fmt: skip
# Problem 0 has the target 1, problem 1 the target 2.
RESPONSES = [
    ["the answer is 1", "the answer is 7, or 1", "no idea", "the answer is 7"],
    ["no idea 2", "no idea", "the answer is 2", "the answer is 2"],
]
#: In lm-eval, "no idea" is the answer [invalid], and one vote.
NUMBERS = {"strict": [1, 0], "maj": [1, 0], "maj@3": [1, 0], "loose": [1, 1]}
# maj of 0: the answers are 1, "7,", [invalid] and 7, four texts; the first wins. maj of 1:
# [invalid] has as many votes as 2, and comes first.


def lines(numbers: Mapping[str, Sequence[float]] = NUMBERS) -> list[dict[str, Any]]:
    """Return samples as lm-eval orders them: all documents under one filter, then the next."""
    return [
        lm_eval_line(doc, RESPONSES[doc], float(scores[doc]), filter=name)
        for name, scores in numbers.items()
        for doc in range(2)
    ]


def logged(
    folder: Path, rows: list[Any], settings: dict[str, Any] | None = SETTINGS, problems: int = 2
) -> Path:
    if settings is not None:
        write_json(folder / f"results_{DATE}.json", lm_eval_results("sums", settings, problems))
    return write_lines(folder / f"samples_sums_{DATE}.jsonl", rows)


def only_log(path: Path, **options: Any) -> Log:
    (log,) = readers.get("lm-eval").read(path, Options(**options))
    return log


def important(source: Any) -> list[str]:
    return [str(remark) for remark in source.remarks if remark.important]


def scores_of(log: Log, scorer: str) -> list[list[float | None]]:
    number = log.scorers.index(scorer)
    rows: list[list[float | None]] = [[] for _ in log.problems]
    for trial in log.trials:
        rows[trial.problem].append(next(s.value for s in trial.scores if s.scorer == number))
    return rows


# -- responses scored again --------------------------------------------------------------------


def test_every_response_is_scored_by_the_filters_of_the_task(tmp_path: Path) -> None:
    log = only_log(logged(tmp_path, lines()), texts=True)
    assert (log.task, log.model, log.settings) == ("sums", "qwen3-8b", {"temperature": 0.7})
    assert log.scorers == ("exact_match,strict", "exact_match,loose")  # maj only reduces otherwise
    assert scores_of(log, "exact_match,strict") == [[1, 0, 0, 0], [0, 0, 1, 1]]
    assert scores_of(log, "exact_match,loose") == [[1, 1, 0, 0], [1, 0, 1, 1]]
    assert [trial.text for trial in log.trials] == RESPONSES[0] + RESPONSES[1]
    assert json.loads(log.problems[0].record) == {
        "messages": [["user", "0+1="]], "targets": ["1"], "choices": [],
        "doc": {"question": "0+1=", "level": 0},
    }  # fmt: skip
    assert important(log) == []  # the numbers of all four filters are reproduced


def test_the_vote_of_a_filter_is_named_where_it_is_asked_for(tmp_path: Path) -> None:
    path = logged(tmp_path, lines())
    for name, k in (("exact_match,maj", 4), ("exact_match,maj@3", 3)):
        with pytest.raises(InvalidInput, match=f"-m vote@{k} with --score exact_match,strict"):
            read(path, columns={"score": name})
    with pytest.raises(InvalidInput, match="no scorer named 'exact_match,mean'"):
        read(path, columns={"score": "exact_match,mean"})


def test_a_number_that_is_not_reproduced_is_counted(tmp_path: Path) -> None:
    path = logged(tmp_path, lines(NUMBERS | {"maj@3": [0, 0], "loose": [0, 0]}))
    assert important(read(path)) == [
        "exact_match,maj@3: scored again, 1 of 2 problems differ from the number in the log; these "
        "scores are not lm-eval's",
        "exact_match,loose: scored again, 2 of 2 problems differ from the number in the log; these "
        "scores are not lm-eval's",
    ]


@given(
    answers=st.lists(
        st.lists(st.sampled_from(["answer is 1", "answer is 2", "no"]), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_exact_match_per_filter(tmp_path: Path, answers: list[list[str]]) -> None:
    """The first of the trials has lm-eval's number, problem by problem, and their mean is its."""
    first = [float(row[0] == f"answer is {doc + 1}") for doc, row in enumerate(answers)]
    rows = [lm_eval_line(doc, row, first[doc], filter="strict") for doc, row in enumerate(answers)]
    settings = SETTINGS | {"filter_list": FILTERS[:1]}
    log = only_log(logged(tmp_path, rows, settings, len(rows)))
    scores = scores_of(log, "exact_match")
    assert [row[0] for row in scores] == first
    assert measure(log.outcomes(), "avg").value == pytest.approx(
        sum(sum(row) for row in scores) / (3 * len(rows))
    )
    assert important(log) == []


def test_several_targets_and_choices(tmp_path: Path) -> None:
    settings = {"metric_list": [{"metric": "exact_match"}]}
    row = lm_eval_line(0, ["yes", "y", "no"], 1.0, target="['yes', 'y']")
    log = only_log(logged(tmp_path, [row], settings, 1))
    assert scores_of(log, "exact_match") == [[1, 1, 0]]
    row = lm_eval_line(0, ["red", "blue"], 0.0, target="1", doc={"options": ["red", "blue"]})
    log = only_log(logged(tmp_path, [row], settings | {"doc_to_choice": "{{options}}"}, 1))
    assert (scores_of(log, "exact_match"), important(log)) == ([[0, 1]], [])
    row = lm_eval_line(0, ["red", "blue"], 0.0, target="9", doc={"options": ["red", "blue"]})
    path = logged(tmp_path, [row], settings | {"doc_to_choice": "{{options}}"}, 1)
    with pytest.raises(InvalidInput, match=r"jsonl:1: problem 0: target '9' is not among its cho"):
        read(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"process_results": "def process_results(doc, results):\n    return {}\n"},
        {"metric_list": [{"metric": "def pass_at_k(references, predictions):\n    ..."}]},
        {"filter_list": [{"name": "none", "filter": [{"function": "custom", "filter_fn": "<f>"}]}]},
        {"filter_list": "x"},
        {"filter_list": [{"name": 1}]},
        {"metric_list": [{"metric": "exact_match", "nonsense": 1}]},
        {"doc_to_choice": "def choices(doc):\n    return doc['x']\n"},
    ],
)
def test_a_task_with_code_keeps_one_number(tmp_path: Path, settings: dict[str, Any]) -> None:
    rows = [lm_eval_line(doc, RESPONSES[doc], float(doc)) for doc in range(2)]
    path = logged(tmp_path, rows, settings)
    groups = read(path)
    if settings == {"filter_list": "x"}:  # as if there were none
        assert groups.only().trials.tolist() == [4, 4]
        return
    assert groups.only().trials.tolist() == [1, 1]
    (remark,) = important(groups)
    assert "resps holds 4 responses per problem, but each metric one score" in remark
    assert "Python code" in remark
    log = only_log(path, texts=True)
    assert [(trial.text, trial.scores) for trial in log.trials] == [
        (text, []) for row in RESPONSES for text in row
    ]


def test_without_the_results(tmp_path: Path) -> None:
    groups = read(logged(tmp_path, lines(), None))
    assert groups.only().required_successes().tolist() == [1, 0]
    assert "is not beside it; it is read as one trial" in important(groups)[0]
    votes = read(tmp_path / f"samples_sums_{DATE}.jsonl", columns={"score": "exact_match,loose"})
    assert votes.only().required_successes().tolist() == [1, 1]
    other = lm_eval_results("other", SETTINGS, 2)
    write_json(tmp_path / f"results_{DATE}.json", other)
    assert f"results_{DATE}.json has no settings of sums" in important(
        read(tmp_path / f"samples_sums_{DATE}.jsonl")
    )[0]  # fmt: skip


def test_results_of_another_run_are_not_used(tmp_path: Path) -> None:
    path = logged(tmp_path, lines())
    later = tmp_path / "results_2026-02-01T12-00-00.json"
    write_json(later, lm_eval_results("sums", {}, 2))
    assert only_log(path).scorers == ("exact_match,strict", "exact_match,loose")
    plain = path.rename(tmp_path / "mine.jsonl")  # no date: either file of results might be its
    assert "is not beside it" in important(read(plain))[0]


def test_samples_that_are_not_all(tmp_path: Path) -> None:
    (remark,) = important(read(logged(tmp_path, lines(), problems=3)))
    assert f"results_{DATE}.json counts 3 problems of sums, and the samples are of 2" in remark


# -- numbers as they are -----------------------------------------------------------------------


def test_one_response_has_the_number_of_its_line(tmp_path: Path) -> None:
    rows = [
        lm_eval_line(doc, ["x"], float(right), filter=name)
        for name, wins in (("strict-match", [1, 0, 0]), ("flexible-extract", [1, 1, 0]))
        for doc, right in enumerate(wins)
    ]
    path = logged(tmp_path, rows, None)
    groups = read(path, by="scorer")
    assert {g.key: g.outcomes.required_successes().tolist() for g in groups.groups} == {
        ("exact_match,strict-match",): [1, 0, 0], ("exact_match,flexible-extract",): [1, 1, 0],
    }  # fmt: skip
    assert important(groups) == []
    assert read(path, by="level").groups[0].key == ("0",)
    assert run("stats", path, "-m", "pass@1", "--format", "csv", "-q").code == 0


def test_likelihoods_are_one_trial(tmp_path: Path) -> None:
    likelihoods = [[["-1.5", "False"]], [["-0.5", "True"]]]
    rows = [
        lm_eval_line(doc, [], 0.0) | {
            "resps": likelihoods, "filtered_resps": [["-1.5", "False"], ["-0.5", "True"]],
            "metrics": ["acc", "acc_norm"], "acc": float(doc), "acc_norm": 1.0,
        }
        for doc in range(2)
    ]  # fmt: skip
    path = logged(tmp_path, rows, {"metric_list": [{"metric": "acc"}], "doc_to_choice": "x"})
    groups = read(path)
    assert groups.only().required_successes().tolist() == [0, 1]
    assert read(path, columns={"score": "acc_norm"}).only().trials.tolist() == [1, 1]
    assert important(groups) == []


def test_lines_without_a_list_of_metrics(tmp_path: Path) -> None:
    rows = [lm_eval_line(doc, ["1"], 0.0) | {"acc": 1.0} for doc in range(2)]
    for row in rows:
        del row["metrics"], row["filter"]
    assert only_log(logged(tmp_path, rows, None)).scorers == ("exact_match", "acc")


def test_metrics_without_a_number_for_a_problem(tmp_path: Path) -> None:
    pair = [["a b"], ["a c"]]
    rows = [lm_eval_line(0, ["a c"], 1.0, metrics=["bleu", "exact_match"], bleu=pair)]
    groups = read(logged(tmp_path, rows, None))
    assert "not read: bleu" in " ".join(map(str, groups.remarks))
    path = logged(tmp_path, [rows[0] | {"metrics": ["bleu"]}], None)
    with pytest.raises(InvalidInput, match=r"no metric has a number for each problem .*bleu"):
        read(path)
    path = logged(tmp_path, [lm_eval_line(0, ["a"], 1.0, metrics=["bypass"], bypass=None)], None)
    with pytest.raises(InvalidInput, match="passband score can score the responses"):
        read(path)
    assert [trial.text for trial in only_log(path, texts=True).trials] == ["a"]


# -- repeats of passband -------------------------------------------------------------------------


def test_repeats_are_read(tmp_path: Path) -> None:
    scores: list[list[float | None]] = [[1.0, 0.0, None], [0.0, 0.0, 1.0]]
    rows = [
        lm_eval_line(doc, ["a", "b", "c"], 0.5, exact_match_repeats=row, statuses=statuses)
        for doc, (row, statuses) in enumerate(
            zip(scores, [["ok", "ok", "gave_up"], ["ok"] * 3], strict=True)
        )
    ]
    log = only_log(logged(tmp_path, rows), texts=True)
    assert log.outcomes().trials.tolist() == [2, 3]
    assert log.outcomes().unscored["gave_up"].tolist() == [1, 0]
    assert [trial.text for trial in log.trials] == ["a", "b", "c"] * 2
    assert important(log) == []
    bad = rows[0] | {"exact_match_repeats": ["x"]}
    with pytest.raises(InvalidInput, match="exact_match_repeats must list numbers; got 'x'"):
        read(logged(tmp_path, [bad]))


def test_samples_of_simple_evaluate(tmp_path: Path) -> None:
    metric = "- {metric: exact_match, aggregation: mean, repeat_aggregation: majority}"
    targets = {"a": "2", "b": "4"}
    results = evaluated(tmp_path, metric, targets, {"a": ["2", "2", "3"], "b": ["1", "4", "1"]})
    whole = write_json(tmp_path / "whole.json", results)
    rows = write_lines(tmp_path / "alone" / "samples.jsonl", results["samples"]["t"])
    for path, reader in ((whole, "lm-eval results"), (rows, "lm-eval")):
        groups = read(path)
        assert groups.reader == reader
        assert list(groups.only().problems) == ["a", "b"]
        assert groups.only().required_successes().tolist() == [2, 1]
        assert groups.only().trials.tolist() == [3, 3]


# -- files of results ----------------------------------------------------------------------------


def test_results_find_their_samples(tmp_path: Path) -> None:
    logged(tmp_path, lines())
    path = tmp_path / f"results_{DATE}.json"
    content = lm_eval_results("sums", SETTINGS, 2)
    content["configs"]["more_sums"] = {}
    write_json(path, content)
    write_lines(tmp_path / f"samples_more_sums_{DATE}.jsonl", [lm_eval_line(0, ["1"], 1.0)])
    write_lines(tmp_path / "samples_sums_2025-01-01T00-00-00.jsonl", [lm_eval_line(0, ["1"], 1.0)])
    groups = read(path)
    assert {group.key: group.outcomes.trials.tolist() for group in groups.groups} == {
        ("sums",): [4, 4], ("more_sums",): [1],
    }  # fmt: skip
    assert {group.model for group in groups.groups} == {"qwen3-8b"}
    undated = path.rename(tmp_path / "results.json")
    with pytest.raises(InvalidInput, match=r"several samples of sums beside it .*; read them one"):
        read(undated)


def test_results_without_samples(tmp_path: Path) -> None:
    path = write_json(tmp_path / "results.json", lm_eval_results("sums", {}, 2))
    with pytest.raises(InvalidInput, match="Run lm_eval with --log_samples"):
        read(path)
    write_json(path, lm_eval_results("sums", {}, 2) | {"passband": {}})
    with pytest.raises(InvalidInput, match="exported from a run directory: read that"):
        read(path)
    with pytest.raises(InvalidInput, match="has no results and configs"):
        read(write_json(path, {"results": 1}), reader="lm-eval results")


# -- what is wrong with them ---------------------------------------------------------------------


def test_joined_files_are_refused(tmp_path: Path) -> None:
    path = logged(tmp_path, lines() + lines()[:1])
    with pytest.raises(InvalidInput, match=r"jsonl:9: doc_id 0 occurs twice with the filter stri"):
        read(path, skip_bad=True)


def test_joined_files_with_a_column_for_it_are_a_table(tmp_path: Path) -> None:
    rows = [lm_eval_line(0, ["1"], 1.0) | {"model": model} for model in ("M", "N")]
    groups = read(logged(tmp_path, rows, None))
    assert (groups.reader, [group.key for group in groups.groups]) == ("table", [("M",), ("N",)])


def test_a_bad_line(tmp_path: Path) -> None:
    rows = [lm_eval_line(0, ["1"], 1.0), lm_eval_line(1, ["1"], 0.0) | {"doc_id": None}]
    path = logged(tmp_path, rows, None)
    with pytest.raises(InvalidInput, match=r"jsonl:2: doc_id must be a whole number or text"):
        read(path)
    assert read(path, skip_bad=True).only().trials.tolist() == [1]
    path = logged(tmp_path, [lm_eval_line(0, ["1"], float("nan")), rows[0] | {"doc_id": 1}], None)
    assert read(path).only().unscored["unscored"].tolist() == [1, 0]
    path = logged(tmp_path, [lm_eval_line(0, ["1"], float("inf"))], None)
    with pytest.raises(InvalidInput, match="a score of exact_match is infinite"):
        read(path)


def test_what_stands_beside_may_be_anything(tmp_path: Path) -> None:
    path = logged(tmp_path, lines(), None)
    (tmp_path / f"results_{DATE}.json").write_text('{"results": {}, "configs": {}, "x": ')
    assert len(important(read(path))) == 1


def test_a_metric_that_is_an_error_rate_is_named(tmp_path: Path) -> None:
    rows = [lm_eval_line(doc, ["x"], 0.0) for doc in range(2)]
    for doc, row in enumerate(rows):
        del row["exact_match"]
        row |= {"metrics": ["ter"], "ter": 20.0 + doc}
    remarks = read(write_lines(tmp_path / "samples_x.jsonl", rows)).remarks
    assert any("lower is better for ter" in str(one) for one in remarks if one.important)
    rows = [lm_eval_line(doc, ["x"], 0.0) for doc in range(2)]
    remarks = read(write_lines(tmp_path / "samples_y.jsonl", rows)).remarks
    assert not any("lower is better" in str(one) for one in remarks)
