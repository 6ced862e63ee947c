"""Time and check the intervals, next to what other tools do for the same number.

    python benchmarks/intervals.py [--markdown]

Read it like benchmarks/metrics.py, whose clock it uses: every table has what was measured, a
target and a verdict, "ok" or "SHORT". The others' recipes are written out here in a few lines
each, so nothing has to be installed:

- EVA draws a (2000, problems) matrix of positions and takes the means of its rows;
- lm-evaluation-harness draws each replicate with ``random.choices`` and averages in Python.

Both are timed on a few replicates and scaled to all of them. That favours them: the whole matrix
of EVA would need gigabytes of memory. The exit code is 0 whatever was measured.
"""

from __future__ import annotations

import argparse
import platform
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from metrics import at_least, at_most, milliseconds, seconds, verdict, version_of
from numpy.typing import NDArray

import passband
from passband.report.rendering import Row, render
from passband.stats.interval.bootstrap.draws import bootstrap_means
from passband.stats.interval.bootstrap.exact import bootstrap_distribution

PROBLEMS, TRIALS = 100_000, 64
EVA_REPLICATES = 2000
LM_EVAL_REPLICATES = 100_000
METHODS = ("auto", "t", "percentile", "bca", "two-level", "studentized")


def simulated(problems: int, trials: int = TRIALS) -> passband.Outcomes:
    """Return counts of problems of every difficulty, the same in every run."""
    rng = np.random.default_rng(20240)
    return passband.Outcomes.from_counts(rng.binomial(trials, rng.beta(0.5, 0.5, problems)), trials)


def fresh(outcomes: passband.Outcomes) -> passband.Outcomes:
    """Return the same outcomes with nothing remembered from earlier questions."""
    return passband.Outcomes(
        outcomes.problems, outcomes.trials, outcomes.successes, None, outcomes.clusters
    )


