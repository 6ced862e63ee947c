"""Read the members of a ZIP file within caps, also where its directory is lost.

    with ZipMembers(path) as members:
        header = members.read("header.json")
        for chunk in members.chunks("summaries.json"):
            ...

The directory at the end of the file says where each member is; without it, members are searched
for. Members are stored as they are, or packed with deflate or Zstandard; their sizes and checksums
are checked. What unpacks to more than the directory says, or to far more than a log could, is
refused before it fills the memory. No path is ever made of the name of a member.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, Protocol

from passband.errors import InvalidInput
from passband.files.records import reading

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


if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd


LARGEST_MEMBER = 1 << 31  # bytes of one member that is unpacked whole
HIGHEST_RATIO = 1000  # of unpacked to packed bytes, where more than the allowance is unpacked
ALLOWANCE = 1 << 28  # bytes that may be unpacked whatever the ratio is
_READ, _YIELD = 1 << 20, 1 << 22  # bytes that are read, and unpacked, at a time
_MOST_FRAMES = 1000  # of Zstandard in one member; Inspect begins a new one after 200 MiB
_HEADER = 30 + 512  # bytes that hold nearly every local header
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_METHODS = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 95: "xz"}


class _Unpacker(Protocol):
    """Unpacks a member: takes bytes and returns at most `most`, until `eof`."""

    @property
    def eof(self) -> bool: ...

    def unpack(self, data: bytes, most: int) -> bytes: ...


class ZipMembers:
    """An open ZIP file."""

    def __init__(self, path: Path) -> None:
        """Open a file and read its directory; a file that is cut off has what came before."""
        self.path = path
        self._unpacked = 0
        with reading(path):
            self._file = path.open("rb")
            try:
                self._directory = Directory.of(self._file)
                self._size = path.stat().st_size
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> ZipMembers:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._directory.members

    def __iter__(self) -> Iterator[str]:
        return iter(self._directory.members)

    def __len__(self) -> int:
        return len(self._directory.members)

    @property
    def is_complete(self) -> bool:
        """Whether the file has a directory, and so all of its members."""
        return self._directory.is_complete

    def size(self, name: str) -> int:
        """Return how many bytes a member has when it is unpacked."""
        return self._directory.members[name].size

    def check_names(self) -> None:
        """Raise `InvalidInput` unless every member has the name that the directory gives it."""
        for member in self._directory.members.values():
            with reading(self.path):
                self._start(member)

    def read(self, name: str) -> bytes:
        """Return a member whole."""
        member = self._directory.members[name]
        if member.size > LARGEST_MEMBER:
            self._refuse(
                member, f"unpacks to {member.size:,} bytes, more than {LARGEST_MEMBER:,} at once"
            )
        if member.packed > _READ or member.size > _YIELD:
            return b"".join(self.chunks(name))
        self._check(member)
        try:  # faster than a block with `reading`
            data, _ = self._start(member)
        except OSError:
            with reading(self.path):
                raise
        unpacker = self._unpacker(member)
        unpacked = self._unpack(member, unpacker, data, member.size + 1)
        self._verify(member, len(unpacked), zlib.crc32(unpacked), is_whole=unpacker.eof)
        return unpacked

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a member piece by piece; its size and checksum are checked behind the last one."""
        member = self._directory.members[name]
        self._check(member)
        unpacker = self._unpacker(member)
        size = crc = 0
        for packed in self._packed(member):
            data = packed
            while True:
                chunk = self._unpack(member, unpacker, data, _YIELD)
                size, crc = size + len(chunk), zlib.crc32(chunk, crc)
                if size > member.size:
                    self._verify(member, size, crc, is_whole=True)
                if chunk:
                    yield chunk
                if len(chunk) < _YIELD:
                    break
                data = b""
        self._verify(member, size, crc, is_whole=unpacker.eof)

    # -- steps -----------------------------------------------------------------------------

    def _packed(self, member: Member) -> Iterator[bytes]:
        """Yield the packed bytes of a member; the file may be read elsewhere between them."""
        with reading(self.path):
            data, place = self._start(member)
        rest = member.packed - len(data)
        yield data
        while rest:
            with reading(self.path):
                self._file.seek(place)
                data = self._file.read(min(rest, _READ))
            if not data:
                return
            place, rest = place + len(data), rest - len(data)
            yield data

    def _start(self, member: Member) -> tuple[bytes, int]:
        """Return the first packed bytes of a member, and the place in the file behind them."""
        length = min(member.packed, _READ)
        self._file.seek(member.offset)
        data = self._file.read(_HEADER + length)
        try:
            name, start = local_name(data)
            if start + length > len(data):
                self._file.seek(member.offset)
                data = self._file.read(start + length)
                name, _ = local_name(data)
        except BadDirectory as error:
            self._refuse(member, f"cannot be found: {error}")
        if name != member.name:
            self._refuse(member, f"is called {name!r:.60} at its place; the file is damaged")
        data = data[start : start + length]
        return data, member.offset + start + len(data)

    def _unpacker(self, member: Member) -> _Unpacker:
        if member.is_encrypted:
            self._refuse(member, "is encrypted; write the log without a password")
        if member.method == _ZSTD:
            return _Zstandard()
        if member.method == _DEFLATED:
            return _Deflated()
        if member.method == _STORED:
            return _Plain()
        method = _METHODS.get(member.method, "unknown")
        self._refuse(
            member,
            f"is packed with method {member.method} ({method}); known are 0 (stored), 8 (deflate) "
            "and 93 (Zstandard)",
        )

    def _unpack(self, member: Member, unpacker: _Unpacker, data: bytes, most: int) -> bytes:
        try:
            return unpacker.unpack(data, most)
        except (zlib.error, zstd.ZstdError, EOFError, ValueError) as error:
            reason = str(error).rpartition("data: ")[2]  # zlib puts a number in front of it
            self._refuse(member, f"cannot be unpacked ({reason}); the file is damaged")

    def _check(self, member: Member) -> None:
        """Refuse what unpacks to far more than it is packed to, alone or with what came before."""
        self._unpacked += member.size
        if self._unpacked <= ALLOWANCE:
            return
        for size, packed in ((member.size, member.packed), (self._unpacked, self._size)):
            if size > ALLOWANCE and size > HIGHEST_RATIO * packed:
                self._refuse(
                    member,
                    f"brings {packed:,} packed bytes to {size:,}, more than {HIGHEST_RATIO} times "
                    "as many, which no log does; if this is one, unpack it and pack it again with "
                    "deflate",
                )

    def _verify(self, member: Member, size: int, crc: int, *, is_whole: bool) -> None:
        if size != member.size or not is_whole:
            got = f"more than {member.size:,}" if size > member.size else f"{size:,}"
            self._refuse(
                member, f"unpacks to {got} bytes instead of {member.size:,}; the file is damaged"
            )
        if crc != member.crc:
            self._refuse(member, "has another checksum than when it was written; it is damaged")

    def _refuse(self, member: Member, reason: str) -> NoReturn:
        raise InvalidInput(f"{self.path}: its member {member.name!r:.80} {reason}.")


