"""Time and measure item response theory: steps of a test, calibration, coverage, items needed.

    python benchmarks/adaptive.py [--quick] [--markdown]

Steps and calibration are timed next to the mirt of PyPI (1.2.0) and catsim (0.21), in this process:
CPU time, the least of several repeats. Rivals that are not installed are "not run". The rest is
simulated: how often intervals of ability and accuracy contain the truth, and how many items bring
the standard error of the whole bank.

Every row has what was measured, a target and a verdict: "ok", "SHORT", or "wide" where intervals
cover more than they promise. "refused": such intervals are not printed unless the model is
accepted. `--quick` takes fewer repeats, with which coverage is known to about two percent. The exit
code is 0 whatever was measured.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from metrics import at_most, version_of

from passband.report.rendering import Row, render
from passband.stats.irt import ItemEvidence, Items, calibrate
from passband.stats.irt.ability import AbilityMethod, ability_of
from passband.stats.irt.accuracy import bank_accuracy, stratum_accuracy
from passband.stats.irt.posterior import AbilityPosterior, Grid

STEPS = 30
LOWEST, HIGHEST = 0.93, 0.97


# -- banks and answers ---------------------------------------------------------------------


def bank(size: int, rng: np.random.Generator, model: str = "2pl", spread: float = 0.3) -> Items:
    """Return items whose log a has this spread: 0.3 in textbooks, 0.6 in calibrated benchmarks."""
    a, b = rng.lognormal(0.0 if spread < 0.5 else 0.5, spread, size), rng.normal(size=size)
    if model == "graded":
        steps = np.sort(rng.normal(size=(size, 3)), axis=1) + np.array([-0.5, 0.0, 0.5])
        return Items("graded", a, steps=steps)
    c = rng.uniform(0.05, 0.3, size) if model == "3pl" else None
    phi = rng.uniform(0.1, 0.6, size) if model == "continuous" else None
    return Items(model, a, b, c, phi=phi)  # type: ignore[arg-type]


def scores(items: Items, theta: float, rng: np.random.Generator) -> np.ndarray:
    if items.steps is not None:
        chance = 1.0 / (1.0 + np.exp(-items.a[:, None] * (theta - items.steps)))
        return (rng.random((len(items), 1)) < chance).sum(axis=1) / items.grades
    mean = items.expected(theta)
    if items.model == "continuous":
        total = 1.0 / items.phi - 1.0
        return rng.beta(mean * total, (1.0 - mean) * total)
    return (rng.random(len(items)) < mean).astype(float)


def cpu(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def stated(what: str, found: float | str | None) -> Row:
    return {"what": what, "found": found, "target": None, "verdict": None}


def least(what: str, found: float | None, target: float) -> Row:
    if found is None:
        return {"what": what, "found": None, "target": f">= {target:g}", "verdict": "not run"}
    verdict = "ok" if found >= target else "SHORT"
    return {"what": what, "found": round(found, 1), "target": f">= {target:g}", "verdict": verdict}


# -- steps ---------------------------------------------------------------------------------


def our_steps(grid: Grid, answers: np.ndarray) -> None:
    posterior, available = AbilityPosterior(grid), np.ones(len(grid.items), dtype=bool)
    for _ in range(STEPS):
        (item,) = grid.best(posterior.theta, available)
        available[item] = False
        posterior.add(ItemEvidence(int(item), float(answers[item])))


def mirt_steps(items: Items, answers: np.ndarray, steps: int) -> Callable[[], None] | None:
    try:
        from mirt import CATEngine, TwoParameterLogistic
    except ImportError:
        return None
    model = TwoParameterLogistic(len(items))
    model.set_parameters(discrimination=items.a.copy(), difficulty=items.b.copy())
    model._is_fitted = True
    engine = CATEngine(model, se_threshold=1e-6, max_items=steps + 1, n_quadpts=61)

    def run() -> None:
        engine.reset()
        for _ in range(steps):
            engine.administer_item(int(answers[engine.select_next_item()]))

    return run


def catsim_steps(items: Items, answers: np.ndarray, steps: int) -> Callable[[], None] | None:
    try:
        from catsim.estimation import NumericalSearchEstimator
        from catsim.item_bank import ItemBank
        from catsim.selection import MaxInfoSelector
    except ImportError:
        return None
    size = len(items)
    known = ItemBank(np.column_stack([items.a, items.b, np.zeros(size), np.ones(size)]))
    select, estimate = MaxInfoSelector(), NumericalSearchEstimator()

    def run() -> None:
        theta, asked, given = 0.0, [], []
        for _ in range(steps):
            item = select.select(item_bank=known, administered_items=asked, est_theta=theta)
            asked.append(int(item))
            given.append(bool(answers[item]))
            theta = estimate.estimate(
                item_bank=known, administered_items=asked, response_vector=given, est_theta=theta
            )

    return run


def steps(quick: bool) -> Iterator[Row]:
    for size, target in ((1_000, 100), (10_000, 100), (100_000, 1000)):
        rng = np.random.default_rng(size)
        items = bank(size, rng)
        answers = scores(items, 0.5, rng)
        grid = Grid.of(items)
        first = cpu(lambda grid=grid, answers=answers: our_steps(grid, answers)) / STEPS
        theirs_steps = STEPS if size < 100_000 else 5
        rivals = {
            "mirt": mirt_steps(items, answers, theirs_steps),
            "catsim": catsim_steps(items, answers, theirs_steps),
        }
        ours, theirs = first, dict.fromkeys(rivals, 1e9)
        for _ in range(2 if quick else 4):  # in turn, so that other work disturbs all of them
            for _ in range(5):
                ours = min(
                    ours, cpu(lambda grid=grid, answers=answers: our_steps(grid, answers)) / STEPS
                )
            for name, run in rivals.items():
                if run is not None:
                    theirs[name] = min(theirs[name], cpu(run) / theirs_steps)
        what = f"{size:,} items"
        yield {"what": f"{what}, μs", **at_most("found", ours * 1e6, target, 0)}
        yield stated(f"{what}, μs in the first test", round(first * 1e6))
        for name, run in rivals.items():
            ratio = None if run is None else theirs[name] / ours
            yield least(f"{what}, times faster than {name}", ratio, 50)


# -- calibration ---------------------------------------------------------------------------


def calibration(quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    people, size = (1000, 500) if quick else (2000, 1000)
    items = bank(size, rng)
    theta = rng.normal(size=people)
    right = (rng.random((people, size)) < items.expected(theta).T).astype(np.int64)
    found: list[Any] = []
    ours = min(cpu(lambda: found.append(calibrate(right))) for _ in range(2))
    errors = [rmse(found[0].items.a, items.a), rmse(found[0].items.b, items.b)]
    what = f"{people} x {size}"
    if quick:
        yield stated(f"{what}, seconds", round(ours, 2))
        yield stated(f"{what}, RMSE of a and b", " and ".join(f"{error:.3f}" for error in errors))
        return
    yield {"what": f"{what}, seconds", **at_most("found", ours, 5, 2)}
    yield {"what": f"{what}, RMSE of a", **at_most("found", errors[0], 0.07, 3)}
    yield {"what": f"{what}, RMSE of b", **at_most("found", errors[1], 0.09, 3)}
    yield stated(f"{what}, iterations", found[0].iterations)
    try:
        from mirt import fit_mirt
    except ImportError:
        yield least(f"{what}, times faster than mirt", None, 5)
        return
    fits: list[Any] = []
    options = {"n_quadpts": 61, "tol": 1e-3, "compute_standard_errors": False}
    theirs = cpu(lambda: fits.append(fit_mirt(right, model="2PL", **options)))
    parameters = fits[0].model.parameters
    a, b = np.ravel(parameters["discrimination"]), np.ravel(parameters["difficulty"])
    yield least(f"{what}, times faster than mirt", theirs / ours, 5)
    yield stated("RMSE of a by mirt", round(rmse(a, items.a), 3))
    yield stated("RMSE of b by mirt", round(rmse(b, items.b), 3))


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


# -- coverage of abilities -----------------------------------------------------------------


def coverage(quick: bool) -> Iterator[Row]:
    repeats = 200 if quick else 600
    for model in ("2pl", "3pl", "graded", "continuous"):
        for theta in (None, -1.5, 0.0, 1.5):
            methods: tuple[AbilityMethod, ...] = ("eap", "map") if theta is None else ("mle", "wle")
            rng = np.random.default_rng(7)
            hits = dict.fromkeys(methods, 0)
            for number in range(repeats):
                if number % 20 == 0:
                    grid = Grid.of(bank(60, rng, model))
                true = rng.normal() if theta is None else theta
                got = scores(grid.items, true, rng).tolist()
                posterior = AbilityPosterior(grid)
                posterior.extend([ItemEvidence(i, score) for i, score in enumerate(got)])
                for method in methods:
                    ability = ability_of(posterior, method=method)
                    hits[method] += ability.low <= true <= ability.high
            where = "θ from the prior" if theta is None else f"θ = {theta:g}"
            for method in methods:
                yield covered(f"{model}, {method}, {where}", hits[method] / repeats)


def covered(what: str, share: float) -> Row:
    verdict = "ok" if LOWEST <= share <= HIGHEST else "SHORT" if share < LOWEST else "wide"
    target = f"{LOWEST} to {HIGHEST}"
    return {"what": what, "found": round(share, 3), "target": target, "verdict": verdict}


# -- coverage of accuracies ----------------------------------------------------------------


DESIGNS = {
    "model true": "the answers follow the bank",
    "b off by 1": "each respondent finds other items hard than the bank says",
    "guessing": "a quarter of what is not known is guessed, and the bank knows of no guessing",
    "leaked": "three items in ten are easier for this respondent, by 2",
    "by heart": "one item in five is known by heart",
    "two abilities": "half of the items ask for another ability",
}


def accuracies(quick: bool) -> Iterator[Row]:
    """Cover the expected accuracy on 300 items: 40 chosen ones, 60 random ones, or all."""
    repeats = 200 if quick else 1000
    for kind in DESIGNS:
        rng = np.random.default_rng(11)
        roads = ("through the model, 40 items", "60 random items", "all items")
        known, widths = dict.fromkeys(roads, 0), dict.fromkeys(roads, 0.0)
        noted = 0
        for number in range(repeats):
            if number % 20 == 0:
                grid = Grid.of(bank(300, rng))
            chances = responding(grid.items, kind, rng)
            got, truth = (rng.random(300) < chances).astype(float), float(chances.mean())
            drawn = rng.choice(300, 60, replace=False)
            model = bank_accuracy(adaptive_answers(grid, got, 40))
            found = (
                model,
                stratum_accuracy(got[drawn], np.full(60, 0.2), 300),
                stratum_accuracy(got, np.ones(300), 300),
            )
            for road, one in zip(roads, found, strict=True):
                known[road] += one.low <= truth <= one.high
                widths[road] += one.high - one.low
            noted += "misfit" in [note.code for note in model.notes]
        for road in roads:
            row = covered(f"{road}, {kind}", known[road] / repeats)
            is_claimed = road != roads[0] or kind == "model true"
            yield row if is_claimed else {**row, "target": None, "verdict": "refused"}
        if kind == "model true":
            for road in roads:
                yield stated(f"width, {road}", round(widths[road] / repeats, 3))
        yield stated(f"share with the note on misfit, {kind}", round(noted / repeats, 3))


def responding(items: Items, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the chance of one respondent to be right on each item."""
    size, theta = len(items), rng.normal()
    easier = {
        "b off by 1": rng.normal(0.0, 1.0, size),
        "leaked": 2.0 * (rng.random(size) < 0.3),
        "two abilities": (rng.normal() - theta) * (rng.random(size) < 0.5),
    }.get(kind, np.zeros(size))
    chances = 1.0 / (1.0 + np.exp(-items.a * (theta + easier - items.b)))
    if kind == "guessing":
        return 0.25 + 0.75 * chances
    return np.where(rng.random(size) < 0.2, 1.0, chances) if kind == "by heart" else chances


