"""Flip single bits of a store, and see that each is harmless or noticed.

    python tests/support/fuzz/flips.py [--flips 10000] [--seed 0]

A flip hits one bit of a store: of a closed file, of a file or its log as a killed process leaves
them, or of the lock. Then the store is read (every count
and the whole export), checked, salvaged and resumed, each in this process on a copy of its own:

    identical   the same as without the flip, byte for byte
    named       CorruptStore; it names the row, the table or the page
    refused     another error of passband's: not its file, a newer layout
    last gone   the last commit of the log is absent, as after a power cut
    different   other data: a failure
    traceback   any other exception: a failure

A row that was salvaged must be what was written, or lack what was lost. Exits with 1 on a failure.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from passband.errors import PassbandError
from passband.trials.exports.export import export_trials
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.reader import Trials
from passband.trials.records import RunRecord, ScorerRecord
from passband.trials.repair.audit import audit_store
from passband.trials.repair.salvage import salvage_store
from passband.trials.rows import AttemptRow, CallRow, ScorerEntry, ScoreRow, Status, TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, call, problem, writing

LOG = f"{STORE_FILE}-wal"
FAMILIES = {"closed": 10, "log": 9, "lock": 1}  # of 20 flips
FAILURES = ("different", "traceback")
Rows = dict[tuple[str, int, int], TrialRow]
Calls = set[CallRow]


def everything(directory: Path) -> tuple[object, ...]:
    """The export and every count."""
    file = io.BytesIO()
    with Trials(directory) as trials:
        runs = trials.runs()
        export_trials(trials, runs, "jsonl", file, timing=True)
        counts = [
            (
                trials.statuses(run.number),
                trials.tokens(run.number),
                trials.cost(run.number),
                trials.retried(run.number),
                trials.recorded(run.number),
                trials.attempts(run.number),
                list(trials.problems(run.number)),
                [scored(trials, run, scorer) for scorer in run.scorers],
                [judged(trials, scorer) for scorer in run.scorers],
            )
            for run in runs
        ]
        return file.getvalue(), runs, counts, trials.sessions(), trials.sources()


def judged(trials: Trials, scorer: ScorerRecord) -> tuple[object, ...]:
    return list(trials.calls(scorer.number)), trials.call_totals(scorer.number)


def scored(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> tuple[object, ...]:
    outcomes = trials.outcomes(run, scorer)
    return (
        trials.score_statuses(scorer.number),
        trials.score_sums(scorer.number),
        list(outcomes.problems),
        outcomes.trials.tolist(),
        None if outcomes.successes is None else outcomes.successes.tolist(),
        None if outcomes.graded is None else outcomes.graded.values.tolist(),
        {name: counts.tolist() for name, counts in outcomes.unscored.items()},
    )


def rows_of(directory: Path) -> Rows:
    with Trials(directory) as trials:
        return {
            (run.model, row.problem, row.trial): row
            for run in trials.runs()
            for row in trials.trials(run)
        }


def calls_of(directory: Path) -> Calls:
    with Trials(directory) as trials:
        scorers = [scorer.number for _, _, scorer in trials.all_scorers()]
        return {call for scorer in scorers for call in trials.calls(scorer)}


def is_part_of(row: TrialRow, written: TrialRow) -> bool:
    """Whether a salvaged row is what was written, or lacks what was lost."""
    if not all(score in written.scores for score in row.scores):
        return False
    if row.attempts:
        return replace(row, scores=[]) == replace(written, scores=[])
    known = ("problem", "trial", "status", "text", "reasoning", "transcript")
    rest = (row.prompt_tokens, row.completion_tokens, row.latency_ms, row.seed, row.request_id,
            row.cost, row.reason, row.source, row.finish_reason, row.reasoning_tokens,
            row.cached_tokens)  # fmt: skip
    return set(rest) == {None} and all(getattr(row, n) == getattr(written, n) for n in known)


# -- stores ----------------------------------------------------------------------------------


def make_stores(folder: Path) -> None:
    """Make a store of each family, in which every table has rows."""
    rng = random.Random(1)
    with writing(folder / "closed") as store:
        source = store.add_source("csv", "a.csv", "00" * 32)
        store.end_session(store.begin_session(8, "http://x"), 2.5, 48)
        for model in ("small", "large"):
            run, (one, two) = begin(
                store, [problem(at) for at in range(4)], [("one", "1"), ("two", "1")], model=model
            )
            store.set_scorers(run, [ScorerEntry("one", "1", {"name": "one"})])
            for at in range(4):
                for trial in range(6):
                    status: Status = rng.choice(["ok"] * 6 + ["truncated", "unknown", "gave_up"])  # type: ignore[arg-type]
                    store.append(run, [drawn(rng, at, trial, status, source, one, two)])
            store.add_attempts(run, [AttemptRow(0, 9, n, 1, "late", 500, "slow") for n in (1, 2)])
            store.add_calls([call(one, 1, n, reply="so " * 30 * n) for n in range(20)])
            store.add_calls([call(one, 2, n, status="failed", value=None, http=500, outcome="late")
                             for n in range(3)])  # fmt: skip
        for trial in range(6, 9):
            if trial == 8:
                shutil.copytree(folder / "closed", folder / "before")
            store.append(run, [drawn(rng, 1, trial, "ok", source, one, two)])
        shutil.copytree(folder / "closed", folder / "log")
    (folder / "log" / f"{STORE_FILE}-shm").unlink()
    shutil.copytree(folder / "closed", folder / "lock")


def drawn(
    rng: random.Random, at: int, trial: int, status: Status, source: int, one: int, two: int
) -> TrialRow:
    scores = [
        ScoreRow(one, float(rng.random() < 0.5), answer="42", rule="boxed"),
        ScoreRow(two, rng.random(), detail="so"),
    ]
    return TrialRow(
        at, trial, status, "word " * rng.randrange(100), None, 5, 7, 100, 1 + at, 77,
        f"id-{trial}", scores if status == "ok" else [], [{"role": "user"}] if trial == 3 else None,
        0.25, "variance", source, "odd" if status == "unknown" else None, 3, 2,
    )  # fmt: skip


@dataclass(frozen=True)
class Original:
    """A store, everything that is read from it, and what would be without its last commit."""

    directory: Path
    content: tuple[object, ...]
    rows: Rows
    calls: Calls
    before: tuple[object, ...] | None = None


def originals(folder: Path) -> dict[str, Original]:
    make_stores(folder)
    found = {}
    for name in FAMILIES:
        shutil.copytree(folder / name, folder / "look")
        content, rows = everything(folder / "look"), rows_of(folder / "look")
        calls = calls_of(folder / "look")
        shutil.rmtree(folder / "look")
        before = everything(folder / "before") if name == "log" else None
        found[name] = Original(folder / name, content, rows, calls, before)
    return found


# -- one flip --------------------------------------------------------------------------------


def flipped(original: Path, new: Path, rng: random.Random, family: str) -> str:
    """Copy a store with one bit changed, and return which."""
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(original, new)
    names = ["lock"] if family == "lock" else [STORE_FILE, *([LOG] if family == "log" else [])]
    sizes = [(new / name).stat().st_size for name in names]
    (name,) = rng.choices(names, sizes)
    data = bytearray((new / name).read_bytes())
    bit = rng.randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
    (new / name).write_bytes(data)
    return f"bit {bit} of {name}"


def outcome(act: Callable[[], str]) -> str:
    try:
        return act()
    except CorruptStore:
        return "named"
    except PassbandError:
        return "refused"
    except Exception:
        traceback.print_exc()
        return "traceback"


def read(bad: Path, original: Original) -> str:
    content = everything(bad)
    if content == original.content:
        return "identical"
    return "last gone" if content == original.before else "different"


def checked(bad: Path, original: Original, reading: str) -> str:
    """Whether a check agrees with what was read."""
    if not audit_store(bad).is_intact:
        return "named"
    return reading if reading in ("identical", "last gone") else "different"


def salvaged(bad: Path, original: Original, new: Path) -> str:
    shutil.rmtree(new, ignore_errors=True)
    salvage_store(bad, new)
    rows = rows_of(new)
    if not all(key in original.rows and is_part_of(row, original.rows[key])
               for key, row in rows.items()):  # fmt: skip
        return "different"
    if not (calls := calls_of(new)) <= original.calls:
        return "different"
    return "identical" if (rows, calls) == (original.rows, original.calls) else "a part"


def resumed(bad: Path, original: Original) -> str:
    """Go on with the store, and find what was there and what is new."""
    with closing(Store(bad, low_water=0)) as store:
        run, (one,) = begin(store, [problem(at) for at in range(4)], [("one", "1")], model="small")
        store.append(run, [TrialRow(2, 20, "ok", "x", scores=[ScoreRow(one, 1.0)])])
        store.add_calls([call(one, 2, 20)])
    rows = rows_of(bad)
    new = rows.pop(("small", 2, 20))
    if calls_of(bad) != original.calls | {call(one, 2, 20)}:
        return "different"
    if new.text != "x" or any(row != original.rows.get(key) for key, row in rows.items()):
        return "different"
    if len(rows) == len(original.rows):
        return "identical"
    return "last gone" if len(rows) == len(original.rows) - 1 and original.before else "different"


def flip(originals: dict[str, Original], rng: random.Random, folder: Path) -> Iterator[
    tuple[str, str, str, str]
]:  # fmt: skip
    """Flip a bit, and yield (family, what was done, outcome, which bit) of each."""
    (family,) = rng.choices([*FAMILIES], [*FAMILIES.values()])
    original = originals[family]
    bit = flipped(original.directory, folder / "bad", rng, family)
    shutil.rmtree(folder / "kept", ignore_errors=True)
    shutil.copytree(folder / "bad", folder / "kept")
    bad = folder / "bad"
    reading = outcome(lambda: read(bad, original))
    yield family, "read", reading, bit
    yield family, "check", outcome(lambda: checked(bad, original, reading)), bit
    yield family, "salvage", outcome(lambda: salvaged(bad, original, folder / "new")), bit
    yield family, "resume", outcome(lambda: resumed(folder / "kept", original)), bit


@contextmanager
def working_folder() -> Iterator[Path]:
    """A folder in memory, where there is one: nothing of this needs a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    counts: Counter[tuple[str, str, str]] = Counter()
    with working_folder() as folder:
        stores = originals(folder)
        for number in range(arguments.flips):
            for family, act, found, bit in flip(stores, rng, folder):
                counts[family, act, found] += 1
                if found in FAILURES:
                    print(f"flip {number}: {family}, {act}: {found} ({bit})", flush=True)
    for (family, act, found), count in sorted(counts.items()):
        print(f"{family:10} {act:8} {found:10} {count:6}")
    return int(any(found in FAILURES for _, _, found in counts))


if __name__ == "__main__":
    sys.exit(main())
