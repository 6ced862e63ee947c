"""Hypothesis profiles, workers, SIGINT as in a terminal, and what no test may leave behind."""

import asyncio
import gc
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.sandboxes import canary

# "steady" tries the same examples every time, "quick" (make quick) a few of them, and "fuzz"
# (make fuzz) many new ones.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    stateful_step_count=20,
)
settings.register_profile("steady", _COMMON, derandomize=True, max_examples=25)
settings.register_profile("quick", _COMMON, derandomize=True, max_examples=10)
settings.register_profile("fuzz", _COMMON, max_examples=2000, print_blob=True)
settings.load_profile("steady")

_ON_A_CLUSTER = ("tests/cluster/", "run/test_remote.py", "judge/test_remote.py", "test_ray.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all blocks of a documentation page to one worker, which runs it from its top once.

    All tests of a test_browser.py go to one worker as well, to one browser, those of clusters to
    one cluster, and so do all cases of one parametrised test. What is done is forgotten, as the
    scheduler counts all it remembers after every test.

    Marks of `--dist loadgroup` would say the same, but pytest 9.2 hides them from xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Pages(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if any(mark in nodeid for mark in _ON_A_CLUSTER):
                return "cluster"
            for mark in (".md:", "test_browser.py:", "["):
                nodeid = nodeid.partition(mark)[0]
            return nodeid

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            super().mark_test_complete(node, item_index, duration)
            scope = self._split_scope(self.registered_collections[node][item_index])
            if all(self.assigned_work[node][scope].values()):
                del self.assigned_work[node][scope]

    return Pages(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Keep the collector of garbage away from the modules and tests: all stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> Iterator[None]:
    """Give SIGINT back its handler: a shell starts background jobs with the signal ignored.

    Python installs no handler for an ignored signal, and child processes inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def _canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Plant a key for all tests, and fail if one of them has left it in a file."""
    with canary.planted():
        yield
        leaks = canary.files_with_key(tmp_path_factory.getbasetemp())
        assert leaks == [], "the key of the environment is in these files"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start a headless chromium for all tests of pages, or skip them and say why."""
    from support.servers.browser import Browser, NoBrowser

    try:
        chromium = Browser()
    except NoBrowser as error:
        pytest.skip(f"no page was looked at: {error}")
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def nodes() -> Iterator[Any]:
    """Start a Ray cluster for all tests that need one, or skip them where there is no Ray."""
    from support.servers import clusters

    with clusters.started() as three:
        yield three


@pytest.fixture(scope="module")
def cluster(nodes: Any) -> Iterator[Any]:
    """Connect this process to the cluster."""
    from support.servers import clusters

    with clusters.connected(nodes):
        yield nodes


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Fail a test whose output holds the key of the environment."""
    report = yield
    if canary.is_shown(*(text for _, text in report.sections)):
        report.outcome, report.longrepr = "failed", "the key of the environment was printed"
    return report


@pytest.fixture(autouse=True)
def _asyncio_as_it_is() -> Iterator[None]:
    """Fail the test that lets Inspect patch asyncio: every later loop would be left open."""
    yield
    assert not hasattr(asyncio, "_nest_patched"), "asyncio is patched; do this in a process"


@pytest.fixture(autouse=True)
def _no_unsafe_code() -> Iterator[None]:
    """Withdraw what a command with --unsafe-code allowed its process."""
    yield
    policy = sys.modules.get("passband.score.sandbox.find")
    if policy is not None:
        policy.policy.is_unsafe_allowed = False


@pytest.fixture(autouse=True, scope="module")
def _own_registrations() -> Iterator[None]:
    from passband.generate.registry import providers
    from passband.readers import readers
    from passband.registry import Registry
    from passband.score.filtering import filters
    from passband.score.registry import scorers
    from passband.score.repeats import aggregations
    from passband.stats.interval.registry import methods
    from passband.stats.metric.registry import families

    registries: list[Registry[Any]] = [
        providers,
        filters,
        aggregations,
        methods,
        scorers,
        families,
        readers,
    ]
    snapshots = [registry.snapshot() for registry in registries]
    yield
    for registry, entries in zip(registries, snapshots, strict=True):
        registry.restore(entries)
