"""Measured power and false alarms of what is found out about a data set, and its cost.

Rules that look at results before they ask again, and trials that are not alike: how often any
finding weighs on an estimate of pass@1, by the numbers of trials and successes alone, and with the
order of the trials. Beside it the coverage of the interval over problems of all trials, and that of
the first trials of each problem, as many as all have. Then fair data with unequal numbers of
trials, where every finding is false; copied answers; scores whose mean may rest on problems that
were not drawn; and the time that all of it takes.

    python benchmarks/evidence.py                  1,000 data sets a cell
    python benchmarks/evidence.py --quick          100 data sets
    python benchmarks/evidence.py --part fair      one part
    python benchmarks/evidence.py --csv FILE       writes every cell to a file

Wanted: rules found in 95 % at least (of "2, 6 more if they disagree" at 30 problems 20 %), false
alarms in 1 % at most, coverage of first trials 93-97 %, no regression by copied answers.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from passband import Outcomes, estimate
from passband.readers.evidence.observed import AnswerTexts, Observed, with_evidence
from passband.stats.checks import Over
from passband.stats.data.evidence import COUNTS_FIXED, Evidence
from passband.stats.data.sequence import AskedScores
from passband.stats.decision.gate import check, rule
from passband.stats.evidence.collect import evidence_of
from passband.stats.evidence.order import order_findings
from passband.stats.evidence.texts import text_findings
from passband.stats.interval.estimation import Estimate
from passband.types import Bools, Floats, Ints

Rng = np.random.Generator
Law = Callable[[Rng, int], Floats]
PROBLEMS = (30, 200)
TARGETS: tuple[Over, ...] = ("problems", "trials")
CAP = 10
SLACK = 1e-12


@dataclass(frozen=True)
class Cell:
    """One line of the results: shares of data sets; None where it has no meaning."""

    part: str
    design: str
    problems: int
    sets: int
    by_counts: float  # found, with both targets unless the design concerns one
    found: float  # the same where the order is known
    coverage: float | None = None  # over problems, pass@1, of all trials
    first: float | None = None  # of the first trials of each problem
    first_width: float | None = None  # of that interval, over that of all trials
    wanted: str = ""
    is_met: bool = True


def beta(a: float, b: float) -> Law:
    return lambda rng, size: rng.beta(a, b, size)


def trials_of(rows: Bools, n: Ints) -> AskedScores:
    """Keep the first n trials of each row."""
    return AskedScores.of_rows(rows.astype(np.uint8), np.arange(rows.shape[1]) < n[:, None])


def counted(sequence: AskedScores) -> Outcomes:
    starts = sequence.offsets[:-1]
    return Outcomes.from_counts(np.add.reduceat(sequence.values, starts, dtype=np.int64),
                                sequence.counts())  # fmt: skip


# -- rules that look at results ------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A law of success rates, and a rule that turns trials, cap of each, into their numbers."""

    name: str
    law: Law
    cap: int
    stop: Callable[[Bools], Ints]
    wanted: tuple[float, float] = (0.95, 0.95)  # found at 30 and at 200 problems

    def draw(self, rng: Rng, problems: int) -> AskedScores:
        rows = rng.random((problems, self.cap)) < self.law(rng, problems)[:, None]
        return trials_of(rows, self.stop(rows))


def first_where(happened: Bools) -> Ints:
    """Return the number of trials until it first happened; all of them if it did not."""
    n = happened.shape[1]
    return np.where(happened.any(axis=1), happened.argmax(axis=1) + 1, n).astype(np.int64)


def after_two(rows: Bools) -> Ints:
    """Two trials, and more until the first success if neither succeeded."""
    return np.maximum(first_where(rows), 2)


def two_in_a_row(rows: Bools) -> Ints:
    happened = np.zeros_like(rows)
    happened[:, 1:] = ~rows[:, 1:] & ~rows[:, :-1]
    return first_where(happened)


def three_alike(rows: Bools) -> Ints:
    right = np.cumsum(rows, axis=1)
    return first_where(np.maximum(right, np.arange(1, rows.shape[1] + 1) - right) >= 3)


