"""Arguments in the words of lm-evaluation-harness: model_args, gen_kwargs, batch_size, limit."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from passband.errors import ConflictingArguments, InvalidInput, nearest, warn
from passband.generate import Model
from passband.tasks import LENGTH_NAMES, read_gen

Arguments = str | Mapping[str, Any] | None

_SERVED = {
    "local-chat-completions": "openai",
    "openai-chat-completions": "openai",
    "local-completions": "openai-completions",
    "openai-completions": "openai-completions",
    "anthropic-chat": "anthropic",
    "anthropic-chat-completions": "anthropic",
}
_LOADED = (
    "hf", "hf-auto", "hf-multimodal", "hf-mistral3", "huggingface", "vllm", "vllm-vlm", "sglang",
    "gguf", "ggml", "mamba_ssm", "nemo_lm", "megatron_lm", "openvino", "neuronx", "optimum_lm",
    "ipex", "habana", "steered", "winml",
)  # fmt: skip
_OPTIONS = {"base_url": "base_url", "num_concurrent": "concurrency", "timeout": "timeout"}
_NAMES = ("model", "pretrained")
_NO_EFFECT = (
    "tokenizer", "tokenizer_backend", "tokenized_requests", "use_fast_tokenizer", "max_length",
    "trust_remote_code", "add_bos_token", "custom_prefix_token_id", "revision", "max_retries",
    "seed", "batch_size", "max_images",
)  # fmt: skip
_REFUSED = {
    "max_gen_toks": "give it in gen_kwargs, where it holds for every task",
    "eos_string": "give it in gen_kwargs, as until",
    "auth_token": "put the key into the variable OPENAI_API_KEY",
    "header": "headers may be secrets; put the key into the variable OPENAI_API_KEY",
    "truncate": "prompts are sent whole",
    "verify_certificate": "certificates are always verified",
    "ca_cert_path": "name the file in the variable SSL_CERT_FILE",
}
_PATHS = re.compile(r"/(?:chat/completions|completions|messages)/*$")


def read_arguments(given: Arguments, what: str) -> dict[str, Any]:
    """Return arguments that are given as key=value,key=value, as JSON, or as a mapping.

    >>> read_arguments("model=a/b,num_concurrent=8,tokenized_requests=False", "model_args")
    {'model': 'a/b', 'num_concurrent': 8, 'tokenized_requests': False}
    """
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if not isinstance(given, str):
        raise InvalidInput(f"{what} must be key=value,key=value or a mapping; got {given!r:.60}.")
    if given.lstrip().startswith("{"):
        return _json(given, what)
    arguments: dict[str, Any] = {}
    for piece in filter(None, given.split(",")):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(
                f"{what}: {piece!r:.60} is not key=value. A value with a comma in it needs a "
                "mapping instead of text."
            )
        if name.strip() in arguments:
            raise InvalidInput(f"{what}: {name.strip()} is given twice.")
        arguments[name.strip()] = _value(value.strip())
    return arguments


def _json(text: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{what} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be an object; got {text!r:.60}.")
    return value


def _value(text: str) -> Any:
    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# -- the model -----------------------------------------------------------------------------


def named_model(model: Model, model_args: Arguments) -> tuple[Model, dict[str, Any]]:
    """Return a model by passband's name, and the options of a run that model_args give.

    >>> named_model("local-chat-completions", "model=qwen,base_url=http://a/v1/chat/completions")
    ('openai:qwen', {'base_url': 'http://a/v1'})
    """
    arguments = read_arguments(model_args, "model_args")
    if not isinstance(model, str):
        if arguments:
            raise InvalidInput("model_args are for a model that is given by its name.")
        return model, {}
    if model in _LOADED:
        raise InvalidInput(_how_to_serve(model, arguments))
    names = [str(arguments.pop(key)) for key in _NAMES if arguments.get(key) is not None]
    if model in _SERVED:
        if not names:
            raise InvalidInput(f"{model} needs a model: model_args='model=NAME,base_url=URL'.")
        model = f"{_SERVED[model]}:{names[0]}"
    elif names:
        raise ConflictingArguments(f"model {model!r} and model_args name a model each.")
    return model, _options(arguments)


def _how_to_serve(model: str, arguments: Mapping[str, Any]) -> str:
    name = next((arguments[key] for key in reversed(_NAMES) if arguments.get(key)), "NAME")
    return (
        f"{model!r} loads a model into the process, and passband asks servers. Serve it, for "
        f"example with `vllm serve {name}`, and give model='openai:{name}' and "
        "base_url='http://localhost:8000/v1'."
    )


def _options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    unused = []
    for name, value in arguments.items():
        if name in _OPTIONS:
            options[_OPTIONS[name]] = _address(value) if name == "base_url" else value
        elif name in _NO_EFFECT:
            unused.append(name)
        elif name not in _REFUSED:
            hint = nearest(name, [*_NAMES, *_OPTIONS, *_NO_EFFECT])
            raise InvalidInput(f"model_args: there is no argument {name!r}.{hint}")
        elif value:  # False and None are what lm-eval does by default
            raise InvalidInput(f"model_args: {name}: {_REFUSED[name]}.")
    if unused:
        warn(f"model_args: no effect here, since the server decides: {', '.join(unused)}.")
    _check_number("num_concurrent", options.get("concurrency"), whole=True)
    _check_number("timeout", options.get("timeout"))
    return options


def _address(url: Any) -> str:
    """Return an address without the path of its endpoint, which lm-eval wants and passband adds."""
    if not isinstance(url, str):
        raise InvalidInput(f"model_args: base_url must be text; got {url!r:.60}.")
    return _PATHS.sub("", url)


def _check_number(name: str, value: Any, *, whole: bool = False) -> None:
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and value > 0):
        kind = "a whole number, 1 or more" if whole else "a number above 0"
        raise InvalidInput(f"model_args: {name} must be {kind}; got {value!r:.60}.")


def is_plain_text(model: Model) -> bool:
    """Return whether a model completes texts, so that there are no turns of a conversation."""
    return isinstance(model, str) and model.startswith("openai-completions:")


# -- the rest ------------------------------------------------------------------------------


def gen_fields(gen_kwargs: Arguments, single: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of gen_kwargs; `single` are settings that have arguments of their own."""
    fields = read_arguments(gen_kwargs, "gen_kwargs")
    for name, value in single.items():
        names = (name, *(LENGTH_NAMES if name == "max_tokens" else ()))
        twice = [one for one in names if one in fields]
        if twice and value is not None:
            raise ConflictingArguments(f"{name} and {twice[0]} of gen_kwargs are the same setting.")
    try:
        words = [f"{k}={'' if v is None else json.dumps(v)}" for k, v in fields.items()]
        return read_gen(words)
    except TypeError as error:
        raise InvalidInput(f"gen_kwargs must be plain values: {error}.") from None
    except InvalidInput as error:
        raise InvalidInput(str(error).replace("--gen", "gen_kwargs:")) from None


def check_batch_size(size: int | str | None) -> None:
    """Check a batch size of lm-eval; servers decide on batches themselves."""
    if size is None or (isinstance(size, str) and re.fullmatch(r"auto(:[0-9.]+)?", size)):
        return
    text = str(size)
    if isinstance(size, bool) or not text.isdecimal() or int(text) < 1:
        raise InvalidInput(f"batch_size must be a whole number, 1 or more, or auto; got {size!r}.")


def read_limit(limit: Any) -> tuple[int | None, float | None]:
    """Return a limit as a number of problems, or as the share of them.

    >>> read_limit(10), read_limit(10.0), read_limit(0.1)
    ((10, None), (10, None), (None, 0.1))
    """
    if limit is None:
        return None, None
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if is_number and 0 < limit < 1:
        return None, float(limit)
    if is_number and isinstance(limit, float) and limit == 1:
        raise InvalidInput("limit=1.0 may mean one problem or all; give 1, or None for all.")
    if not is_number or limit < 1 or not float(limit).is_integer():
        raise InvalidInput(
            f"limit must be a whole number, 1 or more, or a share between 0 and 1; got {limit!r}."
        )
    return int(limit), None
