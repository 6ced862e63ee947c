"""Which Python runs programs."""

import os
import sys
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.score.sandbox.interpreter import SETTING, find_interpreter, is_visible


@pytest.fixture(autouse=True)
def _no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)


def test_what_another_user_can_see(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for parent in list(tmp_path.parents)[:3]:
        if parent.stat().st_uid == os.getuid() and parent != Path("/tmp"):
            parent.chmod(0o755)
    file = tmp_path / "python"
    file.touch(0o755)
    assert is_visible(file, 65_432)
    file.chmod(0o750)
    assert not is_visible(file, 65_432)
    assert is_visible(file, None)
    assert not is_visible(tmp_path / "nothing", None)
    inner = tmp_path / "closed" / "python"
    inner.parent.mkdir(mode=0o700)
    inner.touch(0o755)
    assert not is_visible(inner, 65_432)
    (tmp_path / "link").symlink_to(inner)
    assert not is_visible(tmp_path / "link", 65_432)


@pytest.mark.skipif(
    Path(sys.executable).is_relative_to("/tmp"), reason="programs have a /tmp of their own"
)
def test_the_own_one_where_it_can_be_seen() -> None:
    found = find_interpreter(None)
    assert found.path == sys.executable
    assert found.instead_of is None
    assert all(not Path(folder).is_relative_to("/usr") for folder in found.folders)


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, sys.executable)
    assert find_interpreter(None).path == sys.executable
    for wrong in ("python3", "/nowhere/python3"):
        monkeypatch.setenv(SETTING, wrong)
        with pytest.raises(InvalidInput, match=SETTING):
            find_interpreter(None)


def test_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python3")
    monkeypatch.setattr("passband.score.sandbox.interpreter._OF_SYSTEM", ("/nowhere/python",))
    with pytest.raises(InvalidInput, match="no Python that uid 65432 can run"):
        find_interpreter(65_432)
