"""Write trials.csv: the trials of a simulated model, for trying passband on.

Nothing here was measured. Every problem gets a success probability from a Beta distribution
with most of its mass near 0 and 1, so that the model never solves some problems, always solves
others, and is unsure of the rest. A few trials end without a score, and two problems were
asked less often than the others. The same seed gives the same file.
"""

import csv
import random
import sys
from pathlib import Path

SEED = 20240
PROBLEMS = 40
TRIALS = 16
FEWER_TRIALS = {"p13": 10, "p28": 10}
SHAPE = 0.4  # both parameters of the Beta; below 1 it is U-shaped
FAILURES = {"timeout": 0.02, "refused": 0.01}  # status -> probability


def simulate(seed: int = SEED) -> list[tuple[str, int, str, str]]:
    """Return rows of problem_id, trial, status and score; the score is empty if there is none."""
    rng = random.Random(seed)
    rows = []
    for number in range(1, PROBLEMS + 1):
        problem = f"p{number:02d}"
        chance = rng.betavariate(SHAPE, SHAPE)
        for trial in range(1, FEWER_TRIALS.get(problem, TRIALS) + 1):
            status = draw_status(rng)
            solved = rng.random() < chance
            rows.append((problem, trial, status, str(int(solved)) if status == "ok" else ""))
    return rows


def draw_status(rng: random.Random) -> str:
    """Return how a trial ended: ``ok``, or one of `FAILURES`."""
    point = rng.random()
    for status, probability in FAILURES.items():
        if point < probability:
            return status
        point -= probability
    return "ok"


def main() -> None:
    """Write the table next to this file, or to the path given."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("trials.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem_id", "trial", "status", "score"))
        writer.writerows(simulate())


if __name__ == "__main__":
    main()
