"""generation_kwargs: how completions are drawn, in the words of lm-evaluation-harness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from passband.generate.provider import Sampling
from passband.tasks.schema import TaskKeys
from passband.tasks.yaml_file import YamlFile, plain_json

__all__ = ["read_sampling"]

_STOP = ("until", "stop", "stop_sequences")
_MOST_TOKENS = ("max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens")
_AS_WRITTEN = "max_completion_tokens"  # sent under this name; the others are sent as max_tokens
_REFUSED = {
    "seed": "one seed for every request would make all repeats of a problem the same; passband "
    "gives every trial a seed of its own",
    "n": "how often a problem is asked is set by repeats",
    "num_return_sequences": "how often a problem is asked is set by repeats",
    "stream": "answers are read whole",
}
_READ = (*_STOP, *_MOST_TOKENS, *_REFUSED, "do_sample", "temperature", "top_p")


def read_sampling(file: YamlFile, keys: TaskKeys) -> Sampling:
    """Read generation_kwargs; keys that passband does not know go to the server unchanged."""
    kwargs = {name: value for name, value in keys.generation_kwargs.items() if value is not None}
    for name, reason in _REFUSED.items():
        if name in kwargs:
            file.report(f"generation_kwargs.{name}: {reason}.", "generation_kwargs", name)
    temperature = _temperature(file, kwargs)
    if temperature == 0 and keys.repeats > 1:
        file.warn(
            f"temperature 0 with {keys.repeats} repeats: the repeats will be nearly the same.",
            "generation_kwargs",
        )
    return Sampling(
        temperature=temperature,
        top_p=_number(file, kwargs, "top_p", 1.0),
        max_tokens=_most_tokens(file, kwargs),
        stop=_stop(file, kwargs, keys.fewshot_delimiter),
        extra=plain_json({name: value for name, value in kwargs.items() if name not in _READ}),
        length_name=_AS_WRITTEN if _AS_WRITTEN in kwargs else "max_tokens",
    )


def _temperature(file: YamlFile, kwargs: Mapping[str, Any]) -> float | None:
    """Return the temperature; without one, 0 for do_sample: false, else the model's default."""
    sampled = kwargs.get("do_sample")
    if sampled is not None and not isinstance(sampled, bool):
        file.report("do_sample must be true or false.", "generation_kwargs", "do_sample")
    if "temperature" in kwargs:
        return _number(file, kwargs, "temperature", math.inf)
    return 0.0 if sampled is False else None


def _number(file: YamlFile, kwargs: Mapping[str, Any], name: str, most: float) -> float | None:
    value = kwargs.get(name)
    if value is None:
        return None
    try:
        # YAML takes 1e-3 for text, and so do many task files.
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= most or math.isinf(number):
        rule = "a number, 0 or more" if math.isinf(most) else f"a number from 0 to {most:g}"
        file.report(f"{name} must be {rule}; got {value!r}.", "generation_kwargs", name)
        return None
    return number


def _most_tokens(file: YamlFile, kwargs: Mapping[str, Any]) -> int | None:
    named = {name: kwargs[name] for name in _MOST_TOKENS if name in kwargs}
    if len(set(map(str, named.values()))) > 1:
        message = f"{' and '.join(named)} are the same setting with different values."
        file.report(message, "generation_kwargs")
    for name, value in named.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            message = f"{name} must be a whole number, 1 or more; got {value!r}."
            file.report(message, "generation_kwargs", name)
            return None
    return next(iter(named.values()), None)


def _stop(file: YamlFile, kwargs: Mapping[str, Any], delimiter: str) -> tuple[str, ...]:
    """Return the texts that end an answer; by default the delimiter of the next example."""
    name = next((name for name in _STOP if name in kwargs), None)
    if name is None:
        return (delimiter,) if delimiter else ()
    value = kwargs[name]
    stops = value if isinstance(value, list) else [value]
    if not all(isinstance(stop, str) for stop in stops):
        message = f"{name} must be text or a list of texts; got {value!r}."
        file.report(message, "generation_kwargs", name)
        return ()
    return tuple(dict.fromkeys(stop for stop in stops if stop))
