"""Write the built-in bank `arithmetic`: 360 items of ten levels, calibrated on variants of `tiny`.

    python training/write_bank.py [--output arithmetic.jsonl]

The respondents are `tiny` at 12 settings of temperature and top_p, and 36 copies of `tiny` whose
weights were disturbed by noise of nine sizes. So the scale of the bank is that of weakened `tiny`s:
theta 0 is their average. Each was asked every item 4 times. It takes about a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
from levels import LEVELS, Problem, held_out

from passband.adaptive.bank import Bank, write_bank
from passband.adaptive.item import BankItem
from passband.generate.tiny.model import Model, load_model
from passband.generate.tiny.sampler import sample
from passband.generate.tiny.vocabulary import CONTEXT, Draw
from passband.run.schedule.blocks import trial_seed
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.stats.irt.calibration import Calibration, calibrate
from passband.stats.irt.items import Items
from passband.types import Ints

OUTPUT = Path(__file__).parents[1] / "src/passband/adaptive/builtin/arithmetic.jsonl"
SEED = 30  # apart from those of training and of the task
OF_LEVEL = 36
SPLITS = ("train", "validation", "test")
TRIALS = 4
LENGTH = 24
TEMPERATURES = (0.5, 0.8, 1.0, 1.2, 1.5, 2.0)
TOP_P = (1.0, 0.9)
NOISE = (0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.15, 0.20, 0.25)
COPIES = 4
LEAST_SLOPE = 0.4
FARTHEST = 4.0
SCORER = {"name": "exact_match", "steps": [{"function": "extract", "rules": ["last_number"]}]}


@dataclass(frozen=True)
class Respondent:
    """A variant of `tiny`: how it is sampled, and the noise on its weights."""

    temperature: float = 1.0
    top_p: float = 1.0
    noise: float = 0.0  # in standard deviations of each matrix
    copy: int = 0

    def model(self) -> Model:
        """Return the weights, disturbed."""
        weights = load_model()
        if not self.noise:
            return weights
        random = np.random.default_rng([SEED, round(1000 * self.noise), self.copy])
        arrays = {field.name: getattr(weights, field.name) for field in fields(weights)}
        return Model(
            **{
                name: array + self.noise * array.std() * random.standard_normal(array.shape)
                for name, array in arrays.items()
            }
        )


def respondents() -> list[Respondent]:
    """Return the variants that are asked."""
    sampled = [
        Respondent(temperature, top_p) for temperature, top_p in product(TEMPERATURES, TOP_P)
    ]
    noisy = [Respondent(noise=noise, copy=copy) for noise in NOISE for copy in range(COPIES)]
    return sampled + noisy


def items() -> Iterator[BankItem]:
    """Yield the items, the splits in turn: no question twice, none of the task's."""
    random = Random(SEED)
    seen = {problem.question for _, problem in held_out()}
    for number in range(OF_LEVEL):
        for level in LEVELS:
            problem = level.draw(random)
            while problem.question in seen:
                problem = level.draw(random)
            seen.add(problem.question)
            yield _item(level.name, number, problem)


def _item(level: str, number: int, problem: Problem) -> BankItem:
    return BankItem(
        key=f"{level}-{number + 1:02}",
        split=SPLITS[number % len(SPLITS)],
        question=f"{problem.question}=",
        targets=(str(problem.answer),),
        content=level,
    )


def successes(respondent: Respondent, asked: list[BankItem]) -> Ints:
    """Return how many of the trials of each item are right."""
    model, scorer = respondent.model(), make_scorer(**SCORER)  # type: ignore[arg-type]
    counts = np.zeros(len(asked), dtype=np.int64)
    for length in sorted({len(item.question) for item in asked}):
        places = [place for place, item in enumerate(asked) if len(item.question) == length]
        draws = [
            Draw(
                asked[place].question,
                trial_seed("bank", repr(respondent), asked[place].key, trial),
                respondent.temperature,
                respondent.top_p,
                min(LENGTH, CONTEXT - length),
            )
            for place in places
            for trial in range(TRIALS)
        ]
        texts = sample(model, draws)
        for number, text in enumerate(texts):
            place = places[number // TRIALS]
            value = scorer.score(text.partition("\n")[0], Reference(asked[place].targets)).value
            counts[place] += int(value or 0)
    return counts


def provenance(asked: list[Respondent], fitted: Calibration) -> dict[str, object]:
    return {
        "made_by": "training/write_bank.py",
        "respondents": len(asked),
        "respondents_are": "tiny at 12 settings of temperature and top_p, and 36 copies of tiny "
        "with noise on their weights; no other model",
        "trials_per_item": TRIALS,
        "questions": "drawn by level as the training text of tiny was, none of the task "
        "arithmetic; tiny may have seen some in training, and has seen most of mul1",
        "scale": "theta has mean 0 and standard deviation 1 over these respondents",
        "dropped": f"{len(fitted.dropped)} of {OF_LEVEL * len(LEVELS)} by screening, and those "
        f"with a below {LEAST_SLOPE} or b beyond {FARTHEST}",
    }


def bank(asked: list[BankItem], fitted: Calibration) -> Bank:
    """Return the items that calibration kept and that tell something where respondents are."""
    useful = (fitted.items.a >= LEAST_SLOPE) & (np.abs(fitted.items.b) <= FARTHEST)
    kept = np.flatnonzero(useful).tolist()
    return Bank(
        name="arithmetic",
        items=tuple(
            replace(asked[fitted.kept[place]], quality=_quality(fitted, place)) for place in kept
        ),
        parameters=_rounded(fitted.items.take(kept)),
        rho=round(fitted.rho, 4),
        scorer=SCORER,
        sampling={"temperature": 1.0, "max_tokens": LENGTH, "stop": ["\n"]},
        provenance=provenance(respondents(), fitted),
    )


def _quality(fitted: Calibration, place: int) -> dict[str, float]:
    return {
        "se_a": round(float(fitted.se.a[place]), 3),
        "se_b": round(float(fitted.se.b[place]), 3),
        "infit": round(float(fitted.fit.infit[place]), 3),
    }


def _rounded(items: Items) -> Items:
    """Return parameters to the digits that they have any."""
    return Items("2pl", items.a.round(4), items.b.round(4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = list(items())
    counts = np.array([successes(respondent, asked) for respondent in respondents()])
    fitted = calibrate(counts, np.full(counts.shape, TRIALS), model="2pl")
    write_bank(bank(asked, fitted), parser.parse_args().output)


if __name__ == "__main__":
    main()
