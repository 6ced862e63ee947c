"""Groups of a source of trials: the outcomes of each model and task, and remarks on reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from passband.errors import InvalidInput

if TYPE_CHECKING:
    from passband.readers.judged import JudgeScores
    from passband.readers.run_counts import RunTally
    from passband.stats.data import Outcomes, Roles, Scale


class Remark(NamedTuple):
    """A sentence on how a source was read."""

    text: str
    important: bool = False  #: to be shown even where only results are wanted

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Group:
    """The trials of one model on one task, or all that a source holds."""

    key: tuple[str, ...]  #: a value for each name in `Groups.by`
    outcomes: Outcomes
    task: str | None = None  #: where the source says so
    model: str | None = None
    scorer: str = "score"  #: name of the scores: of a scorer, or of a column
    tally: RunTally | None = None  #: of a whole run
    #: by problem, where asked for; left out of the hash, as a mapping has none
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    #: where the scores are a judge's; left out of comparisons, as arrays are no values
    judged: JudgeScores | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Groups:
    """The groups of a source, which must not be pooled."""

    source: str
    by: tuple[str, ...]  #: the names that tell the groups apart
    groups: tuple[Group, ...]
    remarks: tuple[Remark, ...] = ()
    columns: Roles | None = None  #: of a table
    reader: str = ""
    is_cut: bool = False  #: a threshold, where one was given, has been applied

    def stating(self, scales: Mapping[str, Scale]) -> Groups:
        """Return the groups on the scales that they have, and that `scales` says they have."""
        if not scales:
            return self
        stated = [
            replace(group, outcomes=group.outcomes.stating(scales[group.scorer], self.source))
            if group.scorer in scales
            else group
            for group in self.groups
        ]
        return replace(self, groups=tuple(stated))

    def only(self) -> Outcomes:
        """Return the outcomes of the only group; raise `InvalidInput` if there are several."""
        if len(self.groups) == 1:
            return self.groups[0].outcomes
        keys = [" / ".join(group.key) for group in self.groups]
        shown = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
        raise InvalidInput(
            f"{self.source}: holds several groups, by {' and '.join(self.by)} ({shown}), which "
            "must not be pooled. passband.read gives the outcomes of each in .groups."
        )
