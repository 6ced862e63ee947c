"""`Outcomes.from_file`, `passband.read` and `passband stats` agree on every file."""

import csv
import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, PassbandWarning, measure, read, summarize
from passband.errors import PassbandError
from passband.readers import Options
from passband.readers.log_import import import_logs
from passband.readers.logs import read_logs
from passband.summary.summary import Group
from support.fuzz.properties import times
from support.runs.commands import run

GRID = [(p, m, t) for p in "abc" for m in "MN" for t in range(2)]
TABLES: dict[str, dict[str, list[Any]]] = {
    "plain": {"problem": list("aabb"), "score": [1, 0, 1, 1]},
    "trials": {"task_id": list("aabb"), "trial": [0, 1, 0, 1], "passed": [1, 0, None, 1]},
    "models": {
        "problem": [p for p, _, _ in GRID],
        "model": [m for _, m, _ in GRID],
        "score": [int(m == "M") for _, m, _ in GRID],
    },
    "one model": {"problem": list("aabb"), "model": ["M"] * 4, "score": [1, 0, 1, 1]},
    "filters": {
        "doc_id": [0, 0, 1, 1],
        "filter": ["strict", "flexible"] * 2,
        "exact_match": [0.0, 1.0, 0.0, 1.0],
    },
    "phases": {
        "problem": [p for p, _, _ in GRID],
        "phase": [m for _, m, _ in GRID],
        "score": [int(m == "M") for _, m, _ in GRID],
    },
    "wide": {"problem": list("ab"), "trial_1": [1, 0], "trial_2": [1, 1]},
    "counts": {"problem": list("ab"), "n": [4, 4], "c": [1, 3]},
    "graded": {"problem": list("aab"), "reward": [0.5, 0.25, 1.0]},
    "clusters": {"problem": list("abc"), "score": [1, 0, 1], "cluster": list("xxy")},
    "statuses": {"problem": list("aab"), "score": [1, None, 0], "status": ["ok", "timeout", "ok"]},
    "twice": {"problem": list("aa"), "trial": [0, 0], "score": [1, 0]},
    "no score": {"problem": list("ab"), "text": list("xy")},
    "checkpoints and models": {
        "problem": list("aaaa"),
        "checkpoint": [1, 2, 1, 2],
        "model": list("MMNN"),
        "score": [1, 0, 1, 0],
    },
}


def written(folder: Path, table: dict[str, list[Any]], form: str) -> Path:
    path = folder / f"t.{form}"
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, list(table))
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(text.getvalue())
    elif form == "json":
        path.write_text(json.dumps(table))
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.table(table), path)
    return path


def from_file(path: Path) -> Outcomes | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PassbandWarning)
        try:
            return Outcomes.from_file(path)
        except InvalidInput:
            return None


def assert_agreement(path: Path) -> None:
    """One group for all three, or several that `from_file` refuses, or a refusal by all."""
    done = run("stats", path, "-m", "avg", "--json")
    try:
        groups = read(path).groups
    except InvalidInput:
        assert from_file(path) is None
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("passband: ")
        return
    single = from_file(path)
    assert (single is None) == (len(groups) > 1)
    if single is not None:
        assert list(single.problems) == list(groups[0].outcomes.problems)
        assert single.status_counts == groups[0].outcomes.status_counts
        assert np.array_equal(single.trials, groups[0].outcomes.trials)
    if all(group.outcomes.n_trials for group in groups):
        printed = [
            group["lines"][0]["estimate"]["value"] for group in json.loads(done.out)["groups"]
        ]
        assert printed == [measure(group.outcomes, "avg").value for group in groups]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("name", TABLES)
def test_the_doors_agree(tmp_path: Path, name: str, form: str) -> None:
    assert_agreement(written(tmp_path, TABLES[name], form))


@pytest.mark.parametrize("text", ["1,0\n0,1\n", "1,0,1\n0\n", "", "x", "problem\na\n", "[[1, 0]]"])
def test_the_doors_agree_on_other_files(tmp_path: Path, text: str) -> None:
    for name in ("t.csv", "t.json", "t.jsonl", "t.npy"):
        path = tmp_path / name
        path.write_text(text)
        assert_agreement(path)


columns = st.sampled_from(
    ["problem", "trial", "score", "status", "model", "checkpoint", "phase", "filter", "cluster"]
)
cells = st.sampled_from(["a", "b", "0", "1", "0.5", "", "ok"])


@st.composite
def any_tables(draw: st.DrawFn) -> dict[str, list[str]]:
    names = ["problem", "score", *draw(st.lists(columns, max_size=3, unique=True))]
    height = draw(st.integers(1, 8))
    scores = st.sampled_from(["0", "1", "", "0.5"])
    return {
        name: draw(st.lists(scores if name == "score" else cells, min_size=height, max_size=height))
        for name in dict.fromkeys(names)
    }


@times(3)
@given(any_tables(), st.sampled_from(["csv", "jsonl"]))
def test_the_doors_agree_on_any_table(
    tmp_path: Path, table: dict[str, list[str]], form: str
) -> None:
    assert_agreement(written(tmp_path, table, form))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_stored_tables_have_the_same_summary(name: str, form: str, tmp_path: Path) -> None:
    path = written(tmp_path, TABLES[name], form)
    try:
        expected = summarize(path)
    except PassbandError as error:
        with pytest.raises(type(error)):
            import_logs(read_logs(path, Options()), tmp_path / "run")
        return
    import_logs(read_logs(path, Options()), tmp_path / "run")
    stored = summarize(tmp_path / "run")
    assert sorted(map(_estimates, stored.groups)) == sorted(map(_estimates, expected.groups))


def _estimates(group: Group) -> list[str]:
    return [repr(line.estimate) for line in group.lines]
