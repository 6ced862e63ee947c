"""Undo registrations after each test module or page."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _own_registrations() -> Iterator[None]:
    from passband.generate.providers import providers
    from passband.score.filters import filters
    from passband.score.registry import scorers
    from passband.score.repeats import aggregations
    from passband.stats.interval.methods import methods
    from passband.stats.metric.registry import families

    registries = [providers, filters, aggregations, methods, scorers, families]
    snapshots = [registry.snapshot() for registry in registries]
    yield
    for registry, entries in zip(registries, snapshots, strict=True):
        registry.restore(entries)
