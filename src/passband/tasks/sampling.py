"""generation_kwargs: how completions are drawn, in the words of lm-evaluation-harness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from passband.errors import InvalidInput
from passband.generate import Sampling
from passband.tasks.file.schema import TaskKeys
from passband.tasks.file.yaml_file import YamlFile, plain_json

Report = Callable[[str, str | None], None]  # of a mistake: what it is, and which field has it

STOP_NAMES = ("until", "stop", "stop_sequences")
LENGTH_NAMES = ("max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens")
_AS_WRITTEN = "max_completion_tokens"  # sent under this name; the others are sent as max_tokens
_REFUSED = {
    "seed": "one seed for every request would make all repeats of a problem the same; passband "
    "gives every trial a seed of its own",
    "n": "how often a problem is asked is set by repeats",
    "num_return_sequences": "how often a problem is asked is set by repeats",
    "stream": "answers are read whole",
    "model": "the model is that of the run",
    "messages": "prompts are written by doc_to_text",
    "prompt": "prompts are written by doc_to_text",
    "candidateCount": "how often a problem is asked is set by repeats",
}
_REFUSED["random_seed"] = _REFUSED["seed"]
_NESTED = ("generationConfig", "generation_config")  # Google's object of such fields
_READ = (*STOP_NAMES, *LENGTH_NAMES, *_REFUSED, "do_sample", "temperature", "top_p")


def read_sampling(file: YamlFile, keys: TaskKeys) -> Sampling:
    """Read generation_kwargs; keys that passband does not know go to the server unchanged."""

    def report(message: str, name: str | None) -> None:
        file.report(message, "generation_kwargs", *([name] if name else []))

    kwargs = {name: value for name, value in keys.generation_kwargs.items() if value is not None}
    for name, told in _refused(kwargs):
        report(f"generation_kwargs.{told}", name)
    temperature = _temperature(report, kwargs)
    if temperature == 0 and keys.repeats > 1:
        file.warn(
            f"temperature 0 with {keys.repeats} repeats: the repeats will be nearly the same.",
            "generation_kwargs",
        )
    stop = _stop(report, kwargs)
    delimiter = keys.fewshot_delimiter  # of the next example, which ends an answer by default
    return Sampling(
        temperature=temperature,
        top_p=_number(report, kwargs, "top_p", 1.0),
        max_tokens=_most_tokens(report, kwargs),
        stop=((delimiter,) if delimiter else ()) if stop is None else stop,
        extra=plain_json({name: value for name, value in kwargs.items() if name not in _READ}),
        length_name=_AS_WRITTEN if _AS_WRITTEN in kwargs else "max_tokens",
    )


def _refused(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield fields that would change which trials are drawn, and of what; and why not."""
    for name in fields:
        if name in _REFUSED:
            yield name, f"{name}: {_REFUSED[name]}."
    for outer in _NESTED:
        inner = fields.get(outer)
        for name in inner if isinstance(inner, Mapping) else ():
            if name in _REFUSED:
                yield outer, f"{outer}.{name}: {_REFUSED[name]}."


def changed_sampling(sampling: Sampling, fields: Mapping[str, Any]) -> Sampling:
    """Return sampling settings with fields of generation_kwargs changed; None leaves one out.

    >>> changed_sampling(Sampling(temperature=0.7), {"temperature": None, "top_k": 20}).spec
    {'temperature': None, 'top_p': None, 'max_tokens': None, 'stop': (), 'extra': {'top_k': 20}}
    """

    def report(message: str, name: str | None) -> None:
        raise InvalidInput(message)

    for name, told in _refused(fields):
        report(told, name)
    kwargs = {name: value for name, value in fields.items() if value is not None}
    changes: dict[str, Any] = {}
    if "temperature" in fields:
        changes["temperature"] = _temperature(report, kwargs)
    elif "do_sample" in fields:
        before = None if sampling.temperature == 0 else sampling.temperature
        changes["temperature"] = before if kwargs.get("do_sample") else _temperature(report, kwargs)
    if "top_p" in fields:
        changes["top_p"] = _number(report, kwargs, "top_p", 1.0)
    if not fields.keys().isdisjoint(LENGTH_NAMES):
        changes["max_tokens"] = _most_tokens(report, kwargs)
        changes["length_name"] = _AS_WRITTEN if _AS_WRITTEN in kwargs else "max_tokens"
    if not fields.keys().isdisjoint(STOP_NAMES):
        changes["stop"] = _stop(report, kwargs) or ()
    extra = {**sampling.extra, **{k: v for k, v in fields.items() if k not in _READ}}
    changes["extra"] = plain_json({k: v for k, v in extra.items() if v is not None})
    return replace(sampling, **changes)


def _temperature(report: Report, kwargs: Mapping[str, Any]) -> float | None:
    """Return the temperature; without one, 0 for do_sample: false, else the model's default."""
    sampled = kwargs.get("do_sample")
    if sampled is not None and not isinstance(sampled, bool):
        report("do_sample must be true or false.", "do_sample")
    if "temperature" in kwargs:
        return _number(report, kwargs, "temperature", math.inf)
    return 0.0 if sampled is False else None


def _number(report: Report, kwargs: Mapping[str, Any], name: str, most: float) -> float | None:
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
        report(f"{name} must be {rule}; got {value!r}.", name)
        return None
    return number


def _most_tokens(report: Report, kwargs: Mapping[str, Any]) -> int | None:
    named = {name: kwargs[name] for name in LENGTH_NAMES if name in kwargs}
    if len(set(map(str, named.values()))) > 1:
        message = f"{' and '.join(named)} are the same setting with different values."
        report(message, None)
    for name, value in named.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            message = f"{name} must be a whole number, 1 or more; got {value!r}."
            report(message, name)
            return None
    return next(iter(named.values()), None)


def _stop(report: Report, kwargs: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the texts that end an answer; None if none are given."""
    name = next((name for name in STOP_NAMES if name in kwargs), None)
    if name is None:
        return None
    value = kwargs[name]
    stops = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(stop, str) for stop in stops):
        report(f"{name} must be text or a list of texts; got {value!r}.", name)
        return ()
    return tuple(dict.fromkeys(stop for stop in stops if stop))