def tallied(outcomes: passband.Outcomes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    counters = np.bincount(np.asarray(outcomes.successes), minlength=TRIALS + 1)
    return np.arange(TRIALS + 1) / TRIALS, counters


# -- what the others do ----------------------------------------------------------------------


def by_positions(values: NDArray[np.float64], replicates: int) -> NDArray[np.float64]:
    """Return bootstrap means as EVA computes them."""
    drawn = np.random.default_rng(0).integers(0, len(values), size=(replicates, len(values)))
    means: NDArray[np.float64] = values[drawn].mean(axis=1)
    return means


def by_choices(values: list[float], replicates: int) -> list[float]:
    """Return bootstrap means as lm-evaluation-harness computes them."""
    rng = random.Random(0)
    return [sum(rng.choices(values, k=len(values))) / len(values) for _ in range(replicates)]


# -- the sections ----------------------------------------------------------------------------


def against_positions() -> Iterator[Row]:
    outcomes = simulated(PROBLEMS)
    values, counts = tallied(outcomes)
    each = np.asarray(outcomes.successes) / TRIALS
    few = 10
    theirs = seconds(lambda: by_positions(each, few)) * EVA_REPLICATES / few
    rng = np.random.default_rng(0)
    for label, call in {
        "the exact law, whole estimate": lambda: passband.estimate(
            fresh(outcomes), "pass@1", method="percentile"
        ),
        "the exact law, pass@8": lambda: passband.estimate(
            fresh(outcomes), "pass@8", method="percentile"
        ),
        "2,000 multinomial replicates": lambda: np.percentile(
            bootstrap_means(values, counts, EVA_REPLICATES, rng), [2.5, 97.5]
        ),
    }.items():
        ours = seconds(call)
        yield {
            "passband": label,
            "passband ms": milliseconds(ours, 1),
            "positions ms (scaled)": milliseconds(theirs, 0),
            **at_least(theirs / ours, 100),
        }


def against_choices() -> Iterator[Row]:
    outcomes = simulated(PROBLEMS)
    values, counts = tallied(outcomes)
    each = (np.asarray(outcomes.successes) / TRIALS).tolist()
    few, many = 3, 10_000
    theirs = seconds(lambda: by_choices(each, few)) / few
    rng = np.random.default_rng(0)
    ours = seconds(lambda: bootstrap_means(values, counts, many, rng)) / many
    yield {
        "what": "one replicate",
        "passband ms": milliseconds(ours, 4),
        "choices ms": milliseconds(theirs, 1),
        **at_least(theirs / ours, 1000),
    }
    exact = seconds(lambda: bootstrap_distribution(values, counts).sd)
    yield {
        "what": "100,000 replicates next to the exact law",
        "passband ms": milliseconds(exact, 1),
        "choices ms": milliseconds(theirs * LM_EVAL_REPLICATES, 0),
        **at_least(theirs * LM_EVAL_REPLICATES / exact, 1000),
    }


def memory() -> Iterator[Row]:
    values, counts = tallied(simulated(PROBLEMS))
    least = None
    for replicates in (10_000, 100_000, 1_000_000):
        rng = np.random.default_rng(0)
        peak = peak_bytes(partial(bootstrap_means, values, counts, replicates, rng))
        working = peak - 8 * replicates
        least = working if least is None else least
        yield {
            "replicates": replicates,
            "peak MB": round(peak / 1e6, 2),
            "without the result MB": round(working / 1e6, 2),
            "matrix of positions MB": round(8 * replicates * PROBLEMS / 1e6),
            **at_most("growth", working / least, 1.5, 2),
        }


def peak_bytes(call: Callable[[], object]) -> int:
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def agreement() -> Iterator[Row]:
    """Show that the exact law is what replicates tend to."""
    for problems in (30, 1000, PROBLEMS):
        outcomes = simulated(problems)
        values, counts = tallied(outcomes)
        law = bootstrap_distribution(values, counts)
        drawn = bootstrap_means(values, counts, 100_000, np.random.default_rng(1))
        low, high = np.percentile(drawn, [2.5, 97.5])
        apart = max(abs(low - law.lower(0.025)), abs(high - law.upper(0.025))) / law.sd
        yield {
            "problems": problems,
            "exact": f"[{law.lower(0.025):.5f}, {law.upper(0.025):.5f}]",
            "100,000 replicates": f"[{low:.5f}, {high:.5f}]",
            "se": f"{law.sd:.6f}",
            "sd of replicates": f"{drawn.std(ddof=1):.6f}",
            **at_most("apart, in se", apart, 0.03, 3),
        }


def default_and_posterior() -> Iterator[Row]:
    """The default interval from scratch and once the fit is there, and the hierarchical one."""
    outcomes = simulated(1000)
    for over in ("problems", "trials"):
        scratch = partial(_estimated, outcomes, "pass@8", over, "auto")
        yield _timed(f"auto over {over}, from scratch", seconds(scratch), 5.0)
        passband.estimate(outcomes, "pass@8", over=over)
        for metric in ("pass@8", "pass^32", "maj@16", "auc@8"):
            further = partial(passband.estimate, outcomes, metric, over=over)
            yield _timed(f"auto over {over}, {metric} on the same outcomes", seconds(further), 0.3)
        posterior = partial(_estimated, outcomes, "pass@8", over, "hierarchical")
        yield _timed(f"hierarchical over {over}, from scratch", seconds(posterior), 200.0)


def _estimated(outcomes: passband.Outcomes, metric: str, over: str, method: str) -> object:
    return passband.estimate(fresh(outcomes), metric, over=over, method=method)  # type: ignore


def _timed(what: str, took: float, target: float) -> Row:
    return {"what": what, **at_most("ms", took * 1e3, target, 3)}


def many_models() -> Iterator[Row]:
    """All pairs of many models, and of a few with many problems, in CPU time."""
    rng = np.random.default_rng(1)
    difficulty = rng.normal(0.0, 1.5, 500)
    abilities = rng.normal(0.0, 0.4, 30)
    odds = abilities[:, None] - difficulty
    models = {
        f"m{at}": passband.Outcomes.from_counts(rng.binomial(8, 1.0 / (1.0 + np.exp(-row))), 8)
        for at, row in enumerate(odds)
    }
    trials = rng.integers(1, 65, PROBLEMS)
    ragged = {
        f"m{at}": passband.Outcomes.from_counts(
            rng.binomial(trials, rng.beta(0.5, 0.7, PROBLEMS)), trials
        )
        for at in range(3)
    }
    passband.compare_all({name: models[name] for name in ("m0", "m1", "m2")}, "pass@1")  # imports
    for what, field in (("30 models x 500 x 8", models), ("3 models x 100,000 x 1-64", ragged)):
        for over in ("problems", "trials"):
            yield {"what": f"{what}, over {over}", **at_most("CPU s", cpu(field, over), 1.0, 2)}


def cpu(models: dict[str, passband.Outcomes], over: str) -> float:
    """Return the CPU seconds of comparing models of which nothing is remembered."""
    asked = {name: fresh(outcomes) for name, outcomes in models.items()}
    start = time.process_time()
    passband.compare_all(asked, "pass@1", over=over)  # type: ignore
    return time.process_time() - start


def every_method() -> Iterator[Row]:
    for problems in (30, 1000, PROBLEMS):
        outcomes = simulated(problems)
        for metric in ("pass@1", "pass@8", "geom-ds@8"):
            times = {name: method_time(outcomes, metric, name) for name in METHODS}
            yield {
                "problems": problems,
                "metric": metric,
                **{f"{name} ms": milliseconds(time, 1) for name, time in times.items()},
                "target": "percentile <= 60" if metric == "pass@1" else "",
                "verdict": verdict(times["percentile"] <= 0.060) if metric == "pass@1" else "",
            }


def method_time(outcomes: passband.Outcomes, metric: str, method: str) -> float:
    return seconds(lambda: passband.estimate(fresh(outcomes), metric, method=method))


# -- printing --------------------------------------------------------------------------------


def sections() -> Iterator[tuple[str, Iterator[Row]]]:
    yield (
        "Percentile interval of 100,000 problems x 64 trials: times faster than 2,000 replicates "
        "by positions (EVA), of which 10 are timed and scaled by 200",
        against_positions(),
    )
    yield (
        "The same problems: times faster than random.choices (lm-evaluation-harness), of which "
        "3 replicates are timed",
        against_choices(),
    )
    yield "Memory of multinomial replicates, 100,000 problems", memory()
    yield "The exact law next to replicates, pass@1", agreement()
    yield "1,000 problems x 64 trials", default_and_posterior()
    yield "Every pair of models with compare_all, pass@1", many_models()
    yield "Every method over problems, 64 trials each", every_method()


def main() -> None:
    """Print every table as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    asked = parser.parse_args()
    names = ", ".join(f"{name} {version_of(name)}" for name in ("passband", "numpy", "scipy"))
    print(f"Python {platform.python_version()}, {names}")
    for title, rows in sections():
        print(f"\n{'### ' if asked.markdown else ''}{title}\n", flush=True)
        print(render(list(rows), "markdown" if asked.markdown else "table"), end="", flush=True)


if __name__ == "__main__":
    main()
