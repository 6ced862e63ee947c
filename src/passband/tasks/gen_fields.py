"""`--gen key=value`: fields of requests as they are written in a shell."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable
from typing import Any, NoReturn

from passband.errors import InvalidInput
from passband.tasks.sampling import LENGTH_NAMES, STOP_NAMES

__all__ = ["read_gen"]

_NUMBERS = (
    "temperature", "top_p", *LENGTH_NAMES, "min_tokens", "min_new_tokens", "top_k",
    "min_p", "typical_p", "top_a",
    "frequency_penalty", "presence_penalty", "repetition_penalty", "repeat_penalty",
    "length_penalty", "top_logprobs", "thinking_token_budget", "num_ctx",
)  # fmt: skip
_FLAGS = (
    "do_sample", "logprobs", "include_reasoning", "separate_reasoning", "ignore_eos", "store",
    "skip_special_tokens", "add_generation_prompt", "continue_final_message", "parallel_tool_calls",
)  # fmt: skip
_OBJECTS = (
    "chat_template_kwargs", "thinking", "reasoning", "provider", "logit_bias", "response_format",
    "metadata", "output_config", "thinkingConfig", "generationConfig", "structured_outputs",
    "stop_token_ids", "safetySettings",
)  # fmt: skip
_WORDS = (
    "reasoning_effort",
    "reasoning_format",
    "service_tier",
    "verbosity",
    "prompt_mode",
    "user",
)
_KNOWN = (*_NUMBERS, *_FLAGS, *_OBJECTS, *_WORDS, *STOP_NAMES)
_REFUSED = {
    "seed": "every trial has a seed of its own; --seed changes what they derive from, and "
    "--no-seed sends none",
    "random_seed": "every trial has a seed of its own; --seed changes what they derive from",
    "n": "-n is how often a problem is asked, --batch how many completions a request asks for",
    "stream": "give --stream",
    "model": "give --model",
    "messages": "prompts are the task's; --system and --num-fewshot change them",
    "prompt": "prompts are the task's; --system and --num-fewshot change them",
    "system": "give --system",
    "extra_body": "it is an argument of the openai package; give its fields one by one, such as "
    "--gen top_k=20",
}
_LONGEST = 100_000  # characters of a value
_CLOSE = 0.88  # how alike two names are of which one is taken for a slip of the other


def read_gen(words: Iterable[str]) -> dict[str, Any]:
    """Return fields given as key=value; `key=` gives None, which leaves the field out.

    A value is read as JSON. What is no JSON is text, unless the field is known to be a number, a
    flag or an object, or the value begins like a list or an object.

    >>> read_gen(["top_k=20", "reasoning_effort=low", "temperature=", 'stop=["Q:"]'])
    {'top_k': 20, 'reasoning_effort': 'low', 'temperature': None, 'stop': ['Q:']}
    """
    fields: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InvalidInput(f"--gen takes key=value, such as --gen top_k=20; got {word!r}.")
        if name in _REFUSED:
            raise InvalidInput(f"--gen {name}: {_REFUSED[name]}.")
        if name in fields:
            raise InvalidInput(f"--gen {name} is given twice.")
        _refuse_slip(name)
        fields[name] = _value(name, text)
    return fields


def _refuse_slip(name: str) -> None:
    """Refuse what is nearly a known name: servers ignore fields that they do not know."""
    if name in _KNOWN:
        return
    plain = name.lower().replace("-", "_")
    close = difflib.get_close_matches(plain, [*_KNOWN, *_REFUSED], n=1, cutoff=_CLOSE)
    if close:
        raise InvalidInput(
            f"--gen {name}: most servers ignore a field that they do not know. Did you mean "
            f"{close[0]!r}? A field of this very name can be written into the task's "
            "generation_kwargs."
        )


def _value(name: str, text: str) -> Any:
    if not text.strip():
        return None
    if len(text) > _LONGEST:
        raise InvalidInput(f"--gen {name}: the value is longer than {_LONGEST} characters.")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return _text(name, text, error)
    if name in STOP_NAMES and not isinstance(value, str | list):
        return text  # a number that ends the answer
    _check_kind(name, value, text)
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _text(name: str, text: str, error: Exception) -> str:
    """Return a value that is no JSON as text; raise `InvalidInput` where it must be JSON."""
    known = name in (*_NUMBERS, *_FLAGS, *_OBJECTS)
    if known or text.lstrip()[:1] in ("{", "[", '"') or text in ("True", "False", "None", "NaN"):
        example = {"True": "true", "False": "false", "None": "null"}.get(text)
        advice = f"Write {example}." if example else f"It must be {_kind(name)}."
        raise InvalidInput(f"--gen {name}: {text!r:.120} is not JSON ({error}). {advice}")
    return text


def _check_kind(name: str, value: Any, text: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    wrong = (
        (name in _NUMBERS and value is not None and not is_number)
        or (name in _FLAGS and name != "logprobs" and not isinstance(value, bool | None))
        or (name in _OBJECTS and not isinstance(value, dict | list | None))
        or (isinstance(value, float) and not math.isfinite(value))
    )
    if wrong:
        raise InvalidInput(f"--gen {name} must be {_kind(name)}; got {text!r:.120}.")


def _kind(name: str) -> str:
    if name in _NUMBERS:
        return "a number"
    if name in _FLAGS:
        return "true or false"
    return """an object or a list in JSON, such as '{"enable_thinking": false}', in single quotes"""
