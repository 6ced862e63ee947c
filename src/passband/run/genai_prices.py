"""Prices from the optional package genai-prices, for a model at the address of its service."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.generate import providers
from passband.run.task_run import Price

GENAI = "genai"  # as in --prices genai
_PACKAGE = "genai-prices"
_OPENAI = "OPENAI_BASE_URL"
_SERVICES = {  # of prefixes of models: the service by its name there, the variable of its address
    "openai": ("openai", _OPENAI),
    "openai-completions": ("openai", _OPENAI),
    "anthropic": ("anthropic", "ANTHROPIC_BASE_URL"),
    "google": ("google", "GOOGLE_GEMINI_BASE_URL"),
}
_DATES = re.compile(r"(?:as of|checked|verified on) (\d{4}-\d\d-\d\d)")


def suggested_price(model: str, urls: Sequence[str]) -> Price | None:
    """Return what the package has, where it is installed and has one; never an error."""
    try:
        return genai_price(model, urls)
    except InvalidInput:
        return None


def genai_price(model: str, urls: Sequence[str] = ()) -> Price:
    """Return the price of a model at its address, with its source and the date of the data."""
    try:
        release = version(_PACKAGE)
    except PackageNotFoundError:
        raise InvalidInput(
            "--prices genai needs the package genai-prices: pip install genai-prices."
        ) from None
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    kind, _, rest = model.partition(":")
    service, variable = _SERVICES.get(kind, ("", _OPENAI))
    name = rest if kind in providers else model
    variable_url = os.environ.get(variable)
    addresses = [*urls] or ([variable_url] if variable_url else [])
    entries = [_entry(snapshot, name, None, url) for url in addresses]
    entries = entries or [_entry(snapshot, name, service, None)]
    prices = {_rates(entry) for _, entry in entries}
    if len(prices) > 1:
        services = " and ".join(provider for provider, _ in entries)
        raise InvalidInput(
            f"{_PACKAGE} has several prices for {name!r}, of {services}; give --price."
        )
    ((prompt, completion),) = prices
    provider, entry = entries[0]
    dates = _DATES.findall(repr(snapshot.providers))
    date = f"data of {max(dates)}" if dates else "data of unknown date"
    source = f"{_PACKAGE} {release}, {date}: {provider} {entry.id}{_limit(entry)}"
    return Price(float(prompt), float(completion), source=source)


def _entry(snapshot: Any, name: str, service: str | None, url: str | None) -> tuple[str, Any]:
    """Return the service at an address, or of a name, and what it has of a model."""
    try:
        provider = snapshot.find_provider(None, service, url)
    except LookupError:
        raise InvalidInput(
            f"{_PACKAGE} knows no service {f'at {url}' if url else repr(service or name)}, so it "
            "has no price; give --price IN,OUT."
        ) from None
    entry = provider.find_model(name, all_providers=snapshot.providers)
    if entry is None:
        hint = nearest(name, [known.id for known in provider.models])
        raise InvalidInput(
            f"{_PACKAGE} has no model {name!r} of {provider.id}.{hint} Give --price IN,OUT."
        )
    return provider.id, entry


def _limit(entry: Any) -> str:
    """Return up to which length of a request the base rates hold, where there are others."""
    price = entry.get_prices(datetime.now(timezone.utc))
    rates = price.input_mtok, price.output_mtok
    starts = [tier.start for rate in rates for tier in getattr(rate, "tiers", ())]
    return f", requests of up to {min(starts)} tokens" if starts else ""


def _rates(entry: Any) -> tuple[Decimal, Decimal]:
    """Return what a million tokens cost now, in and out, by the base rates."""
    price = entry.get_prices(datetime.now(timezone.utc))
    prompt, completion = (
        getattr(rate, "base", rate) for rate in (price.input_mtok, price.output_mtok)
    )
    if prompt is None or completion is None:
        raise InvalidInput(
            f"{_PACKAGE} has no price per token of {entry.id}: {price}. Give --price IN,OUT."
        )
    return prompt, completion
