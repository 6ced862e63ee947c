"""What is installed on the nodes of a cluster, and functions that run once on each."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import pytest

from passband.cluster import nodes
from passband.cluster.nodes import (
    ClusterFailed,
    Node,
    UnequalNodes,
    check_nodes,
    on_each_node,
    unwrapped,
    working_nodes,
)
from passband.errors import InvalidInput
from passband.version import __version__
from support.servers import clusters

PYTHON = platform.python_version()


def nodes_with(*facts: dict[str, Any]) -> Callable[..., list[tuple[Node, Any]]]:
    """Stand for a cluster whose nodes say these facts."""
    return lambda function: [(Node(f"node-{n}", str(n), 1.0), one) for n, one in enumerate(facts)]


def test_nodes_like_this_machine_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    same = {"passband": __version__, "reason": "", "python": PYTHON}
    monkeypatch.setattr(nodes, "on_each_node", nodes_with(same, same))
    check_nodes()


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ({"passband": "0.0.1", "reason": "", "python": PYTHON}, "node-1 has 0.0.1"),
        (
            {"passband": None, "reason": " (ImportError: no numpy)", "python": PYTHON},
            r"node-1 has none \(ImportError: no numpy\)",
        ),
        ({"passband": __version__, "reason": "", "python": "3.1.4"}, "node-1 has Python 3.1.4"),
    ],
)
def test_other_nodes_are_named(
    facts: dict[str, Any], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = {"passband": __version__, "reason": "", "python": PYTHON}
    monkeypatch.setattr(nodes, "on_each_node", nodes_with(same, facts))
    with pytest.raises(UnequalNodes, match=f"every node needs passband .*: {what}") as refused:
        check_nodes()
    assert "pip install passband==" in str(refused.value)


def test_only_some_of_many_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"passband": "0", "reason": "", "python": PYTHON}
    monkeypatch.setattr(nodes, "on_each_node", nodes_with(*[other] * 9))
    with pytest.raises(UnequalNodes, match=r"node-4 has 0, and 4 more\."):
        check_nodes()


def test_an_error_of_a_node_is_plain() -> None:
    own = InvalidInput("the node says no.")
    wrapped = RuntimeError("\x1b[36mray::call()\x1b[39m Traceback ...")
    wrapped.cause = own  # type: ignore[attr-defined]
    assert unwrapped(wrapped) is own
    wrapped.cause = ValueError("odd")  # type: ignore[attr-defined]
    assert str(unwrapped(wrapped, "node n: ")).startswith("node n: ")
    assert "odd" in str(unwrapped(wrapped))
    assert isinstance(unwrapped(OSError("gone")), ClusterFailed)


def number_of_node() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def refuse() -> None:
    raise InvalidInput("not here.")


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestOnACluster:
    def test_each_node_is_asked_once(self, cluster: Any) -> None:
        found = on_each_node(number_of_node)
        assert len(found) == 3
        assert {node.number for node, _ in found} == {number for _, number in found}
        assert [node.cpus for node in working_nodes()] == [clusters.CPUS["num_cpus"]] * 3

    def test_what_a_node_raises_is_raised(self, cluster: Any) -> None:
        with pytest.raises(InvalidInput, match=r"^not here\.$"):
            on_each_node(refuse)

    def test_the_nodes_have_what_this_process_has(self, cluster: Any) -> None:
        check_nodes()
