"""Measured error and cost of stopping: the width rule, the proof, repeated looks, stopped logs.

Problems are drawn anew in every replicate from a law of success rates, trials are independent. A
cell prints its coverage or its error with the standard error of that, what it costs as a multiple
of the fixed design that would have been right (whose size nobody knows beforehand), and ok; SHORT
where it misses what is demanded by more than two standard errors.

    python benchmarks/sequential.py                 everything, a few hundred replicates a cell
    python benchmarks/sequential.py width proof     some of it
    python benchmarks/sequential.py --full          five times the replicates
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from passband import Outcomes, estimate
from passband.stats.sequential.allocate import sizes_from
from passband.stats.sequential.bernstein import BernsteinSequence, Rounds
from passband.stats.sequential.settle import LookPlan, plan_looks, take_look
from passband.stats.sequential.stopped_logs import (
    StoppingRule,
    detect_by_counts,
    detect_by_order,
    estimate_stopped,
)
from passband.stats.sequential.width import FORECAST_AFTER, WidthRule, forecast, guard, look_at

Floats = NDArray[np.float64]
Rng = np.random.Generator
Z = NormalDist().inv_cdf(0.975)

LAWS: dict[str, Callable[[Rng, int], Floats]] = {
    "B(.3,.5)": lambda rng, m: rng.beta(0.3, 0.5, m),
    "B(5,1)": lambda rng, m: rng.beta(5, 1, m),
    "two": lambda rng, m: rng.choice([0.02, 0.6], m),
    "easy": lambda rng, m: rng.beta(30, 0.6, m),
    "hard": lambda rng, m: rng.beta(0.05, 2, m),
}

#: law, problems, half-width; the most that a run may cost, as a multiple of the oracle
WIDTH = [
    ("easy", 100, 0.01, 1.22), ("easy", 200, 0.01, 1.20), ("hard", 30, 0.02, 1.81),
    ("hard", 100, 0.01, 1.28), ("B(.3,.5)", 30, 0.05, 1.18), ("B(.3,.5)", 500, 0.01, 1.05),
    ("B(5,1)", 200, 0.03, 1.05), ("two", 100, 0.02, 1.05),
]  # fmt: skip
PROOF = [
    ("B(.3,.5)", 30, 0.02, 2.32), ("B(.3,.5)", 30, 0.05, 3.12), ("B(.3,.5)", 100, 0.02, 2.52),
    ("B(.3,.5)", 200, 0.01, 2.25), ("B(5,1)", 30, 0.02, 2.25), ("B(5,1)", 500, 0.01, 2.30),
    ("two", 200, 0.01, 2.18), ("easy", 30, 0.02, 3.82), ("easy", 100, 0.01, 3.07),
    ("hard", 200, 0.01, 3.64),
]  # fmt: skip
PASS_AT_4 = [("B(.3,.5)", 100, 0.03), ("B(5,1)", 200, 0.01), ("two", 100, 0.03)]
LIKE_THESE = [("B(.3,.5)", 500, 0.037), ("B(5,1)", 200, 0.024), ("two", 500, 0.027)]


def oracle(law: str, problems: int, h: float) -> int:
    """Return the whole rounds of the fixed design with this half-width, at least 2."""
    p = LAWS[law](np.random.default_rng(1), 1_000_000)
    return max(2, math.ceil(Z**2 * float((p * (1 - p)).mean()) / (problems * h**2)))


def cells(cells_of: list[tuple[str, int, float, float]], sets: int) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Yield every cell with its replicates: rates, and the generator of their trials."""
    for number, (law, problems, h, most) in enumerate(cells_of):
        rng = np.random.default_rng([17, number])
        yield law, problems, h, most, [LAWS[law](rng, problems) for _ in range(sets)], rng


def draw(rng: Rng, p: Floats, rounds: int) -> Floats:
    return (rng.random((len(p), rounds)) < p[:, None]).astype(np.float64)


# -- the width rule ----------------------------------------------------------------------------


