"""Weights of strata: what adds up, what is scaled aloud, what is refused."""

import math

import pytest

from passband.errors import InvalidInput, UnknownName, WrongType
from passband.stats.interval.strata.weights import shares_of

SIZES = {"algebra": 30, "geometry": 10}


def test_rounded_shares_and_counts_are_scaled_aloud() -> None:
    exact = shares_of({"algebra": 0.7, "geometry": 0.3}, SIZES)
    assert exact.notes == ()
    rounded = shares_of({"algebra": 0.667, "geometry": 0.332}, SIZES)
    assert rounded.values["algebra"] == pytest.approx(0.667 / 0.999)
    assert str(rounded.notes[0]) == "the weights add up to 0.999 and were divided by that"
    counts = shares_of({"algebra": 1187, "geometry": 479}, SIZES)
    assert counts.values["geometry"] == pytest.approx(479 / 1666)
    assert str(counts.notes[0]) == "the weights are read as counts, of 1666 in all"
    assert math.fsum(counts.values.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"algebra": 0.7, "geometry": 0.4}, r"add up to 1; these add up to 1\.1"),
        ({"algebra": 1.2, "geometry": -0.2}, "must be a number of at least 0; got -0.2"),
        ({"algebra": math.nan, "geometry": 1.0}, "must be a number of at least 0; got nan"),
        ({"algebra": math.inf, "geometry": 1.0}, "must be a number of at least 0; got inf"),
        ({"algebra": 0, "geometry": 0}, "must not all be 0"),
        ({"algebra": 1.0}, "stratum 'geometry' has none"),
    ],
)
def test_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        shares_of(weights, SIZES)


def test_unknown_stratum_and_wrong_types() -> None:
    with pytest.raises(UnknownName, match=r"no stratum 'algebar' in these data\. Did you mean"):
        shares_of({"algebar": 0.5, "geometry": 0.5}, SIZES)
    with pytest.raises(WrongType, match="'equal', 'size' or a mapping"):
        shares_of("macro", SIZES)
    with pytest.raises(WrongType, match=r"must be a number; got '0\.5'"):
        shares_of({"algebra": "0.5", "geometry": 0.5}, SIZES)  # type: ignore[dict-item]


def test_weight_zero_leaves_a_stratum_out_of_the_mean() -> None:
    assert shares_of({"algebra": 1, "geometry": 0}, SIZES).values == {"algebra": 1, "geometry": 0}
