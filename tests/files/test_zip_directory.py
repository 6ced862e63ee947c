"""Directories of ZIP files: read, or put together again from the members that are whole."""

import io
from pathlib import Path

import pytest

from passband.files.zip import BadDirectory, Directory, first_name, local_name
from support.samples.inspect_logs import STORED, write_zip, zipfile

CONTENTS = {"a": b"1" * 50, "b/../c": b"2" * 70, "é": b"3"}


@pytest.fixture
def data(tmp_path: Path) -> bytes:
    return write_zip(tmp_path / "x", CONTENTS, STORED).read_bytes()


def directory(data: bytes) -> Directory:
    return Directory.of(io.BytesIO(data))


def test_members_are_those_of_the_standard_library(data: bytes) -> None:
    found = directory(data)
    assert found.is_complete
    entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    assert [
        (one.name, one.method, one.crc, one.packed, one.size, one.offset)
        for one in found.members.values()
    ] == [
        (e.filename, e.compress_type, e.CRC, e.compress_size, e.file_size, e.header_offset)
        for e in entries
    ]


def test_a_comment_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a", b"1")
        file.comment = b"PK\x05 and more"
    assert directory(path.read_bytes()).is_complete


def test_every_cut(data: bytes) -> None:
    """Whatever is cut off, what is whole before the cut is found, and nothing else."""
    ends = [one.offset + 30 + len(one.name.encode()) + one.packed
            for one in directory(data).members.values()]  # fmt: skip
    for length in range(len(data)):
        found = directory(data[:length])
        assert not found.is_complete
        assert list(found.members) == list(CONTENTS)[: sum(end <= length for end in ends)]


def test_every_flipped_bit_of_the_end(data: bytes) -> None:
    """A damaged end is noticed; a damaged member is noticed where it is read."""
    whole = directory(data)
    start = data.rfind(b"PK\x05\x06")
    for place in range(start, len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            found = directory(bytes(damaged))
            if found.is_complete:
                assert found.members == whole.members
                assert start + 8 <= place < start + 10  # the number of members on this disk


def test_the_last_of_one_name(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", CONTENTS, STORED)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("a", b"new")
    found = directory(path.read_bytes())
    assert list(found.members) == ["b/../c", "é", "a"]
    assert found.members["a"].size == 3


def test_sizes_behind_the_data_end_the_search() -> None:
    buffer = io.BytesIO()

    class Pipe(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:
            return buffer.write(data)

    with zipfile.ZipFile(Pipe(), "w") as file:
        file.writestr("a", b"1")
        file.writestr("b", b"2")
    assert list(directory(buffer.getvalue()).members) == ["a", "b"]
    assert not directory(buffer.getvalue()[:-1]).members


def test_the_first_name(data: bytes) -> None:
    assert first_name(data[:64]) == "a"
    assert first_name(data[:10]) == first_name(b"x" * 64) == ""
    assert local_name(data) == ("a", 31)
    with pytest.raises(BadDirectory):
        local_name(b"PK")
