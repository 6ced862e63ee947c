"""The batched formulas of the coverage benchmark are those of the package."""

import sys
from pathlib import Path

import numpy as np
import pytest

from passband.stats.judged import corrected

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))
judge_batch = pytest.importorskip("judge_batch")
judge_data = pytest.importorskip("judge_data")


@pytest.mark.parametrize("design", ["spread", "trial", "problem", "verdict"])
@pytest.mark.parametrize(("trials", "labels"), [("1-8", 30), ("3", 70)])
def test_ends_are_those_of_corrected(design: str, trials: str, labels: int) -> None:
    population = judge_data.Population("uniform", (1.0, 1.0))
    judge = judge_data.Judge("lenient", 0.97, 0.8, failed=0.03)
    cell = judge_data.Cell(population, judge, design, 40, trials, labels)
    batch = judge_batch.Batch.draw(cell, 6, np.random.default_rng(labels))
    estimates = judge_batch.Corrected(batch)
    for over in ("problems", "trials"):
        low, high = estimates.ends(over)
        for index in np.flatnonzero(~batch.is_small).tolist():
            result = corrected(batch.judged(index), over=over)
            assert estimates.value[index] == pytest.approx(result.value)
            assert low[index] == pytest.approx(result.low)
            assert high[index] == pytest.approx(result.high)
