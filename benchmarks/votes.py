"""Votes: how fast they are counted, and how often their intervals and bands contain the truth.

    python benchmarks/votes.py speed
    python benchmarks/votes.py coverage --sets 300 --trials 8 16 --problems 10 30 100 --bands

Speed is CPU time of one thread for every k at once, against the average of 1,000 random subsets at
one k, which has an error in the second digit, and against all subsets at small n. Coverage is
measured on five laws of answers: mostly right; right on most problems and confidently wrong on the
others; wrong in many ways; four choices; nearly sure problems, right or wrong, and some others.
Over problems each data set has problems of its own; over trials, a quarter of them share theirs.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from passband import Outcomes, band, curve, estimate
from passband.stats.data.votes import Votes
from passband.stats.metric.votes import vote_table
from passband.types import Floats, Ints

ANSWERS = 24  # wrong ones
LAWS = ("strong", "confident", "diffuse", "choice", "polar")


def answer_law(kind: str, problems: int, rng: np.random.Generator) -> Floats:
    """Return the probability of each answer to each problem, the right one first."""
    rows = [_one_problem(kind, rng) for _ in range(problems)]
    return np.array([np.concatenate([[p], (1.0 - p) * wrong]) for p, wrong in rows])


def _one_problem(kind: str, rng: np.random.Generator) -> tuple[float, Floats]:
    spread = rng.dirichlet(np.full(ANSWERS, 0.3))
    if kind == "strong":
        return rng.beta(3, 1), spread
    if kind == "confident" and rng.random() < 0.35:
        return rng.beta(1, 4), rng.dirichlet(np.append(8.0, np.full(ANSWERS - 1, 0.1)))
    if kind == "confident":
        return rng.beta(4, 1.5), spread
    if kind == "diffuse":
        return rng.beta(1, 3), rng.dirichlet(np.full(ANSWERS, 3.0))
    if kind == "choice":
        return rng.beta(1.2, 1.0), np.append(rng.dirichlet(np.ones(3)), np.zeros(ANSWERS - 3))
    return (rng.choice([0.02, 0.97]) if rng.random() < 0.7 else rng.random()), spread


def votes_of(counts: Ints) -> Votes:
    """Return the votes of a table of counts, problems by answers."""
    problem, answer = np.nonzero(counts)
    repeats = counts[problem, answer]
    return Votes.of_trials(
        np.repeat(problem, repeats),
        np.repeat(answer, repeats),
        np.repeat((answer == 0).astype(np.float64), repeats),
        len(counts),
    )


def outcomes_of(counts: Ints) -> Outcomes:
    """Return the outcomes of a table of counts, problems by answers."""
    names = [str(i) for i in range(len(counts))]
    return Outcomes(names, counts.sum(axis=1), counts[:, 0], votes=votes_of(counts))


# -- speed -------------------------------------------------------------------------------------


def cpu(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def by_subsets(counts: Ints, k: int, draws: int, rng: np.random.Generator) -> float:
    """Return vote@k as the mean over random subsets: what a loop without a formula does."""
    total = 0.0
    for row in counts:
        answers = np.repeat(np.arange(len(row)), row)
        for _ in range(draws):
            votes = np.bincount(rng.choice(answers, k, replace=False), minlength=1)
            total += (votes[0] == votes.max()) / (votes == votes.max()).sum()
    return total / (len(counts) * draws)


def by_enumeration(row: Ints) -> Floats:
    """Return vote@k of one problem at every k, over all subsets."""
    answers = np.repeat(np.arange(len(row)), row)
    values = []
    for k in range(1, len(answers) + 1):
        subsets = list(itertools.combinations(answers.tolist(), k))
        votes = np.array([np.bincount(one, minlength=len(row)) for one in subsets])
        most = votes.max(axis=1)
        values.append(((votes[:, 0] == most) / (votes == most[:, None]).sum(axis=1)).mean())
    return np.array(values)


def speed() -> None:
    rng = np.random.default_rng(0)
    print("| law | problems x trials | all k, CPU ms |\n|:--|--:|--:|")
    for kind, (problems, trials) in itertools.product(LAWS, ((1000, 64), (10000, 16), (30, 1024))):
        counts = rng.multinomial(trials, answer_law(kind, problems, rng))
        outcomes = outcomes_of(counts)
        curve(outcomes_of(counts[:2]), "vote@*")  # tables that are built once
        taken = min(cpu(partial(curve, outcomes, "vote@*")) for _ in range(3))
        print(f"| {kind} | {problems} x {trials} | {1000 * taken:.0f} |")
    counts = rng.multinomial(64, answer_law("confident", 50, rng))
    exact = cpu(lambda: vote_table(votes_of(counts), 64))
    loop = cpu(lambda: by_subsets(counts, 8, 1000, rng))
    print(f"\n50 x 64: every k {1000 * exact:.1f} ms; one k by 1,000 subsets {1000 * loop:.0f} ms,")
    print(f"{loop / exact:,.0f} times as long for one k, {64 * loop / exact:,.0f} times for all")
    row = rng.multinomial(16, answer_law("confident", 1, rng)[0])
    exact = cpu(lambda: vote_table(votes_of(row[None]), 16))
    loop = cpu(lambda: by_enumeration(row))
    print(f"1 x 16: exact {1000 * exact:.2f} ms; all 65,535 subsets {1000 * loop:.0f} ms")


# -- coverage ----------------------------------------------------------------------------------


def truth_of(law: Floats, trials: int, draws: int, rng: np.random.Generator) -> Floats:
    """Return the mean vote at every k over endless trials, by simulation."""
    counts = rng.multinomial(trials, np.repeat(law, draws, axis=0))
    return vote_table(votes_of(counts), trials).mean(axis=0)


def coverage(kind: str, problems: int, trials: int, sets: int, *, bands: bool) -> None:
    rng = np.random.default_rng([problems, trials, LAWS.index(kind)])
    population = truth_of(answer_law(kind, 20_000, rng), trials, 1, rng)
    ks = sorted({2, 4, trials // 2, trials})
    hits: dict[tuple[str, str], list[bool]] = {}
    notes: dict[tuple[str, str], int] = {}
    for number in range(sets):
        if number % (sets // 4) == 0:
            fixed = answer_law(kind, problems, rng)
            own = truth_of(fixed, trials, max(100, 20_000 // problems), rng)
        for over, law, truth in (
            ("problems", answer_law(kind, problems, rng), population),
            ("trials", fixed, own),
        ):
            outcomes = outcomes_of(rng.multinomial(trials, law))
            for k in ks:
                found = estimate(outcomes, f"vote@{k}", over=over)
                inside = found.low is not None and found.low <= truth[k - 1] <= found.high
                hits.setdefault((over, f"vote@{k}"), []).append(inside)
                notes[over, f"vote@{k}"] = notes.get((over, f"vote@{k}"), 0) + bool(found.notes)
            if bands:
                whole = band(outcomes, "vote@*", over=over)
                inside = bool(((whole.low <= truth) & (truth <= whole.high)).all())
                hits.setdefault((over, "band"), []).append(inside)
                notes[over, "band"] = notes.get((over, "band"), 0) + bool(whole.notes)
    for (over, name), found in sorted(hits.items()):
        share = float(np.mean(found))
        error = (share * (1.0 - share) / len(found)) ** 0.5
        noted = notes.get((over, name), 0) / len(found)
        print(
            f"| {kind} | {problems} | {trials} | {over} | {name} | {share:.3f} | {error:.3f} "
            f"| {noted:.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["speed", "coverage"])
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--trials", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--problems", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--laws", nargs="+", default=LAWS)
    parser.add_argument("--bands", action="store_true")
    chosen = parser.parse_args()
    if chosen.part == "speed":
        speed()
        return
    print("| law | problems | trials | over | metric | coverage | s.e. | with a note |")
    print("|:--|--:|--:|:--|:--|--:|--:|--:|")
    for kind, problems, trials in itertools.product(chosen.laws, chosen.problems, chosen.trials):
        coverage(kind, problems, trials, chosen.sets, bands=chosen.bands)


if __name__ == "__main__":
    main()
