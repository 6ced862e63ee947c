"""Time and check the metrics, next to scorio and to what numpy needs to add up the rows.

    python benchmarks/metrics.py [--markdown] [--full]

Every table has a column with what was measured, one with the target, and a verdict: "ok", or
"SHORT" where this run missed the target. All is measured in one process on the same arrays, and
a time is the least of several repeats: CPU time where one call takes more than two
milliseconds, otherwise wall time over many calls, which is never the smaller of the two. On a
machine with other work to do, read the ratios and not the times. A ratio to scorio says how many
times faster passband is; a ratio to numpy says how much of the time of ``R.sum(axis=1)`` a whole
metric takes, its check for 0 and 1 included. "difference" is the largest one between the numbers
that the two libraries return.

Without scorio its columns are empty and the rest runs. ``--full`` checks the accuracy for every
n up to 60 instead of a few. The exit code is 0 whatever was measured.
"""

from __future__ import annotations

import argparse
import importlib
import math
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import passband
import passband.eval
from passband.report.rendering import Row, render
from passband.stats.metric.components import values_of
from passband.stats.metric.registry import parse_metric

Outcome = NDArray[np.int8]
Call = Callable[[], Any]

REPEATS_FOR = 0.3  # seconds spent on repeating one measurement
SHORT_CALL = 2e-3  # seconds below which calls are timed in batches
TAU = 0.5


@dataclass(frozen=True)
class Case:
    """A function of `passband.eval` and of scorio.eval, with its arguments after the matrix."""

    function: str
    arguments: tuple[Any, ...] = ()

    def on(self, library: Any, R: Outcome) -> Call:
        function = getattr(library, self.function)
        return lambda: function(R, *self.arguments)


# -- measuring -----------------------------------------------------------------------------


def seconds(call: Call) -> float:
    """Return the least time of one call."""
    first = batch(call, 1, time.perf_counter)
    loops = max(1, round(SHORT_CALL / max(first, 1e-7)))
    clock = time.perf_counter if loops > 1 else time.process_time
    repeats = min(50, max(3, round(REPEATS_FOR / (first * loops))))
    return min(batch(call, loops, clock) for _ in range(repeats)) / loops


