"""The file of a report: it replaces reports, and nothing else unless it must."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.report.html.document import document
from passband.report.html.file import target_of, write_report


def test_a_report_is_replaced_and_another_file_only_by_force(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert target_of(tmp_path) == target
    size = write_report(target, document("one", "ü"))
    assert target.stat().st_size == size
    assert target_of(target) == target
    target.write_text("<html>mine")
    with pytest.raises(InvalidInput, match="no report of passband"):
        target_of(target)
    assert target_of(target, force=True) == target
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_what_the_report_is_made_from_is_never_replaced(tmp_path: Path) -> None:
    source = tmp_path / "trials.csv"
    for target in (source, tmp_path / "trials.sqlite"):
        with pytest.raises(InvalidInput, match="made from"):
            target_of(target, [source], force=True)
    with pytest.raises(InvalidInput, match="no folder"):
        target_of(tmp_path / "none" / "report.html")
