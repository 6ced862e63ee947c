"""Simulated judged trials: problems, trials, a judge with errors of many kinds, drawn labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passband.stats.judged.draw import TrialKeys, drawn_rows
from passband.stats.judged.judged import Design, Judged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Success probabilities of problems: a beta law, or some points with their shares."""

    name: str
    beta: tuple[float, float] | None = None
    points: tuple[tuple[float, float], ...] = ()  # (probability, share)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        if self.beta is not None:
            return rng.beta(*self.beta, count)
        at, share = (np.array(column) for column in zip(*self.points, strict=True))
        return at[rng.choice(len(at), size=count, p=share)]

    @property
    def mean(self) -> float:
        if self.beta is not None:
            return self.beta[0] / sum(self.beta)
        return sum(at * share for at, share in self.points)


@dataclass(frozen=True)
class Judge:
    """How a judge errs: by class, by difficulty, on whole problems, by vote, or not at all."""

    name: str
    sensitivity: float = 0.9
    specificity: float = 0.9
    lenient_on_hard: float = 0.0  # taken off the specificity at p = 0
    harsh_on_hard: float = 0.0  # taken off the sensitivity at p = 0
    inverted: float = 0.0  # share of problems on which every verdict is the wrong one
    passed: float = 0.0  # share of problems on which every verdict is pass
    noise: float = 0.0  # share of votes that say the opposite
    votes: int = 1
    failed: float = 0.0  # share of trials without a verdict; of wrong ones three times as many

    def scores(self, rng: np.random.Generator, p: Floats, y: Floats, problem: Ints) -> Floats:
        hard = 1.0 - p[problem]
        sensitivity = np.clip(self.sensitivity - self.harsh_on_hard * hard, 0.0, 1.0)
        specificity = np.clip(self.specificity - self.lenient_on_hard * hard, 0.0, 1.0)
        chance = np.where(y == 1.0, sensitivity, 1.0 - specificity)
        verdict = (rng.random(len(y)) < chance).astype(np.float64)
        odd = rng.random(len(p))[problem]
        verdict = np.where(odd < self.inverted, 1.0 - y, verdict)
        verdict = np.where(odd > 1.0 - self.passed, 1.0, verdict)
        if self.noise:
            flips = rng.binomial(self.votes, self.noise, len(y)) / self.votes
            verdict = np.abs(verdict - flips)
        if self.failed:
            lost = rng.random(len(y)) < self.failed * np.where(y == 1.0, 1.0, 3.0)
            verdict = np.where(lost, np.nan, verdict)
        return verdict


@dataclass(frozen=True)
class Cell:
    """One setting: what is drawn, judged and labelled."""

    population: Population
    judge: Judge
    design: Design
    problems: int
    trials: str  # a number, or "1-8", "hard", "few"
    labels: int
    each: int | None = None

    def __str__(self) -> str:
        size = f"{self.problems} x {self.trials}, {self.labels} labels by {self.design}"
        return f"{self.population.name}; {self.judge.name}; {size}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{number:04}" for number in range(self.problems))

    def numbers_of_trials(self, rng: np.random.Generator, p: Floats) -> Ints:
        if self.trials == "1-8":
            return rng.integers(1, 9, len(p))
        if self.trials == "hard":  # the harder, the more trials
            return 1 + rng.binomial(7, 1.0 - p)
        if self.trials == "few":  # mostly 1 or 2, some many
            return np.minimum(rng.geometric(0.45, len(p)), 10)
        return np.full(len(p), int(self.trials))

    def draw(self, rng: np.random.Generator) -> tuple[Judged, Floats, Floats]:
        """Return judged trials, the success probabilities, and the labels of all trials."""
        p = self.population.draw(rng, self.problems)
        sizes = self.numbers_of_trials(rng, p)
        problem = np.repeat(np.arange(self.problems), sizes)
        number = np.arange(len(problem)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        y = (rng.random(len(problem)) < p[problem]).astype(np.float64)
        score = self.judge.scores(rng, p, y, problem)
        nothing = np.full(len(problem), np.nan)
        judged = Judged(self.names, problem, number, score, nothing, self.design)
        keys = TrialKeys(rng.random(self.problems), rng.random(len(problem)))
        count = min(self.labels, len(problem))
        rows, chance = drawn_rows(judged, count, self.design, keys, self.each)
        label, probability = nothing.copy(), nothing.copy()
        label[rows], probability[rows] = y[rows], chance
        return replace(judged, label=label, probability=probability), p, y
