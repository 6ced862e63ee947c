"""Which trials of a run that is merged are new, and which of those that are there give way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from passband.trials.overlap import bits

__all__ = ["Masks", "SharedTrials", "places"]

Masks = Mapping[int, int]  # trials as bits, by number of the problem


@dataclass
class SharedTrials:
    """The trials of a source, as bits by problem, by what becomes of them in the destination."""

    new: dict[int, int] = field(default_factory=dict)
    replacing: dict[int, int] = field(default_factory=dict)  # failed here, and not there
    passed: dict[int, int] = field(default_factory=dict)  # failed there, and not here
    both_failed: dict[int, int] = field(default_factory=dict)
    same: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, here: Masks, failed_here: Masks, there: Masks, failed_there: Masks) -> SharedTrials:
        """Sort the trials that are there.

        >>> SharedTrials.of({0: 0b0111}, {0: 0b0010}, {0: 0b1110}, {0: 0b0100})
        SharedTrials(new={0: 8}, replacing={0: 2}, passed={0: 4}, both_failed={}, same={})
        """
        shared = cls()
        for problem, mask in there.items():
            mine = here.get(problem, 0)
            if not mask & mine:
                shared.new[problem] = mask
                continue
            failed, other = failed_here.get(problem, 0), failed_there.get(problem, 0)
            sorted_out = {
                "new": mask & ~mine,
                "replacing": mask & ~other & failed,
                "passed": other & mine & ~failed,
                "both_failed": other & failed,
                "same": mask & ~other & mine & ~failed,
            }
            for name, chosen in sorted_out.items():
                if chosen:
                    getattr(shared, name)[problem] = chosen
        return shared

    @property
    def are_all_new(self) -> bool:
        """Whether the destination has none of them."""
        return not (self.replacing or self.passed or self.both_failed or self.same)

    def settle(self, problem: int, trial: int, kind: str) -> None:
        """Note what becomes of a trial that failed in both."""
        chosen: dict[int, int] = getattr(self, kind)
        chosen[problem] = chosen.get(problem, 0) | 1 << trial


def places(masks: Masks) -> Iterator[tuple[int, int]]:
    """Yield the problem and the number of each trial.

    >>> list(places({3: 0b101}))
    [(3, 0), (3, 2)]
    """
    for problem, mask in masks.items():
        for trial in bits(mask):
            yield problem, trial
