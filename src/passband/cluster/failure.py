"""What may go wrong with a cluster and with what runs there."""

from __future__ import annotations

from passband.errors import InvalidInput, PassbandError

__all__ = ["ClusterFailed", "NotReached", "UnequalNodes"]


class ClusterFailed(PassbandError):
    """The cluster could not do what was asked; the message says what to do."""


class NotReached(ClusterFailed):
    """No cluster answered at an address in time."""


class UnequalNodes(InvalidInput):
    """A node has another Ray, Python or passband than this process, or none."""