def adaptive_answers(grid: Grid, got: np.ndarray, count: int, trials: int = 1) -> AbilityPosterior:
    posterior, available = AbilityPosterior(grid), np.ones(len(got), dtype=bool)
    for _ in range(count):
        (item,) = grid.best(posterior.theta, available)
        available[item] = False
        posterior.add(ItemEvidence(int(item), float(got[item]), trials))
    return posterior


# -- items needed --------------------------------------------------------------------------


def needed(quick: bool) -> Iterator[Row]:
    repeats = 30 if quick else 100
    for size, target in ((100, 0.35), (1000, 0.05)):
        for spread, kind in ((0.3, "textbook bank"), (0.6, "bank like a benchmark's")):
            for trials, rho in ((1, 0.0), (8, 0.0), (8, 0.2)):
                rng = np.random.default_rng(size)
                grids = (Grid.of(bank(size, rng, spread=spread), rho=rho) for _ in range(repeats))
                found = np.array([items_needed(grid, rng, trials) for grid in grids])
                share, bound = np.median(found, axis=0)
                repeated = f", 8 trials each, ρ = {rho:g}" if trials > 1 else ", 1 trial each"
                what = f"{size:,} items, {kind}{repeated}"
                yield {"what": what, **at_most("found", float(share), target, 3)}
                if trials == 1:
                    yield stated(f"{what}, if θ were known", round(float(bound), 3))


