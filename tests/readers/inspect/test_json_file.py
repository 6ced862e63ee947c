"""Logs of Inspect in its format .json: the same outcomes as those in .eval, read as a stream."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from passband.readers import Log, Options
from passband.readers.inspect.log import InspectLog, is_inspect_json
from support.samples.inspect_logs import failed, grid, header, sample, write_eval, write_json

RECORDS = [*grid({"a": ["C", "I"], 7: ["P", float("nan")]}), failed("c"),
           failed("c", 2, "CancelledError('x')")]  # fmt: skip


def log_of(path: Path, **options: Any) -> Log:
    (log,) = InspectLog().read(path, Options(**options))
    return log


@pytest.mark.parametrize("texts", [False, True])
def test_both_formats_give_the_same(tmp_path: Path, texts: bool) -> None:
    document = log_of(write_json(tmp_path / "x.json", RECORDS), texts=texts)
    packed = log_of(write_eval(tmp_path / "x.eval", RECORDS), texts=texts)
    assert list(document.trials) == list(packed.trials)
    assert document.problems == packed.problems
    assert document.remarks == packed.remarks
    assert document.settings == packed.settings
    assert document.outcomes().status_counts == packed.outcomes().status_counts
    assert document.outcomes().status_counts == {
        "errored": 1, "missing": 1, "ok": 3, "scorer_error": 1,
    }  # fmt: skip


def test_it_is_recognized_and_may_be_compressed(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", RECORDS)
    packed = tmp_path / "y.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for one in (path, packed):
        assert read(one).reader == "inspect"
    for other in ({"eval": {"HumanEval/0": []}}, {"eval": "x"}, [1], {"samples": []}):
        path.write_text(json.dumps(other))
        assert not is_inspect_json(path)


def test_a_long_header_is_recognized_by_its_beginning(tmp_path: Path) -> None:
    records = grid({f"problem number {number}": ["C"] for number in range(20_000)})
    path = write_json(tmp_path / "x.json", records)
    assert read(path).only().n_problems == 20_000


def test_fields_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    whole = header(RECORDS, status="cancelled")
    path.write_text(json.dumps({"samples": RECORDS, **whole}))
    log = log_of(path)
    assert log.outcomes().n_trials == 3
    assert any("ended as cancelled" in str(remark) for remark in log.remarks)
    path.write_text(json.dumps({"eval": whole.pop("eval"), "samples": RECORDS, **whole}))
    assert any("ended as cancelled" in str(remark) for remark in log_of(path).remarks)


def test_version_1(tmp_path: Path) -> None:
    """The first format had one score, and named its scorer in the results."""
    records = grid({"a": ["C", "I"]})
    for record in records:
        record["score"] = record.pop("scores")["match"]
    path = write_json(tmp_path / "x.json", records, version=1, eval={"scorers": None},
                      results={"scorer": {"name": "exact"}, "metrics": {}})  # fmt: skip
    log = log_of(path)
    assert log.scorers == ("exact",)
    assert log.outcomes().required_successes().tolist() == [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": None}, "holds no samples"),
        ({"samples": []}, "holds no samples"),
        ({"samples": [1]}, "sample 1: a sample must be an object; got 1"),
        ({"samples": [sample("a"), sample("a")]}, "sample 2: problem 'a' has trial 0 twice"),
        ({"samples": [sample("1"), sample(1)]}, "sample 2: both 1 and"),
        ({"version": 3}, "in version 3 of its format"),
        ({"eval": {"task": "t", "dataset": {}}}, "names no task and model"),
    ],
)
def test_a_spoilt_log_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(header(RECORDS) | {"samples": RECORDS} | change))
    with pytest.raises(InvalidInput, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


def test_samples_twice(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", RECORDS)
    path.write_text(path.read_text()[:-1] + ', "samples": []}')
    with pytest.raises(InvalidInput, match="has samples twice, after 6 samples"):
        read(path)


def test_a_document_that_is_cut_off(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", RECORDS)
    path.write_text(path.read_text()[:-700])
    with pytest.raises(InvalidInput, match=r"x\.json: is cut off or not JSON.*, after 4 samples"):
        read(path)
    log = log_of(path, skip_bad=True)
    assert log.outcomes().status_counts["ok"] == 3
    assert "the rest of the file is left out: it is cut off" in str(log.remarks[0])
    assert log.remarks[0].important


def test_bad_samples_are_left_out_if_wanted(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [sample("a"), sample("a", 0), sample("b")])
    log = log_of(path, skip_bad=True)
    assert log.outcomes().n_trials == 2
    assert "left out 1 sample that cannot be read (sample 2)" in str(log.remarks[0])


def test_messages_that_are_no_list_are_left_out(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [sample("a", messages=0.5)])
    log = log_of(path, texts=True)
    assert [trial.transcript for trial in log.trials] == [None]