def width(sets: int) -> None:
    """Measure the guarded rule, and how often a naive interval, peeked at, is ever wrong."""
    print(f"width rule, pass@1 of these problems, {sets} replicates")
    print("law          M    h     cover  s.e.   cost   half/h  bias/h  naive  forecast 10-90 %")
    for law, problems, h, most, rates, rng in cells(WIDTH, sets):
        best = oracle(law, problems, h)
        held, cost, half, bias, naive, ahead = [], [], [], [], [], []
        for p in rates:
            scores = draw(rng, p, 8 * best)
            rule = WidthRule(h, scores.shape[1])
            for t in rule.looks():
                if guard(Outcomes.from_array(scores[:, :t])) > h:
                    continue  # the hull is at least as wide as the guard
                look = look_at(rule, Rounds(scores), t)
                if look.half_width <= h:
                    break
            ends, truth = look.estimate, float(p.mean())
            held.append(ends.low <= truth <= ends.high)
            cost.append(t / best)
            half.append(look.half_width / h)
            bias.append((ends.value - truth) / h)
            naive.append(naive_stop(scores, h, truth))
            if t > FORECAST_AFTER:
                early = look_at(rule, Rounds(scores), FORECAST_AFTER)
                ahead.append((forecast(rule, early, Rounds(scores)) or 0) / t)
        cover, error = share(held)
        # `most` is for a rule whose hull may exceed h by 6 % when it stops; this one's never does.
        good = cover + 2 * error >= 0.95 and is_cheap(cost, 1.05 * most)
        print(
            f"{law:10} {problems:4} {h:.2f}  {cover:.3f}  {error:.3f}  {np.mean(cost):.2f}   "
            f"{max(half):.3f}   {np.mean(bias):+.3f}  {np.mean(naive):.3f}  "
            f"{quantiles(ahead)}  {verdict(good)}"
        )


def quantiles(ratios: list[float]) -> str:
    if not ratios:
        return "     -     "
    low, high = np.quantile(ratios, [0.1, 0.9])
    return f"{low:.2f} - {high:.2f}"


def naive_stop(scores: Floats, h: float, truth: float) -> bool:
    """Return whether a normal interval holds the truth when it is first narrow enough."""
    problems = len(scores)
    for t in range(2, scores.shape[1] + 1):
        c = scores[:, :t].sum(axis=1)
        reach = Z * math.sqrt(float((c * (t - c)).sum()) / (t - 1)) / (problems * t)
        if reach <= h:
            return bool(abs(float(c.mean()) / t - truth) <= reach)
    return False


def curve(sets: int) -> None:
    """Measure the rule on the default interval: pass@4, and problems like these."""
    print(f"default interval, stopped by width, {sets} replicates")
    print("metric  over      law          M    h      cover  s.e.   rounds  reached")
    for law, problems, h in PASS_AT_4:
        default_rule(law, problems, h, "pass@4", "trials", sets)
    for law, problems, h in LIKE_THESE:
        default_rule(law, problems, h, "pass@1", "problems", sets)


def default_rule(law: str, problems: int, h: float, metric: str, over: str, sets: int) -> None:
    rng = np.random.default_rng([19, problems, int(1e4 * h)])
    everything = float(LAWS[law](np.random.default_rng(1), 1_000_000).mean())
    held, rounds, reached = [], [], []
    for _ in range(sets):
        p = LAWS[law](rng, problems)
        scores = draw(rng, p, 64)
        rule = WidthRule(h, 64, metric, over)  # type: ignore[arg-type]
        for t in rule.looks():
            look = look_at(rule, Rounds(scores), t)
            if look.half_width <= h:
                break
        truth = everything if over == "problems" else float((1 - (1 - p) ** 4).mean())
        reached.append(look.half_width <= h)
        held.append(look.estimate.low <= truth <= look.estimate.high)
        rounds.append(t)
    cover, error = share(held)
    print(
        f"{metric}  {over:8}  {law:10} {problems:4} {h:.3f}  {cover:.3f}  {error:.3f}  "
        f"{np.mean(rounds):5.1f}   {np.mean(reached):.2f}  {verdict(cover + 2 * error >= 0.93)}"
    )


# -- the proof ---------------------------------------------------------------------------------


