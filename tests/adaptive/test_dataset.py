"""Names of data sets."""

import pytest

from passband.adaptive.dataset import DatasetName, is_adaptive_name, parse_dataset
from passband.errors import InvalidInput, ScoreBookError, WrongType


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mmlu:adaptive", DatasetName("mmlu", True)),
        ("mmlu:adaptive:validation", DatasetName("mmlu", True, "validation")),
        ("mmlu:adaptive:*", DatasetName("mmlu", True, "*")),
        (
            "custom_dataset:adaptive:custom_split",
            DatasetName("custom_dataset", True, "custom_split"),
        ),
        ("banks/mine.jsonl:adaptive", DatasetName("banks/mine.jsonl", True)),
        ("mmlu", DatasetName("mmlu")),
        ("adaptive", DatasetName("adaptive")),
        ("inspect:gsm8k", DatasetName("inspect:gsm8k")),
        ("adaptive:adaptive", DatasetName("adaptive", True)),
    ],
)
def test_names_are_read(text: str, name: DatasetName) -> None:
    assert parse_dataset(text) == name
    assert str(parse_dataset(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "mmlu:validation:adaptive",
        "mmlu:adaptive:validation:extra",
        ":adaptive",
        "mmlu:adaptive:",
        "mmlu:adaptive: test",
        "mmlu :adaptive",
    ],
)
def test_malformed_names_are_refused(text: str) -> None:
    with pytest.raises(ScoreBookError) as caught:
        parse_dataset(text)
    assert str(caught.value) == (
        f"Invalid adaptive dataset format: {text!r}. Expected 'test_id:adaptive' or "
        "'test_id:adaptive:split_name'"
    )
    assert isinstance(caught.value, InvalidInput)


def test_only_text_is_a_name() -> None:
    with pytest.raises(WrongType, match="named by a string; got 3"):
        parse_dataset(3)  # type: ignore[arg-type]
    assert not is_adaptive_name(3)
