"""Habits of known servers that no reply tells of: names of fields, settings without effect.

Sources: Mistral's API reference (`random_seed`), DeepSeek's (in thinking mode, temperature, top_p
and the penalties have no effect), Anthropic's page on OpenAI SDK compatibility, OpenRouter's
page on provider routing (`require_parameters`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from passband.generate.provider import Sampling

_SEED_NAMES = {"mistral.ai": "random_seed"}  # by domain


@dataclass(frozen=True)
class _Habit:
    """Settings that a server takes and does not use."""

    domain: str | None  # None for any server
    model: re.Pattern[str]  # that the name of the model matches
    settings: tuple[str, ...]
    text: str
    is_off: Callable[[Mapping[str, Any]], bool] = lambda extra: False  # by further settings


def _thinks_not(extra: Mapping[str, Any]) -> bool:
    thinking = extra.get("thinking")
    return isinstance(thinking, Mapping) and thinking.get("type") == "disabled"


def _requires(extra: Mapping[str, Any]) -> bool:
    provider = extra.get("provider")
    return isinstance(provider, Mapping) and provider.get("require_parameters") is True


_ANY = re.compile("")
_SAMPLING = ("temperature", "top_p", "frequency_penalty", "presence_penalty")
_HABITS = (
    _Habit(
        "deepseek.com",
        re.compile(r"^(?!.*deepseek-chat)"),
        _SAMPLING,
        "DeepSeek's models ignore {} while they think, which they do unless "
        "generation_kwargs say thinking: {{type: disabled}}",
        _thinks_not,
    ),
    _Habit(
        None,
        re.compile(r"deepseek-(reasoner|r1)\b", re.IGNORECASE),
        _SAMPLING,
        "DeepSeek's reasoning models may ignore {}",
        _thinks_not,
    ),
    _Habit("anthropic.com", _ANY, ("seed", "logprobs", "top_logprobs", "reasoning_effort"),
           "Anthropic's OpenAI-compatible server ignores {}"),
    _Habit("deepseek.com", _ANY, ("seed",), "DeepSeek's server has no {}"),
    _Habit("openrouter.ai", _ANY, (*_SAMPLING, "seed", "top_k", "min_p"),
           "OpenRouter drops {} where the provider it chooses has no such setting, unless "
           "generation_kwargs say provider: {{require_parameters: true}}", _requires),
)  # fmt: skip


def seed_name(url: str) -> str:
    """Return the name of the seed in requests to a server.

    >>> seed_name("https://api.mistral.ai/v1"), seed_name("http://localhost:8000/v1")
    ('random_seed', 'seed')
    """
    return next((name for domain, name in _SEED_NAMES.items() if _is_of(url, domain)), "seed")


def ignored_settings(model: str, url: str, sampling: Sampling, *, seeds: bool) -> list[str]:
    """Return a sentence on the settings of a request that have no effect, for each habit.

    >>> ignored_settings("deepseek-reasoner", "http://gpu:8000/v1", Sampling(0.7), seeds=True)
    ["DeepSeek's reasoning models may ignore temperature"]
    """
    sent = _sent(sampling, seeds)
    sentences = []
    said: set[str] = set()
    for habit in _HABITS:
        names = [name for name in habit.settings if name in sent and name not in said]
        is_meant = habit.domain is None or _is_of(url, habit.domain)
        if names and is_meant and habit.model.search(model) and not habit.is_off(sampling.extra):
            said.update(names)
            sentences.append(habit.text.format(" and ".join(names)))
    return sentences


def _sent(sampling: Sampling, seeds: bool) -> set[str]:
    named = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    sent = {name for name, value in named.items() if value is not None}
    return sent | set(sampling.extra) | ({"seed"} if seeds else set())


def _is_of(url: str, domain: str) -> bool:
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return host == domain or host.endswith(f".{domain}")
