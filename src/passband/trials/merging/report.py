"""What a merge has added to its destination, and what it remarks on."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class MergeReport:
    """The rows that were added to the destination, and those that were there already."""

    destination: str
    sources: int
    runs: int = 0
    problems: int = 0
    trials: int = 0
    scores: int = 0
    trials_there: int = 0
    calls: int = 0  # to judges
    replaced: int = 0  #: failed trials that another directory has an answer to
    missing: tuple[str, ...] = ()  #: for each run that lacks shards, which ones
    warnings: tuple[str, ...] = ()

    def plus(self, **more: int) -> MergeReport:
        """Return the report with more rows counted."""
        return replace(self, **{name: getattr(self, name) + n for name, n in more.items()})
