"""Laws of the success probabilities that 0/1 data sets are simulated from.

Two laws for each stratum of the numbers of trials, so that a relation between trials and
difficulty is simulated as well. The *close* law is the smoothed fit that the default intervals
extrapolate with; the *sharp* law is nearly the best fit, a handful of probabilities. Noise that a
few problems carry is seen by the sharp law alone; it predicts best, and the close law shows how
much depends on the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.interval.fit.mixture import Mixture
from passband.types import Floats

__all__ = ["ProbabilityLaw", "fitted_laws"]


@dataclass(frozen=True, eq=False)
class ProbabilityLaw:
    """Weights of the success probabilities of the grid, by number of trials."""

    name: str
    fewest: tuple[int, ...]  # trials of each stratum, in rising order
    weights: Floats  # (strata, points)

    def at(self, n: int) -> Floats:
        """Return the weights for problems with n trials."""
        stratum = int(np.searchsorted(self.fewest, n, side="right")) - 1
        row: Floats = self.weights[max(stratum, 0)]
        return row


def fitted_laws(mixture: Mixture) -> tuple[ProbabilityLaw, ProbabilityLaw]:
    """Return the sharp and the close law of the problems."""
    strata = mixture.strata
    fewest = tuple(mixture.grid.ns[stratum.ns.start] for stratum in strata)
    sharp = np.stack([stratum.law.sharp.weights for stratum in strata])
    close = np.stack([stratum.law.close.weights for stratum in strata])
    return ProbabilityLaw("sharp", fewest, sharp), ProbabilityLaw("close", fewest, close)
