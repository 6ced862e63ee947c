"""The sandbox that scorers of programs need: found before anything is asked, and recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from passband.score.scorer import Scorer

__all__ = ["SANDBOXES", "open_sandbox", "used_sandboxes"]

SANDBOXES = "sandboxes"  # the key of a run's config


def open_sandbox(scorers: Iterable[Scorer], *, unsafe: bool) -> None:
    """Find the sandbox of scorers that need one; raise `InvalidInput` where none holds.

    Completions cost money, so this comes before the first request. `unsafe` lets programs run
    without a sandbox where there is none.
    """
    if not any(map(_needs_sandbox, scorers)):
        return
    from passband.score.sandbox import find_sandbox, policy

    policy.is_unsafe_allowed = unsafe
    _ = find_sandbox().identity  # starts it


def used_sandboxes(
    scorers: Iterable[Scorer], before: Mapping[str, Any]
) -> dict[str, list[dict[str, str]]]:
    """Return the part of a run's config with every sandbox that gave a verdict, this one last."""
    earlier = [dict(one) for one in before.get(SANDBOXES, ())]
    if any(map(_needs_sandbox, scorers)):
        from passband.score.sandbox import find_sandbox

        now = dict(find_sandbox().identity)
        earlier = [*(one for one in earlier if one != now), now]
    return {SANDBOXES: earlier} if earlier else {}


def _needs_sandbox(scorer: Scorer) -> bool:
    return getattr(scorer, "needs_sandbox", False)
