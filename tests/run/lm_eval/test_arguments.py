from __future__ import annotations

from typing import Any

import pytest

from passband.errors import ConflictingArguments, InvalidInput, PassbandWarning
from passband.run.lm_eval.arguments import (
    check_batch_size,
    gen_fields,
    named_model,
    read_arguments,
    read_limit,
)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, {}),
        ("  ", {}),
        ("a=1,b=0.5,c=x=y,", {"a": 1, "b": 0.5, "c": "x=y"}),
        ("d=None,e=true,f='7'", {"d": None, "e": True, "f": "7"}),
        ('{"until": ["a,b"]}', {"until": ["a,b"]}),
        ({"until": ["\n"]}, {"until": ["\n"]}),
    ],
)  # fmt: skip
def test_arguments_as_text_and_as_a_mapping(given: Any, read: dict[str, Any]) -> None:
    assert read_arguments(given, "gen_kwargs") == read


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("until=a,b", "'b' is not key=value. A value with a comma in it needs a mapping"),
        ("a=1,a=2", "a is given twice"),
        ("{a: 1}", "is not JSON"),
        (5, "must be key=value,key=value or a mapping; got 5"),
    ],
)
def test_arguments_that_cannot_be_read(given: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_arguments(given, "gen_kwargs")


ADDRESS = {"base_url": "http://a/v1"}
LONG = "base_url=http://a/v1/completions"


@pytest.mark.parametrize(
    ("model", "arguments", "read"),
    [
        ("tiny", None, ("tiny", {})),
        ("openai:m", "base_url=http://a/v1,timeout=5", ("openai:m", {**ADDRESS, "timeout": 5})),
        ("local-completions", f"model=m,{LONG}", ("openai-completions:m", ADDRESS)),
        ("openai-chat-completions", {"pretrained": "m", "truncate": False}, ("openai:m", {})),
        ("anthropic-chat-completions", "model=claude", ("anthropic:claude", {})),
        ("local-chat-completions", "model=m,num_concurrent=8", ("openai:m", {"concurrency": 8})),
    ],
)  # fmt: skip
def test_models_by_the_names_of_lm_eval(model: str, arguments: Any, read: Any) -> None:
    assert named_model(model, arguments) == read


@pytest.mark.parametrize(
    ("model", "arguments", "told"),
    [
        ("local-chat-completions", "base_url=http://a", "needs a model"),
        ("vllm", "pretrained=a/b", "vllm serve a/b.*openai:a/b"),
        ("openai:m", "model=n", "name a model each"),
        ("openai:m", "nun_concurrent=8", "Did you mean 'num_concurrent'"),
        ("openai:m", "num_concurrent=0", "num_concurrent must be a whole number, 1 or more"),
        ("openai:m", "timeout=soon", "timeout must be a number above 0; got 'soon'"),
        ("openai:m", {"base_url": 5}, "base_url must be text; got 5"),
        ("openai:m", "max_gen_toks=5", "give it in gen_kwargs"),
        ("openai:m", "auth_token=secret", "OPENAI_API_KEY"),
    ],
)
def test_models_that_cannot_be(model: str, arguments: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as raised:
        named_model(model, arguments)
    assert "secret" not in str(raised.value)


def test_what_has_no_effect_is_said() -> None:
    with pytest.warns(PassbandWarning, match="no effect here.*: tokenizer, max_retries"):
        named_model("openai:m", "tokenizer=gpt2,max_retries=3")


def test_fields_of_requests() -> None:
    assert gen_fields("temperature=0.7,do_sample=True", {"top_p": None}) == {
        "temperature": 0.7,
        "do_sample": True,
    }
    assert gen_fields({"until": ["a", "b"], "min_p": None}, {}) == {
        "until": ["a", "b"],
        "min_p": None,
    }
    with pytest.raises(InvalidInput, match="gen_kwargs must be plain values"):
        gen_fields({"top_k": {1, 2}}, {})
    with pytest.raises(ConflictingArguments, match="temperature and temperature of gen_kwargs"):
        gen_fields("temperature=0", {"temperature": 1.0})


def test_limits_and_batches() -> None:
    assert [read_limit(one) for one in (None, 3, 3.0, 0.25)] == [
        (None, None),
        (3, None),
        (3, None),
        (None, 0.25),
    ]
    for wrong in (0, -1, 0.0, True, "5", float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match="limit"):
            read_limit(wrong)
    for size in (None, 4, "4", "auto", "auto:2"):
        check_batch_size(size)
    for size in (True, 0, "many", 1.5):  # type: ignore[assignment]
        with pytest.raises(InvalidInput, match="batch_size"):
            check_batch_size(size)
