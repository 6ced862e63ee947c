"""Addresses of clusters: what is one, what was meant, and what is not repeated."""

from __future__ import annotations

import pytest

from passband.cluster.address import Address, parse_address, resolved
from passband.errors import InvalidInput

HEAD = "10.0.0.7"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ray", Address("found")),
        (" ray\n", Address("found")),
        ("ray://head", Address("client", "head", 10001)),
        ("ray://head.example:7", Address("client", "head.example", 7)),
        (f"{HEAD}:6379", Address("gcs", HEAD, 6379)),
        ("[::1]:6379", Address("gcs", "[::1]", 6379)),
    ],
)
def test_addresses_that_are_some(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Ray", "Did you mean 'ray'"),
        ("auto", "Did you mean 'ray'"),
        (HEAD, f"Did you mean 'ray://{HEAD}:10001'"),
        ("http://head:8265", "Did you mean 'ray://head:8265'"),
        ("ray:/head:10001", "Did you mean 'ray://head:10001'"),
        ("ray://head:0", "a port is a number"),
        ("head:99999", "a port is a number"),
        ("garbage!!", "no address of Ray"),
        ("", "no address of Ray"),
        ("ray://", "no address of Ray"),
    ],
)
def test_addresses_that_are_none(text: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_address(text)
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    "text", ["ray://me:pa55@head:10001", "pa55@head:6379", "ray://head?token=pa55", "head:1#pa55"]
)
def test_what_may_be_secret_is_not_repeated(text: str) -> None:
    with pytest.raises(InvalidInput, match="without a user, a password") as refused:
        parse_address(text)
    assert "pa55" not in str(refused.value)


def test_ray_is_what_the_variable_says() -> None:
    found = Address("found")
    assert resolved(found, {}) == found
    assert resolved(found, {"RAY_ADDRESS": "auto"}) == found
    assert resolved(found, {"RAY_ADDRESS": "local"}) == Address("new")
    assert resolved(found, {"RAY_ADDRESS": f"{HEAD}:6379"}) == Address("gcs", HEAD, 6379)
    named = Address("gcs", "head", 1)
    assert resolved(named, {"RAY_ADDRESS": "other:2"}) == named
    with pytest.raises(InvalidInput, match="RAY_ADDRESS"):
        resolved(found, {"RAY_ADDRESS": "garbage!!"})
