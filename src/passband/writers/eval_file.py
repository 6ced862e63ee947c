"""Write logs of Inspect: `.eval` (a ZIP of header, summaries and a member per sample) and JSON."""

from __future__ import annotations

import json
import zipfile
from typing import IO, Any

from passband.errors import InvalidInput
from passband.writers.inspect_log import InspectLogFile, summary_of

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP file can hold
_LONGEST = 65_000  # bytes of the name of a member; the format ends at 65,535


def write_eval(log: InspectLogFile, file: IO[bytes]) -> None:
    """Write a log as `.eval`; members are in the order of problems and trials."""
    summaries = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for sample in log.samples():
            # Inspect looks a sample up under exactly this name, whatever is in the id.
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            _add(archive, name, sample)
            summaries.append(summary_of(sample))
        _add(archive, "summaries.json", summaries)
        _add(archive, "header.json", log.head())


def write_json(log: InspectLogFile, file: IO[bytes]) -> None:
    """Write a log as one JSON document, a sample at a time."""
    head = _text(log.head())
    file.write(f'{head[:-1]},\n"samples":['.encode())
    separator = "\n"
    for sample in log.samples():
        file.write(f"{separator}{_text(sample)}".encode())
        separator = ",\n"
    file.write(b"\n]}\n")


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    if len(name.encode()) > _LONGEST:
        raise InvalidInput(
            f"problem {name[8:60]!r}...: its name is too long for an .eval file; write "
            "--format inspect-json."
        )
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system, member.external_attr = 3, 0o644 << 16  # the same on every machine
    archive.writestr(member, _text(value))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
