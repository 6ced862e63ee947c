"""`passband backup` from the outside."""

import json
from pathlib import Path

from support.runs.commands import run
from support.samples.stores import filled


def test_a_copy_is_made_checked_and_not_overwritten(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0], [1, 1]])
    done = run("backup", directory, tmp_path / "copy")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{tmp_path / 'copy'}: 4 trials, 4 completions")
    assert run("stats", tmp_path / "copy").code == 0
    done = run("backup", directory, tmp_path / "copy")
    assert done.code == 2
    assert "exists already" in done.err
    done = run("backup", directory, tmp_path / "another", "--json")
    assert json.loads(done.out)["rows"]["trial"] == 4
