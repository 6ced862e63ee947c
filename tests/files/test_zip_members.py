"""Members of ZIP files: unpacked and checked, within caps, or refused with the reason."""

import struct
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput
from passband.files import zip
from passband.files.zip import ZipMembers
from support.samples.inspect_logs import DEFLATED, STORED, ZSTD, write_zip, zipfile

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

TEXT = b"abc " * 1000


def raw(path: Path, packed: bytes, method: int, size: int, crc: int, flags: int = 0) -> Path:
    """Write a file of one member, `x`, whose fields may be false."""
    common = struct.pack("<5H3I2H", 20, flags, method, 0, 33, crc, len(packed), size, 1, 0)
    local = b"PK\x03\x04" + common + b"x" + packed
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<3H2I", 0, 0, 0, 0, 0)
    central += b"x"
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path


def member(path: Path, packed: bytes, content: bytes = TEXT, method: int = ZSTD) -> ZipMembers:
    return ZipMembers(raw(path, packed, method, len(content), zlib.crc32(content)))


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
@given(contents=st.dictionaries(st.text(min_size=1, max_size=5).filter(
    lambda name: "\0" not in name and not name.startswith("/")), st.binary(max_size=300),
    max_size=4))  # fmt: skip
def test_what_was_packed_is_unpacked(
    tmp_path: Path, method: int, contents: dict[str, bytes]
) -> None:
    try:
        path = write_zip(tmp_path / "x.zip", contents, method)
    except UnicodeEncodeError:
        return
    with ZipMembers(path) as members:
        assert members.is_complete
        assert list(members) == list(contents)
        members.check_names()
        for name, content in contents.items():
            assert members.read(name) == content
            assert b"".join(members.chunks(name)) == content
            assert members.size(name) == len(content)


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_large_members_come_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: int
) -> None:
    monkeypatch.setattr(zip, "_READ", 7)
    monkeypatch.setattr(zip, "_YIELD", 11)
    with ZipMembers(write_zip(tmp_path / "x", {"a": TEXT, "b": b"b"}, method)) as members:
        pieces = []
        for chunk in members.chunks("a"):
            assert len(chunk) <= 11
            assert members.read("b") == b"b"  # other members may be read meanwhile
            pieces.append(chunk)
        assert b"".join(pieces) == members.read("a") == TEXT


def test_several_frames(tmp_path: Path) -> None:
    frames = b"".join(zstd.compress(part) for part in (TEXT[:9], b"", TEXT[9:]))
    with member(tmp_path / "x", frames) as members:
        assert members.read("x") == TEXT
    many = zstd.compress(b"") * 2000 + zstd.compress(TEXT)
    with member(tmp_path / "x", many) as members, pytest.raises(InvalidInput, match="1000 frames"):
        members.read("x")


def test_files_of_more_than_four_gigabytes_are_described_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with zipfile.ZipFile(path, "w", ZSTD) as file:
        with file.open("a", "w", force_zip64=True) as stream:
            stream.write(TEXT)
        file.writestr("b", TEXT)
    data = bytearray(path.read_bytes())
    with ZipMembers(path) as members:
        assert members.read("a") == TEXT
    start = data.rfind(b"PK\x01\x02", 0, data.rfind(b"PK\x01\x02"))
    count, length = 2, data.rfind(b"PK\x05\x06") - start
    end = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, start + length, 1)
    last = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    path.write_bytes(data[: start + length] + end + locator + last)
    with ZipMembers(path) as members:
        assert members.is_complete
        assert [members.read(name) for name in "ab"] == [TEXT, TEXT]


# -- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packed", "content", "method", "message"),
    [
        (zstd.compress(TEXT), TEXT, 14, r"packed with method 14 \(lzma\); known are 0 \(stored\)"),
        (zstd.compress(TEXT), TEXT, 77, r"packed with method 77 \(unknown\)"),
        (zstd.compress(TEXT), TEXT[:-1], ZSTD, "more than 3,999 bytes instead of 3,999"),
        (zstd.compress(TEXT), TEXT + b"x", ZSTD, "unpacks to 4,000 bytes instead of 4,001"),
        (zstd.compress(TEXT), TEXT[::-1], ZSTD, "has another checksum than when it was written"),
        (zstd.compress(TEXT)[:-1], TEXT, ZSTD, "bytes instead of 4,000|cannot be unpacked"),
        (zstd.compress(TEXT) + b"x", TEXT, ZSTD, "instead of|cannot be unpacked"),
        (b"no frame", TEXT, ZSTD, "cannot be unpacked"),
        (b"", TEXT, ZSTD, "unpacks to 0 bytes instead of 4,000"),
        (TEXT, TEXT, DEFLATED, "cannot be unpacked"),
        (TEXT, TEXT[:-1], STORED, "more than 3,999 bytes"),
    ],
)
def test_damage_is_named(
    tmp_path: Path, packed: bytes, content: bytes, method: int, message: str
) -> None:
    for read in (ZipMembers.read, lambda members, name: b"".join(members.chunks(name))):
        with member(tmp_path / "x", packed, content, method) as members:
            with pytest.raises(InvalidInput, match=message) as caught:
                read(members, "x")
            assert str(caught.value).startswith(f"{tmp_path / 'x'}: its member 'x' ")


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = raw(tmp_path / "x", TEXT, STORED, len(TEXT), zlib.crc32(TEXT), flags=1)
    with ZipMembers(path) as members, pytest.raises(InvalidInput, match="is encrypted"):
        members.read("x")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    packed = zstd.compress(bytes(1 << 20))
    for size, message in ((1 << 31, "no log does"), ((1 << 31) + 1, "at once")):
        with ZipMembers(raw(tmp_path / "x", packed, ZSTD, size, 0)) as members:
            with pytest.raises(InvalidInput, match=message):
                members.read("x")
            with pytest.raises(InvalidInput, match="1000 times as many, which no log does"):
                next(members.chunks("x"))


def test_many_members_that_are_small_alone_are_refused_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip, "ALLOWANCE", 3_000_000)
    path = write_zip(tmp_path / "x", {str(number): bytes(1_000_000) for number in range(9)})
    with ZipMembers(path) as members:
        for name in "012":
            members.read(name)
        with pytest.raises(InvalidInput, match=r"bytes to 4,000,000, more than 1000 times"):
            members.read("3")


def test_a_name_that_differs_from_the_directory(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", {"header.json": b"{}", "other": b"x"})
    data = path.read_bytes()
    place = data.rfind(b"header.json")
    path.write_bytes(data[:place] + b"Header.json" + data[place + 11 :])
    with ZipMembers(path) as members:
        assert members.read("other") == b"x"
        for read in (members.check_names, lambda: members.read("Header.json")):
            with pytest.raises(InvalidInput, match=r"is called 'header\.json' at its place"):
                read()


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", {"a": TEXT})
    with ZipMembers(path) as members:
        path.write_bytes(b"")
        with pytest.raises(InvalidInput, match="cannot be found: there is no member at its place"):
            members.read("a")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        ZipMembers(tmp_path / "x")
