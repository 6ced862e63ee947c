"""Files of any format: one for what it holds, several in a folder, whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from passband.cli.verbs.export import ExportOptions
from passband.errors import InvalidInput
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from passband.writers.writing import form_of_name, write, writers
from support.runs.commands import run
from support.samples.stores import filled


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Two tasks by one model, and one of them by another."""
    parts = [
        filled(tmp_path / f"{task}-{model}", [[1, 0], [1, 1]], task=task, model=model)
        for task, model in (("sums", "a/x"), ("logic", "a/x"), ("sums", "b"))
    ]
    merge_directories(parts, tmp_path / "all")
    return tmp_path / "all"


def test_the_command_knows_every_format() -> None:
    formats, _ = get_args(get_type_hints(ExportOptions)["format"])
    assert list(get_args(formats)) == list(writers)


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("eval", ["logic_a-x.eval", "sums_a-x.eval", "sums_b.eval"]),
        ("lm-eval", ["a-x.json", "b.json"]),
        ("human-eval", ["logic_a-x.jsonl", "sums_a-x.jsonl", "sums_b.jsonl"]),
    ],
)
def test_a_folder_gets_as_many_files_as_there_must_be(
    form: str, names: list[str], several: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done = run("export", several, "--format", form, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == names


@pytest.mark.parametrize(("form", "what"), [("eval", "task of one model"), ("lm-eval", "model")])
def test_a_file_holds_no_more_than_it_can(
    form: str, what: str, several: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.file"
    done = run("export", several, "--format", form, "-o", target)
    assert done.code == 2
    assert f"a file of the format {form} holds one {what}, and these are" in done.err
    assert "Choose with --task and --model, or give an existing folder" in done.err
    assert not target.exists()
    chosen = ["--task", "sums", "--model", "b"]
    assert run("export", several, "--format", form, "-o", target, *chosen).code == 0


def test_an_error_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0.5]])
    target = tmp_path / "out.jsonl"
    target.write_text("before")
    done = run("export", directory, "--format", "human-eval", "-o", target)
    assert done.code == 2
    assert "such as 0.5; human-eval holds only passed and failed" in done.err
    assert target.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "run"]


def test_endings() -> None:
    assert form_of_name(Path("a.EVAL")) == "eval"
    assert form_of_name(Path("a.json")) == "jsonl"  # as before there were others
    with pytest.raises(InvalidInput, match=r"a.xlsx: cannot tell .* --format jsonl, csv"):
        form_of_name(Path("a.xlsx"))


def test_what_is_not_text_needs_a_file(tmp_path: Path) -> None:
    done = run("export", filled(tmp_path / "run", [[1]]), "--format", "eval")
    assert done.code == 2
    assert "eval is not text; give a file with -o" in done.err


@pytest.mark.parametrize("form", writers)
def test_every_format_is_the_same_twice(form: str, tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0], [1, 1], [0, 0]])
    texts = []
    for _ in range(2):
        file = io.BytesIO()
        with Trials(directory) as trials:
            assert write(trials, trials.runs(), form, file) == []
        texts.append(file.getvalue())
    assert texts[0] == texts[1] != b""


def test_nothing_to_write(tmp_path: Path) -> None:
    with (
        Trials(filled(tmp_path / "run", [[1]])) as trials,
        pytest.raises(InvalidInput, match="holds no trials"),
    ):
        write(trials, [], "eval", io.BytesIO())
