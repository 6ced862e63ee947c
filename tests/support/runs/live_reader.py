"""A process that reads a run directory over and over while another writes it.

    python tests/support/runs/live_reader.py DIR TRIALS

It prints how many trials it has read, a line for each time, and ends when there are all of them.
Every reading must be of one moment: counts are those of the rows, and what was read before has
stayed as it was. `passband stats` must find no fewer trials than the reading before it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from passband.trials.reader import Trials
from support.runs.commands import run

Seen = dict[tuple[int, int], tuple[str, str | None]]


def read(directory: Path) -> Seen:
    """Read all trials once, and compare them with the counts of the same moment."""
    with Trials(directory) as trials:
        found = trials.run()
        rows = list(trials.trials(found))
        assert Counter(row.status for row in rows) == trials.statuses(found.number)
        assert len(rows) == trials.trial_count(found.number)
        scored = sum(bool(row.scores) for row in rows)
        assert scored == sum(trials.score_statuses(found.scorers[0].number).values())
    return {(row.problem, row.trial): (row.status, row.text) for row in rows}


def counted(directory: Path) -> int:
    """Return how many trials `passband stats` finds."""
    done = run("stats", directory, "-m", "pass@1", "--format", "json")
    assert (done.code, done.err) == (0, ""), done.err
    (group,) = json.loads(done.out)["groups"]
    assert group["n_trials"] <= sum(group["statuses"].values())
    return sum(group["statuses"].values())


def main(directory: Path, total: int) -> None:
    seen: Seen = {}
    while len(seen) < total:
        now = read(directory)
        assert seen.items() <= now.items()
        assert len(now) <= counted(directory) <= total
        seen = now
        print(len(seen), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
