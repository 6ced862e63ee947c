"""Whether several addresses serve one model, as far as their lists of models say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.errors import InvalidInput
from passband.generate.servers.models_endpoint import ServedModel

Lists = Mapping[str, Sequence[ServedModel]]
"""Models by address, of the addresses that give a list."""

_SHOWN = 3  # models of a list in a message


def refuse_other_models(model: str, lists: Lists) -> None:
    """Raise `InvalidInput` if lists show that not every address serves the model.

    Servers of a single model often take any name. Where no list has the name, addresses that serve
    one model each are compared with each other; longer lists tell nothing.

    >>> policy, other = (ServedModel("policy"),), (ServedModel("other"),)
    >>> refuse_other_models(  # doctest: +NORMALIZE_WHITESPACE
    ...     "policy", {"http://a/v1": policy, "http://b/v1": other}
    ... )
    Traceback (most recent call last):
    passband.errors.InvalidInput: the addresses of --base-url serve different models: http://a/v1
    has policy; http://b/v1 has other. The trials of a run come from one model; name the addresses
    of 'policy' alone.
    """
    has = {address: _entry(model, served) is not None for address, served in lists.items()}
    single = {served[0].name for served in lists.values() if len(served) == 1}
    if len(set(has.values())) == 2 or (not any(has.values()) and len(single) > 1):
        listed = "; ".join(f"{address} has {_names(served)}" for address, served in lists.items())
        raise InvalidInput(
            f"the addresses of --base-url serve different models: {listed}. The trials of a run "
            f"come from one model; name the addresses of {model!r} alone."
        )


def differing_sources(model: str, lists: Lists) -> str | None:
    """Return a note if servers loaded the model from different places, which may be other weights.

    >>> from textwrap import fill
    >>> lists = {a: (ServedModel("policy", r),) for a, r in (("A", "/step100"), ("B", "/step200"))}
    >>> print(fill(differing_sources("policy", lists), 96))
    the addresses loaded 'policy' from different places: /step100 (A), /step200 (B). If these are
    not the same weights, the trials are a mixture of two models.
    """
    entries = {address: _entry(model, served) for address, served in lists.items()}
    roots = {a: entry.root for a, entry in entries.items() if entry and entry.root}
    if len(set(roots.values())) < 2:
        return None
    places = ", ".join(f"{root} ({address})" for address, root in roots.items())
    return (
        f"the addresses loaded {model!r} from different places: {places}. If these are not the "
        "same weights, the trials are a mixture of two models."
    )


def _entry(model: str, served: Sequence[ServedModel]) -> ServedModel | None:
    """Return the model's entry in a list; Ollama lists `name` as `name:latest`."""
    return next((one for one in served if one.name in (model, f"{model}:latest")), None)


def _names(served: Sequence[ServedModel]) -> str:
    names = [one.name for one in served]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
