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
_REFUSED = {
    "seed": "one seed for every request would make all repeats of a problem the same; passband "
    "gives every trial a seed of its own",
    "n": "how often a problem is asked is set by repeats",
    "num_return_sequences": "how often a problem is asked is set by repeats",
    "stream": "answers are read whole",
}
_READ = (*_STOP, *_MOST_TOKENS, *_REFUSED, "do_sample", "temperature", "top_p")


def read_sampling(file: YamlFile, keys: TaskKeys) -> Sampling:
    """Read generation_kwargs; what passband has no name for goes to the server as it is."""
    given = {name: value for name, value in keys.generation_kwargs.items() if value is not None}
    for name, reason in _REFUSED.items():
        if name in given:
            file.report(f"generation_kwargs.{name}: {reason}.", "generation_kwargs", name)
    temperature = _temperature(file, given)
    if temperature == 0 and keys.repeats > 1:
        file.warn(
            f"temperature 0 with {keys.repeats} repeats: the repeats will be nearly the same.",
            "generation_kwargs",
        )
    return Sampling(
        temperature=temperature,
        top_p=_number(file, given, "top_p", 1.0),
        max_tokens=_most_tokens(file, given),
        stop=_stop(file, given, keys.fewshot_delimiter),
        extra=plain_json({name: value for name, value in given.items() if name not in _READ}),
    )


def _temperature(file: YamlFile, given: Mapping[str, Any]) -> float | None:
    """A temperature wins; do_sample alone says greedy, or leaves it to the model."""
    sampled = given.get("do_sample")
    if sampled is not None and not isinstance(sampled, bool):
        file.report("do_sample must be true or false.", "generation_kwargs", "do_sample")
    if "temperature" in given:
        return _number(file, given, "temperature", math.inf)
    return 0.0 if sampled is False else None


def _number(file: YamlFile, given: Mapping[str, Any], name: str, most: float) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    try:
        # YAML takes 1e-3 for text, and so do many task files.
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= most or math.isinf(number):
        told = "a number, 0 or more" if math.isinf(most) else f"a number from 0 to {most:g}"
        file.report(f"{name} must be {told}; got {value!r}.", "generation_kwargs", name)
        return None
    return number


def _most_tokens(file: YamlFile, given: Mapping[str, Any]) -> int | None:
    named = {name: given[name] for name in _MOST_TOKENS if name in given}
    if len(set(map(str, named.values()))) > 1:
        file.report(f"{' and '.join(named)} say the same thing differently.", "generation_kwargs")
    for name, value in named.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            told = f"{name} must be a whole number, 1 or more; got {value!r}."
            file.report(told, "generation_kwargs", name)
            return None
    return next(iter(named.values()), None)


def _stop(file: YamlFile, given: Mapping[str, Any], delimiter: str) -> tuple[str, ...]:
    """Texts that end an answer; without any given, what would begin the next example."""
    name = next((name for name in _STOP if name in given), None)
    if name is None:
        return (delimiter,) if delimiter else ()
    value = given[name]
    stops = value if isinstance(value, list) else [value]
    if not all(isinstance(stop, str) for stop in stops):
        told = f"{name} must be text or a list of texts; got {value!r}."
        file.report(told, "generation_kwargs", name)
        return ()
    return tuple(dict.fromkeys(stop for stop in stops if stop))
