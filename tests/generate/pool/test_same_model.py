"""Whether lists of models show that addresses serve one model."""

import pytest

from passband.errors import InvalidInput
from passband.generate.pool.pool import Lists, differing_sources, refuse_other_models
from passband.generate.servers.models_endpoint import ServedModel


def lists(**names: str) -> Lists:
    """What each address lists, by the names of models, separated by commas."""
    return {address: tuple(map(ServedModel, text.split(","))) for address, text in names.items()}


@pytest.mark.parametrize(
    "listed",
    [
        lists(a="policy", b="policy"),
        lists(a="policy,critic", b="policy"),
        lists(a="policy:latest,other:latest", b="policy:latest"),  # as Ollama lists it
        lists(a="m.gguf", b="m.gguf"),  # a server that takes any name
        lists(a="x,y", b="y,z"),  # of gateways, which list what they like
        lists(a="x,y", b="policy-2024"),
        lists(a="policy"),
        {},
    ],
)
def test_one_model(listed: Lists) -> None:
    refuse_other_models("policy", listed)


@pytest.mark.parametrize(
    "listed",
    [
        lists(a="policy", b="critic"),
        lists(a="policy", b="policy", c="x,y"),
        lists(a="one.gguf", b="two.gguf"),
    ],
)
def test_different_models(listed: Lists) -> None:
    with pytest.raises(InvalidInput, match="serve different models"):
        refuse_other_models("policy", listed)


def test_a_long_list_is_cut() -> None:
    many = ",".join(f"m{number}" for number in range(50))
    with pytest.raises(InvalidInput, match="b has m0, m1, m2 and 47 more"):
        refuse_other_models("policy", lists(a="policy", b=many))


def test_the_same_place_needs_no_note() -> None:
    same = {"a": (ServedModel("policy", "/w"),), "b": (ServedModel("policy", "/w"),)}
    assert differing_sources("policy", same) is None
    assert differing_sources("policy", lists(a="policy", b="policy")) is None
