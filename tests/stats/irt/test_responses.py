"""Evidence: what it weighs, and what is refused."""

import math

import numpy as np
import pytest

from passband.errors import InvalidInput, WrongType
from passband.stats.irt.items import Items
from passband.stats.irt.responses import (
    ItemEvidence,
    as_rho,
    check_evidence,
    effective_trials,
    weighted,
)
from support.samples.irt_banks import bank


def test_effective_trials_by_hand() -> None:
    assert effective_trials(5, 0.5) == 5 / 3  # 5 / (1 + 4/2)
    assert effective_trials(1, 0.7) == 1.0


def test_evidence_on_one_item_is_weighed_together() -> None:
    items = bank("2pl", 3)
    seen = weighted(
        items, [ItemEvidence(1, 1.0, 2), ItemEvidence(0, 0.0), ItemEvidence(1, 0.0, 2)], 0.5
    )
    assert seen.weights.tolist() == [0.8, 1.0, 0.8]  # 4 trials are worth 4 / (1 + 3/2) = 1.6
    assert seen.items.a.tolist() == items.a[[1, 0, 1]].tolist()


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (ItemEvidence(3, 1.0), "item 3 is not in the bank, which has 3 items"),
        (ItemEvidence(-1, 1.0), "item -1 is not in the bank"),
        (ItemEvidence(0, 1.5), "score of item 0 must be between 0 and 1; got 1.5"),
        (ItemEvidence(0, math.nan), "score of item 0"),
        (ItemEvidence(0, 1.0, 0), "trials of item 0 must be 1 or more; got 0"),
    ],
)
def test_what_is_refused(evidence: ItemEvidence, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_evidence(bank("2pl", 3), evidence)


def test_grades_must_be_exact() -> None:
    items = Items("graded", a=np.array([1.0]), steps=np.array([[-1.0, 0.0, 1.0]]))
    check_evidence(items, ItemEvidence(0, 0.333333333))
    check_evidence(items, ItemEvidence(0, 1.0, 4))
    with pytest.raises(InvalidInput, match=r"must be one of 0, 0\.3333, 0\.6667, 1; got 0\.5"):
        check_evidence(items, ItemEvidence(0, 0.5))
    with pytest.raises(InvalidInput, match="does not say which grades"):
        check_evidence(items, ItemEvidence(0, 1 / 3, 2))


def test_rho_and_positions_are_checked() -> None:
    with pytest.raises(InvalidInput, match="rho must be between 0 and 1"):
        as_rho(1.5)
    with pytest.raises(WrongType, match="position in the bank"):
        check_evidence(bank("2pl", 3), ItemEvidence(1.0, 1.0))  # type: ignore[arg-type]
