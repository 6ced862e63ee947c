"""The ten kinds of arithmetic problem: what `tiny` was trained on, and what `arithmetic` asks.

A problem is a question such as ``23*14``; the model is asked ``23*14=`` and the answer is what
stands after the last ``=``. Most kinds can be worked out in one intermediate step, often in two
ways, and the training text picks one of them at random:

    23*14=230+92=322        split the second factor
    23*14=280+42=322        split the first factor
    23*14=322               no working at all, a quarter of the time

This choice is why completions differ from sample to sample. No wrong answer is ever taught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

__all__ = ["LEVELS", "Level", "Problem", "held_out", "solution"]

PROBLEMS = 200  # in the built-in task
SEED_OF_TASK = 20  # apart from the seeds of training
WORKED = 0.75  # share of the training text that shows the working, where there is one


@dataclass(frozen=True)
class Problem:
    """A question, its answer, and the ways to work it out in one step."""

    question: str
    answer: int
    workings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Level:
    """A kind of problem; `weight` is its share of the training text, relative to the others."""

    name: str
    weight: int
    draw: Callable[[Random], Problem]


def add2(random: Random) -> Problem:
    a, b = random.randint(1, 99), random.randint(1, 99)
    return Problem(f"{a}+{b}", a + b)


def mul1(random: Random) -> Problem:
    a, b = random.randint(2, 9), random.randint(2, 9)
    return Problem(f"{a}*{b}", a * b)


def sub3(random: Random) -> Problem:
    b = random.randint(11, 899)
    a = random.randint(b, 999)
    places = (10, 100) if b >= 100 else (10,)
    workings = tuple(f"{a - b + b % place}-{b % place}" for place in places)
    return Problem(f"{a}-{b}", a - b, workings)


def add3(random: Random) -> Problem:
    a, b = random.randint(100, 999), random.randint(100, 999)
    low = {place: a % place + b % place for place in (10, 100)}
    workings = tuple(f"{a + b - rest}+{rest}" for rest in low.values())
    return Problem(f"{a}+{b}", a + b, workings)


def mix(random: Random) -> Problem:
    a, b, c = random.randint(2, 99), random.randint(2, 9), random.randint(2, 9)
    sign = random.choice("+-")
    answer = a + b * c if sign == "+" else a - b * c
    return Problem(f"{a}{sign}{b}*{c}", answer, (f"{a}{sign}{b * c}",))


def mul21(random: Random) -> Problem:
    a, b = random.randint(11, 99), random.randint(3, 9)
    return Problem(f"{a}*{b}", a * b, (_split(a, b, 10),))


def mul22(random: Random) -> Problem:
    a, b = random.randint(11, 99), random.randint(11, 99)
    return Problem(f"{a}*{b}", a * b, (_split(b, a, 10), _split(a, b, 10)))


def mul31(random: Random) -> Problem:
    a, b = random.randint(101, 999), random.randint(3, 9)
    return Problem(f"{a}*{b}", a * b, (_split(a, b, 100),))


def chain(random: Random) -> Problem:
    a, b, c = (random.randint(10, 99) for _ in range(3))
    first, second = random.choice("+-"), random.choice("+-")
    partial = a + b if first == "+" else a - b
    answer = partial + c if second == "+" else partial - c
    return Problem(f"{a}{first}{b}{second}{c}", answer, (f"{partial}{second}{c}",))


def mul32(random: Random) -> Problem:
    a, b = random.randint(101, 999), random.randint(11, 99)
    return Problem(f"{a}*{b}", a * b, (_split(b, a, 10), _split(a, b, 100)))


def _split(factor: int, other: int, place: int) -> str:
    """Return the product as the sum of two, with one factor cut at a decimal place."""
    rest = factor % place
    return f"{(factor - rest) * other}+{rest * other}"


LEVELS = (
    Level("add2", 2, add2),
    Level("mul1", 1, mul1),
    Level("sub3", 3, sub3),
    Level("add3", 3, add3),
    Level("mix", 3, mix),
    Level("mul21", 3, mul21),
    Level("mul22", 5, mul22),
    Level("mul31", 2, mul31),
    Level("chain", 3, chain),
    Level("mul32", 1, mul32),  # seen too rarely to be learned: the hard end of the task
)


def solution(problem: Problem, random: Random) -> str:
    """Return what follows ``=`` in a training text: one of the workings, or the bare answer."""
    if problem.workings and random.random() < WORKED:
        return f"{random.choice(problem.workings)}={problem.answer}"
    return str(problem.answer)


def held_out() -> Iterator[tuple[Level, Problem]]:
    """Yield the problems of the built-in task: the levels in turn, no question twice."""
    random, seen = Random(SEED_OF_TASK), set[str]()
    for level in islice(cycle(LEVELS), PROBLEMS):
        problem = level.draw(random)
        while problem.question in seen:
            problem = level.draw(random)
        seen.add(problem.question)
        yield level, problem
