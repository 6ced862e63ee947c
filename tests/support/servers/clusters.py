"""A Ray cluster of three nodes on this machine, which all tests of clusters share.

Import this before ray: without these variables Ray takes the loopback address for that of another
machine, and waits for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

from passband.cluster.connection import ray_module

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
CPUS = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "node_ip_address": "127.0.0.1"}
MARKS = [pytest.mark.process, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
_QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}


@contextmanager
def started() -> Iterator[Any]:
    """Start three nodes, the loss of which is noticed soon."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    ray_module()
    from ray.cluster_utils import Cluster

    head = {**CPUS, "include_dashboard": False, "_system_config": _QUICK}
    with TemporaryDirectory(prefix="passband-") as folder, _searched(folder):
        nodes = Cluster(initialize_head=True, head_node_args=head)
        try:
            nodes.add_node(**CPUS)
            nodes.add_node(**CPUS)
            nodes.modules = Path(folder)  # where a test may write some
            yield nodes
        finally:
            nodes.shutdown()


def _searched(folder: str) -> Any:
    """Let nodes look for modules in a folder, and in that of the tests."""
    folders = [folder, str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return patch.dict(os.environ, {"PYTHONPATH": os.pathsep.join(filter(None, folders))})


@contextmanager
def connected(nodes: Any) -> Iterator[None]:
    """Connect this process."""
    import ray

    ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()
