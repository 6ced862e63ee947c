"""Simulated half-widths are those that `estimate` prints."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.decision.planning.simulation import SimulatedWidths, simulated_widths
from passband.stats.metric.registry import parse_metric

PILOT = Outcomes.from_counts([0, 0, 0, 1, 3, 5, 8, 0, 0, 2], 8)


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("metric", ["pass@1", "pass@4", "pass^4", "mg-pass@4", "bayes@1"])
def test_a_simulated_run_has_the_width_of_its_estimate(
    over: Any, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = parse_metric("bayes" if metric == "bayes@1" else metric)
    widths = simulated_widths(PILOT, wanted, over, 0.9)
    widths = replace(widths, laws=replace(widths.laws, margin=1.0))
    kept: list[np.ndarray] = []
    plain = SimulatedWidths._counts

    def counts(self: SimulatedWidths, *given: Any) -> Any:
        kept.append(plain(self, *given))
        return kept[-1]

    monkeypatch.setattr(SimulatedWidths, "_counts", counts)
    found = widths.at(12 if over == "problems" else None, 6)
    for row in range(0, 400, 57):
        successes = np.repeat(np.arange(7), kept[0][row].astype(int))
        result = estimate(Outcomes.from_counts(successes, 6), wanted.name, over=over, level=0.9)
        assert result.low is not None
        assert result.high is not None
        assert found[row] == pytest.approx((result.high - result.low) / 2.0, abs=1e-9)


def test_large_designs_are_scaled() -> None:
    widths = simulated_widths(PILOT, parse_metric("pass@1"), "problems", 0.95)
    assert widths.at(80_000, 4) == pytest.approx(widths.at(20_000, 4) / 2.0)
    over = simulated_widths(PILOT, parse_metric("pass@1"), "trials", 0.95)
    assert over.at(None, 256) == pytest.approx(over.at(None, 64) / 2.0)
    assert (over.at(20, 128) < over.at(20, 64)).all()
