"""The directory of a ZIP file: where each member is, read from its end or, if that is lost, found.

Names of members are keys of a dictionary and nothing else: no path is ever made of one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import BinaryIO, NamedTuple

__all__ = ["BadDirectory", "Directory", "Member", "first_name", "local_name"]

_LOCAL = Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, crc, sizes, lengths
_CENTRAL = Struct("<4s6H3I5H2I")
_END = Struct("<4s4H2IH")
_END_64 = Struct("<4sQ2H2I4Q")
_LOCATOR_64 = Struct("<4sIQI")
_LARGEST_COMMENT = 1 << 16
_LARGEST_DIRECTORY = 1 << 30
_ALL_ONES = 0xFFFFFFFF  # the size or place is in the extra field
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 0x1, 0x8, 0x800


class BadDirectory(Exception):
    """The directory is absent or contradicts itself."""


class Member(NamedTuple):
    """A member of a ZIP file."""

    name: str
    method: int
    crc: int
    packed: int  # bytes in the file
    size: int  # bytes when unpacked
    offset: int  # of its local header
    is_encrypted: bool = False


@dataclass(frozen=True)
class Directory:
    """The members by name, in order; of several with one name, the last."""

    members: dict[str, Member]
    is_complete: bool = True  #: False where the file is cut off or its directory damaged

    @staticmethod
    def of(file: BinaryIO) -> Directory:
        """Return the directory at the end of a file; without one, the members found in it."""
        size = file.seek(0, os.SEEK_END)
        try:
            return Directory(_by_name(_listed(file, size)))
        except (BadDirectory, StructError):
            return Directory(_by_name(_scanned(file, size)), is_complete=False)


def _by_name(members: list[Member]) -> dict[str, Member]:
    named: dict[str, Member] = {}
    for member in members:
        named.pop(member.name, None)  # the last one also has the last place
        named[member.name] = member
    return named


def first_name(data: bytes) -> str:
    """Return the name of the first member, given the beginning of a file; else an empty text."""
    if len(data) < _LOCAL.size:
        return ""
    signature, _, flags, *_, name_length, _ = _LOCAL.unpack_from(data)
    if signature != b"PK\x03\x04":
        return ""
    return _decoded(data[_LOCAL.size : _LOCAL.size + name_length], flags)


def local_name(data: bytes) -> tuple[str, int]:
    """Return the name in a local header, and where the data begin behind the header.

    Raise `BadDirectory` if there is no header.
    """
    if len(data) < _LOCAL.size or data[:4] != b"PK\x03\x04":
        raise BadDirectory("there is no member at its place")
    *_, name_length, extra_length = _LOCAL.unpack_from(data)
    return first_name(data), _LOCAL.size + name_length + extra_length


# -- the directory at the end --------------------------------------------------------------


def _listed(file: BinaryIO, size: int) -> list[Member]:
    count, length, start = _end(file, size)
    file.seek(start)
    data = file.read(length)
    members = []
    place = 0
    for _ in range(count):
        fields = _CENTRAL.unpack_from(data, place)
        if fields[0] != b"PK\x01\x02":
            raise BadDirectory
        flags, method, crc, packed, unpacked = fields[3], fields[4], *fields[7:10]
        name_length, extra_length, comment_length = fields[10:13]
        offset = fields[16]
        name_end = place + _CENTRAL.size + name_length
        if _ALL_ONES in (packed, unpacked, offset):
            extra = data[name_end : name_end + extra_length]
            unpacked, packed, offset = _wide(extra, unpacked, packed, offset)
        name = _decoded(data[place + _CENTRAL.size : name_end], flags)
        member = Member(name, method, crc, packed, unpacked, offset, bool(flags & _ENCRYPTED))
        if offset + packed > start:
            raise BadDirectory
        members.append(member)
        place = name_end + extra_length + comment_length
    if place != length:
        raise BadDirectory
    return members


def _end(file: BinaryIO, size: int) -> tuple[int, int, int]:
    """Return the number of members, and the length and place of the directory."""
    tail_start = max(0, size - _LARGEST_COMMENT - _END.size)
    file.seek(tail_start)
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0:
        raise BadDirectory
    _, disk, other_disk, _, count, length, start, comment = _END.unpack_from(tail, place)
    before = tail_start + place
    if before + _END.size + comment != size or disk or other_disk:
        raise BadDirectory
    if count == 0xFFFF or _ALL_ONES in (length, start):
        before, count, length, start = _end_64(file, before)
    if start + length != before or length > _LARGEST_DIRECTORY:
        raise BadDirectory
    return count, length, start


def _end_64(file: BinaryIO, before: int) -> tuple[int, int, int, int]:
    """Return the place of the end record of a large file, and what it says."""
    if before < _LOCATOR_64.size:
        raise BadDirectory
    file.seek(before - _LOCATOR_64.size)
    signature, _, place, _ = _LOCATOR_64.unpack(file.read(_LOCATOR_64.size))
    if signature != b"PK\x06\x07" or place >= before:
        raise BadDirectory
    file.seek(place)
    fields = _END_64.unpack(file.read(_END_64.size))
    if fields[0] != b"PK\x06\x06":
        raise BadDirectory
    return place, *fields[7:10]


def _wide(extra: bytes, unpacked: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Replace numbers that do not fit into 32 bits by those of the extra field."""
    numbers = [unpacked, packed, offset]
    place = 0
    while place + 4 <= len(extra):
        kind = int.from_bytes(extra[place : place + 2], "little")
        length = int.from_bytes(extra[place + 2 : place + 4], "little")
        body = extra[place + 4 : place + 4 + length]
        if kind == 1:
            for index in (index for index in range(3) if numbers[index] == _ALL_ONES):
                if len(body) < 8:
                    raise BadDirectory
                numbers[index], body = int.from_bytes(body[:8], "little"), body[8:]
            break
        place += 4 + length
    return numbers[0], numbers[1], numbers[2]


# -- no directory --------------------------------------------------------------------------


def _scanned(file: BinaryIO, size: int) -> list[Member]:
    """Return the members that are whole, one behind the other from the beginning."""
    members: list[Member] = []
    place = 0
    while place + _LOCAL.size <= size:
        file.seek(place)
        header = file.read(_LOCAL.size)
        signature, _, flags, method, _, _, crc, packed, unpacked, name_length, extra_length = (
            _LOCAL.unpack(header)
        )
        if signature != b"PK\x03\x04" or flags & _SIZES_FOLLOW:
            break  # the directory begins, or nothing says where the next member does
        rest = file.read(name_length + extra_length)
        try:
            unpacked, packed, _ = _wide(rest[name_length:], unpacked, packed, 0)
        except BadDirectory:
            break
        end = place + _LOCAL.size + name_length + extra_length + packed
        if end > size:
            break
        name = _decoded(rest[:name_length], flags)
        encrypted = bool(flags & _ENCRYPTED)
        members.append(Member(name, method, crc, packed, unpacked, place, encrypted))
        place = end
    return members


def _decoded(name: bytes, flags: int) -> str:
    """Return a name; whatever its bytes are, different ones are different names."""
    is_plain = flags & _UTF8 or name.isascii()
    return name.decode("utf-8" if is_plain else "cp437", "backslashreplace")
