"""What a test file or a page registers is forgotten at its end, so that no other finds it."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _own_registrations() -> Iterator[None]:
    from passband.generate.providers import _PROVIDERS
    from passband.score.filters import filters
    from passband.score.repeats import aggregations
    from passband.score.scorers import functions
    from passband.stats.metric.metrics import families

    registries = [_PROVIDERS, filters, aggregations, functions, families]
    before = [dict(registry._entries) for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry._entries.clear()
        registry._entries.update(entries)