def batch(call: Call, loops: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(loops):
        call()
    return clock() - start


def simulated(problems: int, trials: int, categories: int = 2) -> Outcome:
    """Return outcomes of problems of every difficulty, the same in every run."""
    rng = np.random.default_rng(20240)
    chance = rng.beta(0.5, 0.5, problems)[:, None]
    hits = [rng.random((problems, trials)) < chance for _ in range(categories - 1)]
    outcomes: Outcome = np.sum(hits, axis=0).astype(np.int8)
    return outcomes


def scorio() -> Any:
    """Return scorio.eval, or None where it is not installed."""
    try:
        return importlib.import_module("scorio.eval")
    except ImportError:
        return None


def difference(first: Any, second: Any) -> float:
    return float(np.abs(np.subtract(first, second)).max())


def verdict(reached: bool) -> str:
    return "ok" if reached else "SHORT"


def at_least(ratio: float | None, target: int) -> Row:
    """Return the cells of a ratio to scorio that should be at least `target`."""
    if ratio is None:
        return {"ratio": None, "target": f">= {target}", "verdict": "not run"}
    return {"ratio": round(ratio), "target": f">= {target}", "verdict": verdict(ratio >= target)}


def at_most(name: str, value: float, target: float, digits: int) -> Row:
    """Return the cells of a number that should be at most `target`."""
    found = round(value, digits)
    return {name: found, "target": f"<= {target:g}", "verdict": verdict(value <= target)}


def milliseconds(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value * 1e3, digits)


# -- the sections --------------------------------------------------------------------------


def posterior_intervals(rival: Any) -> Iterator[Row]:
    R = simulated(1000, 64)
    for _ in range(3):  # the first call of a process pays for waking it up
        seconds(lambda: passband.eval.pass_at_k_ci(R, 8))
    for k in (8, 32):
        for case in (
            Case("maj_at_k_ci", (k,)),
            Case("mg_pass_at_k_ci", (k,)),
            Case("auc_at_k_ci", (k,)),
            Case("g_pass_at_k_tau_ci", (k, TAU)),
            Case("threshold_spectrum_at_k_ci", (k, np.full(k, 1 / k))),
            Case("geo_spectrum_at_k_ci", (k,)),
        ):
            yield {"function": case.function, "k": k, **versus(rival, case, R, 100)}


def versus(rival: Any, case: Case, R: Outcome, target: int) -> Row:
    ours = case.on(passband.eval, R)
    time_of_ours = seconds(ours)
    if rival is None:
        theirs, apart = None, None
    else:
        call = case.on(rival, R)
        theirs, apart = seconds(call), f"{difference(ours(), call()):.0e}"
    return {
        "passband ms": milliseconds(time_of_ours),
        "scorio ms": milliseconds(theirs, 1),
        "difference": apart,
        **at_least(theirs and theirs / time_of_ours, target),
    }


def best_of_k_intervals(rival: Any) -> Iterator[Row]:
    few = 2000
    for categories, weights in ((2, None), (3, np.array([0.0, 0.5, 1.0]))):
        case = Case("max_at_k_ci", (8, weights))
        R = simulated(100_000, 64, categories)
        ours = seconds(case.on(passband.eval, R))
        theirs = None if rival is None else seconds(case.on(rival, R[:few])) * len(R) / few
        yield {
            "function": f"{case.function}, {categories} categories",
            "passband ms": milliseconds(ours),
            "scorio ms (scaled)": milliseconds(theirs, 0),
            **at_least(theirs and theirs / ours, 500),
        }


def point_values(rival: Any) -> Iterator[Row]:
    R = simulated(1_000_000, 16)
    floor = seconds(lambda: R.sum(axis=1))
    for case in (
        Case("pass_at_k", (8,)),
        Case("pass_hat_k", (8,)),
        Case("maj_at_k", (8,)),
        Case("auc_at_k", (8,)),
        Case("mg_pass_at_k", (8,)),
        Case("g_pass_at_k_tau", (8, TAU)),
        Case("geom_at_k", (8,)),
        Case("max_at_k", (8,)),
        Case("avg"),
        Case("bayes"),
    ):
        ours = seconds(case.on(passband.eval, R))
        theirs = None if rival is None else seconds(case.on(rival, R))
        yield {
            "function": case.function,
            "passband ms": milliseconds(ours, 1),
            "numpy sum ms": milliseconds(floor, 1),
            "scorio ms": milliseconds(theirs, 1),
            **at_most("ratio to numpy", ours / floor, 0.6, 2),
        }


def whole_curves() -> Iterator[Row]:
    R = simulated(1_000_000, 16)
    counts = passband.Outcomes.from_array(R)
    fresh: dict[str, Callable[[], passband.Outcomes]] = {
        "from the matrix": lambda: passband.Outcomes.from_array(R),
        "Outcomes, first question": lambda: passband.Outcomes(
            counts.problems, counts.trials, counts.successes
        ),
        "Outcomes, later questions": lambda: counts,
    }
    for label, outcomes in fresh.items():
        row = {"given": label, **one_and_every_k(outcomes)}
        if label == "Outcomes, later questions":  # no data are read: microseconds either way
            row |= {"target": "", "verdict": ""}
        yield row


def one_and_every_k(make: Callable[[], passband.Outcomes]) -> Row:
    one = seconds(lambda: passband.measure(make(), "pass@8"))
    every = seconds(lambda: passband.curve(make(), "pass@*"))
    return {
        "pass@8 ms": milliseconds(one),
        "pass@* ms": milliseconds(every),
        **at_most("ratio", every / one, 2, 2),
    }


def small_inputs(rival: Any) -> Iterator[Row]:
    R = simulated(30, 64)
    special: dict[str, tuple[Any, ...]] = {
        "avg_ci": (),
        "bayes_ci": (),
        "g_pass_at_k_tau_ci": (8, TAU),
        "threshold_spectrum_at_k_ci": (8, np.full(8, 1 / 8)),
    }
    intervals = [name for name in passband.eval.__all__ if name.endswith("_ci")]
    cases = [Case("pass_at_k", (8,))]
    cases += [Case(name, special.get(name, (8,))) for name in intervals]
    for case in cases:
        ours = seconds(case.on(passband.eval, R))
        theirs = None if rival is None else seconds(case.on(rival, R))
        yield {
            "function": case.function,
            **at_most("passband μs", ours * 1e6, 60 if case.function == "pass_at_k" else 500, 0),
            "scorio μs": theirs and round(theirs * 1e6),
        }


def accuracy(full: bool) -> Iterator[Row]:
    sizes = range(1, 61) if full else (1, 2, 3, 7, 16, 25, 40, 60)
    for metric, credit in EXACT_CREDIT.items():
        worst = max(relative_error(metric, credit, n, k) for n in sizes for k in range(1, n + 1))
        yield {
            "metric": metric.split(":")[0].replace("{k}", "k"),
            "cases": sum(n * (n + 1) for n in sizes),
            "largest relative error": f"{worst:.1e}",
            "target": "<= 1e-12",
            "verdict": verdict(worst <= 1e-12),
            "n = 10000": verdict(stays_finite(metric)),
        }


def start_up() -> Iterator[Row]:
    loaded = "import sys, passband; print(*sys.modules)"
    modules = python("-c", loaded).split()
    own = [name for name in modules if name.split(".")[0] == "passband"]
    yield {
        "what": "modules of passband loaded by `import passband`",
        "measured": f"{len(own)}, numpy {'loaded' if 'numpy' in modules else 'not loaded'}",
        "target": "no numpy",
        "verdict": verdict("numpy" not in modules),
    }
    bare = min(wall([sys.executable, "-c", ""]) for _ in range(10))
    yield {
        "what": "python -c '', wall time",
        "measured": f"{bare * 1e3:.0f} ms",
        "target": "",
        "verdict": "",
    }
    script = Path(sys.executable).with_name("passband")
    main = [str(script)] if script.exists() else [sys.executable, "-c", RUN_MAIN]
    helped = min(wall([*main, "--help"]) for _ in range(10))
    yield {
        "what": "passband --help, wall time",
        "measured": f"{helped * 1e3:.0f} ms",
        "target": "<= 150 ms",
        "verdict": verdict(helped <= 0.150),
    }


RUN_MAIN = "from passband.cli import main; main()"


def python(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wall(command: list[str]) -> float:
    return batch(
        lambda: subprocess.run(command, check=True, capture_output=True), 1, time.perf_counter
    )


# -- the exact twin: the same metrics in rational numbers ------------------------------------

ExactCredit = Callable[[int, int], Fraction]  # what j successes among k draws are worth

EXACT_CREDIT: dict[str, ExactCredit] = {
    "pass@{k}": lambda j, k: Fraction(j >= 1),
    "pass^{k}": lambda j, k: Fraction(j == k),
    "maj@{k}": lambda j, k: Fraction(2 * j > k),
    "g-pass@{k}:0.7": lambda j, k: Fraction(10 * j >= 7 * k),
    "mg-pass@{k}": lambda j, k: Fraction(2 * max(0, j - math.ceil(k / 2)), k),
    "mg-pass-integral@{k}": lambda j, k: Fraction(max(0, 2 * j - k), k),
    "auc@{k}": lambda j, k: exact_area(j, k),
    "spectrum@{k}:{weights}": lambda j, k: Fraction(j, k),
}


def exact_area(j: int, k: int) -> Fraction:
    """Return the trapezoidal area under pass@1 .. pass@k of k trials with j successes."""
    curve = [1 - Fraction(math.comb(k - j, i), math.comb(k, i)) for i in range(1, k + 1)]
    if k == 1:
        return curve[0]
    return (sum(curve) - (curve[0] + curve[-1]) / 2) / (k - 1)


def relative_error(metric: str, credit: ExactCredit, n: int, k: int) -> float:
    """Return the largest error over c = 0..n, where every zero must be exact."""
    worth = [credit(j, k) for j in range(k + 1)]
    scale = math.lcm(*(value.denominator for value in worth))
    whole = [int(value * scale) for value in worth]
    ways = math.comb(n, k) * scale
    errors = []
    for c, value in enumerate(values(metric, n, k)):
        exact = Fraction(
            sum(w * math.comb(c, j) * math.comb(n - c, k - j) for j, w in enumerate(whole) if w),
            ways,
        )
        gap = abs(Fraction(float(value)) - exact)
        errors.append(float(gap / exact) if exact else math.inf if gap else 0.0)
    return max(errors)


def values(metric: str, n: int, k: int) -> NDArray[np.float64]:
    """Return the observed values of passband for c = 0..n successes in n trials."""
    weights = ",".join([f"1/{k}"] * k) if "{weights}" in metric else ""
    outcomes = passband.Outcomes.from_counts(range(n + 1), n)
    part = parse_metric(metric.format(k=k, weights=weights)).parts[0]
    return values_of(part, outcomes, k).values


def stays_finite(metric: str, n: int = 10_000) -> bool:
    found = [values(metric, n, k) for k in (1, 2, 100, n // 2, n)]
    return all(np.isfinite(v).all() and v.min() >= 0 and v.max() <= 1 + 1e-12 for v in found)


# -- printing ------------------------------------------------------------------------------


def versions(rival: Any) -> str:
    names = ["numpy", "scipy", "scorio"] if rival else ["numpy"]
    return ", ".join(
        [f"Python {platform.python_version()}"]
        + [f"{name} {version_of(name)}" for name in ["passband", *names]]
    )


def version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return passband.__version__ if name == "passband" else "unknown"


def sections(rival: Any, full: bool) -> Iterator[tuple[str, Iterator[Row]]]:
    yield (
        "Posterior intervals, 1,000 problems x 64 trials: times faster than scorio",
        posterior_intervals(rival),
    )
    yield (
        "Best of k, 100,000 x 64, k = 8: times faster than scorio, "
        "which is timed on 2,000 rows and scaled by 50",
        best_of_k_intervals(rival),
    )
    yield "Point values, 1,000,000 x 16 of int8, k = 8", point_values(rival)
    yield "The whole curve of 16 k next to one k, 1,000,000 x 16", whole_curves()
    yield "Small inputs, 30 x 64, k = 8", small_inputs(rival)
    span = "1..60" if full else "1, 2, 3, 7, 16, 25, 40, 60"
    yield f"Accuracy against exact fractions, n = {span}, every c and k", accuracy(full)
    yield "Start-up", start_up()


def main() -> None:
    """Print every table as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--full", action="store_true", help="check accuracy for every n up to 60")
    asked = parser.parse_args()
    rival = scorio()
    print(versions(rival) + ("" if rival else "; scorio is not installed and is left out"))
    for title, rows in sections(rival, asked.full):
        print(f"\n{'### ' if asked.markdown else ''}{title}\n", flush=True)
        print(render(list(rows), "markdown" if asked.markdown else "table"), end="", flush=True)


if __name__ == "__main__":
    main()