def items_needed(grid: Grid, rng: np.random.Generator, trials: int) -> tuple[float, float]:
    """Return the share of the bank that brings its standard error but for a tenth.

    The second number is the share that would do if the ability were known beforehand, which no
    selection can beat.
    """
    items, theta = grid.items, rng.normal()
    chance = items.expected(theta)
    whole = AbilityPosterior(grid)
    got = (rng.random(len(items)) < chance).astype(float)
    whole.extend([ItemEvidence(i, score) for i, score in enumerate(got.tolist())])
    target = 1.1 * whole.se
    repeated = counts(chance, trials, grid.rho, rng) / trials
    posterior, available, asked = AbilityPosterior(grid), np.ones(len(items), dtype=bool), 0
    while posterior.se > target and available.any():
        (item,) = grid.best(posterior.theta, available)
        available[item] = False
        posterior.add(ItemEvidence(int(item), float(repeated[item]), trials))
        asked += 1
    info = np.sort(items.a**2 * chance * (1.0 - chance))[::-1]
    bound = int(np.searchsorted(1.0 + np.cumsum(info), target**-2)) + 1
    return asked / len(items), bound / len(items)


def counts(chance: np.ndarray, trials: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Return successes among trials that are correlated given the ability."""
    if rho and trials > 1:
        total = 1.0 / rho - 1.0
        chance = np.clip(chance, 1e-9, 1.0 - 1e-9)
        chance = rng.beta(chance * total, (1.0 - chance) * total)
    return rng.binomial(trials, chance)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--only", help="one section: steps, calibration, coverage ...")
    asked = parser.parse_args()
    names = ", ".join(
        f"{name} {version_of(name)}" for name in ("passband", "numpy", "mirt", "catsim")
    )
    print(f"Python {platform.python_version()}, {names}")
    sections = {
        "Select and update, one step of a test": steps,
        "Calibration, 2pl": calibration,
        "Coverage of 95 % intervals of ability, 60 items": coverage,
        "Coverage of 95 % intervals of the accuracy on a bank of 300 items": accuracies,
        "Share of the bank that brings its standard error but for a tenth": needed,
    }
    for title, section in sections.items():
        if asked.only in (None, section.__name__):
            print(f"\n{title}\n", flush=True)
            form = "markdown" if asked.markdown else "table"
            print(render(list(section(asked.quick)), form), end="", flush=True)


if __name__ == "__main__":
    main()
