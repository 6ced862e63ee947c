"""Every name that a command accepts, by kind, with the plug-in that registered it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, NamedTuple

from passband.registry import Registry


class CatalogueItem(NamedTuple):
    """One registered name."""

    name: str
    summary: str
    plugin: str | None = None  # None: built in


def catalogue() -> dict[str, list[CatalogueItem]]:
    """Return the registered names of every kind, sorted."""
    from passband.generate import providers
    from passband.readers import readers
    from passband.score import aggregations, filters, scorers
    from passband.stats.interval import methods

    return {
        "metrics": metric_items(),
        "scorers": _items(scorers, ((name, scorers.get(name).call) for name in scorers)),
        "filters": _items(filters, ((name, filters.get(name)) for name in filters)),
        "repeat aggregations": _items(
            aggregations, ((name, aggregations.get(name)) for name in aggregations)
        ),
        "interval methods": [
            CatalogueItem(name, methods.get(name).summary, methods.plugin_of(name))
            for name in sorted(methods)
        ],
        "providers": _items(providers, ((name, providers.get(name).make) for name in providers)),
        "readers": _items(readers, ((name, type(readers.get(name))) for name in readers)),
    }


def metric_items() -> list[CatalogueItem]:
    """Return the metrics as they are spelt, with K for a number."""
    from passband.stats.metric import families

    return [
        CatalogueItem(
            f"{key}K" if families.get(key).takes_k else key,
            families.get(key).summary,
            families.plugin_of(key),
        )
        for key in sorted(families)
    ]


def _items(registry: Registry[Any], functions: Iterable[tuple[str, object]]) -> list[CatalogueItem]:
    return [
        CatalogueItem(name, _first_line(function), registry.plugin_of(name))
        for name, function in sorted(functions, key=lambda pair: pair[0])
    ]


def _first_line(function: object) -> str:
    lines = (inspect.getdoc(function) or "").splitlines()
    return lines[0] if lines else ""
