"""Logs of Inspect, written here and read by inspect_ai: the same trials, the same numbers."""

from __future__ import annotations

import json
import math
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.readers import Log, Options, Source
from passband.readers.log_import import import_logs
from passband.readers.logs import read_logs
from passband.trials.encoding import canonical_json
from passband.trials.reader import Trials
from passband.trials.rows import AttemptRow, ProblemRow, ScoreRow, TrialRow
from passband.writers.writing import write

IDS = ["plain", "a/b c", "ü…日本", "x" * 3_000, "../up", "1"]
TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "sum", "arguments": "[2, 2]"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "sum", "content": "4"},
    {"role": "assistant", "content": [{"type": "text", "text": "4"}, {"type": "image"}]},
]  # fmt: skip


def problem(place: int, key: str) -> ProblemRow:
    record = {"messages": [["user", f"{key}?"]], "targets": ["4"], "choices": [], "doc": {"n": 1}}
    return ProblemRow(place, key, canonical_json(record))


def trial(place: int, number: int, value: float, **more: Any) -> TrialRow:
    scores = [ScoreRow(0, value, "ok", "4"), ScoreRow(1, value / 3)]
    return TrialRow(
        place, number, "ok", f"it is {value}", prompt_tokens=7, completion_tokens=9,
        latency_ms=1500, attempts=2, scores=scores, **more,
    )  # fmt: skip


ROWS = [
    trial(place, number, float((place + number) % 2)) for place in range(6) for number in (0, 1)
]
ODD = [
    TrialRow(0, 2, "truncated", "so far"),
    TrialRow(1, 2, "refused"),
    TrialRow(2, 2, "gave_up"),
    TrialRow(3, 2, "limit", "late", scores=[ScoreRow(0, 1.0)]),
    TrialRow(4, 2, "errored"),
    TrialRow(5, 2, "ok", "?", scores=[ScoreRow(0, None, "error", None, None, "boom")]),
]
LOG = Log(
    "sums",
    "openai/M",
    Source("test", "log", "0"),
    [problem(place, key) for place, key in enumerate(IDS)],
    [*ROWS, *ODD],
    ("exact", "close"),
    settings={"temperature": 0.5, "max_tokens": 32, "seed": True},
    attempts=[AttemptRow(4, 2, 1, 0, "errored", None, "no such tool")],
)


def written(folder: Path, log: Log, form: str = "eval", **options: Any) -> tuple[Path, list[str]]:
    folder.mkdir(exist_ok=True)
    directory = folder / "run"
    if not directory.exists():
        import_logs([log], directory)
    path = folder / ("log.eval" if form == "eval" else "2000-01-01T00-00-00_log_x.json")
    with Trials(directory) as trials:
        losses = write(trials, trials.runs(), form, path, **options)
    return path, losses


@pytest.mark.parametrize("form", ["eval", "inspect-json"])
def test_what_is_no_answer_comes_back_as_it_was(form: str, tmp_path: Path) -> None:
    rows = [
        TrialRow(0, 0, "tool_call", None, transcript=TRANSCRIPT[:2]),
        TrialRow(0, 1, "unknown", "so far", finish_reason="moonlight"),
    ]
    path, losses = written(tmp_path, replace(LOG, trials=rows, attempts=[]), form)
    (log,) = read_logs(path, Options(texts=True))
    assert [(row.status, row.text or None) for row in log.trials] == [
        ("tool_call", None), ("unknown", "so far"),
    ]  # fmt: skip
    first = next(iter(log.trials))
    assert first.transcript is not None
    assert first.transcript[-1]["tool_calls"][0]["function"] == "sum"
    assert losses == []


