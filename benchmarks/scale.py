"""Beyond one machine: what shards, merging, scoring on several cores and big tables take.

    python benchmarks/scale.py             half an hour on two cores
    python benchmarks/scale.py --part 10   a tenth of everything

Runs the benchmarks of each part, which can also be run by themselves: scale_shards (requests in one
process, in two, on Ray; the loss of a node), scale_score (a scorer on two actors against one core),
scale_merge (16 stores of a million trials), scale_tables (10^8 rows of Parquet next to other
engines), scale_model (what 10^9 trials would take). Traffic goes to this machine only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

PARTS = ("scale_shards", "scale_score", "scale_merge", "scale_tables", "scale_model")


def main() -> None:
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--part", type=int, default=1, help="divide the work by this")
    options = parser.parse_args()
    for name in PARTS:
        print(f"== {name}", flush=True)
        path = Path(__file__).with_name(f"{name}.py")
        subprocess.run([sys.executable, str(path), "--part", str(options.part)], check=True)


if __name__ == "__main__":
    main()
