"""What a run directory says of its trials beyond their scores."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.readers.evidence.stored import stored_outcomes
from passband.stats.data.evidence import Finding
from passband.stats.data.outcomes import Outcomes
from passband.trials.encoding import canonical_json
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from support.runs import commands
from support.samples.stores import writing


def stored(
    directory: Path,
    text: Callable[[int, int], str],
    *,
    problems: int = 20,
    asked: int = 20,
    trials: Callable[[int], int] = lambda problem: 4,
    spec: dict[str, Any] | None = None,
) -> Path:
    """Write a run whose trials are scored by an unknown scorer."""
    with writing(directory) as store:
        number = store.begin("t", "m", spec={"seed": "s", **(spec or {})}, config={}, name="run")
        rows = [
            ProblemRow(i, f"p{i}", canonical_json({"messages": [["user", f"What is {i // 2}?"]]}))
            for i in range(problems)
        ]
        store.add_problems(number, rows)
        (main,) = store.set_scorers(number, [ScorerEntry("s", "unknown")])
        places = [(p, t) for p in range(asked) for t in range(trials(p))]
        store.append(
            number,
            [
                TrialRow(p, t, "ok", text(p, t), scores=[ScoreRow(main, float((p + t) % 3 == 0))])
                for p, t in places
            ],
        )
    return directory


def outcomes(directory: Path, first: int | None = None) -> Outcomes:
    with Trials(directory) as trials:
        run = trials.run()
        return stored_outcomes(trials, run, run.scorer(), first)


def found(directory: Path, first: int | None = None) -> dict[str, Finding]:
    return {finding.code: finding for finding in outcomes(directory, first).found.findings}


def other(problem: int, trial: int) -> str:
    return f"These words are about {problem}, and for once about {trial}."


def same(problem: int, trial: int) -> str:
    return f"These words are about {problem}, each time."


def test_texts_and_prompts(tmp_path: Path) -> None:
    findings = found(stored(tmp_path / "a", same))
    assert findings["identical-answers"].numbers["identical"] == 20
    assert findings["copied-problems"].numbers["copies"] == 10
    assert "identical-answers" not in found(stored(tmp_path / "b", other))
    greedy = found(stored(tmp_path / "c", same, spec={"temperature": 0}))
    assert "greedy-decoding" in greedy


def test_problems_that_have_not_been_asked(tmp_path: Path) -> None:
    finding = found(stored(tmp_path / "run", other, asked=12))["unasked-problems"]
    assert (finding.numbers["asked"], finding.numbers["not_asked"]) == (12, 8)
    assert finding.severity_for("problems", 1) == "invalid"  # the first of the file


def test_first_trials(tmp_path: Path) -> None:
    directory = stored(tmp_path / "run", same, trials=lambda problem: 2 + problem % 3)
    few = outcomes(directory, 2)
    assert few.trials.tolist() == [2] * 20
    assert few.required_successes().tolist()[:3] == [1, 0, 1]
    assert "identical-answers" in found(directory, 2)
    with pytest.raises(InvalidInput, match="problem 'p0' has 2"):
        outcomes(directory, 3)


def test_evidence_is_found_once(tmp_path: Path) -> None:
    with Trials(stored(tmp_path / "run", same)) as trials:
        run = trials.run()
        assert stored_outcomes(trials, run, run.scorer()) is stored_outcomes(
            trials, run, run.scorer()
        )


def test_a_row_that_is_gone_is_found(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", other)
    assert "missing-rows" not in found(run)
    with closing(sqlite3.connect(run / STORE_FILE)) as connection, connection:
        connection.execute("DELETE FROM trial WHERE problem=2 AND trial=3")
    (finding,) = (one for one in outcomes(run).found.findings if one.code == "missing-rows")
    assert (finding.severity, finding.numbers) == ("weak", {"lost": 1})


def test_stats_and_run_name_a_row_that_is_gone(tmp_path: Path) -> None:
    directory = tmp_path / "r"
    again = (
        "run",
        "arithmetic",
        "--model",
        "tiny",
        "--limit",
        "8",
        "-n",
        "2",
        "--out",
        directory,
        "-q",
    )
    commands.run(*again)
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection, connection:
        connection.execute("DELETE FROM trial WHERE problem=2 AND trial=1")
    for command in (("stats", directory, "-q"), again):
        done = commands.run(*command)
        assert "1 row of a trial is missing from the store" in done.err
