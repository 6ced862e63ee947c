"""Files in Inspect's format .eval: finished and killed runs, old and odd ones, damaged ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, Outcomes, read
from passband.readers import Log, Options
from passband.readers.inspect.log import InspectLog
from support.runs.commands import run
from support.samples.inspect_logs import (
    DEFLATED,
    STORED,
    ZSTD,
    failed,
    grid,
    members,
    sample,
    sample_members,
    summary,
    write_eval,
    write_killed,
    write_zip,
    zipfile,
)

ROWS: dict[str | int, list[Any]] = {"a": ["C", "I", "C"], "b": ["I", "I", "C"]}
LETTERS = grid(ROWS)


def log_of(path: Path, **options: Any) -> Log:
    (log,) = InspectLog().read(path, Options(**options))
    return log


def read_both(path: Path) -> Log:
    """Read a log without texts and with them; the outcomes must be the same."""
    short, whole = log_of(path), log_of(path, texts=True)
    assert whole.scorers == short.scorers
    for scorer in short.scorers:
        assert_same(short.outcomes(scorer), whole.outcomes(scorer))
    return whole


def assert_same(a: Outcomes, b: Outcomes) -> None:
    assert list(a.problems) == list(b.problems)
    assert a.trials.tolist() == b.trials.tolist()
    assert (a.graded and a.graded.values.tolist()) == (b.graded and b.graded.values.tolist())
    assert a.graded is not None or a.required_successes().tolist() == (
        b.required_successes().tolist()
    )
    assert unscored(a) == unscored(b)


def unscored(outcomes: Outcomes) -> dict[str, list[int]]:
    return {name: counts.tolist() for name, counts in outcomes.unscored.items()}


def important(log: Log) -> list[str]:
    return [str(remark) for remark in log.remarks if remark.important]


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_a_finished_run(tmp_path: Path, method: int) -> None:
    log = read_both(write_eval(tmp_path / "x.eval", LETTERS, method))
    assert (log.task, log.model, log.scorers, log.planned) == ("sums", "M", ("match",), 3)
    assert (log.source.reader, log.source.file) == ("inspect", str(tmp_path / "x.eval"))
    outcomes = log.outcomes()
    assert list(outcomes.problems) == ["a", "b"]
    assert outcomes.required_successes().tolist() == [2, 1]
    assert log.data("level") == {"a": "a", "b": "b"}
    assert not log.remarks
    assert log.settings["inspect"]["version"] == "0.3.285"


def test_texts_and_costs_are_read_where_they_are_wanted(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS)
    first = next(iter(log_of(path, texts=True).trials))
    assert (first.text, first.reasoning, first.transcript) == ("It is a.", None, None)
    assert (first.prompt_tokens, first.completion_tokens, first.latency_ms) == (5, 7, 250)
    assert (first.request_id, first.scores[0].answer) == ("a-1", "a")
    assert {row.text for row in log_of(path).trials} == {None}
    problem = json.loads(log_of(path, texts=True).problems[0].record)
    assert problem["messages"] == [["user", "What is a?"]]
    assert problem["targets"] == ["a"]


def test_an_answer_that_is_the_completion_is_kept_once(tmp_path: Path) -> None:
    scores = {"match": {"value": "C", "answer": "It is a."}, "f1": {"value": 1, "answer": "a"}}
    path = write_eval(tmp_path / "x.eval", [sample("a", scores=scores)])
    (trial,) = log_of(path, texts=True).trials
    assert trial.text == "It is a."
    assert [score.answer for score in trial.scores] == [None, "a"]


def test_problems_come_in_the_order_of_the_data_set(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS[::-1], eval={
        "dataset": {"sample_ids": ["b", "c", "a"]}, "config": {"epochs": 4},
    })  # fmt: skip
    outcomes = read_both(path).outcomes()
    assert list(outcomes.problems) == ["b", "c", "a"]
    assert unscored(outcomes) == {"missing": [1, 4, 1]}


def test_the_command_reads_it(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS)
    done = run("stats", path, "-m", "avg", "--json")
    (group,) = json.loads(done.out)["groups"]
    assert group["lines"][0]["estimate"]["value"] == 0.5
    other = write_eval(tmp_path / "y.eval", grid({"b": ["C"] * 3, "a": ["C"] * 3}),
                       eval={"model": "N"})  # fmt: skip
    compared = run("compare", path, other, "-m", "avg", "--json")
    (task,) = json.loads(compared.out)["tasks"]
    assert task["models"] == ["M", "N"]
    assert task["comparisons"][0]["value"] == pytest.approx(0.5)
    assert task["comparisons"][0]["paired"] is True


# -- scores --------------------------------------------------------------------------------


def test_values_of_every_kind(tmp_path: Path) -> None:
    values = ["C", "P", "I", "N", True, False, 0.25, "0.75", "yes", float("nan"), "B", None]
    log = read_both(write_eval(tmp_path / "x.eval", grid({"a": values})))
    rows = [row.scores[0] for row in log.trials]
    assert [row.value for row in rows] == [
        1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.25, 0.75, 1.0, None, None, None,
    ]  # fmt: skip
    assert [row.status for row in rows[:4]] == ["ok", "ok", "ok", "no_answer"]
    assert unscored(log.outcomes()) == {"scorer_error": [3]}
    assert rows[10].detail == "the scorer gave 'B', which is no number"


def test_several_scorers_and_mappings(tmp_path: Path) -> None:
    scores = [
        {"judge": {"value": float("nan")}, "match": {"value": "C"}},
        {"judge": {"value": {"clear": 3, "kind": None}}, "match": {"value": "I"}},
        {"judge": {"value": {"clear": 1, "kind": 2}}, "match": {"value": "I"}},
    ]
    records = [sample("a", epoch, scores=one) for epoch, one in enumerate(scores, start=1)]
    log = read_both(write_eval(tmp_path / "x.eval", records))
    assert log.scorers == ("match", "judge/clear", "judge/kind")
    assert unscored(log.outcomes("judge/clear")) == {"scorer_error": [1]}
    assert unscored(log.outcomes("judge/kind")) == {"scorer_error": [2]}
    graded = log.outcomes("judge/clear").graded
    assert graded is not None
    assert graded.values.tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ({}, ("match", "f1", "judge/a", "judge/b")),
        ({"headline": {"scorer": "f1", "score": "f1"}}, ("f1", "match", "judge/a", "judge/b")),
        ({"headline": {"scorer": "judge", "score": "b"}}, ("judge/b", "match", "f1", "judge/a")),
        ({"scores": [{"name": "judge", "scorer": "judge"}, {"name": "f1", "scorer": "f1"}]},
         ("judge/a", "judge/b", "f1", "match")),
        ({"scores": [{"name": "never", "scorer": "never"}]}, ("match", "f1", "judge/a", "judge/b")),
    ],
)  # fmt: skip
def test_the_main_scorer_is_that_of_the_headline(
    tmp_path: Path, results: dict[str, Any], expected: tuple[str, ...]
) -> None:
    scores = {
        "match": {"value": "C"}, "f1": {"value": 0.5}, "judge": {"value": {"a": 1, "b": 0}},
    }  # fmt: skip
    path = write_eval(tmp_path / "x.eval", [sample("a", scores=scores)], results=results)
    log = read_both(path)
    assert log.scorers == expected
    assert {name: log.outcomes(name).n_trials for name in expected} == dict.fromkeys(expected, 1)


def test_a_task_without_scores(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.eval", grid({"a": [..., ...]}), eval={"scorers": []})
    with pytest.raises(InvalidInput, match="no scorer has been used"):
        read(path)
    done = run("stats", path)
    assert (done.code, done.out) == (2, "")


def test_a_scorer_that_never_gave_a_score(tmp_path: Path) -> None:
    log = read_both(write_eval(tmp_path / "x.eval", grid({"a": [..., ...]})))
    assert log.scorers == ("match",)
    assert unscored(log.outcomes()) == {"unscored": [2]}


# -- how trials ended ----------------------------------------------------------------------


def stopped(reason: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": "It"}
    return {"model": "M", "choices": [{"message": message, "stop_reason": reason}]}


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("max_tokens", "truncated"), ("model_length", "truncated"), ("content_filter", "refused"),
        ("stop", "ok"), ("unknown", "unknown"),
    ],
)  # fmt: skip
def test_what_stopped_a_scored_trial_is_known_without_texts(
    tmp_path: Path, reason: str, status: str
) -> None:
    path = write_eval(tmp_path / "x.eval", [sample("a", 1, output=stopped(reason)), sample("a", 2)])
    assert [row.status for row in log_of(path).trials] == [status, "ok"]
    said = run("stats", path).err
    assert (f"1 {status}" in said) == (status in ("truncated", "refused", "unknown"))


def test_statuses(tmp_path: Path) -> None:
    records = [
        failed("a", 1, "ValueError: x", error_retries=[{"message": "y"}]),
        sample("a", 2, limit={"type": "time", "limit": 3.0}),
        failed("a", 3) | {"scores": {"match": {"value": "I"}}},
        sample("a", 4, output=stopped("max_tokens")),
        sample("a", 5, float("nan"), output=stopped("content_filter")),
        sample("a", 6, ..., output=stopped("model_length")),
        failed("a", 7, "CancelledError('stop')"),
        failed("a", 8, "Cancelled('stop')"),
        sample("a", 9, output=stopped("tool_calls")),
    ]
    log = read_both(write_eval(tmp_path / "x.eval", records))
    assert [(row.trial, row.status) for row in log.trials] == [
        (0, "errored"), (1, "limit"), (2, "errored"), (3, "truncated"), (4, "refused"),
        (5, "truncated"), (8, "ok"),
    ]  # fmt: skip
    assert log.outcomes().required_successes().tolist() == [3]
    assert log.outcomes().trials.tolist() == [4]
    assert unscored(log.outcomes()) == {
        "errored": [1], "missing": [2], "refused": [1], "truncated": [1],
    }  # fmt: skip
    assert [attempt.detail for attempt in log.attempts] == ["ValueError: x", "boom"]
    assert next(iter(log.trials)).attempts == 2
    assert important(log) == [
        "2 samples were cancelled, and count as missing",
        "2 trials are scored though cut short (time limit: 1, error: 1), as Inspect scores them",
    ]


def test_a_stop_that_is_no_end(tmp_path: Path) -> None:
    records = [
        sample("a", 1, ..., output=stopped("tool_calls")),
        sample("a", 2, ..., output=stopped("unknown")),
        sample("a", 3, output=stopped("tool_calls")),  # an agent, which submits by a tool
    ]
    log = read_both(write_eval(tmp_path / "x.eval", records))
    assert [row.status for row in log.trials] == ["tool_call", "unknown", "ok"]


def test_invalidated_samples_have_no_score(tmp_path: Path) -> None:
    records = grid({"a": ["C", "C"], "b": ["I", "C"]})
    records[0]["invalidation"] = {"timestamp": "2026", "author": "me", "reason": "wrong sandbox"}
    log = read_both(write_eval(tmp_path / "x.eval", records, invalidated=True))
    assert unscored(log.outcomes()) == {"scorer_error": [1, 0]}
    row = next(iter(log.trials)).scores[0]
    assert row.detail == "the sample was invalidated: wrong sandbox"
    assert "1 sample was declared invalid" in important(log)[0]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"status": "cancelled"}, "the run ended as cancelled; the log holds 6 of 6 planned"),
        ({"status": "error", "error": {"message": "no key"}}, r"in an error \(no key\); the log"),
        ({"status": "started"}, "the run has not ended, or was killed; the log holds 6 of 6"),
    ],
)
def test_a_run_that_did_not_succeed(tmp_path: Path, more: dict[str, Any], expected: str) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS, **more)
    with pytest.warns(match=expected):
        Outcomes.from_file(path)


def test_trials_that_a_rule_left_out_are_not_missing(tmp_path: Path) -> None:
    stops = {"early_stopping": {"manager": "m", "early_stops": [{"id": "b", "epoch": 3}]}}
    log = read_both(write_eval(tmp_path / "x.eval", LETTERS[:5], results=stops))
    assert not log.outcomes().unscored
    assert "1 trials were left out by the task's rule" in important(log)[0]


# -- killed runs ---------------------------------------------------------------------------


def test_a_killed_run(tmp_path: Path) -> None:
    flushed = [[LETTERS[number]] for number in range(5)] + [[], [], [], [], [sample("b", 2, "C")]]
    path = write_killed(tmp_path / "x.eval", flushed)
    log = read_both(path)
    assert log.outcomes().required_successes().tolist() == [2, 1]  # the last of 10 journals wins
    assert unscored(log.outcomes()) == {"missing": [0, 1]}
    assert important(log) == [
        "the run has not ended, or was killed; the log holds 5 of 6 planned trials"
    ]


def test_samples_that_no_summary_mentions(tmp_path: Path) -> None:
    contents = members(LETTERS)
    for name in ("summaries.json", "header.json"):
        del contents[name]
    contents["_journal/summaries/1.json"] = [summary(record) for record in LETTERS[:2]]
    log = read_both(write_zip(tmp_path / "x.eval", contents))
    assert log.outcomes().required_successes().tolist() == [2, 1]
    assert "4 trials were read from samples that no summary in the log mentions" in map(
        str, log.remarks
    )


def test_a_member_written_twice_is_the_last_one(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS)
    newer = grid({"a": ["I"] * 3, "b": ["I"] * 3})
    contents = {**sample_members(newer), "summaries.json": [summary(record) for record in newer]}
    with zipfile.ZipFile(path, "a", ZSTD) as file:
        for name, content in contents.items():
            with pytest.warns(UserWarning, match="Duplicate"):
                file.writestr(name, json.dumps(content))
    assert read_both(path).outcomes().required_successes().tolist() == [0, 0]


@pytest.mark.parametrize(("lost", "trials"), [(30, 6), ("_journal/summaries/1.json", 6),
                                              ("samples/b_epoch_1.json", 3)])  # fmt: skip
def test_a_file_that_is_cut_off(tmp_path: Path, lost: int | str, trials: int) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS)
    data = path.read_bytes()
    end = data.find(lost.encode()) if isinstance(lost, str) else len(data) - lost
    path.write_bytes(data[:end])
    log = read_both(path)
    assert "the file is cut off" in important(log)[0]
    assert log.outcomes().n_trials == trials
    assert log.outcomes().status_counts.get("missing", 0) == 6 - trials


# -- what is refused -----------------------------------------------------------------------

Change = Callable[[dict[str, Any]], Any]


def without(*names: str) -> Change:
    return lambda contents: [contents.pop(name) for name in names]


def changed(name: str, content: Any) -> Change:
    return lambda contents: contents.update({name: content})


def in_header(**fields: Any) -> Change:
    return lambda contents: contents["header.json"].update(fields)


def listed(*records: dict[str, Any]) -> Change:
    return changed("summaries.json", [summary(record) for record in records])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("header.json", "_journal/start.json"), "neither a member header.json nor"),
        (in_header(version=3), "in version 3 of its format; versions 1 to 2 can be read"),
        (in_header(version="2"), "in version '2' of its format"),
        (in_header(eval={"task": "t"}), "names no task and model"),
        (in_header(eval=[]), "names no task and model"),
        (changed("header.json", []), "names no task and model"),
        (changed("header.json", b"{"), "its member 'header.json' is not JSON"),
        (changed("header.json", b"\xff"), "its member 'header.json' is not UTF-8"),
        (changed("header.json", b"[" * 100_000), "too deeply nested"),
        (changed("summaries.json", {}), "its member 'summaries.json' is not JSON: a list must"),
        (changed("summaries.json", b"[1, "), "its member 'summaries.json' is cut off"),
        (changed("summaries.json", b"[]x"), "there is more behind its end"),
        (changed("summaries.json", b"\xff"), "its member 'summaries.json' is not UTF-8"),
        (changed("summaries.json", ["x"]), "sample 1: a sample must be an object; got 'x'"),
        (listed(sample("a"), sample("a", 0)), "sample 2: sample 'a': its epoch must be a whole"),
        (listed(sample("a", 1.0)), "its epoch must be a whole number"),  # type: ignore[arg-type]
        (listed(sample(True)), "the id of a sample must be text or a number; got True"),
        (listed(sample("a"), sample("b"), sample("a")), "sample 3: problem 'a' has trial 0 twice"),
        (listed(sample(1), sample("1", 2)), 'sample 2: both 1 and "1" are ids of samples'),
    ],
)  # fmt: skip
def test_a_spoilt_log_is_refused(tmp_path: Path, change: Change, message: str) -> None:
    contents = members(LETTERS)
    change(contents)
    path = write_zip(tmp_path / "x.eval", contents)
    with pytest.raises(InvalidInput, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "the file is empty"), (b"x" * 99, "no ZIP file"), (b"PK\x05\x06" + bytes(18),
      "no ZIP file")],
)  # fmt: skip
def test_what_is_no_zip_file_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=message):
        read(path)


def test_a_log_without_samples(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no samples; a run with log_samples=False"):
        read(write_eval(tmp_path / "x.eval", []))


def test_samples_that_cannot_be_read_are_left_out_if_wanted(tmp_path: Path) -> None:
    contents = members(LETTERS)
    contents["summaries.json"][1]["epoch"] = "two"
    del contents["samples/a_epoch_2.json"]
    path = write_zip(tmp_path / "x.eval", contents)
    with pytest.raises(InvalidInput, match="sample 2: sample 'a': its epoch must be"):
        read(path)
    log = log_of(path, skip_bad=True)
    assert "left out 1 sample that cannot be read (sample 2)" in important(log)
    assert unscored(log.outcomes()) == {"missing": [1, 0]}


def test_a_sample_that_contradicts_its_summary(tmp_path: Path) -> None:
    contents = members(LETTERS)
    contents |= sample_members([sample("a", 1, "I")])
    path = write_zip(tmp_path / "x.eval", contents)
    assert not log_of(path).remarks
    assert "1 trial has other scores in the sample" in important(log_of(path, texts=True))[0]
    contents["samples/a_epoch_1.json"] = sample("b", 1)
    path = write_zip(tmp_path / "x.eval", contents)
    with pytest.raises(InvalidInput, match=r"'samples/a_epoch_1\.json' holds sample 'b', epoch 1"):
        log_of(path, texts=True)


def test_it_is_recognized_by_its_content(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.zip", LETTERS)
    assert read(path).reader == "inspect"
    other = write_zip(tmp_path / "y.zip", {"a.txt": b"x"})
    assert not InspectLog().sniff(other)


def test_names_of_members_are_not_paths(tmp_path: Path) -> None:
    keys = ["../../a", "/etc/passwd", "a/b", "C:\\x", "é", "a_epoch_2", ""]
    log = read_both(write_eval(tmp_path / "x.eval", grid({key: ["C", "I"] for key in keys})))
    assert list(log.outcomes().problems) == keys
    assert [path.name for path in tmp_path.iterdir()] == ["x.eval"]
    assert len({row.text for row in log.trials}) == len(keys)


# -- samples in several members, and large ones ----------------------------------------------


def test_a_sample_in_several_members(tmp_path: Path) -> None:
    shell = sample("a", 1)
    parts = {name: shell.pop(name) for name in ("messages", "events", "metadata")}
    shell["message_refs"] = [[2, 3], [0, 2]]
    shell["output"]["choices"][0]["message"]["content"] = "attachment://1"
    contents = members([sample("a", 1)])
    del contents["samples/a_epoch_1.json"]
    prefix = "samples/a_epoch_1"
    contents |= {
        f"{prefix}/sample.json": shell,
        f"{prefix}/metadata.json": parts["metadata"],
        f"{prefix}/messages/0.json": [{"role": "assistant"}, {"role": "tool", "content": "t"}],
        f"{prefix}/messages/2.json": [{"role": "user", "content": "attachment://0"}],
        f"{prefix}/attachments/0.json": ["zero", "one"],
        f"{prefix}/events/0.json": [{}],
    }
    log = read_both(write_zip(tmp_path / "x.eval", contents))
    (trial,) = log.trials
    assert trial.text == "one"
    assert trial.transcript == [
        {"role": "user", "content": "zero"}, {"role": "assistant"},
        {"role": "tool", "content": "t"},
    ]  # fmt: skip
    assert log.data("level") == {"a": "a"}
    assert not log.remarks


def test_a_large_sample_is_read_without_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_eval(tmp_path / "x.eval", LETTERS)
    whole = list(log_of(path, texts=True).trials)
    monkeypatch.setattr("passband.readers.inspect.eval_file._STREAMED", 0)
    monkeypatch.setattr("passband.readers.inspect.eval_file._AT_ONCE", 0)
    assert list(log_of(path, texts=True).trials) == whole


@pytest.mark.parametrize(
    "store",
    [
        {"x": 1, "events": [{"a": 1}], "y": [1], "model_usage": {"M": {}}},
        {"text": ',"events":[],"model_usage":{'},
        {"a": {"events": [1]}, "b": {"c": [], "model_usage": {}}},
    ],
)
def test_events_are_passed_over_where_they_belong_to_the_sample(
    tmp_path: Path, store: dict[str, Any]
) -> None:
    records = [sample("a", 1, metadata=store), sample("a", 2, zlast={"q": [], "model_usage": {}})]
    log = read_both(write_eval(tmp_path / "x.eval", records))
    assert json.loads(log.problems[0].record)["doc"] == store
    assert [row.completion_tokens for row in log.trials] == [7, 7]
