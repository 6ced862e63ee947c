"""Keys: where they come from, and what is refused without saying them."""

from pathlib import Path

import pytest

from passband.adaptive.server.keys import Keys, is_loopback, read_keys
from passband.errors import InvalidInput

LONG, OTHER = "0123456789abcdef", "fedcba9876543210"


def test_keys_come_from_a_file_and_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# of the team\n\n  {LONG}  \n")
    assert read_keys(file, {"PASSBAND_SERVE_KEYS": f"{OTHER}, "}) == [OTHER, LONG]
    assert read_keys(None, {}) == []


@pytest.mark.parametrize("text", ["short-secret", "with a blank in it", "umlaut-äöü-äöü-äöü"])
def test_a_bad_key_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys"
    file.write_text(f"{LONG}\n{text}\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"keys:2: a key") as refused:
        read_keys(file, {})
    assert text not in str(refused.value)


def test_a_file_without_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# none\n")
    (tmp_path / "bytes").write_bytes(b"\xff" * 20)
    for name, words in (("keys", "holds no key"), ("bytes", "not UTF-8"), ("none", "cannot be")):
        with pytest.raises(InvalidInput, match=words):
            read_keys(tmp_path / name, {})


def test_only_configured_keys_are_taken() -> None:
    keys = Keys([LONG, OTHER])
    assert keys.accept(LONG)
    assert keys.accept(OTHER)
    for wrong in ("", LONG[:-1], LONG + "0", LONG.upper(), "\udcff", "ä"):
        assert not keys.accept(wrong)


def test_any_key_but_an_empty_one_is_taken_without_configured_ones() -> None:
    assert not Keys([]).are_configured
    assert Keys([]).accept("\udcff")
    assert not Keys([]).accept("")


def test_loopback_is_more_than_one_name() -> None:
    assert is_loopback("127.8.9.10")
    assert not is_loopback("127.0.0.1.example.org")
    assert not is_loopback("")
