"""The nodes of a cluster: what is installed on each, and functions that run once on each.

What may go wrong with a cluster and with what runs there.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput, PassbandError, describe
from passband.version import __version__


class ClusterFailed(PassbandError):
    """The cluster could not carry out a request; the message says what to do."""


class NotReached(ClusterFailed):
    """No cluster answered at an address in time."""


class UnequalNodes(InvalidInput):
    """A node has another Ray, Python or passband than this process, or none."""


_PATIENCE = 120.0  # seconds for all nodes to do something short, which may start a process first
_LISTED = 5  # nodes that an error names


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, or a process that acts as one."""

    name: str
    number: str  # Ray's own
    cpus: float


def working_nodes() -> list[Node]:
    """Return the nodes that are alive and have processors to work with."""
    import ray

    nodes = [
        Node(each["NodeManagerHostname"], each["NodeID"], each["Resources"].get("CPU", 0.0))
        for each in ray.nodes()
        if each["Alive"]
    ]
    return [node for node in nodes if node.cpus > 0]


def on_each_node(function: Callable[..., Any], *arguments: Any) -> list[tuple[Node, Any]]:
    """Call a function once on every node that works, and return the results.

    A node that is lost in the meantime has none. What the function raises is raised here.
    """
    import ray
    from ray.exceptions import RayError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = working_nodes()
    if not nodes:
        raise ClusterFailed("no node of the cluster has a processor to work with (ray status).")
    calls = {}
    for node in nodes:
        place = NodeAffinitySchedulingStrategy(node.number, soft=False)
        task = ray.remote(num_cpus=0, scheduling_strategy=place)(function)
        calls[task.remote(*arguments)] = node
    done, late = ray.wait(list(calls), num_returns=len(calls), timeout=_PATIENCE)
    if late:
        names = ", ".join(calls[each].name for each in late[:_LISTED])
        raise ClusterFailed(f"no answer from {len(late)} nodes in {_PATIENCE:g} s: {names}.")
    results = []
    for call in done:
        try:
            results.append((calls[call], ray.get(call)))
        except RayError as error:
            if calls[call].number in {node.number for node in working_nodes()}:
                raise unwrapped(error, f"node {calls[call].name}: ") from None
    return results


def unwrapped(error: Exception, prefix: str = "") -> PassbandError:
    """Return an error that came from a node as this process would have raised it.

    Ray's own text of it is a trace in the colours of a terminal.
    """
    cause = getattr(error, "cause", None)
    if isinstance(cause, PassbandError):
        return cause
    return ClusterFailed(f"{prefix}{describe(cause or error, 400)}")


def check_nodes() -> None:
    """Raise `UnequalNodes` if a node has another passband or Python than here, or none."""
    faults = []
    for node, facts in on_each_node(_make_facts()):
        if facts["passband"] != __version__:
            faults.append(f"{node.name} has {facts['passband'] or 'none'}{facts['reason']}")
        elif facts["python"].split(".")[:2] != platform.python_version().split(".")[:2]:
            faults.append(f"{node.name} has Python {facts['python']}")
    if faults:
        more = f", and {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
        raise UnequalNodes(
            f"every node needs passband {__version__} under Python {platform.python_version()}: "
            f"{'; '.join(faults[:_LISTED])}{more}. Install it there: pip install "
            f"passband=={__version__}; or let Ray do so: ray job submit --runtime-env-json "
            f'\'{{"pip": ["passband=={__version__}"]}}\' -- passband ... --on ray.'
        )


def _make_facts() -> Callable[[], dict[str, str | None]]:
    """Return a function that reports the versions on a node.

    It is made here because a function of a module would be imported there by the module's name,
    and passband may not be there.
    """

    def facts() -> dict[str, str | None]:
        import platform

        try:
            import passband

            version, reason = getattr(passband, "__version__", "?"), ""
        except Exception as error:
            version, reason = None, f" ({type(error).__name__}: {error})"
        return {"passband": version, "reason": reason, "python": platform.python_version()}

    return facts
