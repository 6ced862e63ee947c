"""Ask `tiny` every problem of the built-in task 64 times, and print the tables of docs/design.md.

    python training/measure_tiny.py

The seeds are 0 to 63, so every run prints the same, except for the time it took.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import passband
from passband.generate.provider import Message, Request, Sampling
from passband.generate.tiny import Tiny

TASK = Path(__file__).parents[1] / "src/passband/tasks/builtin/arithmetic.csv"
TRIALS = 64
VOTERS = 16
NUMBER = re.compile(r"-?\d+")
METRICS = ["pass@1", "pass@4", "pass@16", "pass@64", "maj@16"]
SETTINGS = {
    "0.5": Sampling(temperature=0.5),
    "0.8": Sampling(temperature=0.8),
    "1.0": Sampling(temperature=1.0),
    "1.0, top_p 0.9": Sampling(temperature=1.0, top_p=0.9),
}


@dataclass(frozen=True)
class Asked:
    """A problem, and what came out of asking it again and again."""

    level: str
    answer: str
    texts: list[str]

    @property
    def answers(self) -> list[str]:
        return [(NUMBER.findall(text) or [""])[-1] for text in self.texts]

    @property
    def successes(self) -> int:
        return self.answers.count(self.answer)

    @property
    def votes_won(self) -> float:
        """Share of votes won: disjoint groups, a tie goes to the answer that came first."""
        groups = [self.answers[at : at + VOTERS] for at in range(0, len(self.texts), VOTERS)]
        return float(np.mean([Counter(g).most_common(1)[0][0] == self.answer for g in groups]))


def ask(sampling: Sampling, trials: int = TRIALS) -> list[Asked]:
    """Ask all problems at once."""
    with TASK.open(encoding="utf-8", newline="") as file:
        problems = list(csv.DictReader(file))
    seeds = tuple(range(trials))
    prompts = [(Message("user", f"{problem['question']}="),) for problem in problems]

    async def generate() -> list[list[str]]:
        tiny = Tiny()
        requests = [tiny.generate(Request(prompt, sampling, seeds)) for prompt in prompts]
        replies = await asyncio.gather(*requests)
        await tiny.close()
        return [[completion.text or "" for completion in reply] for reply in replies]

    texts = asyncio.run(generate())
    return [Asked(p["level"], p["answer"], t) for p, t in zip(problems, texts, strict=True)]


def values(asked: Sequence[Asked], metrics: Sequence[str]) -> list[float]:
    counts = [problem.successes for problem in asked]
    outcomes = passband.Outcomes.from_counts(counts, len(asked[0].texts))
    return [passband.measure(outcomes, metric).value for metric in metrics]


def of_level(asked: Sequence[Asked], level: str) -> list[Asked]:
    return [problem for problem in asked if problem.level == level]


def share_right(asked: Sequence[Asked], worked: bool) -> float:
    """Return the success rate of the texts that show their working, or of those that do not."""
    right = [
        answer == problem.answer
        for problem in asked
        for answer, text in zip(problem.answers, problem.texts, strict=True)
        if ("=" in text) is worked
    ]
    return float(np.mean(right)) if len(right) >= TRIALS else np.nan


def table(columns: Sequence[str], rows: dict[str, list[float]]) -> None:
    print("|", " | ".join(columns), "|")
    print("|:--|" + "--:|" * (len(columns) - 1))
    for name, numbers in rows.items():
        cells = ["" if np.isnan(number) else f"{number:.3f}" for number in numbers]
        print("|", " | ".join([name, *cells]), "|")
    print()


def print_settings(greedy: Sequence[Asked], sampled: dict[str, list[Asked]]) -> None:
    blank = [np.nan] * len(METRICS)
    rows = {"0": values(greedy, ["pass@1"]) + blank}
    for name, asked in sampled.items():
        won = float(np.mean([problem.votes_won for problem in asked]))
        rows[name] = [*values(asked, METRICS), won]
    table(["temperature", *METRICS, f"vote of {VOTERS}"], rows)


def print_levels(greedy: Sequence[Asked], sampled: dict[str, list[Asked]]) -> None:
    rows = {}
    for level in dict.fromkeys(problem.level for problem in greedy):
        hot = of_level(sampled["1.0"], level)
        rows[level] = [
            *values(of_level(greedy, level), ["pass@1"]),
            *values(of_level(sampled["0.5"], level), ["pass@1"]),
            *values(of_level(sampled["0.8"], level), ["pass@1"]),
            *values(hot, METRICS),
            float(np.mean([problem.votes_won for problem in hot])),
            share_right(hot, worked=False),
            share_right(hot, worked=True),
        ]
    cold = ["T 0", "T 0.5", "T 0.8"]
    table(["level", *cold, *METRICS, f"vote of {VOTERS}", "bare", "worked"], rows)


def print_spread(asked: Sequence[Asked]) -> None:
    successes = np.array([problem.successes for problem in asked])
    between = successes[(successes > 0) & (successes < TRIALS)]
    never = Counter(problem.level for problem in asked if problem.successes == 0)
    texts = [text for problem in asked for text in problem.texts]
    print(f"solved never: {never.total()} {dict(never)}")
    print(f"solved always: {(successes == TRIALS).sum()}")
    print(f"between, in tenths: {np.histogram(between / TRIALS, 10, (0, 1))[0].tolist()}")
    print(f"distinct texts: {np.mean([len(set(problem.texts)) for problem in asked]):.1f}")
    print(f"distinct answers: {np.mean([len(set(problem.answers)) for problem in asked]):.1f}")
    print(f"characters: mean {np.mean([len(text) for text in texts]):.1f}, ", end="")
    print(f"largest {max(len(text) for text in texts)}")
    print("SHA-256 of the texts:", hashlib.sha256("\n".join(texts).encode()).hexdigest())


def print_time() -> None:
    wall, processor = time.perf_counter(), time.process_time()
    ask(Sampling(temperature=1.0), 16)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"200 problems x 16: {wall:.2f} s, of the processor {processor:.2f} s")


def main() -> None:
    greedy = ask(Sampling(temperature=0.0), 1)
    sampled = {name: ask(sampling) for name, sampling in SETTINGS.items()}
    print_settings(greedy, sampled)
    print_levels(greedy, sampled)
    print_spread(sampled["1.0"])
    print_time()


if __name__ == "__main__":
    main()
