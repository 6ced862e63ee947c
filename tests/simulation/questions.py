"""Tasks of the simulation, and the one answer that its model has for each trial."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from passband.generate.problem import Problem
from passband.generate.provider import Finish, Message, Sampling
from passband.run.schedule.blocks import trial_seed
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference, Score, Scorer
from passband.tasks.task import Task

SEED = "simulation"
ADAPTIVE = "bank:adaptive:test"  # the name of a task
MOST_TRIALS = 40  # of a problem
TOO_LONG = "p03"  # the problem whose prompt no server takes, where a scenario has one


class Place(NamedTuple):
    """One trial."""

    task: str
    problem: str
    trial: int


@dataclass(frozen=True)
class Answer:
    """What the model says in one trial, each time that it is asked."""

    text: str
    finish: Finish


class SlowScorer(Scorer):
    """Scores by length, in a thread."""

    name, identity, slow, is_async, takes_trial = "length", "length 1", True, False, False
    spec = None

    def score(self, text: str | None, reference: Reference, trial: Any = None) -> Score:
        return Score(float(len(text or "") % 2), answer=str(len(text or "")))

    async def score_async(self, text: str | None, reference: Reference, trial: Any = None) -> Score:
        raise AssertionError("it is not async")


@lru_cache(maxsize=4096)
def answer(place: Place) -> Answer:
    """Return the answer of a trial: right, wrong, long, empty, strange, truncated or refused."""
    rng = random.Random("/".join(map(str, place)))
    name = f"[{place.task}/{place.problem}#{place.trial}]"
    number = target(place.problem) if rng.random() < 0.6 else rng.randrange(1000)
    finish: Finish = rng.choices(("stop", "length", "content_filter"), (0.86, 0.08, 0.06))[0]
    text = f"{name} {rng.choice(_PHRASES)} {number}."
    if rng.random() < 0.05:
        text = f"{name} I do not know."
    return Answer(text, finish)


_PHRASES = (
    "The answer is",
    "Ich komme auf – hm – \u2211 =",
    "Way after way, I add the two numbers, and get this: " * 30,
    "x\x00y \U0001f600 \\boxed",
)


def target(problem: str) -> int:
    return 40 + int(problem[1:])


def prompt(task: str, problem: str) -> str:
    return f"{task} {problem} | what is it?"


def problem_of(text: str) -> tuple[str, str]:
    """Return the task and the problem that a prompt is of."""
    task, problem = text.partition(" | ")[0].split()
    return task, problem


@lru_cache(maxsize=256)
def trials_by_seed(task: str, problem: str) -> dict[int, int]:
    return {trial_seed(SEED, task, problem, trial): trial for trial in range(MOST_TRIALS)}


def places_of(text: str, seeds: tuple[int | None, ...]) -> tuple[Place, ...]:
    """Return the trials of a request; where only the first seed is sent, the others follow it."""
    task, problem = problem_of(text)
    first = trials_by_seed(task, problem)[seeds[0] or 0]
    return tuple(Place(task, problem, first + place) for place in range(len(seeds)))


@lru_cache(maxsize=1)
def number_scorer() -> Scorer:
    return make_scorer("exact_match", steps=[{"function": "extract", "rules": ["last_number"]}])


def make_task(name: str, problems: list[str], *, slow: bool) -> Task:
    """Return a task of problems in this order."""
    loaded = [
        Problem(key, (Message("user", prompt(name, key)),), Reference((str(target(key)),)))
        for key in problems
    ]
    scorers: tuple[Scorer, ...] = (number_scorer(), *([SlowScorer()] if slow else []))
    return Task(
        name=name,
        path=None,
        sampling=Sampling(temperature=1.0),
        repeats=1,
        scorers=scorers,
        metrics=(),
        load=lambda limit: loaded[:limit],
    )


def make_adaptive_task(problems: list[str], trials: int) -> Task:
    """Return a test of the problems as items of a bank, some of which it leaves out."""
    from passband.adaptive.bank import Bank
    from passband.adaptive.design import Design
    from passband.adaptive.item import BankItem
    from passband.adaptive.task import task_of_bank
    from passband.stats.irt.items import Items

    items = [BankItem(key, "test", prompt(ADAPTIVE, key), (str(target(key)),)) for key in problems]
    count = len(items)
    parameters = Items("2pl", np.linspace(0.8, 1.6, count), np.linspace(-2.0, 2.0, count))
    scorer = {"name": "exact_match", "steps": [{"function": "extract", "rules": ["last_number"]}]}
    bank = Bank("bank", tuple(items), parameters, scorer=scorer, sampling={"temperature": 1.0})
    return task_of_bank(bank, Design(se=0.5, max_items=max(2, count - 2), trials=trials, batch=2))


@lru_cache(maxsize=4096)
def scores_of(place: Place) -> dict[str, float | None]:
    """Return what each scorer gives the answer of a trial, by its name."""
    reference = Reference((str(target(place.problem)),))
    scorers: tuple[Scorer, ...] = (number_scorer(), SlowScorer())
    return {scorer.name: scorer.score(answer(place).text, reference).value for scorer in scorers}


Front = Literal["provider", "wire"]