@pytest.mark.parametrize("form", ["eval", "inspect-json"])
def test_inspect_reads_every_sample(form: str, tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    path, losses = written(tmp_path, LOG, form)
    log = log_module.read_eval_log(str(path))
    assert (log.status, log.eval.task, log.eval.model) == ("success", "sums", "openai/M")
    assert (log.eval.model_generate_config.temperature, log.eval.config.epochs) == (0.5, 3)
    assert log.eval.model_generate_config.seed is None
    samples = {(sample.id, sample.epoch): sample for sample in log.samples}
    assert len(samples) == 18
    for row in ROWS:
        sample = samples[IDS[row.problem], row.trial + 1]
        assert sample.output.completion == row.text
        assert sample.scores["exact"].value == row.scores[0].value
        assert sample.scores["close"].value == row.scores[1].value
        assert sample.model_usage["openai/M"].total_tokens == 16
        assert (sample.input, sample.target) == (f"{IDS[row.problem]}?", "4")
        one = log_module.read_eval_log_sample(str(path), id=sample.id, epoch=sample.epoch)
        assert one.scores == sample.scores
    assert samples["plain", 3].output.stop_reason == "max_tokens"
    assert samples["a/b c", 3].output.stop_reason == "content_filter"
    assert samples[IDS[2], 3].error.message == "status gave_up"
    assert samples[IDS[3], 3].limit.type == "custom"
    assert samples[IDS[4], 3].error.message == "no such tool"
    assert math.isnan(samples[IDS[5], 3].scores["exact"].value)
    assert [sample.scores for sample in log.samples if sample.error] == [{}, {}]
    assert losses == [
        "trials of status invalid or gave_up, written as errors: 1",
        "scores that failed, written as NaN, which Inspect leaves out: 1",
    ]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in inspect_ai
@pytest.mark.parametrize("form", ["eval", "inspect-json"])
def test_headers_summaries_and_data_frames_agree(form: str, tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    pytest.importorskip("pandas")
    from inspect_ai.analysis import evals_df, samples_df

    path, _ = written(tmp_path, LOG, form)
    header = log_module.read_eval_log(str(path), header_only=True)
    assert header.samples is None
    exact, close = header.results.scores
    means = [0.5, 0.5, 0.5, 2 / 3, 0.5, 0.5]  # the trial that a limit stopped was scored
    mean = sum(means) / 6
    assert exact.metrics["accuracy"].value == pytest.approx(mean, abs=1e-15)
    spread = math.sqrt(sum((each - mean) ** 2 for each in means) / 5)
    assert exact.metrics["stderr"].value == pytest.approx(spread / math.sqrt(6), abs=1e-15)
    assert close.metrics["mean"].value == pytest.approx(1 / 6, abs=1e-15)
    summaries = log_module.read_eval_log_sample_summaries(str(path))
    assert {(one.id, one.epoch) for one in summaries} == {(i, e) for i in IDS for e in (1, 2, 3)}
    assert sum(one.error is not None for one in summaries) == 2
    assert sum(one.limit is not None for one in summaries) == 1
    frame = samples_df(str(path), quiet=True)
    assert len(frame) == 18
    scores = frame.set_index(["id", "epoch"])["score_exact"]
    for row in ROWS:
        assert float(scores[IDS[row.problem], row.trial + 1]) == row.scores[0].value
    evals = evals_df(str(path), quiet=True)
    assert evals["score_headline_value"].tolist() == [exact.metrics["accuracy"].value]


@pytest.mark.parametrize("form", ["eval", "inspect-json"])
def test_the_same_trials_give_the_same_bytes(form: str, tmp_path: Path) -> None:
    shuffled = replace(LOG, trials=[*ODD, *reversed(ROWS)])
    one, _ = written(tmp_path / "one", LOG, form)
    two, _ = written(tmp_path / "two", shuffled, form)
    assert one.read_bytes() == two.read_bytes()
    timed, _ = written(tmp_path / "one", LOG, form, timing=True)
    assert timed.read_bytes() != two.read_bytes()


def test_times_are_written_on_request(tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    path, _ = written(tmp_path, LOG, timing=True)
    sample = log_module.read_eval_log_sample(str(path), id="plain", epoch=1)
    assert sample.working_time == 1.5
    (first, *_) = log_module.read_eval_log_sample_summaries(str(path))
    assert (first.working_time, first.retries) == (1.5, 1)


def test_transcripts_become_messages(tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    rows = [replace(ROWS[0], transcript=TRANSCRIPT, reasoning="hm", trial=0)]
    path, _ = written(tmp_path, replace(LOG, trials=rows, attempts=[]))
    sample = log_module.read_eval_log_sample(str(path), id="plain", epoch=1)
    assert [message.role for message in sample.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    call = sample.messages[1].tool_calls[0]
    assert (call.id, call.function, call.arguments) == ("c1", "sum", {"value": [2, 2]})
    assert (sample.messages[2].function, sample.messages[2].text) == ("sum", "4")
    assert sample.messages[3].text.startswith("4")
    parts = sample.output.choices[0].message.content
    assert [part.type for part in parts] == ["reasoning", "text"]
    assert log_module.read_eval_log(str(path)).eval.config.epochs is None  # problems differ


def test_texts_that_json_cannot_carry(tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    key, text = "half \ud800\0", "\ud800 \x1b[31m \0"
    rows = [TrialRow(0, 0, "ok", text, scores=[ScoreRow(0, 1.0)])]
    log = replace(LOG, problems=[problem(0, key)], trials=rows, attempts=[])
    path, _ = written(tmp_path, log)
    (sample,) = log_module.read_eval_log(str(path)).samples
    assert (sample.id, sample.output.completion) == ("half \\ud800\\x00", "\\ud800 \x1b[31m \\x00")


def test_a_name_that_no_zip_file_can_hold(tmp_path: Path) -> None:
    log = replace(LOG, problems=[problem(0, "x" * 70_000)], trials=ROWS[:1], attempts=[])
    with pytest.raises(InvalidInput, match=r"its name is too long for an .eval file"):
        written(tmp_path, log)
    assert not (tmp_path / "log.eval").exists()
    path, _ = written(tmp_path, log, "inspect-json")
    assert json.loads(path.read_text())["samples"][0]["id"] == "x" * 70_000


def test_the_file_is_a_plain_zip(tmp_path: Path) -> None:
    path, _ = written(tmp_path, LOG)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert names[0] == "samples/plain_epoch_1.json"
    assert names[3] == "samples/a/b c_epoch_1.json"
    assert names[-2:] == ["summaries.json", "header.json"]


@pytest.mark.parametrize("form", ["eval", "inspect-json"])
def test_passband_reads_it_back(form: str, tmp_path: Path) -> None:
    """The same outcomes; of statuses, those that Inspect has none for become errors."""
    path, _ = written(tmp_path, LOG, form)
    (log,) = read_logs(path, Options(texts=True))
    assert (log.task, log.model, log.scorers) == ("sums", "openai/M", ("exact", "close"))
    expected, outcomes = LOG.outcomes(), log.outcomes()
    assert list(outcomes.problems) == IDS
    assert outcomes.trials.tolist() == expected.trials.tolist()
    assert outcomes.required_successes().tolist() == expected.required_successes().tolist()
    assert outcomes.status_counts == {
        "ok": 13, "errored": 2, "refused": 1, "scorer_error": 1, "truncated": 1,
    }  # fmt: skip
    rows = {(row.problem, row.trial): row for row in log.trials}
    for row in ROWS:
        again = rows[row.problem, row.trial]
        assert (again.text, again.status) == (row.text, row.status)
        assert (again.prompt_tokens, again.completion_tokens) == (7, 9)
        assert [score.value for score in again.scores] == [score.value for score in row.scores]
    assert json.loads(log.problems[0].record)["targets"] == ["4"]
    assert {attempt.detail for attempt in log.attempts} >= {"no such tool"}


def test_there_and_back_again_is_the_same_file(tmp_path: Path) -> None:
    """What was read from an .eval is written as it was: nothing is lost on the way but times."""
    quiet = replace(LOG, trials=[replace(row, attempts=1) for row in ROWS], attempts=[])
    first, _ = written(tmp_path / "one", quiet)
    (log,) = read_logs(first, Options(texts=True))
    second, _ = written(tmp_path / "two", log)
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as two:
        assert one.namelist() == two.namelist()
        for name in one.namelist():
            if name.startswith("samples/"):
                assert json.loads(one.read(name)) == json.loads(two.read(name))


def test_problems_with_different_numbers_of_trials(tmp_path: Path) -> None:
    path, _ = written(tmp_path, replace(LOG, trials=[*ROWS[:3], ROWS[6]], attempts=[]))
    (log,) = read_logs(path, Options())
    assert log.outcomes().trials.tolist() == [2, 1, 1]
    assert log.outcomes().n_unscored == 0  # no trial was planned that is not there


def test_missing_trials_stay_missing(tmp_path: Path) -> None:
    planned = replace(LOG, trials=ROWS[:3], attempts=[], planned=2)
    path, _ = written(tmp_path, planned)
    (log,) = read_logs(path, Options())
    assert log.outcomes().unscored["missing"].tolist() == [0, 1, 2, 2, 2, 2]
    assert "the run ended as cancelled; the log holds 3 of 12 planned trials" in map(
        str, log.remarks
    )
