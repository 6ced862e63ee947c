"""Imported runs: what a log says of its trials beyond their rows, kept in the run's configuration.

A run that was imported is marked in its `spec`, so that nothing is asked in addition to it: how its
trials were drawn is known from the log alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["IDENTITY", "Imported", "imported_spec", "is_imported"]

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
