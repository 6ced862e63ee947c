"""Abilities from files, in the shell and as JSON."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from passband.cli.app import app

ROWS = {"x": "1100 1000 0000 1111", "y": "1000 0000 0000 1110", "z": "1111 1110 1000 1111"}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for model, rows in ROWS.items():
        path = tmp_path / f"{model}.csv"
        lines = [
            f"q{at + (model == 'z')},{score}"
            for at, row in enumerate(rows.split() * 3)
            for score in row
        ]
        path.write_text("\n".join(["problem,score", *lines]))
        paths.append(str(path))
    return paths


@pytest.mark.parametrize("model", ["logit", "bradley-terry"])
def test_a_table_of_abilities(files: list[str], model: str) -> None:
    done = CliRunner().invoke(app, ["compare", *files, "--ranking", model])
    assert done.exit_code == 0, done.output
    head = done.output.splitlines()
    assert any("ability" in line and "confidence best" in line for line in head)
    assert "p (all pairs)" in done.output


def test_json_and_csv_hold_the_abilities_in_full(files: list[str]) -> None:
    done = CliRunner().invoke(app, ["compare", *files, "--ranking", "logit", "--json"])
    whole = json.loads(done.stdout)
    (task,) = whole["tasks"]
    (found,) = task["abilities"]
    assert whole["ranking"] == found["model"] == "logit"
    assert {one["model"] for one in found["abilities"]} == set(ROWS)
    assert len(found["pairs"]) == 3
    done = CliRunner().invoke(app, ["compare", *files, "--ranking", "logit", "--format", "csv"])
    assert done.stdout.startswith("metric,model,value,low,high,se,rank")


def test_what_is_for_two_models_is_refused(files: list[str]) -> None:
    done = CliRunner().invoke(app, ["compare", *files, "--ranking", "logit", "--unpaired"])
    assert done.exit_code != 0
    assert "leave out" in str(done.exception)
