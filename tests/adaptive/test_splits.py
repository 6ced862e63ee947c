"""Which split is used."""

import logging

import pytest

from passband.adaptive.dataset import resolve_split, resolve_splits
from passband.errors import InvalidInput, ScoreBookError


def test_validation_comes_before_test(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "passband.adaptive")
    assert resolve_split("x:adaptive", None, ["train", "test", "validation"]) == "validation"
    assert resolve_split("x:adaptive", None, ["train", "test"]) == "test"
    assert caplog.messages == [
        "Using 'validation' split for x:adaptive",
        "Using 'test' split for x:adaptive",
    ]


def test_a_named_split_is_taken_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "passband.adaptive")
    assert resolve_split("x:adaptive", "train", ["train", "test"]) == "train"
    assert not caplog.messages


def test_the_two_messages() -> None:
    with pytest.raises(ScoreBookError) as caught:
        resolve_split("my_dataset:adaptive", "train", ["validation", "test"])
    assert str(caught.value) == (
        "Specified split 'train' not found for dataset 'my_dataset:adaptive'. "
        "Available splits: ['validation', 'test']"
    )
    with pytest.raises(ScoreBookError) as caught:
        resolve_split("broken_dataset:adaptive", None, ["train"])
    assert str(caught.value) == (
        "No suitable split found for dataset 'broken_dataset:adaptive'. "
        "Expected 'validation' or 'test' split. Available splits: ['train']"
    )


def test_the_order_can_be_chosen() -> None:
    assert resolve_split("x:adaptive", None, ["dev", "test"], ("dev", "test")) == "dev"
    with pytest.raises(ScoreBookError, match="Expected 'a', 'b' or 'c' split"):
        resolve_split("x:adaptive", None, ["test"], ("a", "b", "c"))
    with pytest.raises(InvalidInput, match="list of names"):
        resolve_split("x:adaptive", None, ["test"], "test")


def test_a_star_is_all_splits() -> None:
    assert resolve_splits("x:adaptive", "*", ["train", "test"]) == ("train", "test")
    assert resolve_splits("x:adaptive", None, ["train", "test"]) == ("test",)
    with pytest.raises(ScoreBookError, match=r"Available splits: \[\]"):
        resolve_splits("x:adaptive", "*", [])
