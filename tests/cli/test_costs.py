"""The cost of a run: the same sum, to the last digit, wherever it is said."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from passband.report.words import money
from passband.summary.findings.findings import usage_of
from passband.summary.live.run_state import state_of
from passband.trials.reader import Trials
from passband.view.labels import cost
from support.runs.commands import run
from support.runs.first_release import command, counted, write_task
from support.servers.fault_server import FaultServer

EACH = Fraction(40 * 123_457 + 9 * 765_433, 10**6 * 10**6)  # $0.123457 in, $0.765433 out
PRICE = ("--price", "0.123457,0.765433")


def said(*arguments: object) -> list[float]:
    """Return the costs of runs that a command's remarks name."""
    done = run(*arguments)
    assert done.code in (0, 4), done.err
    return [
        float(text) for text in re.findall(r"cost: sums by \S+ ([\d.e-]+)", done.out + done.err)
    ]


def test_one_sum_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    with FaultServer(counted) as server:
        words = [word for word in command(server.url) if word not in ("--price", "0.1,0.7")]
        priced = run(*words, *PRICE, "--json")
        assert priced.code == 0, priced.err
        assert run(*words[:-1], "later").code == 0
        shards = [run(*words[:-1], f"part{n}", *PRICE, "--shard", f"{n}/2") for n in (1, 2)]
        assert [part.code for part in shards] == [0, 0]
    total = float(20 * EACH)
    assert json.loads(priced.out.splitlines()[-1])["cost"] == total
    assert run("score", "later", *PRICE).code == 0
    assert run("merge", "part1", "part2", "-o", "merged").code == 0
    assert run("merge", "run", "-o", "copy").code == 0

    for directory in ("run", "later", "merged", "copy"):
        assert run("export", directory, "--format", "csv", "-o", "rows.csv").code == 0
        with Path("rows.csv").open() as file:
            costs = [float(row["cost"]) for row in csv.DictReader(file)]
        assert costs == [float(EACH)] * 20
        assert run("import", "rows.csv", "-o", f"again {directory}").code == 0
        for where in (directory, f"again {directory}"):
            with Trials(Path(where)) as trials:
                record = trials.run()
                standing = state_of(trials, record, going_on=False)
                assert trials.cost(record.number) == total
                assert usage_of(trials, record).cost == standing.cost == total  # report, view
                assert cost(standing) == money(total)
            assert said("stats", where) == said("stats", where, "--json") == [total]
        assert run("report", directory, "-o", "report.html").code == 0
        page = Path("report.html").read_text()
        assert re.findall(r"cost: sums by \S+ ([\d.e-]+)", page) == [str(total)]
        assert f'<td>cost</td><td class="number">{money(total)}</td>' in page
    assert said("compare", "run", "later", "-m", "pass@1") == [total, total]
    assert said("gate", "run", "merged", "-m", "pass@1") == [total, total]
