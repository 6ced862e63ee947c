"""What a reply is kept under."""

from __future__ import annotations

from itertools import product

from passband.score.judge.call import content_key


def test_everything_is_part_of_the_key() -> None:
    variants = list(
        product(("j", "k"), ("p", "q"), ({"a": "1", "b": "2"}, {"a": "12", "b": ""}), ((0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 0, 2)), ("", "Hm."))  # noqa: E501
    )  # fmt: skip
    keys = {content_key(*variant) for variant in variants}
    assert len(keys) == len(variants)
    assert all(len(bytes.fromhex(key)) == 16 for key in keys)


def test_a_key_survives_odd_text() -> None:
    assert content_key("j", "p", {"a": "\ud800\x00"}, (0, 0, 1)) == content_key(
        "j", "p", {"a": "\ud800\x00"}, (0, 0, 1)
    )
