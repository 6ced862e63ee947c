"""Say which trials of a run to browse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrialQuery:
    """A filter for trials; an empty or missing condition leaves all."""

    problems: tuple[str, ...] = ()  #: keys
    trials: tuple[int, ...] = ()
    statuses: tuple[str, ...] = ()
    right: bool | None = None
    scorer: str | None = None  #: None: the main one
    disagree: bool = False  #: the scorer and the label say different things

    def words(self) -> list[str]:
        """Return the conditions in words.

        >>> TrialQuery(statuses=("truncated", "refused"), right=False).words()
        ['truncated or refused', 'wrong']
        """
        words = [" or ".join(self.statuses)] if self.statuses else []
        words += ["judged and labelled differently"] if self.disagree else []
        return words if self.right is None else [*words, "right" if self.right else "wrong"]

    @classmethod
    def named(cls, name: str) -> TrialQuery:
        """Return the filter of a name: "all", "right", "wrong", or a status.

        >>> TrialQuery.named("wrong").right, TrialQuery.named("refused").statuses
        (False, ('refused',))
        """
        if name in ("right", "wrong"):
            return cls(right=name == "right")
        return cls() if name == "all" else cls(statuses=(name,))
