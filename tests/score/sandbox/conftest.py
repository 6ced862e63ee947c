"""Sandboxes that the tests of a file share."""

from collections.abc import Iterator

import pytest

from passband.score.sandbox.zygotes import Zygotes
from support.sandboxes.sandboxes import opened


@pytest.fixture(scope="module")
def confined() -> Iterator[Zygotes]:
    """Return a sandbox of bubblewrap with one zygote."""
    yield from opened("bubblewrap")


@pytest.fixture(scope="module", params=["bubblewrap", "none"])
def anywhere(request: pytest.FixtureRequest) -> Iterator[Zygotes]:
    """Return each kind of sandbox; hostile programs are not for these."""
    yield from opened(request.param)
