"""Laws by stratum of the number of trials."""

import numpy as np

from passband import Outcomes
from passband.stats.interval.certify.laws import fitted_laws
from passband.stats.interval.fit.count_grid import points
from passband.stats.interval.request import mixture_of


def test_one_law_for_equal_trials() -> None:
    mixture = mixture_of(Outcomes.from_counts([0, 2, 3, 8] * 5, 8), 1)
    sharp, close = fitted_laws(mixture)
    assert (sharp.name, close.name) == ("sharp", "close")
    assert np.array_equal(close.at(8), mixture.close.weights)
    assert np.allclose(sharp.at(8).sum(), 1.0)
    assert sharp.at(8).max() > 2 * close.at(8).max()


def test_strata_have_their_own() -> None:
    outcomes = Outcomes.from_counts([0, 1] * 10 + [31, 32] * 10, [2] * 20 + [32] * 20)
    for law in fitted_laws(mixture_of(outcomes, 1)):
        few, many = (float(law.at(n) @ points()) for n in (2, 32))
        assert few < 0.5 < 0.9 < many
        assert np.array_equal(law.at(3), law.at(2))  # a number between strata has the lower one's
        assert np.array_equal(law.at(1), law.at(2))
