"""Compare what trials depend on beyond their settings: servers, code and weights of a model.

A run records the address of its server (`run.address`; several that share its requests are
separated by a comma and a space), and in its spec digests of a function's
source (`function`), of a task's trusted code (`task_code`) and of the built-in model (`tiny`). A
run that lacks one of these was recorded before they were: it could not be compared, and keeps the
time from which it is (`uncompared`). `addresses` lists every server once there are several.

Descriptions of changed settings and problems.

Imported runs: what a log says of its trials beyond their rows, kept in the run's configuration.

A run that was imported is marked in its `spec`, so that nothing is asked in addition to it: how its
trials were drawn is known from the log alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passband.errors import InvalidInput


class SettingsChanged(InvalidInput):
    """The run directory holds trials that were drawn with other settings."""

    def lines(self) -> list[str]:
        """Return one line for each setting; their values are written as JSON."""
        return str(self).split("\n")


def setting_differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (name, old, new) of every setting that differs, names dotted."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from setting_differences(
                old.get(key), new.get(key), f"{name}.{key}" if name else key
            )
    elif old != new:
        yield name, _shown(old), _shown(new)


def record_change(old: str, new: str) -> tuple[str, str, str] | None:
    """Return (name, old, new) of what changed in a problem's record; 1 for 1.0 is no change."""
    if old == new:
        return None
    return next(setting_differences(json.loads(old), json.loads(new)), None)


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


IDENTITY = "imported"  # of a scorer whose scores were read from a log
_MARK = "imported"


def imported_spec(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of an imported run: its mark, and the settings that its log states."""
    return {_MARK: True, "settings": dict(settings)}


def is_imported(spec: Mapping[str, Any]) -> bool:
    """Return whether a run with this spec was imported."""
    return spec.get(_MARK) is True


@dataclass(frozen=True)
class Imported:
    """What logs say of a run: the trials planned for each problem, and remarks on reading them."""

    planned: int | None = None
    remarks: tuple[tuple[str, bool], ...] = ()  #: each with whether it is important
    files: tuple[str, ...] = ()  #: their hashes

    @staticmethod
    def of(config: Mapping[str, Any]) -> Imported:
        """Return what the configuration of a run holds; nothing, if it was not imported."""
        own = config.get(_MARK) or {}
        remarks = tuple((str(text), bool(important)) for text, important in own.get("remarks", ()))
        return Imported(own.get("planned"), remarks, tuple(own.get("files", ())))

    def config(self) -> dict[str, Any]:
        """Return the configuration that holds this."""
        remarks = [list(remark) for remark in self.remarks]
        return {_MARK: {"planned": self.planned, "remarks": remarks, "files": list(self.files)}}

    def merged(self, other: Imported) -> Imported:
        """Return what both say of the same trials."""
        planned = max(self.planned or 0, other.planned or 0) or None
        remarks = tuple(dict.fromkeys((*self.remarks, *other.remarks)))
        return Imported(planned, remarks, tuple(dict.fromkeys((*self.files, *other.files))))

    def followed_by(self, other: Imported) -> Imported:
        """Return what both say where the trials of the other come after these."""
        planned = (self.planned or 0) + (other.planned or 0) or None
        return replace(self.merged(other), planned=planned)


LATER = ("function", "task_code", "tiny")
"""Settings that runs of earlier versions did not record."""

MOVED_SERVER = "--moved-server (moved_server=True in Python)"
_KEPT = ("addresses", "uncompared")  # in a spec, and no settings


def addresses_of(spec: Mapping[str, Any], address: str | None) -> list[str]:
    """Return every server that a run has asked, the first one first."""
    known: list[str] = list(spec.get("addresses", ()))
    return known or servers_in(address)


def servers_in(address: str | None) -> list[str]:
    """Return the servers of one session, each by its own address.

    >>> servers_in("http://a/v1, http://b/v1"), servers_in(None)
    (['http://a/v1', 'http://b/v1'], [])
    """
    return [] if address is None else address.split(", ")


def is_moved(known: Sequence[str], address: str | None) -> bool:
    """Return whether an address is another than those known; where none is known, none is."""
    servers = servers_in(address)
    return bool(known) and (not servers or any(server not in known for server in servers))


def identity_changes(
    before: Mapping[str, Any], now: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Return (name, old, new) of every setting that differs, those left out that were not kept."""
    unknown = uncompared(before, now)
    old, new = (
        {name: value for name, value in compared_spec(spec).items() if name not in unknown}
        for spec in (before, now)
    )
    return list(setting_differences(old, new))


def compared_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a spec, without what it keeps beside them.

    >>> compared_spec({"model": "m", "addresses": ["http://a/v1"]})
    {'model': 'm'}
    """
    return {name: value for name, value in spec.items() if name not in _KEPT}


def uncompared(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings of now that were not recorded before, and so cannot be compared."""
    return [name for name in LATER if name in now and name not in before]


def completed_spec(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    addresses: Sequence[str],
    time: str,
) -> dict[str, Any]:
    """Return the spec to keep: as it was, with what it lacked and every address.

    Settings that only one of the two has are marked as compared from `time` on.

    >>> completed_spec({"model": "tiny"}, {"model": "tiny", "tiny": {"sampler": 1}}, [], "now")
    {'model': 'tiny', 'tiny': {'sampler': 1}, 'uncompared': {'tiny': 'now'}}
    """
    spec = {**before, **{name: now[name] for name in uncompared(before, now)}}
    new = dict.fromkeys([*uncompared(before, now), *uncompared(now, before)], time)
    if times := {**new, **now.get("uncompared", {}), **before.get("uncompared", {})}:
        spec["uncompared"] = times
    if len(addresses) > 1:
        spec["addresses"] = list(addresses)
    return spec


def address_change(known: Sequence[str], address: str | None) -> tuple[str, str, str]:
    """Return (name, old, new) of a server that is another."""
    new = ", ".join(server for server in servers_in(address) if server not in known)
    return "address", json.dumps(known[-1]), json.dumps(new) if new else "nothing"


def with_address(known: Sequence[str], address: str | None) -> list[str]:
    """Return the addresses with those of another session."""
    return list(dict.fromkeys([*known, *servers_in(address)]))


def advice_on(changed: Sequence[tuple[str, str, str]], spec: Mapping[str, Any]) -> str:
    """Return what to do about settings that differ."""
    if is_imported(spec):
        return "Import the log into another directory with --output."
    if [name for name, _, _ in changed] == ["address"]:
        return (
            f"If it is the same model, which has moved, add {MOVED_SERVER}. Otherwise give another "
            "directory with --out, or name the checkpoint with --name."
        )
    return "Go back to those settings, or give another directory with --out."
