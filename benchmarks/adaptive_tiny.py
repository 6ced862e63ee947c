"""Adaptive tests of `tiny` on the built-in bank, held against asking every item 64 times.

    python benchmarks/adaptive_tiny.py

Every item of a split is asked of the real model 64 times, with the seeds 0 to 63. Test number k
then takes its answers from trial k, so 64 tests of one model are run on what it really answered,
whether or not the items fit their curves. The truth is the mean over all trials of all items, and
the theta of all of them together. The tables are in docs/measured.md.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import numpy as np

from passband.adaptive.bank import Bank
from passband.adaptive.design import Design
from passband.adaptive.task import required_bank
from passband.adaptive.test import AdaptiveTest, grid_of
from passband.generate.provider import Message, Request, Sampling
from passband.generate.tiny import Tiny
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.stats.irt.posterior import AbilityPosterior, Grid
from passband.stats.irt.responses import ItemEvidence
from passband.types import Floats

TRIALS = 64
RESPONDENTS = {
    "T 1": Sampling(temperature=1.0, max_tokens=24),
    "T 0.5": Sampling(temperature=0.5, max_tokens=24),
    "T 1.7": Sampling(temperature=1.7, max_tokens=24),
}
DESIGNS = {
    "most information": Design(se=0.3, max_items=40),
    "at random": Design(se=0.3, max_items=40, selection="random"),
    "30 % random": Design(se=0.3, max_items=40, random_share=0.3),
}


class Measured(NamedTuple):
    """What 64 tests gave, against the truth."""

    items: float  # on average
    error: float  # root mean square, of theta
    raw: float  # mean over the chosen items, which estimates nothing
    accuracy: float  # through the model, on average
    covered: float  # how often its interval has the truth
    drawn: float  # through the random stratum, on average
    drawn_covered: float


def answers(bank: Bank, sampling: Sampling) -> Floats:
    """Return the scores of each item (rows) in each trial."""
    scorer = make_scorer(**bank.scorer_spec)
    seeds = tuple(range(TRIALS))

    async def generate() -> list[list[str]]:
        tiny = Tiny()
        asked = [(Message("user", item.prompt),) for item in bank.items]
        replies = await asyncio.gather(*(tiny.generate(Request(m, sampling, seeds)) for m in asked))
        await tiny.close()
        return [[completion.text or "" for completion in reply] for reply in replies]

    texts = asyncio.run(generate())
    return np.array(
        [
            [scorer.score(text, Reference(item.targets)).value or 0.0 for text in row]
            for item, row in zip(bank.items, texts, strict=True)
        ]
    )


def full_theta(grid: Grid, scores: Floats) -> float:
    """Return the ability that all trials of all items give."""
    posterior = AbilityPosterior(grid)
    posterior.extend(ItemEvidence(at, float(row.mean()), TRIALS) for at, row in enumerate(scores))
    return posterior.theta


def measured(bank: Bank, design: Design, scores: Floats) -> Measured:
    """Run a test on each trial."""
    grid = grid_of(bank, design)
    truth, theta = float(scores.mean()), full_theta(grid, scores)
    tests = [
        _complete(AdaptiveTest(bank, design, str(k), grid=grid), scores[:, k])
        for k in range(TRIALS)
    ]
    model = [test.accuracy() for test in tests]
    drawn = [found for test in tests if (found := test.random_accuracy()) is not None]
    raw = [np.mean([step.score for step in test.history]) for test in tests]
    return Measured(
        items=float(np.mean([test.n_items for test in tests])),
        error=float(np.sqrt(np.mean([(test.theta - theta) ** 2 for test in tests]))),
        raw=float(np.mean(raw)),
        accuracy=float(np.mean([found.value for found in model])),
        covered=float(np.mean([found.low <= truth <= found.high for found in model])),
        drawn=float(np.mean([found.value for found in drawn])) if drawn else np.nan,
        drawn_covered=(
            float(np.mean([found.low <= truth <= found.high for found in drawn]))
            if drawn
            else np.nan
        ),
    )


def _complete(test: AdaptiveTest, scores: Floats) -> AdaptiveTest:
    while choices := test.next():
        for choice in choices:
            test.answer(choice.key, float(scores[test.bank.position[choice.key]]))
    return test


def main() -> None:
    bank = required_bank("arithmetic").of_split("test")
    print(f"{len(bank.items)} items of split test, {TRIALS} tests each")
    columns = ("items", "error", "raw", "accuracy", "covered", "drawn", "covered")
    print("| model | design | accuracy of all | " + " | ".join(columns) + " |")
    print("|:--|:--|--:|" + "--:|" * len(columns))
    for name, sampling in RESPONDENTS.items():
        scores = answers(bank, sampling)
        for rule, design in DESIGNS.items():
            cells = ["" if np.isnan(v) else f"{v:.3g}" for v in measured(bank, design, scores)]
            print(f"| {name} | {rule} | {scores.mean():.3f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
