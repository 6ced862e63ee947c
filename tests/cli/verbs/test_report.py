"""`passband report`: the file, what is printed, and what is refused."""

from pathlib import Path

import pytest

from passband.report.html.file import is_report
from passband.trials.file.schema import STORE_FILE
from support.runs.commands import run
from support.samples.stores import filled

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
    assert run("report", sums, "-o", sums / STORE_FILE, "--force").code == 2


def test_a_damaged_store_is_refused_with_what_to_do(sums: Path, tmp_path: Path) -> None:
    content = bytearray((sums / STORE_FILE).read_bytes())
    content[5000:9000] = bytes(4000)
    (sums / STORE_FILE).write_bytes(content)
    done = run("report", sums, "-o", tmp_path / "out.html")
    assert done.code == 1
    assert "is damaged" in done.err
    assert "passband salvage" in done.err
    assert not (tmp_path / "out.html").exists()


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """A run of the same task by another model, and of a task of its own."""
    path = filled(tmp_path / "others", [row[::-1] for row in WINS[1:]] + [[0, 0, 0, 0]], model="b")
    return filled(path, WINS, task="products", model="b")


def test_models_of_one_task_are_compared(sums: Path, others: Path, tmp_path: Path) -> None:
    words = ["--tolerance", "0.1", "-o", tmp_path, "--charts", tmp_path / "charts", "-q"]
    assert run("report", sums, others, *words).code == 0
    page = (tmp_path / "report.html").read_text()
    assert "<title>b against tiny on sums</title>" in page
    assert "Grey stripe: the tolerance" in page
    assert "task products was asked of b alone and is not compared" in page
    assert "Question 0" in page
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"differences.svg", "1-sums-tiny", "2-products-b", "3-sums-b"} <= names


def test_a_comparison_without_transcripts_has_no_texts(
    sums: Path, others: Path, tmp_path: Path
) -> None:
    assert run("report", sums, others, "-o", tmp_path, "--no-transcripts", "-q").code == 0
    page = (tmp_path / "report.html").read_text()
    assert "Flipped problems" in page
    assert "Question 0" not in page


def test_what_cannot_be_compared_is_refused_or_left_apart(
    sums: Path, others: Path, tmp_path: Path
) -> None:
    same = run("report", sums, sums, "-o", tmp_path)
    assert (same.code, "cannot be compared with itself" in same.err) == (2, True)
    alone = run("report", sums, "-o", tmp_path, "--margin", "0.1")
    assert (alone.code, "a margin is for two models" in alone.err) == (2, True)
    table = tmp_path / "table.csv"
    table.write_text("problem,score\nx,1\ny,0\n")
    apart = run("report", sums, table, "-o", tmp_path)
    assert (apart.code, "no problem is on both sides" in apart.err) == (2, True)
    other = filled(tmp_path / "other", WINS, task="products", model="c")
    assert run("report", sums, other, "-o", tmp_path, "-q").code == 0
    assert "Differences" not in (tmp_path / "report.html").read_text()