def proof(sets: int) -> None:
    """Measure the empirical-Bernstein sequence to five times the oracle, and naive peeking."""
    print(f"proof, pass@1 of these problems, {sets} replicates")
    print("law          M    h     cover  s.e.   cost   ever   naive ever  reached")
    for law, problems, h, most, rates, rng in cells(PROOF, sets):
        best = oracle(law, problems, h)
        held, cost, ever, naive, reached = [], [], [], [], []
        for p in rates:
            truth = float(p.mean())
            scores = draw(rng, p, 5 * best)
            sequence, stop, wrong, at_stop = BernsteinSequence(h), None, False, True
            for t in range(1, scores.shape[1] + 1):
                sequence.add(scores[:, t - 1])
                ends = sequence.ends()
                is_wrong = not ends.low <= truth <= ends.high
                wrong |= is_wrong
                if stop is None and ends.half_width <= h:
                    stop, at_stop = t, not is_wrong
            held.append(at_stop)
            reached.append(stop is not None)
            cost.append((stop or scores.shape[1]) / best)
            ever.append(wrong)
            naive.append(naive_ever(scores, truth))
        cover, error = share(held)
        alarms, deviation = share(ever)
        good = cover + 2 * error >= 0.95 and alarms - 2 * deviation <= 0.05
        good = good and is_cheap(cost, most)
        print(
            f"{law:10} {problems:4} {h:.2f}  {cover:.3f}  {error:.3f}  {np.mean(cost):.2f}   "
            f"{alarms:.3f}  {np.mean(naive):.3f}       {np.mean(reached):.2f}  {verdict(good)}"
        )


def naive_ever(scores: Floats, truth: float) -> bool:
    """Return whether a normal interval at 95 %, looked at every round, ever excludes the truth."""
    t = np.arange(1, scores.shape[1] + 1)
    c = scores.cumsum(axis=1)
    within = (c * (t - c)).sum(axis=0) / np.maximum(t - 1, 1)
    reach = Z * np.sqrt(within) / (len(scores) * t)
    return bool((np.abs(c.mean(axis=0) / t - truth) > reach)[1:].any())


# -- repeated looks at two models --------------------------------------------------------------


def pair(rng: Rng, problems: int, difference: float) -> tuple[Floats, Floats]:
    """Return rates of two models whose means differ by exactly that."""
    a = rng.beta(0.5, 0.7, problems)
    logit = np.log(a + 1e-12) - np.log1p(1e-12 - a) + 0.7 * rng.standard_normal(problems)
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        b = 1 / (1 + np.exp(-(logit + middle)))
        low, high = (middle, high) if b.mean() - a.mean() < difference else (low, middle)
    return a, b


def settle(sets: int) -> None:
    """Measure both errors of the sequential comparison, by `take_look` and by naive peeking.

    A look at which the two normal intervals lie a third of a boundary away from deciding is not
    computed: no interval of the package is that much shorter.
    """
    print(f"repeated looks, 200 problems, tolerance 0.02, at most 32 rounds, {sets} replicates")
    print("true difference  verdict that is wrong  share  s.e.   naive  rounds  undecided")
    plan = plan_looks(32, tolerance=0.02)
    boundaries = [NormalDist().inv_cdf((1 + level) / 2) for level in plan.levels()]
    for difference, wrong in ((0.0, "regression"), (-0.02, "no-regression"), (-0.05, "")):
        rng = np.random.default_rng([23, int(-1000 * difference)])
        verdicts, rounds, naive = [], [], []
        for _ in range(sets):
            p, q = pair(rng, 200, difference)
            a, b = draw(rng, p, 32), draw(rng, q, 32)
            found, at = settled(plan, boundaries, a, b)
            verdicts.append(found)
            rounds.append(at)
            naive.append(peeked(plan, a, b) == wrong)
        errors, error = share([found == wrong for found in verdicts])
        open_, _ = share([found == "undecided" for found in verdicts])
        good = errors - 2 * error <= 0.03
        print(
            f"{difference:+.2f}            {wrong or '-':21}  {errors:.3f}  {error:.3f}  "
            f"{np.mean(naive):.3f}  {np.mean(rounds):5.1f}   {open_:.2f}  {verdict(good)}"
        )


def settled(plan: LookPlan, boundaries: list[float], a: Floats, b: Floats) -> tuple[str, int]:
    for number, t in enumerate(plan.looks, start=1):
        if is_near(a[:, :t], b[:, :t], plan.tolerance, 2 / 3 * boundaries[number - 1]):
            sides = Outcomes.from_array(a[:, :t]), Outcomes.from_array(b[:, :t])
            result = take_look(plan, number, *sides)
            if result.verdict != "undecided":
                return result.verdict, t
    return "undecided", plan.looks[-1]


def is_near(a: Floats, b: Floats, tolerance: float, reach: float) -> bool:
    value, se = difference_of(a, b)
    return value + reach * se < 0 or value - reach * se > -tolerance


def difference_of(a: Floats, b: Floats) -> tuple[float, float]:
    t, variance = a.shape[1], 0.0
    for side in (a, b):
        c = side.sum(axis=1)
        variance += float((c * (t - c)).sum()) / (t - 1) / (len(side) * t) ** 2
    return float(b.mean() - a.mean()), math.sqrt(variance)