class _Plain:
    """A member that is not packed."""

    def __init__(self) -> None:
        self.eof = True
        self._left = b""

    def unpack(self, data: bytes, most: int) -> bytes:
        data = self._left + data
        self._left = data[most:]
        return data[:most]


class _Deflated:
    """A member that is packed with deflate."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof and not self._stream.unused_data

    def unpack(self, data: bytes, most: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, most)


class _Zstandard:
    """A member that is packed with Zstandard, in one frame or several."""

    def __init__(self) -> None:
        self._frame = zstd.ZstdDecompressor()
        self._frames = 1

    @property
    def eof(self) -> bool:
        return self._frame.eof and not self._frame.unused_data

    def unpack(self, data: bytes, most: int) -> bytes:
        unpacked = b""
        while True:
            if self._frame.eof:
                data = self._frame.unused_data + data
                if not data:
                    return unpacked
                self._frame = self._next()
            unpacked += self._frame.decompress(data, most - len(unpacked))
            data = b""
            if len(unpacked) >= most or not self._frame.eof:
                return unpacked

    def _next(self) -> zstd.ZstdDecompressor:
        self._frames += 1
        if self._frames > _MOST_FRAMES:
            raise ValueError(f"it has more than {_MOST_FRAMES} frames")
        return zstd.ZstdDecompressor()
