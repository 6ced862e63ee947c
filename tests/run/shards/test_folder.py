"""The folder of a run's shards: one leader at a time, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from passband.run.shards import folder as folder_module
from passband.run.shards.folder import leading, merge_leftovers, once_free, refuse_led
from passband.trials.file.lock import Busy, holder
from passband.trials.file.schema import SHARDS_FOLDER
from support.runs.runs import Notes


def test_one_leads_and_an_empty_folder_goes(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with leading(run) as folder:
        assert folder == run / SHARDS_FOLDER
        assert holder(run) is not None  # so that it is not merged into another meanwhile
        with pytest.raises(Busy, match=r"run is in use by process \d+.*asks for it in shards"):
            refuse_led(run)
        with pytest.raises(Busy, match="asks for it in shards"), leading(run):
            pass
        assert folder.is_dir()
    assert not run.exists()
    refuse_led(run)


def test_what_is_in_the_folder_stays(tmp_path: Path) -> None:
    with leading(tmp_path) as folder:
        (folder / "1-of-2").mkdir()
    assert (tmp_path / SHARDS_FOLDER / "1-of-2").is_dir()
    notes = Notes()
    merge_leftovers(tmp_path, notes)  # without a store: it was killed before its first trial
    assert (notes.notes, [*tmp_path.iterdir()]) == ([], [])


def test_a_folder_of_that_name_that_is_no_leaders_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / SHARDS_FOLDER).mkdir()
    (tmp_path / SHARDS_FOLDER / "notes.txt").write_text("mine")
    merge_leftovers(tmp_path, Notes())
    assert (tmp_path / SHARDS_FOLDER / "notes.txt").read_text() == "mine"


def test_a_directory_in_use_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(folder_module, "_pause", waits.append)

    def act() -> int:
        if len(waits) < 3:
            raise Busy("in use")
        return 7

    assert (once_free(act), len(waits)) == (7, 3)
    monkeypatch.setattr(folder_module, "_RELEASE", -1.0)
    waits.clear()
    with pytest.raises(Busy):
        once_free(act)
