"""Measured errors and rounds of `passband gate --settle`, by the code that takes its looks.

200 problems; success rates of the base from Beta(.5, .7), those of the new model from them by a
normal deviate of 0.7 on the logit scale and a shift that makes the difference of the means what it
is to be. Both are drawn anew in every replicate. Each false verdict is allowed 0.025.

    python benchmarks/settle.py               300 replicates a cell: about ten minutes
    python benchmarks/settle.py --sets 1000   others
    python benchmarks/settle.py looks before  some of it
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from passband import Outcomes
from passband.run.settle.plan import SettlePlan
from passband.stats.decision.gate import LookErrors, check, rule, rule_at_look
from passband.stats.sequential.settle import looks_from

Floats = NDArray[np.float64]
PROBLEMS, TOLERANCE, ROUNDS = 200, 0.02, 32
DIFFERENCES = (0.0, -0.01, -0.02, 0.02, -0.05, -0.10)
FIXED = 29.4  # rounds of the fixed test that decides as often at no difference, by its power
FALSE = {0.0: ("regression",), -0.02: ("pass", "worse-within-tolerance"), 0.02: ("regression",)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["looks", "before", "five", "money"])
    parser.add_argument("--sets", type=int, default=300, help="replicates of a cell")
    options = parser.parse_args()
    for part in options.parts:
        {"looks": looks, "before": before, "five": five, "money": money}[part](options.sets)


def looks(sets: int) -> None:
    """Nine looks from the start, as in the plan of a run that is not there yet."""
    print(f"looks after {looks_from(0, ROUNDS)} rounds, {sets} replicates")
    for place, difference in enumerate(DIFFERENCES):
        rng = np.random.default_rng([1, place])
        report(difference, [settled(plan(0), *models(rng, difference)) for _ in range(sets)])


def before(sets: int) -> None:
    """A gate at full level on 8 rounds that were there, and settling where it was undecided."""
    print("8 rounds are there: settled at once, and after a gate on them at full level")
    for place, difference in enumerate((0.0, -0.02)):
        rng = np.random.default_rng([2, place])
        pairs = [models(rng, difference) for _ in range(sets)]
        ends = [settled(plan(8), *pair) for pair in pairs]
        report(difference, ends)
        gated = [fixed(*pair, rounds=8) for pair in pairs]
        joined = [
            end if verdict == "undecided" else (verdict, 8, math.nan)
            for verdict, end in zip(gated, ends, strict=True)
        ]
        report(difference, joined, "gate first")


def five(sets: int) -> None:
    """One of five comparisons: a regression is judged at a fifth of alpha."""
    print("one of five comparisons")
    for place, difference in enumerate((0.0, -0.05)):
        rng = np.random.default_rng([3, place])
        report(difference, [settled(plan(0, 5), *models(rng, difference)) for _ in range(sets)])


def money(sets: int) -> None:
    """The money ends in the middle of a round of the new model: all trials are looked at."""
    print("the money ends anywhere, one model ahead of the other")
    for place, difference in enumerate((0.0, -0.02)):
        rng = np.random.default_rng([4, place])
        report(difference, [cut(plan(0), *models(rng, difference), rng) for _ in range(sets)])


def cut(plan: SettlePlan, a: Floats, b: Floats, rng: np.random.Generator) -> tuple[str, int, float]:
    """Settle with trials for some rounds of one model, and fewer of the other."""
    complete = int(rng.integers(2, ROUNDS))
    ahead = min(look for look in plan.looks if look > complete)
    extra = np.arange(PROBLEMS) < rng.integers(PROBLEMS)
    taken = [look for look in plan.looks if look <= complete]
    for rounds in taken:
        errors = plan.errors_at(rounds, is_last=False)
        verdict, value = look_at(a[:, :rounds], b[:, :rounds], errors)
        if verdict != "undecided":
            return verdict, rounds, value
    paid = np.where(extra[:, None], b[:, : complete + 1], np.nan)
    paid[:, :complete] = b[:, :complete]
    worth = 2.0 * PROBLEMS / (PROBLEMS / ahead + (1.0 / (complete + extra)).sum())
    errors = plan.errors_at(worth, is_last=True, taken=taken[-1])
    verdict, value = look_at(a[:, :ahead], paid, errors)
    return verdict, ROUNDS, value


def look_at(a: Floats, b: Floats, errors: LookErrors) -> tuple[str, float]:
    """Return the verdict and the difference of one look."""
    sides = (Outcomes.from_array(side).accepting(["trials-related"]) for side in (a, b))
    made = check(*sides, "pass@1", tolerance=TOLERANCE, level=errors.level)
    return rule_at_look([made.evidence], errors)[0].verdict, made.comparison.value


def plan(there: int, comparisons: int = 1) -> SettlePlan:
    return SettlePlan(
        looks_from(there, ROUNDS), 0.05, comparisons, {}, {}, {}, None, ROUNDS, there, 0, None
    )


def models(rng: np.random.Generator, difference: float) -> tuple[Floats, Floats]:
    """Return the outcomes of both models, problems x rounds."""
    a = np.clip(rng.beta(0.5, 0.7, PROBLEMS), 1e-9, 1 - 1e-9)
    logit = np.log(a) - np.log1p(-a) + 0.7 * rng.standard_normal(PROBLEMS)
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        b = 1 / (1 + np.exp(-(logit + middle)))
        low, high = (middle, high) if b.mean() - a.mean() < difference else (low, middle)
    draws = rng.random((2, PROBLEMS, ROUNDS))
    return (draws[0] < a[:, None]).astype(float), (draws[1] < b[:, None]).astype(float)


def settled(plan: SettlePlan, a: Floats, b: Floats) -> tuple[str, int, float]:
    """Return the verdict, after how many rounds, and the difference that is shown then."""
    for rounds in plan.looks:
        errors = plan.errors_at(rounds, is_last=rounds == plan.looks[-1])
        verdict, value = look_at(a[:, :rounds], b[:, :rounds], errors)
        if verdict != "undecided":
            break
    return verdict, rounds, value


def fixed(a: Floats, b: Floats, rounds: int) -> str:
    """Return the verdict of a gate on these rounds alone."""
    sides = (Outcomes.from_array(side[:, :rounds]) for side in (a, b))
    return rule([check(*sides, "pass@1", tolerance=TOLERANCE).evidence])[0].verdict


def report(difference: float, ends: list[tuple[str, int, float]], label: str = "") -> None:
    """Print a cell, with the standard errors of its share and of its mean."""
    rounds = np.array([end[1] for end in ends], dtype=float)
    undecided = share(ends, ("undecided",))
    text = (
        f"{difference:+.2f}  rounds {rounds.mean():5.1f} +- {rounds.std() / len(ends) ** 0.5:.1f}"
        f"  saved {100 * (1 - rounds.mean() / FIXED):3.0f} %  undecided {undecided:.2f}"
    )
    if difference in FALSE:
        wrong = share(ends, FALSE[difference])
        error = math.sqrt(max(wrong, 1 / len(ends)) * (1 - wrong) / len(ends))
        verdict = "ok" if wrong <= 0.025 + 2 * error else "HIGH"
        text += f"  false {wrong:.3f} +- {error:.3f} {verdict}"
    shown = list(values(ends))
    if shown:
        text += f"  value at an early stop {np.mean(shown):+.4f}"
    print(text, label, flush=True)


def share(ends: list[tuple[str, int, float]], verdicts: tuple[str, ...]) -> float:
    return sum(end[0] in verdicts for end in ends) / len(ends)


def values(ends: list[tuple[str, int, float]]) -> Iterator[float]:
    for verdict, rounds, value in ends:
        if verdict != "undecided" and rounds < ROUNDS and not math.isnan(value):
            yield value


if __name__ == "__main__":
    main()
