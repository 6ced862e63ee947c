"""The file for a labeller: safe in a spreadsheet, whole when it comes back."""

import csv
import json
from pathlib import Path

import pytest

from passband import InvalidInput
from passband.run.label.sheet import Ticket, UnlabelledRow, read_sheet, write_sheet

TICKET = Ticket("=p1", 2, "abc", "quality", "spread", 7, 100, 200, 800, 0.125, "d" * 16)
ROW = UnlabelledRow("=p1", 2, "+1?", "=HYPERLINK(A1)\r\nnext\0", "", TICKET)


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write_sheet(path, [ROW])
    with path.open(newline="", encoding="utf-8") as file:
        header, cells = csv.reader(file)
    assert header == ["problem", "trial", "question", "answer", "label", "ticket"]
    assert all(not cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert "\0" not in cells[3]


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_it_reads_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_sheet(path, [ROW, UnlabelledRow("p2", 0, "?", "\ud800", "pass", TICKET)])
    first, second = read_sheet(path)
    assert first.ticket == TICKET
    assert (first.label or None, second.label) == (None, "pass")
    assert (first.place.line, second.place.line) == ((2, 4) if name.endswith("csv") else (1, 2))


def test_neither_model_nor_verdict_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write_sheet(path, [ROW])
    shown = path.read_text("utf-8").replace(TICKET.text(), "")
    assert "quality" not in shown
    assert "0.125" not in shown


def test_a_long_answer_is_cut_visibly(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write_sheet(path, [UnlabelledRow("p", 0, "?", "x" * 40_000, "", TICKET)])
    with path.open(newline="") as file:
        cell = next(csv.DictReader(file))["answer"]
    assert len(cell) < 32_767
    assert cell.endswith("[10,000 characters are cut off here; a .jsonl file has them all]")
    write_sheet(tmp_path / "labels.jsonl", [UnlabelledRow("p", 0, "?", "x" * 40_000, "", TICKET)])
    assert len(json.loads((tmp_path / "labels.jsonl").read_text())["answer"]) == 40_000


def test_the_draw_is_beside_it(tmp_path: Path) -> None:
    write_sheet(tmp_path / "labels.csv", [ROW])
    drawn = json.loads((tmp_path / "labels.csv.draw.json").read_text())
    assert drawn["draws"] == [
        {"run": "abc", "scorer": "quality", "design": "spread", "seed": 7, "drawn": 100,
         "problems": 200, "trials": 800},
    ]  # fmt: skip
    assert drawn["trials"][0]["probability"] == 0.125


@pytest.mark.parametrize("name", ["labels.xlsx", "labels", "labels.csv.gz"])
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"\.csv or \.jsonl"):
        write_sheet(tmp_path / name, [ROW])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem,trial\np1,0\n", "has no column 'label'"),
        ("text,label\nx,pass\n", "no column that names the problem"),
        ("problem,trial,label\np1,0\n", r"labels.csv:2: has 2 cells"),
        ("problem,trial,label,ticket\np1,0,pass,\np1,1,pass,zzz\n", r"labels.csv:3: .*damaged"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        list(read_sheet(path))
