"""Whether programs may run where no sandbox holds: the setting behind --unsafe-code.

It belongs to the process, as scorers run in threads of their own. The command sets it before
scorers are made, and records it with the run:

    policy.is_unsafe_allowed = True
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Policy", "policy"]


@dataclass
class Policy:
    """What the user allows."""

    is_unsafe_allowed: bool = False


policy = Policy()
