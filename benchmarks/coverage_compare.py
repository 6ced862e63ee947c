"""Size and power of comparisons, and the coverage of their intervals.

Many pairs of data sets are drawn from two models that are equally good on average (size), or not
(power). Four p-values are compared on the same data: the one that is read from the interval, which
is the default of `passband.compare`; Student's paired t test, on clusters where there are any; and
sign flips, exact and mid-p. An interval covers if it contains the difference in the population.

    python benchmarks/coverage_compare.py             1000 pairs a case
    python benchmarks/coverage_compare.py --quick     a tenth
    python benchmarks/coverage_compare.py --sets 4000 --no-flips
    python benchmarks/coverage_compare.py --only margins
    python benchmarks/coverage_compare.py --only families --sets 300

`margins`: how often b is called no worse by a margin that it just loses, in all problems or in a
few that are lost entirely; and how often if the two are alike. `families`: how often any of 48
comparisons (24 tasks, pass@1 and pass@4) of models that are alike has a verdict, and how often b is
called no worse somewhere, of 24 tasks on all of which pass@1 loses the margin.

Wanted, from 30 problems on: a size between 3 and 5.5 % at a nominal 5 %, and a power of at least
that of the t test less one point. With R pairs a share s has the standard error
sqrt(s (1 - s) / R), 0.7 points at 5 % and 1000 pairs.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtr

from passband import Outcomes, compare
from passband.stats.checks import Over
from passband.stats.decision.comparison import Comparison
from passband.stats.decision.difference import contrast_of
from passband.stats.decision.family import family_of
from passband.stats.decision.paired import Paired
from passband.stats.metric.registry import parse_metric

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Outcomes, Outcomes]]
ALPHA = 0.05
TESTS = ("interval", "t", "exact", "mid-p")


@dataclass(frozen=True)
class Case:
    """Two models on some problems, and the difference between them."""

    name: str
    draw: Draw
    truth: float = 0.0
    metric: str = "pass@1"
    flips: bool = True  # whether sign flips mean something, and take no time to speak of


@dataclass(frozen=True)
class Measured:
    """Shares of the pairs of data sets of one case."""

    rejected: dict[str, float]
    covered: float
    width: float
    seconds: float  # of CPU, for interval and p-value of one pair


def counts(
    rng: np.random.Generator, n: tuple[int, int], p: tuple[Floats, Floats], clusters: object = None
) -> tuple[Outcomes, Outcomes]:
    a, b = (
        Outcomes.from_counts(rng.binomial(trials, rate), trials, clusters=clusters)  # type: ignore[arg-type]
        for trials, rate in zip(n, p, strict=True)
    )
    return a, b


def alike(a: float, b: float, problems: int, n: tuple[int, int]) -> Draw:
    """Draw two runs of one model, with success probabilities from Beta(a, b)."""

    def draw(rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        p = rng.beta(a, b, problems)
        return counts(rng, n, (p, p))

    return draw


def moved(p: Floats, shift: float, rng: np.random.Generator) -> Floats:
    """Return success probabilities that are better by `shift` in logits, give or take 0.5."""
    return expit(logit(p) + shift + 0.5 * rng.standard_normal(p.shape))


def better(a: float, b: float, problems: int, n: int, shift: float) -> tuple[Draw, float]:
    def draw(rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        p = rng.beta(a, b, problems)
        return counts(rng, (n, n), (p, moved(p, shift, rng)))

    rng = np.random.default_rng(1)
    p = rng.beta(a, b, 2_000_000)
    return draw, float((moved(p, shift, rng) - p).mean())


def lopsided(share: float, problems: int) -> Draw:
    """Draw differences of mean 0: a few large gains, and a small loss everywhere else."""

    def draw(rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        up = (rng.random(problems) < share).astype(float)
        steady = np.full((problems, 1), share)
        return Outcomes.from_array(steady), Outcomes.from_array(up[:, None])

    return draw


def exponential(problems: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        scores = rng.exponential(1.0, (problems, 1))
        return Outcomes.from_array(np.ones((problems, 1))), Outcomes.from_array(scores)

    return draw


def clustered(sizes: Sequence[int], spread: float, n: int = 4) -> Draw:
    """Draw two models that share out the clusters between them, with no difference on average."""
    unit = np.repeat(np.arange(len(sizes)), sizes)
    labels = [str(cluster) for cluster in unit]

    def draw(rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        level = rng.standard_normal(len(sizes))[unit] + rng.standard_normal(len(unit))
        shift = spread * rng.standard_normal(len(sizes))[unit] / 2.0
        return counts(rng, (n, n), (expit(level - shift), expit(level + shift)), labels)

    return draw


def cases() -> list[Case]:
    found = [
        Case(f"alike, Beta({a:g},{b:g}), M={m} n={n}", alike(a, b, m, (n, n)))
        for m, n in ((10, 8), (30, 1), (30, 8), (200, 1), (200, 8))
        for a, b in ((0.5, 0.7), (1.0, 1.0))
    ]
    found += [Case(f"lopsided, M={m}", lopsided(0.25, m), metric="avg") for m in (20, 30, 100)]
    found += [Case(f"exponential, M={m}", exponential(m), 0.0, "avg", False) for m in (30, 100)]
    for name, sizes in {
        "6 x 10": [10] * 6,
        "20 x 10": [10] * 20,
        "10 x 1 and 10 x 10": [1] * 10 + [10] * 10,
        "3 x 30 and 30 x 2": [30] * 3 + [2] * 30,
        "1 x 50 and 19 x 3": [50] + [3] * 19,
    }.items():
        found += [Case(f"clusters {name}, sd {s:g}", clustered(sizes, s)) for s in (0.5, 1.0)]
    uneven = ((0.1, 2.0, "pass^4"), (0.5, 0.7, "pass@4"), (0.5, 0.7, "pass@1"))
    found += [
        Case(
            f"4 v 16, Beta({a:g},{b:g}) {name}, M={m}",
            alike(a, b, m, (4, 16)),
            0.0,
            name,
            False,
        )
        for m in (50, 200)
        for a, b, name in uneven
    ]
    for m, shifts in ((30, (0.5, 1.1)), (200, (0.2, 0.4))):
        for shift in shifts:
            draw, truth = better(0.5, 0.7, m, 4, shift)
            found.append(Case(f"better by {truth:.3f}, M={m} n=4", draw, truth))
    return found


def student(change: Floats, labels: Sequence[str] | None) -> float:
    """Return the p-value of the paired t test, on the sums of clusters where there are any."""
    if labels is not None:
        _, unit = np.unique(labels, return_inverse=True)
        change = np.bincount(unit, weights=change)
    spread = change.std(ddof=1)
    if spread == 0.0:
        return 1.0 if change[0] == 0.0 else 0.0
    t = abs(change.mean()) / (spread / math.sqrt(len(change)))
    return 2.0 * float(stdtr(len(change) - 1, -t))


def measure(case: Case, sets: int, flips: bool) -> Measured:
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    metric = parse_metric(case.metric)
    flips = flips and case.flips
    rejected = dict.fromkeys(TESTS if flips else TESTS[:2], 0)
    covered, width, seconds = 0, 0.0, 0.0
    for _ in range(sets):
        a, b = case.draw(rng)
        start = time.process_time()
        contrast = contrast_of(a, b, metric, "problems")
        low, high = contrast.ends(1.0 - ALPHA) or (-1.0, 1.0)
        p_values = {"interval": contrast.p_value or 1.0}
        seconds += time.process_time() - start
        assert isinstance(contrast, Paired)
        p_values["t"] = student(contrast.change, a.clusters)
        if flips:
            p_values["exact"] = contrast.flip_p_value()
            p_values["mid-p"] = contrast.flip_p_value(mid=True)
        for name, p_value in p_values.items():
            rejected[name] += p_value < ALPHA
        covered += low <= case.truth <= high
        width += high - low
    shares = {name: count / sets for name, count in rejected.items()}
    return Measured(shares, covered / sets, width / sets, seconds / sets)


# -- margins ---------------------------------------------------------------------------------------


def losing(share: float, rest: float, problems: int, n: int, everywhere: float = 0.0) -> Draw:
    """Draw models of which the second loses a share of problems entirely, and a bit everywhere."""

    def draw(rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        lost = rng.random(problems) < share
        return counts(
            rng, (n, n), (np.where(lost, 1.0, rest), np.where(lost, 0.0, rest - everywhere))
        )

    return draw


def margin_cases() -> list[tuple[str, Draw, float]]:
    """Return pairs of models with a margin: first those that just lose it."""
    found = []
    for m, n, rest in ((40, 8, 0.02), (100, 8, 0.02), (40, 32, 0.5), (75, 32, 0.5), (150, 32, 0.5)):
        name = f"5 % of problems lost, the rest {rest:g}, {m} x {n}"
        found.append((name, losing(0.05, rest, m, n), 0.05 if rest < 0.5 else 0.049))
    found += [
        ("2 % lost, the rest 0.02, 200 x 8", losing(0.02, 0.02, 200, 8), 0.02),
        ("3 % lost, all others by 0.02, 75 x 32", losing(0.03, 0.5, 75, 32, 0.02), 0.0494),
        ("0.05 lost everywhere, 100 x 32", losing(0.0, 0.5, 100, 32, 0.05), 0.05),
    ]
    sizes = ((40, 8), (40, 32), (75, 32), (100, 32), (150, 8), (150, 32), (300, 8))
    found += [(f"alike, Beta(1,1), {m} x {n}", alike(1.0, 1.0, m, (n, n)), 0.05) for m, n in sizes]
    return found


def margins(sets: int) -> None:
    """Print how often b is called no worse: by the interval alone, and by the verdict."""
    metric = parse_metric("pass@1")
    print("| no worse by the margin, in % | margin | interval alone | verdict |")
    print("|:--|--:|--:|--:|")
    for name, draw, margin in margin_cases():
        rng, alone, called = np.random.default_rng(zlib.crc32(name.encode())), 0, 0
        for _ in range(sets):
            contrast = contrast_of(*draw(rng), metric, "problems")
            ends, guarded = contrast.ends(1.0 - ALPHA), contrast.guarded_ends(1.0 - ALPHA)
            alone += ends is not None and ends[0] > -margin
            called += guarded is not None and guarded[0] > -margin
        shares = f"{100 * alone / sets:.1f} | {100 * called / sets:.1f}"
        print(f"| {name} | {margin:g} | {shares} |", flush=True)


# -- families --------------------------------------------------------------------------------------

TASKS = 24
CLAIMS = (("no difference, 48 comparisons", 0.0, None), ("the margin is lost, 24", 0.1, 0.1))


def families(sets: int) -> None:
    """Print how often any of many comparisons has a false verdict, alone and as a family."""
    print("| any false verdict, in % of sets | over | each alone | as a family |")
    print("|:--|:--|--:|--:|")
    targets: tuple[Over, ...] = ("problems", "trials")
    for over in targets:
        for what, loss, margin in CLAIMS:
            rng, alone, together = np.random.default_rng(48), 0, 0
            wrong = ("no-worse", "equivalent", "better") if loss else ("better", "worse")
            for _ in range(sets):
                found = [one for _ in range(TASKS) for one in task(rng, over, loss, margin)]
                alone += any(one.decision.verdict in wrong for one in found)
                together += any(one.decision.verdict in wrong for one in family_of(found))
            shares = f"{100 * alone / sets:.1f} | {100 * together / sets:.1f}"
            print(f"| {what} | {over} | {shares} |", flush=True)


def task(
    rng: np.random.Generator, over: Over, loss: float, margin: float | None
) -> list[Comparison]:
    """Return the comparisons of two models on one task; a loss is of pass@1 alone."""
    p = loss + (1.0 - loss) * rng.beta(0.5, 0.7, 40)
    a, b = counts(rng, (8, 8), (p, p - loss))
    names = ("pass@1",) if loss else ("pass@1", "pass@4")
    return [compare(a, b, name, over=over, margin=margin, settle=False) for name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000, help="pairs of data sets a case")
    parser.add_argument("--quick", action="store_true", help="a tenth of them")
    parser.add_argument("--no-flips", action="store_true", help="leave out the sign flips")
    parser.add_argument("--only", choices=("margins", "families"), help="in place of the cases")
    arguments = parser.parse_args()
    sets = max(1, arguments.sets // 10) if arguments.quick else arguments.sets
    if arguments.only is not None:
        {"margins": margins, "families": families}[arguments.only](sets)
        return
    print(
        f"{sets} pairs a case; standard error at 5 %: {100 * math.sqrt(0.0475 / sets):.1f} points\n"
    )
    heads = ["share of p < 0.05, in %", *TESTS, "covered", "width", "ms"]
    print("| " + " | ".join(heads) + " |")
    print("|:--" + "|--:" * (len(heads) - 1) + "|")
    for case in cases():
        found = measure(case, sets, not arguments.no_flips)
        shares = [
            f"{100 * found.rejected[name]:.1f}" if name in found.rejected else "-" for name in TESTS
        ]
        rest = [f"{100 * found.covered:.1f}", f"{found.width:.3f}", f"{1000 * found.seconds:.1f}"]
        print("| " + " | ".join([case.name, *shares, *rest]) + " |", flush=True)


if __name__ == "__main__":
    main()
