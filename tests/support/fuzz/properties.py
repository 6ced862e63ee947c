"""How many examples a cheap or a costly property gets, next to the Hypothesis profile's number.

The profiles are in conftest.py: "steady" for every day, "fuzz" for `make fuzz`.
"""

from hypothesis import settings


def one_in(divisor: int) -> settings:
    """Return settings with the profile's number of examples divided by `divisor`."""
    return settings(max_examples=max(1, settings().max_examples // divisor))


def times(factor: int) -> settings:
    """Return settings with the profile's number of examples multiplied by `factor`."""
    return settings(max_examples=settings().max_examples * factor)
