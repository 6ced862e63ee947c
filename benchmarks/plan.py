"""What plans promise and what runs then give: the share of widths met, and the power.

    python benchmarks/plan.py [--pilots 40] [--runs 5] [--only width|power]

Widths: a pilot of 30 problems, 8 trials each, `passband.plan_width` with its assurance of 0.8, then
runs of the planned size through `passband.estimate`. "met" is the share of runs whose printed
interval is as narrow as planned, with the standard error over pilots; "of oracle" is the planned
number (of problems; over trials, of trials) over the number that knowing the population would have
asked for, at the planned number of trials: its 10th percentile, median and 90th percentile.

Power: `passband.plan_difference` at power 0.8, first with the true variances, then from pilots of
30 x 8, and `passband.compare` on two models whose values correlate by 0.5 across problems.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from passband import Outcomes, compare, estimate, plan_difference, plan_width
from passband.stats.checks import Over
from passband.stats.decision.planning.simulation import Laws
from passband.stats.decision.planning.widths import least, widths_of
from passband.stats.interval.fit.count_grid import points

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
PROBLEMS, TRIALS, ASSURANCE = 30, 8, 0.8
HALF_WIDTHS: dict[Over, float] = {"problems": 0.05, "trials": 0.03}


def two_levels(rng: np.random.Generator, size: int) -> Floats:
    return np.where(rng.random(size) < 0.7, 0.05, 0.9)


def logit_normal(rng: np.random.Generator, size: int) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-rng.normal(-1.0, 1.5, size))))


POPULATIONS: dict[str, Draw] = {
    "Beta(.5,.7)": lambda rng, size: rng.beta(0.5, 0.7, size),
    "Beta(.1,2)": lambda rng, size: rng.beta(0.1, 2.0, size),
    "Beta(5,1)": lambda rng, size: rng.beta(5.0, 1.0, size),
    "70% .05, 30% .9": two_levels,
    "logit N(-1,1.5)": logit_normal,
    "Beta(.5,.05)": lambda rng, size: rng.beta(0.5, 0.05, size),
}


def outcomes(rng: np.random.Generator, rates: Floats, trials: int) -> Outcomes:
    return Outcomes.from_counts(rng.binomial(trials, rates), trials)


def half_width(data: Outcomes, metric: str, over: Over) -> float:
    result = estimate(data, metric, over=over)
    assert result.low is not None
    assert result.high is not None
    return (result.high - result.low) / 2.0


def on_points(rates: Floats) -> NDArray[np.int64]:
    """Count success probabilities by the nearest point of the grid."""
    middle = (points()[1:] + points()[:-1]) / 2.0
    return np.bincount(np.searchsorted(middle, rates), minlength=len(points()))


def oracle(data: Outcomes, metric: str, over: Over, rates: Floats, trials: int) -> int:
    """Return the number that is enough for these very success probabilities."""
    widths = widths_of(data, metric, over, 0.95, "drop")
    draws = len(widths.variances(trials)[0])
    tally = np.tile(on_points(rates), (draws, 1))
    widths = replace(widths, laws=Laws(tally / tally.sum(axis=1, keepdims=True), tally, 1.0, 1.0))

    def reached(number: int) -> float:
        design = (number, trials) if over == "problems" else (None, number)
        return float(np.quantile(widths.at(*design), ASSURANCE))

    result = least(reached, HALF_WIDTHS[over], 100, widths.fewest, 10**6)
    return result[0] if result else 10**6


def promise(name: str, metric: str, over: Over, pilots: int, runs: int) -> str:
    """Plan from many pilots, run the plans, and return a row of the table."""
    rng = np.random.default_rng(1)
    draw, wanted = POPULATIONS[name], HALF_WIDTHS[over]
    many = draw(rng, 200_000)
    known: dict[int, int] = {}
    met, ratios, sizes = [], [], []
    for _ in range(pilots):
        rates = draw(rng, PROBLEMS)
        pilot = outcomes(rng, rates, TRIALS)
        plan = plan_width(wanted, pilot=pilot, metric=metric, over=over, assurance=ASSURANCE)
        kept = over == "trials"
        if kept or plan.trials not in known:
            known[plan.trials] = oracle(pilot, metric, over, rates if kept else many, plan.trials)
        number = plan.trials if kept else plan.problems
        sizes.append(number)
        ratios.append(number / known[plan.trials])
        again = [
            outcomes(rng, rates if kept else draw(rng, plan.problems), plan.trials)
            for _ in range(runs)
        ]
        met.append(np.mean([half_width(run, metric, over) <= wanted for run in again]))
    share, error = np.mean(met), np.std(met) / pilots**0.5
    low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    return (
        f"{name:16} {metric:7} {over:9} {np.median(sizes):6.0f}   {share:.3f} ± {error:.3f}   "
        f"{low:.2f} {middle:.2f} {high:.2f}"
    )


# -- power -----------------------------------------------------------------------------------------

DELTA = 0.08
INNER: dict[str, Draw] = {
    ".1+.7 Beta(.7,.7)": lambda rng, size: 0.1 + 0.7 * rng.beta(0.7, 0.7, size),
    ".05+.8 Beta(1,3)": lambda rng, size: 0.05 + 0.8 * rng.beta(1.0, 3.0, size),
}


def pair(rng: np.random.Generator, draw: Draw, size: int) -> tuple[Floats, Floats]:
    """Draw two models whose values correlate by 0.5, the second better by DELTA."""
    one, other = draw(rng, size), draw(rng, size)
    return one, np.where(rng.random(size) < 0.5, one, other) + DELTA


def power(name: str, from_pilot: bool, runs: int) -> str:
    """Plan, run both models and compare them, and return a row of the table."""
    rng = np.random.default_rng(2)
    draw = INNER[name]
    a, b = pair(rng, draw, 200_000)
    found, by_interval, sizes = [], [], []
    for _ in range(runs):
        if from_pilot:
            pilot = outcomes(rng, draw(rng, PROBLEMS), TRIALS)
            plan = plan_difference(DELTA, pilot=pilot, trials=4)
        else:
            plan = plan_difference(
                DELTA,
                between=float((b - a).var()),
                within_a=float((a * (1 - a)).mean()),
                within_b=float((b * (1 - b)).mean()),
                trials=4,
            )
        sides = [outcomes(rng, side, 4) for side in pair(rng, draw, plan.problems)]
        result = compare(*sides, "pass@1")
        found.append(result.p_value < 0.05)
        by_interval.append(result.low is not None and result.low > 0.0)
        sizes.append(plan.problems)
    error = np.std(found) / runs**0.5
    source = "pilot" if from_pilot else "true variances"
    return (
        f"{name:18} {source:15} {np.median(sizes):6.0f}   {np.mean(found):.3f} ± {error:.3f}   "
        f"{np.mean(by_interval):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilots", type=int, default=40)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--compared", type=int, default=400)
    parser.add_argument("--only", choices=["width", "power"])
    options = parser.parse_args()
    began = time.process_time()
    if options.only != "power":
        print("population       metric  over      median   met             of oracle")
        for over in HALF_WIDTHS:
            for name in POPULATIONS:
                for metric in ("pass@1", "pass@4"):
                    print(promise(name, metric, over, options.pilots, options.runs), flush=True)
    if options.only != "width":
        print("population         variances       median   power           by interval")
        for name in INNER:
            for from_pilot in (False, True):
                print(power(name, from_pilot, options.compared), flush=True)
    print(f"{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
