"""Lines of JSON that are put together by hand are those that json.dumps writes."""

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from passband.trials.exports.export import (
    EXPORT_FORMATS,
    export_columns,
    export_trials,
    lines,
    rows,
)
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from support.samples.stores import any_rows, begin, problem, writing


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(row=any_rows)
def test_lines_are_those_of_rows(tmp_path_factory: pytest.TempPathFactory, row: TrialRow) -> None:
    directory = tmp_path_factory.mktemp("run")
    with writing(directory) as store:
        run, (scorer,) = begin(store, [problem(at, target='quoted " \ud800') for at in range(6)])
        row.source = None
        row.scores = [score._replace(scorer=scorer) for score in row.scores[:1]]
        store.append(run, [row])
    with Trials(directory) as trials:
        simple = io.BytesIO()
        EXPORT_FORMATS["jsonl"](
            simple, export_columns(trials, trials.runs()), rows(trials, trials.runs()), ()
        )
        assert b"".join(lines(trials, trials.runs())) == simple.getvalue()


def test_times_and_further_scorers_have_columns_too(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, _ = begin(store, scorers=[("exact", "1"), ("other", "2")])
        store.append(run, [TrialRow(0, 0, "ok", "x", latency_ms=5)])
    with Trials(tmp_path / "run") as trials:
        for timing in (False, True):
            export_trials(trials, trials.runs(), "jsonl", tmp_path / "file", timing=timing)
            simple = io.BytesIO()
            table = rows(trials, trials.runs(), timing=timing)
            EXPORT_FORMATS["jsonl"](simple, [], table, ())
            assert (tmp_path / "file").read_bytes() == simple.getvalue()
            assert (b'"latency_ms":5' in simple.getvalue()) == timing
