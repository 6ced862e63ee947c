"""Play many seeds and print what was played; a seed that fails is printed with its replay.

python tests/simulation/soak.py --seeds 10000
python tests/simulation/soak.py --first 17 --seeds 1     replays seed 17, session by session
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from simulation.simulate import Report, simulate


def main() -> int:
    """Return the exit code: whether a seed failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=10_000, help="how many seeds")
    options = parser.parse_args()
    began = time.process_time()
    reports: list[Report] = []
    failed: list[int] = []
    for seed in range(options.first, options.first + options.seeds):
        try:
            reports.append(simulate(seed, print if options.seeds == 1 else lambda line: None))
        except Exception as error:
            failed.append(seed)
            _show_failure(seed, error, is_whole=options.seeds == 1)
        done = seed - options.first + 1
        if done % 500 == 0 and done < options.seeds:
            print(f"{done} seeds, {len(failed)} failed", flush=True)
    _show_table(reports, failed, time.process_time() - began)
    return bool(failed)


def _show_failure(seed: int, error: Exception, *, is_whole: bool) -> None:
    if is_whole:
        traceback.print_exc()
    print(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}")
    print(f"  replay: make soak FIRST={seed} SEEDS=1", flush=True)


def _show_table(reports: list[Report], failed: list[int], seconds: float) -> None:
    faults: Counter[str] = sum((report.faults for report in reports), Counter())
    stops: Counter[str] = sum((report.stops for report in reports), Counter())
    endings: Counter[str] = sum((report.endings for report in reports), Counter())
    rows = {
        "seeds": len(reports) + len(failed),
        "sessions": sum(report.sessions for report in reports),
        "requests": sum(report.requests for report in reports),
        "trials recorded": sum(report.trials for report in reports),
        "faults": sum(faults.values()),
        "hours of simulated time": round(sum(report.seconds for report in reports) / 3600),
        "seconds of CPU": round(seconds),
        "failures": len(failed),
    }
    for title, counts in (("", rows), ("faults", faults), ("stops", stops), ("endings", endings)):
        if title:
            print(f"\n{title}")
        for name, count in sorted(counts.items(), key=lambda pair: -pair[1] if title else 0):
            print(f"  {name:<26}{count:>12,}")
    if failed:
        print(f"\nfailed seeds: {' '.join(map(str, failed))}")


if __name__ == "__main__":
    sys.exit(main())
