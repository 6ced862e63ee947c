"""Several models at several addresses: which model is asked where, by what each server serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from passband.errors import InvalidInput, nearest
from passband.generate.http import address_of
from passband.generate.providers import is_local, providers

__all__ = ["assign_addresses"]

Served = Callable[[str], Sequence[str] | None]
_SERVERS = ("openai", "openai-completions")
_ADVICE = (
    "Several models at several addresses are told apart by these lists; a study file "
    "(docs/run.md) gives each model its base_url."
)


def assign_addresses(
    models: Sequence[str], urls: Sequence[str], served: Served | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the addresses of each model.

    One address is that of all models, and one model is at all addresses. Several models at
    several addresses are told apart by the list of models that each server gives.

    >>> lists = {"http://one/v1": ("small",), "http://two/v1": ("small", "large")}
    >>> assign_addresses(["openai:small", "large", "tiny"], [*lists], lists.get)
    {'openai:small': ('http://one/v1', 'http://two/v1'), 'large': ('http://two/v1',), 'tiny': ()}
    """
    remote = [model for model in models if not is_local(model)]
    if urls:
        _refuse_families(remote)
    if len(remote) < 2 or len(urls) < 2:
        return {model: tuple(urls) if model in remote else () for model in models}
    if _family(remote[0]) not in _SERVERS:
        raise InvalidInput(
            f"--model {remote[0]}: which of several addresses is its own cannot be told. {_ADVICE}"
        )
    lists = {url: _list(url, served) for url in urls}
    found = {
        model: tuple(url for url in urls if _server_name(model) in lists[url]) for model in remote
    }
    for model, places in found.items():
        if not places:
            known = [name for names in lists.values() for name in names]
            raise InvalidInput(
                f"--model {model}: no address serves it.{nearest(_server_name(model), known)} "
                f"{_listing(lists)}"
            )
    for url in urls:
        if not any(url in places for places in found.values()):
            raise InvalidInput(
                f"--base-url {address_of(url)} serves none of the models that are asked. "
                f"{_listing(lists)}"
            )
    return {model: found.get(model, ()) for model in models}


def _server_name(model: str) -> str:
    """Return what a server calls a model.

    >>> _server_name("openai:org/small"), _server_name("org/small")
    ('org/small', 'org/small')
    """
    kind, _, rest = model.partition(":")
    return rest if kind in _SERVERS else model


def _family(model: str) -> str:
    """Return the provider of a model; the two protocols of OpenAI's servers are one."""
    kind = model.partition(":")[0]
    return kind if kind in providers and kind not in _SERVERS else _SERVERS[0]


def _refuse_families(models: Sequence[str]) -> None:
    """Refuse an address for models of different providers: the key of one would go to another."""
    first: dict[str, str] = {_family(model): model for model in models}
    if len(first) > 1:
        one, other, *_ = first.values()
        raise InvalidInput(
            f"--base-url: {one} and {other} are asked in different ways, and with different keys. "
            "A study file (docs/run.md) gives each model its base_url."
        )


def _list(url: str, served: Served | None) -> Sequence[str]:
    from passband.generate.served import served_models

    names = (served or served_models)(url)
    if names is None:
        raise InvalidInput(
            f"--base-url {address_of(url)} gives no list of its models (GET /models). {_ADVICE}"
        )
    return names


def _listing(lists: Mapping[str, Sequence[str]]) -> str:
    return " ".join(f"{address_of(url)} has {', '.join(names)}." for url, names in lists.items())
