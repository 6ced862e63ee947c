"""The scorer that null answers are recorded under, which no table shows: how it is told."""

from __future__ import annotations

__all__ = ["PASSED", "canary_names", "identity_of"]

PASSED = 0.5  # a score from which on an answer counts as passed


def canary_names(scorer: str, identity: str) -> tuple[str, str]:
    r"""Return the name and the identity of the scorer that the canaries of a judge are under.

    >>> canary_names("judge", "1")
    ('judge,canaries', '1\ncanaries')
    """
    return f"{scorer},canaries", f"{identity_of(identity)}\ncanaries"


def identity_of(recorded: str) -> str:
    r"""Return the identity of a scorer itself, without what a run has added to it.

    >>> identity_of("1\ncanaries")
    '1'
    """
    return recorded.partition("\n")[0]