RULES = (
    Rule("until the first failure", beta(2, 2), CAP, lambda rows: first_where(~rows)),
    Rule("until the first success", beta(2, 2), CAP, first_where),
    Rule("2, then until the first success", beta(2, 2), CAP, after_two),
    Rule("until 2 failures in a row", beta(2, 2), CAP, two_in_a_row),
    Rule("give up after 0 of 4, else 16", beta(0.7, 3), 16,
         lambda rows: np.where(rows[:, :4].any(axis=1), 16, 4)),
    Rule("stop at 4 of 4, else 16", beta(5, 1), 16,
         lambda rows: np.where(rows[:, :4].all(axis=1), 4, 16)),
    Rule("2, 6 more if they disagree", beta(5, 1), 8,
         lambda rows: np.where(rows[:, 0] == rows[:, 1], 2, 8), (0.2, 0.95)),
    Rule("best of 5, until 3 agree", beta(2, 2), 5, three_alike),
)  # fmt: skip


def rule_cell(place: int, problems: int, sets: int) -> Cell:
    law = RULES[place]
    rng = np.random.default_rng([26, 1, place, problems])
    truth = float(law.law(np.random.default_rng(1), 400_000).mean())
    rows = []
    for _ in range(sets):
        sequence = law.draw(rng, problems)
        by_counts = is_found(evidence_of(counted(sequence)))
        found = is_found(evidence_of(counted(sequence)).joined(order_findings(sequence)))
        every = estimate(counted(sequence).accepting(COUNTS_FIXED), "pass@1")
        fewest = int(sequence.counts().min())
        first = estimate(counted(sequence.first(fewest)), "pass@1")
        rows.append((by_counts, found, *covers(every, truth), *covers(first, truth)))
    by_counts, found, coverage, width, of_first, first_width = np.mean(rows, axis=0)
    wanted = law.wanted[problems == PROBLEMS[1]]
    return Cell("rules", law.name, problems, sets, by_counts, found, coverage, of_first,
                first_width / width, f"found >= {wanted:g}, first trials .93-.97",
                found >= wanted and by_counts >= wanted and 0.93 <= of_first <= 0.97)  # fmt: skip


def is_found(evidence: Evidence, targets: tuple[Over, ...] = TARGETS) -> bool:
    """Return whether something weighs on pass@1 for each target."""
    severities = [{one.severity_for(over, 1) for one in evidence.findings} for over in targets]
    return all(each & {"invalid", "weak"} for each in severities)


def covers(one: Estimate, truth: float) -> tuple[bool, float]:
    """Return whether an interval contains the truth, and its width."""
    assert one.low is not None
    assert one.high is not None
    return one.low - SLACK <= truth <= one.high + SLACK, one.high - one.low


# -- trials that are not alike --------------------------------------------------------------


def drifting(rng: Rng, problems: int) -> Bools:
    """The fifth trial and later ones are answered by a worse model."""
    p = rng.beta(2, 2, problems)[:, None] * np.repeat([1.0, 0.45], 4)
    return rng.random((problems, 8)) < p


def one_bad_round(rng: Rng, problems: int) -> Bools:
    p = np.repeat(rng.beta(2, 2, problems)[:, None], 8, axis=1)
    p[:, 3] *= 0.3
    return rng.random((problems, 8)) < p


def shaken_rounds(rng: Rng, problems: int) -> Bools:
    """Every round moves all logits by a normal number with standard deviation .5."""
    p = rng.beta(2, 2, problems)[:, None]
    logits = np.log(p / (1.0 - p)) + 0.5 * rng.standard_normal(8)
    return rng.random((problems, 8)) < 1.0 / (1.0 + np.exp(-logits))


