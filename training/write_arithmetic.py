"""Write the problems of the built-in task `arithmetic`.

    python training/write_arithmetic.py [--output arithmetic.csv]

These are the problems that the training of `tiny` leaves out, so change neither them nor the
levels without training anew.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from levels import held_out

OUTPUT = Path(__file__).parents[1] / "src/passband/tasks/builtin/arithmetic.csv"


def rows() -> Iterator[dict[str, str]]:
    count = Counter[str]()
    for level, problem in held_out():
        count[level.name] += 1
        yield {
            "id": f"{level.name}-{count[level.name]:02}",
            "question": problem.question,
            "answer": str(problem.answer),
            "level": level.name,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    with parser.parse_args().output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "question", "answer", "level"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows())


if __name__ == "__main__":
    main()