def peeked(plan: LookPlan, a: Floats, b: Floats) -> str:
    """Return the verdict of a 95 % interval that is looked at as often."""
    for t in plan.looks:
        value, se = difference_of(a[:, :t], b[:, :t])
        if value + Z * se < 0:
            return "regression"
        if value - Z * se > -plan.tolerance:
            return "no-regression"
    return "undecided"


# -- part of a benchmark -----------------------------------------------------------------------


def finite(sets: int) -> None:
    """Measure the finite-population term: 500 problems, 4 trials each, asked in random order."""
    print(f"part of a benchmark of 500 problems, 4 trials each, {sets} replicates")
    print("law        h     cover  s.e.   problems")
    for law, h in (("B(.3,.5)", 0.05), ("B(.3,.5)", 0.03), ("B(5,1)", 0.03), ("easy", 0.01)):
        rng = np.random.default_rng([29, int(1000 * h)])
        held, asked = [], []
        for _ in range(sets):
            p = LAWS[law](rng, 500)
            c = rng.binomial(4, p)
            for m in range(30, 501, 10):
                result = estimate(Outcomes.from_counts(c[:m], 4), "pass@1", population=500)
                if (result.high - result.low) / 2 <= h:
                    break
            held.append(result.low <= p.mean() <= result.high)
            asked.append(m)
        cover, error = share(held)
        good = cover + 2 * error >= 0.95
        print(f"{law:10} {h:.2f}  {cover:.3f}  {error:.3f}  {np.mean(asked):5.0f}  {verdict(good)}")


# -- logs stopped by their own outcome ---------------------------------------------------------


def stopped(sets: int) -> None:
    """Measure bias and coverage of "solved within k", and both detectors."""
    rule = StoppingRule(1, 8)
    print(f"tried until solved, at most 8 times, 200 problems, {sets} replicates")
    print("law        k   bias     mean c/n  cover  s.e.   counts  order")
    for law in ("B(.3,.5)", "B(5,1)", "two"):
        rng = np.random.default_rng([31, len(law)])
        truth = {k: float((1 - (1 - LAWS[law](rng, 10**6)) ** k).mean()) for k in (1, 4)}
        for k in (1, 4):
            bias, plain, held, counts, order = [], [], [], [], []
            for _ in range(sets):
                scores = draw(rng, LAWS[law](rng, 200), 8)
                scores[scores.cumsum(axis=1) - scores >= 1] = np.nan
                n, c = (~np.isnan(scores)).sum(axis=1), np.nansum(scores, axis=1).astype(int)
                outcomes = Outcomes.from_counts(c, n)
                result = estimate_stopped(outcomes, f"pass@{k}", rule)
                bias.append(result.value - truth[k])
                plain.append(float((c / n).mean()) - truth[1])
                held.append(result.low <= truth[k] <= result.high)
                counts.append(detect_by_counts(outcomes).is_alarm)
                order.append(detect_by_order(scores).is_alarm)
            cover, error = share(held)
            print(
                f"{law:10} {k}  {np.mean(bias):+.4f}  {np.mean(plain):+.4f}   {cover:.3f}  "
                f"{error:.3f}  {np.mean(counts):.2f}    {np.mean(order):.2f}  "
                f"{verdict(cover + 2 * error >= 0.93)}"
            )
    false_alarms(10 * sets)


def false_alarms(sets: int) -> None:
    """Measure both detectors on numbers of trials that the outcomes had no say in."""
    rng = np.random.default_rng(37)
    alarms = {"counts": [], "order": []}  # type: dict[str, list[bool]]
    for _ in range(sets):
        n = rng.integers(1, 9, 20)
        p = 1.0 / n  # the rates at which one success is likeliest
        c = np.minimum(rng.binomial(n, p), n)
        alarms["counts"].append(detect_by_counts(Outcomes.from_counts(c, n)).is_alarm)
        scores = draw(rng, LAWS["B(.3,.5)"](rng, 20), 8)
        scores[np.arange(8) >= n[:, None]] = np.nan
        alarms["order"].append(detect_by_order(scores).is_alarm)
    for name, found in alarms.items():
        rate, error = share(found)
        good = rate - 2 * error <= 0.01
        print(f"false alarms by {name}: {rate:.4f} ({sets} tables)  {verdict(good)}")