def cached(size: int) -> Callable[[Rng, int], Bools]:
    def draw(rng: Rng, problems: int) -> Bools:
        rows = rng.random((problems, 8 // size)) < rng.beta(2, 2, problems)[:, None]
        return np.repeat(rows, size, axis=1)

    return draw


UNLIKE: dict[str, tuple[Callable[[Rng, int], Bools], tuple[Over, ...]]] = {
    "drift after trial 4 of 8": (drifting, TARGETS),
    "round 4 of 8 is bad": (one_bad_round, TARGETS),
    "rounds shaken by .5": (shaken_rounds, TARGETS),
    "cached pairs": (cached(2), ("trials",)),
    "cached blocks of 4": (cached(4), ("trials",)),
}


def unlike_cell(name: str, problems: int, sets: int) -> Cell:
    draw, targets = UNLIKE[name]
    rng = np.random.default_rng([26, 2, list(UNLIKE).index(name), problems])
    rows = []
    for _ in range(sets):
        sequence = trials_of(draw(rng, problems), np.full(problems, 8))
        by_counts = evidence_of(counted(sequence))
        found = by_counts.joined(order_findings(sequence))
        rows.append((is_found(by_counts, targets), is_found(found, targets)))
    return Cell("unlike", name, problems, sets, *np.mean(rows, axis=0))


def timeout_cell(name: str, problems: int, sets: int) -> Cell:
    """Of 8 trials, 30 % of the wrong ones fail; or of all, which is fair."""
    rng = np.random.default_rng([26, 3, len(name), problems])
    truth, rows = 0.5, []
    for _ in range(sets):
        right = rng.random((problems, 8)) < rng.beta(2, 2, problems)[:, None]
        fails = rng.random((problems, 8)) < 0.3
        if name == "wrong trials time out":
            fails &= ~right
        outcomes = Outcomes.from_counts((right & ~fails).sum(axis=1), (~fails).sum(axis=1),
                                        unscored={"timeout": fails.sum(axis=1)})  # fmt: skip
        one = estimate(outcomes.accepting(COUNTS_FIXED), "pass@1")
        rows.append((is_found(evidence_of(outcomes)), covers(one, truth)[0]))
    found, coverage = np.mean(rows, axis=0)
    is_fair = name != "wrong trials time out"
    wanted = "found <= .01" if is_fair else ""
    return Cell("timeouts", name, problems, sets, found, found, coverage, wanted=wanted,
                is_met=not is_fair or found <= 0.01)  # fmt: skip


# -- fair data ------------------------------------------------------------------------------

LAWS: dict[str, Law] = {
    "Beta(2,2)": beta(2, 2),
    "many easy": beta(20, 1),
    "hardly any solvable": beta(0.1, 2),
    "all or nothing": beta(0.2, 0.2),
    "half easy, half even": lambda rng, size: rng.choice([0.98, 0.5], size),
}
FAIR: dict[str, Callable[[Rng, int], Ints]] = {
    "40, 6 or 2, by a plan": lambda rng, m: np.array([40, 6, 2])[np.arange(m) % 3],
    "1 + Poisson(3)": lambda rng, m: 1 + rng.poisson(3.0, m),
    "two batches, of 4 and of 16": lambda rng, m: np.where(np.arange(m) < m // 4, 16, 4),
    "8 each": lambda rng, m: np.full(m, 8),
    "2 to 12, by chance": lambda rng, m: rng.integers(2, 13, m),
}


def fair_cell(names: tuple[str, str], problems: int, sets: int) -> Cell:
    design, law = names
    places = list(FAIR).index(design), list(LAWS).index(law)
    rng = np.random.default_rng([26, 4, *places, problems])
    rows = []
    for _ in range(sets):
        n = FAIR[design](rng, problems)
        p = LAWS[law](rng, problems)
        sequence = trials_of(rng.random((problems, int(n.max()))) < p[:, None], n)
        by_counts = evidence_of(counted(sequence))
        found = by_counts.joined(order_findings(sequence))
        rows.append(
            [any(is_found(each, (over,)) for over in TARGETS) for each in (by_counts, found)]
        )
    by_counts, found = np.mean(rows, axis=0)
    return Cell("fair", f"{design}; {law}", problems, sets, by_counts, found,
                wanted="found <= .01", is_met=found <= 0.01)  # fmt: skip


# -- copied answers -------------------------------------------------------------------------

WORDS = tuple("ABCDEFGH")
#: A law, how many trials, and whether all of a problem are copies of one.
COPIED: dict[str, tuple[Law, int, bool, bool]] = {
    "copies, short answers": (beta(2, 2), 8, True, True),
    "copies, short answers, 2 trials": (beta(2, 2), 2, True, True),
    "copies, short answers, Beta(20,1)": (beta(20, 1), 8, True, True),
    "copies, long answers": (beta(2, 2), 8, True, False),
    "copies, long answers, Beta(20,1)": (beta(20, 1), 4, True, False),
    "sure model, short answers": (beta(60, 1), 8, False, True),
    "sure model with 3 % wrong keys": (lambda rng, m: np.where(rng.random(m) < 0.03, 0.0, 0.99),
                                       8, False, True),
    "even model, short answers": (beta(2, 2), 4, False, True),
}  # fmt: skip


def copied_cell(name: str, problems: int, sets: int) -> Cell:
    """Compare two models of one law, as the gate does: found is the share of data refused.

    The share of regressions is in the column of counts.
    """
    law, n, is_copied, is_short = COPIED[name]
    rng = np.random.default_rng([26, 5, list(COPIED).index(name), problems])
    rows = []
    for _ in range(sets):
        p = law(rng, problems)
        base, new = (answered(rng, p, n, is_copied, is_short) for _ in range(2))
        refused = [evidence_of(one).against("trials", 1) is not None for one in (base, new)]
        one = check(base, new, "pass@1", tolerance=0.02)
        (ruling,) = rule([one.evidence])
        rows.append((np.mean(refused), ruling.verdict == "regression"))
    refused_share, regression = np.mean(rows, axis=0)
    wanted = "no regression" if is_copied else "none refused"
    is_met = regression == 0.0 if is_copied else refused_share == 0.0
    return Cell("copied", name, problems, sets, regression, refused_share, wanted=wanted,
                is_met=bool(is_met))  # fmt: skip


def answered(rng: Rng, p: Floats, n: int, is_copied: bool, is_short: bool) -> Outcomes:
    """Return outcomes that know the texts of answers, "A" being right."""
    draws = 1 if is_copied else n
    right = rng.random((len(p), draws)) < p[:, None]
    chosen = np.where(right, 0, rng.integers(1, len(WORDS), right.shape))
    if is_copied:
        right, chosen = (np.repeat(each, n, axis=1) for each in (right, chosen))
    ending = "" if is_short else ", because of all that was said in the question above"
    texts = AnswerTexts.of_rows([[WORDS[one] + ending for one in row] for row in chosen])
    outcomes = Outcomes.from_counts(right.sum(axis=1), n)
    return with_evidence(outcomes, Observed(texts=texts))


# -- rare credit ----------------------------------------------------------------------------


def partial(share: float) -> Law:
    return lambda rng, m: np.where(rng.random(m) < share, 1.0, rng.uniform(0, 0.1, m))


#: A law of mean scores, its mean, how many problems, and whether it should be found at all.
RARE: dict[str, tuple[Law, float, int, bool]] = {
    "partial credit, 5 % full": (partial(0.05), 0.0975, 20, True),
    "partial credit, 3 % full": (partial(0.03), 0.0785, 50, True),
    "partial credit, 1 % full": (partial(0.01), 0.0595, 150, True),
    "partial success, 5 % fail": (lambda rng, m: 1 - partial(0.05)(rng, m), 0.9025, 20, True),
    "Beta(8,8)": (beta(8, 8), 0.5, 20, False),
    "Beta(2,2)": (beta(2, 2), 0.5, 10, False),
    "U(0,1)": (lambda rng, m: rng.random(m), 0.5, 30, False),
    "Beta(.3,.3)": (beta(0.3, 0.3), 0.5, 20, False),
    "Beta(2,8)": (beta(2, 8), 0.2, 50, False),
}


def rare_cell(name: str, _: int, sets: int) -> Cell:
    """Found is its share of the sets without a rare problem; by counts, of those with one."""
    law, truth, problems, is_rare = RARE[name]
    rng = np.random.default_rng([26, 6, list(RARE).index(name)])
    rows = []
    for _ in range(sets):
        p = law(rng, problems)
        scores = np.clip(p[:, None] + 0.01 * rng.standard_normal((problems, 4)), 0.0, 1.0)
        outcomes = Outcomes.from_array(scores)
        found = is_found(evidence_of(outcomes), ("problems",))
        is_shown = is_rare and bool(np.ptp(p) > 0.5)
        rows.append((found, is_shown, covers(estimate(outcomes, "avg"), truth)[0]))
    found, shown, covered = np.array(rows).T
    without, others = (float(found[at].mean()) if at.any() else 0.0 for at in (~shown, shown))
    return Cell("rare", name, problems, sets, others, without, float(covered.mean()),
                wanted="found >= .9" if is_rare else "found <= .01",
                is_met=without >= 0.9 if is_rare else without <= 0.01)  # fmt: skip


# -- what it costs --------------------------------------------------------------------------


def costs() -> Iterator[str]:
    """Time all of it, in CPU seconds, on scores and on numbers of texts."""
    rng = np.random.default_rng(26)
    for problems, n in ((200, 16), (10_000, 100)):
        rows = rng.random((problems, n)) < rng.beta(2, 2, problems)[:, None]
        sequence = trials_of(rows, np.full(problems, n))
        codes = rng.integers(0, problems * n // 2, problems * n)
        took = []
        for _ in range(3):
            start = time.process_time()
            evidence_of(counted(sequence))
            order_findings(sequence)
            text_findings(codes, sequence.offsets)
            took.append(time.process_time() - start)
        yield f"{problems * n:,} trials of {problems:,} problems: {min(took):.3f} s"


# -- measurement ----------------------------------------------------------------------------

Job = tuple[str, object, int, int]
KINDS: dict[str, Callable[..., Cell]] = {
    "rules": rule_cell, "unlike": unlike_cell, "timeouts": timeout_cell, "fair": fair_cell,
    "copied": copied_cell, "rare": rare_cell,
}  # fmt: skip


def jobs(parts: list[str], sets: int) -> Iterator[Job]:
    designs: dict[str, list[object]] = {
        "rules": list(range(len(RULES))), "unlike": list(UNLIKE),
        "timeouts": ["wrong trials time out", "any trials time out"],
        "fair": list(product(FAIR, LAWS)), "copied": list(COPIED), "rare": list(RARE),
    }  # fmt: skip
    for part in parts:
        sizes = (0,) if part == "rare" else PROBLEMS
        few = max(sets // 5, 20) if part == "copied" else sets
        yield from ((part, design, size, few) for design, size in product(designs[part], sizes))


def cell_of(job: Job) -> Cell:
    part, design, problems, sets = job
    return KINDS[part](design, problems, sets)


def report(cells: list[Cell]) -> Iterator[str]:
    yield "| | problems | sets | by counts | found | coverage | first trials | width | |"
    yield "|:--|--:|--:|--:|--:|--:|--:|--:|:--|"
    for one in cells:
        rest = (one.coverage, one.first, one.first_width)
        shares = " | ".join("" if value is None else f"{value:.3f}" for value in rest)
        verdict = ("ok" if one.is_met else f"NOT MET: {one.wanted}") if one.wanted else ""
        yield (
            f"| {one.part}: {one.design} | {one.problems} | {one.sets} | {one.by_counts:.3f} "
            f"| {one.found:.3f} | {shares} | {verdict} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=KINDS, action="append")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    given = parser.parse_args()
    todo = list(jobs(given.part or list(KINDS), given.sets // 10 if given.quick else given.sets))
    with ProcessPoolExecutor(given.workers) as pool:
        cells = list(pool.map(cell_of, todo))
    print("\n".join(report(cells)))
    print("\n".join(costs()))
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            for one in cells:
                row = asdict(one).items()
                writer.writerow({k: round(v, 4) if isinstance(v, float) else v for k, v in row})


if __name__ == "__main__":
    main()
