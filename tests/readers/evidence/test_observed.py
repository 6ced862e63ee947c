"""Some places of all, and answers by number."""

import numpy as np
import pytest

from passband.readers.evidence.observed import ANSWERS, EACH, AnswerTexts, some_places


@pytest.mark.parametrize("counts", [[1], [0, 3], [40, 2], [4] * 5_000, [200] * 900])
def test_some_places_are_of_first_trials(counts: list[int]) -> None:
    offsets = np.cumsum([0, *counts])
    places, few = some_places(offsets)
    problem = np.searchsorted(offsets, places, side="right") - 1
    assert (places - offsets[problem] < EACH).all()
    assert len(places) == few[-1] <= max(ANSWERS, EACH)
    assert len(set(places.tolist())) == len(places)
    step = -(-len(counts) // (len(few) - 1))
    assert np.diff(few).tolist() == [min(count, EACH) for count in counts[::step]]


def test_short_answers_are_told_apart_by_their_mean_length() -> None:
    assert AnswerTexts.of_rows([["A", "B"]]).is_short
    assert not AnswerTexts.of_rows([["a" * 30, None]]).is_short