# -- sizes -------------------------------------------------------------------------------------


def allocate(sets: int) -> None:
    """Measure sizes by the run's own outcomes, which are refused, and by another model's."""
    print(f"pass@1, sizes by the run's own first trials, mean of c/n, {sets} replicates")
    print("law          M   mean n  first  efficiency  bias     cover")
    for law in ("B(.3,.5)", "B(5,1)", "two", "hard"):
        for problems, mean, first in ((200, 16, 4), (1000, 8, 2)):
            rng = np.random.default_rng([41, problems])
            errors, equal, held = [], [], []
            for _ in range(sets):
                p = LAWS[law](rng, problems)
                c = rng.binomial(first, p)
                guess = (c + 0.5) / (first + 1)
                share_of = np.sqrt(guess * (1 - guess))
                n = rng.multinomial(problems * (mean - first), share_of / share_of.sum())
                total, solved = first + n, c + rng.binomial(n, p)
                rate = solved / total
                reach = Z * math.sqrt(float((rate * (1 - rate) / (total - 1)).sum())) / problems
                errors.append(float(rate.mean() - p.mean()))
                equal.append(float(rng.binomial(mean, p).mean() / mean - p.mean()))
                held.append(abs(errors[-1]) <= reach)
            print(
                f"{law:10} {problems:5}  {mean:5}  {first:5}  {mse(equal) / mse(errors):9.2f}   "
                f"{np.mean(errors):+.4f}  {np.mean(held):.3f}"
            )
    print(f"pass@4 of 200 problems, sizes by 8 trials of another model, {sets} replicates")
    print("law        mean n  efficiency  bias")
    for law in ("B(.3,.5)", "B(5,1)", "two"):
        for mean in (16, 32):
            rng = np.random.default_rng([43, mean])
            errors, equal = [], []
            for _ in range(sets):
                p = LAWS[law](rng, 200)
                odds = np.log(p + 1e-9) - np.log1p(1e-9 - p) + 0.7 * rng.standard_normal(200)
                other = Outcomes.from_counts(rng.binomial(8, 1 / (1 + np.exp(-odds))), 8)
                n = sizes_from(other, "pass@4", 200 * mean)
                truth = float((1 - (1 - p) ** 4).mean())
                errors.append(float(pass_at_4(n, rng.binomial(n, p)).mean()) - truth)
                fixed = np.full(200, mean)
                equal.append(float(pass_at_4(fixed, rng.binomial(mean, p)).mean()) - truth)
            gain, bias = mse(equal) / mse(errors), float(np.mean(errors))
            good = abs(bias) <= 3 * float(np.std(errors)) / math.sqrt(sets)
            print(f"{law:10} {mean:6}  {gain:9.2f}   {bias:+.4f}  {verdict(good)}")


def pass_at_4(n: NDArray[np.integer], c: NDArray[np.integer]) -> Floats:
    missed = np.ones(len(n))
    for draw_of in range(4):
        missed *= np.maximum(n - c - draw_of, 0) / (n - draw_of)
    return 1.0 - missed


def mse(errors: list[float]) -> float:
    return float(np.mean(np.square(errors)))


# -- what they share ---------------------------------------------------------------------------

FAILED = []


def share(found: list[bool]) -> tuple[float, float]:
    """Return a share and its standard error, which is never that of certainty."""
    rate = float(np.mean(found))
    smoothed = (rate * len(found) + 1) / (len(found) + 2)
    return rate, math.sqrt(smoothed * (1 - smoothed) / len(found))


def is_cheap(cost: list[float], most: float) -> bool:
    return float(np.mean(cost) - 2 * np.std(cost) / math.sqrt(len(cost))) <= most


def verdict(good: bool) -> str:
    if not good:
        FAILED.append(good)
    return "ok" if good else "SHORT"


PARTS: dict[str, tuple[Callable[[int], None], int]] = {
    "width": (width, 300),
    "curve": (curve, 100),
    "proof": (proof, 200),
    "settle": (settle, 400),
    "finite": (finite, 100),
    "stopped": (stopped, 200),
    "allocate": (allocate, 400),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--full", action="store_true", help="five times the replicates")
    parser.add_argument("--share", type=float, default=1.0, help="of the replicates")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        if name not in PARTS:
            parser.error(f"no part is named {name!r}; known: {', '.join(PARTS)}")
        measure, sets = PARTS[name]
        measure(max(4, round(sets * options.share * (5 if options.full else 1))))
        print(flush=True)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
