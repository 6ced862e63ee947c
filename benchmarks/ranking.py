"""Measure rankings of several models: false findings, and the coverage of abilities.

    python benchmarks/ranking.py [--sets 400] [--markdown]

Models that are alike are compared with `compare_all`: at 5 % at most one set in twenty should have
an interval that leaves out 0, an adjusted p-value below 0.05, or a rank interval that is not whole.
Abilities are spread evenly, and difficulties are normal; a cell is the share of differences of two
abilities that their 95 % interval holds. With an interaction every model has its own deviation on
every problem, and the abilities that intervals should hold are those fitted to 40,000 problems.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

import passband
from passband.report.rendering import Row, render
from passband.stats.decision.ranking.ability_models import BradleyTerry, ConditionalLogit
from passband.stats.decision.ranking.likelihood import AbilityFit, fitted
from passband.stats.interval.default.wilson import student_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MANY = 40_000
INTERACTION = 0.8


def alike(sets: int) -> Iterator[Row]:
    """Compare five models that are alike."""
    for problems, trials, over in ((30, 4, "problems"), (200, 4, "problems"), (30, 4, "trials")):
        rng = np.random.default_rng(5)
        found = np.array([_findings(rng, problems, trials, over) for _ in range(sets)])
        share = found.mean(axis=0)
        names = ("interval", "p_adjusted", "rank", "p_holm")
        yield {
            "problems": problems,
            "trials": trials,
            "over": over,
            **{name: round(float(one), 3) for name, one in zip(names, share, strict=True)},
            "error": round(float(np.sqrt(0.05 * 0.95 / sets)), 3),
        }


def _findings(rng: np.random.Generator, problems: int, trials: int, over: str) -> list[bool]:
    p = rng.beta(1.0, 1.0, problems)
    models = {
        f"m{at}": passband.Outcomes.from_counts(rng.binomial(trials, p), trials) for at in range(5)
    }
    ranking = passband.compare_all(models, "pass@1", over=over)  # type: ignore[arg-type]
    return [
        any((pair.low or 0.0) > 0.0 or (pair.high or 0.0) < 0.0 for pair in ranking.pairs),
        any((pair.p_adjusted or 0.0) <= 0.05 for pair in ranking.pairs),
        any((one.rank_low, one.rank_high) != (1, 5) for one in ranking.standings),
        any((pair.p_holm or 0.0) <= 0.05 for pair in ranking.pairs),
    ]


def simulated(
    rng: np.random.Generator,
    problems: int,
    abilities: Floats,
    trials: int,
    interaction: float,
    missing: float,
) -> tuple[Ints, Ints]:
    """Return trials and successes, none where a model was not asked."""
    shape = (problems, len(abilities))
    odds = abilities - rng.normal(0.0, 1.5, (problems, 1)) + interaction * rng.normal(size=shape)
    asked = np.where(rng.random(shape) < missing, 0, trials)
    return asked, rng.binomial(asked, 1.0 / (1.0 + np.exp(-odds)))


def fits(trials: Ints, successes: Ints) -> tuple[AbilityFit, AbilityFit]:
    """Return the fits of both models of ability."""
    with np.errstate(invalid="ignore"):
        values = successes / trials
    unit = np.arange(len(trials))
    return fitted(ConditionalLogit(trials, successes), unit), fitted(BradleyTerry(values), unit)


def coverage(sets: int) -> Iterator[Row]:
    """Return a row per design."""
    for models, trials, interaction in product((3, 8), (1, 4), (0.0, INTERACTION)):
        abilities = np.linspace(-0.6, 0.6, models)
        whole = simulated(np.random.default_rng(99), MANY, abilities, trials, interaction, 0.0)
        logit, wins = (fit.abilities for fit in fits(*whole))
        targets = (logit if interaction else abilities, wins)
        for problems, missing in product((30, 200), (0.0, 0.4)):
            rng = np.random.default_rng(7)
            data = (
                simulated(rng, problems, abilities, trials, interaction, missing)
                for _ in range(sets if models == 3 else sets // 2)
            )
            held = np.array([_held(fits(*one), targets) for one in data])
            yield {
                "models": models,
                "problems": problems,
                "trials": trials,
                "missing": missing,
                "interaction": interaction,
                "logit": round(float(held[:, 0].mean()), 3),
                "bradley-terry": round(float(held[:, 1].mean()), 3),
                "error": round(float((held.std(axis=0) / len(held) ** 0.5).max()), 3),
            }


def _held(both: tuple[AbilityFit, AbilityFit], targets: tuple[Floats, Floats]) -> list[float]:
    """Return the shares of differences that their intervals hold."""
    shares = []
    for fit, target in zip(both, targets, strict=True):
        count = len(target)
        away = np.array([np.eye(count)[j] - np.eye(count)[i] for i, j in pairs_of(count)])
        reach = student_quantile(0.95, fit.units - 1.0) * np.sqrt(fit.variance(away, "problems"))
        shares.append(float((np.abs(away @ (fit.abilities - target)) <= reach).mean()))
    return shares


def pairs_of(count: int) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=400, help="data sets per row")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    asked = parser.parse_args()
    for title, rows in (
        ("Five models that are alike: share of sets with a finding at 5 %", alike(asked.sets)),
        ("Coverage of differences of abilities at 95 %", coverage(asked.sets)),
    ):
        print(f"\n{title}\n", flush=True)
        print(render(list(rows), "markdown" if asked.markdown else "table"), end="", flush=True)


if __name__ == "__main__":
    main()
