"""Files of a command: read, checked, never from elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.command_files import check_files, file_bytes, read_files


def test_text_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("é")
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    files = read_files(["text", "binary"], tmp_path)
    assert files == {"text": "é", "binary": {"base64": "/wA="}}
    assert [file_bytes(content) for content in files.values()] == ["é".encode(), b"\xff\x00"]
    assert read_files(files, tmp_path) == check_files(files) == files


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside", "a/../../outside", "", "a\0b"])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (tmp_path / "outside").write_text("secret")
    for refuse in (lambda: read_files([name], folder), lambda: check_files({name: ""})):
        with pytest.raises(InvalidInput, match="relative name"):
            refuse()
    (folder / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(InvalidInput, match="leads out"):
        read_files(["link"], folder)


@pytest.mark.parametrize("files", ["check.py", 3, {"a": 3}, {"a": {"base64": "?"}}, {"a": {}}])
def test_what_is_no_file(tmp_path: Path, files: Any) -> None:
    with pytest.raises(InvalidInput):
        check_files(read_files(files, tmp_path))


def test_files_that_are_too_large(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="more than"):
        check_files({"a": "x" * (5 << 20)})
    (tmp_path / "large").write_bytes(bytes(5 << 20))
    with pytest.raises(InvalidInput, match="more than"):
        read_files(["large"], tmp_path)
