"""Readers of foreign formats are asked, and imported, only for files that may be theirs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from passband.readers.signatures import SIGNATURES, Beginning

ROWS = [{"problem": p, "trial": t, "score": (p + t) % 2} for p in range(3) for t in range(2)]
IMPORTS = """
import sys
from passband import read
assert read(sys.argv[1]).reader == "table"
foreign = ("passband.readers.tools.", "passband.readers.inspect.", "passband.readers.eva.")
print(*(name for name in sys.modules if name.startswith(foreign)))
"""


def table(folder: Path, ending: str) -> Path:
    path = folder / f"trials.{ending}"
    if ending == "json":
        path.write_text(json.dumps(ROWS))
    elif ending == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    else:
        mark = "," if ending == "csv" else "\t"
        lines = [mark.join(ROWS[0]), *(mark.join(map(str, row.values())) for row in ROWS)]
        path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl"])
def test_a_table_asks_no_reader(ending: str, tmp_path: Path) -> None:
    start = Beginning(table(tmp_path, ending))
    assert [name for name, signature in SIGNATURES.items() if signature.fits(start)] == []


@pytest.mark.process
def test_a_table_imports_no_reader_of_a_tool(tmp_path: Path) -> None:
    command = [sys.executable, "-c", IMPORTS, str(table(tmp_path, "csv"))]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == []


def test_a_name_that_belongs_to_a_tool_is_looked_for_one_level_down(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"run": {"testCases": [], "name": "x"}}))
    assert SIGNATURES["deepeval"].fits(Beginning(path))
    path.write_text(json.dumps({"run": {"deeper": {"testCases": []}}}))
    assert not SIGNATURES["deepeval"].fits(Beginning(path))


def test_an_archive_may_be_a_log_under_any_name(tmp_path: Path) -> None:
    path = tmp_path / "renamed.csv"
    path.write_bytes(b"PK\x03\x04")
    assert SIGNATURES["inspect"].fits(Beginning(path))
    assert not SIGNATURES["inspect"].fits(Beginning(tmp_path / "none.csv"))
