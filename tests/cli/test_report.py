"""`passband report`: the file, what is printed, and what is refused."""

from pathlib import Path

import pytest

from commands import run
from passband.report.html.file import is_report
from passband.trials.schema import FILE
from stores import filled

WINS = [[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]] * 4


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    return filled(tmp_path / "sums", WINS)


def test_the_report_is_written_and_named(sums: Path, tmp_path: Path) -> None:
    done = run("report", sums, "-o", tmp_path / "out.html", "--charts", tmp_path / "charts")
    assert done.code == 0
    assert done.out.startswith(f"{tmp_path / 'out.html'} (")
    assert "It holds every transcript." in done.err
    assert is_report(tmp_path / "out.html")
    written = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"intervals.svg", "tries.svg", "problems.svg", "captions.txt"} <= written


def test_options_reach_the_page(sums: Path, tmp_path: Path) -> None:
    words = ["-m", "pass@2", "--level", "0.9", "--title", "My <run>", "--no-transcripts", "-q"]
    done = run("report", sums, "-o", tmp_path, *words)
    assert (done.code, done.err) == (0, "")
    page = (tmp_path / "report.html").read_text()
    assert "<title>My &lt;run&gt;</title>" in page
    assert "90 % interval" in page
    assert ">pass@4</td>" not in page
    assert "It holds no transcripts." in page
    assert "Question 0" not in page


def test_what_is_there_is_kept(sums: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.html").write_text("mine")
    done = run("report", sums, "-o", tmp_path / "notes.html")
    assert (done.code, done.out) == (2, "")
    assert "is no report of passband; choose another name, or add --force" in done.err
    assert run("report", sums, "-o", sums / FILE, "--force").code == 2


def test_a_damaged_store_is_refused_with_what_to_do(sums: Path, tmp_path: Path) -> None:
    content = bytearray((sums / FILE).read_bytes())
    content[5000:9000] = bytes(4000)
    (sums / FILE).write_bytes(content)
    done = run("report", sums, "-o", tmp_path / "out.html")
    assert done.code == 1
    assert "is damaged" in done.err
    assert "passband salvage" in done.err
    assert not (tmp_path / "out.html").exists()
