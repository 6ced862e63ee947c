"""Run directories with trials in them, for tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from passband.trials.encoding import canonical_json
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.repair.salvage import rebuild
from passband.trials.rows import (
    CALL_STATUSES,
    SCORE_STATUSES,
    STATUSES,
    AttemptRow,
    CallRow,
    ProblemRow,
    ScorerEntry,
    ScoreRow,
    Status,
    TrialRow,
)
from passband.trials.store import Store

TASK, MODEL = "sums", "tiny"

#: Any text that a model can write: half characters, zero bytes and controls among it.
any_text = st.text(st.characters(exclude_categories=()), max_size=20)
whole = st.integers(0, 2**62)
message = st.dictionaries(any_text, st.none() | any_text | whole | st.booleans(), max_size=3)
transcripts = st.lists(message, max_size=3)
_counts = st.none() | st.integers(0, 2**40) | st.just(3.0)
_scores = st.lists(
    st.builds(
        ScoreRow,
        scorer=st.integers(1, 3),
        value=st.none() | st.sampled_from([0.0, -0.0, 1.0, 0.3]) | st.integers(0, 1),
        status=st.sampled_from(SCORE_STATUSES),
        answer=st.none() | any_text,
        rule=st.none() | st.sampled_from(["marker", "règle", "\ud800"]),
        detail=st.none() | st.none() | any_text,
    ),
    max_size=2,
    unique_by=lambda score: score.scorer,
)
#: Trials of every kind, with scores by scorers 1 to 3.
any_rows = st.builds(
    TrialRow,
    problem=st.integers(0, 5),
    trial=st.integers(0, 2**20 - 1),
    status=st.sampled_from(STATUSES),
    text=st.none() | any_text | st.just("long " * 300),
    reasoning=st.none() | st.none() | any_text,
    prompt_tokens=_counts,
    completion_tokens=_counts,
    latency_ms=st.none() | st.integers(0, 10**6),
    attempts=st.integers(0, 9),
    seed=st.none() | st.integers(0, 2**31),
    request_id=st.none() | st.sampled_from(["chatcmpl-1", "chatcmpl-2", "é", "\ud800"]),
    scores=_scores,
    transcript=st.none() | st.none() | transcripts,
    cost=st.none() | st.none() | st.just(0.25),
    reason=st.none() | st.none() | any_text,
    source=st.none() | st.none() | st.just(1),
    finish_reason=st.none() | st.none() | any_text,
    reasoning_tokens=st.none() | st.none() | st.integers(0, 10**6),
    cached_tokens=st.none() | st.none() | st.integers(0, 10**6),
)

#: Calls to judges of every kind, by scorers 1 to 3.
any_calls = st.builds(
    CallRow,
    scorer=st.integers(1, 3),
    problem=st.integers(0, 2),
    trial=st.integers(0, 3),
    call=st.integers(0, 3),
    attempt=st.integers(1, 3),
    key=st.binary(min_size=1, max_size=32),
    at_ms=whole,
    status=st.sampled_from(CALL_STATUSES),
    value=st.none() | st.sampled_from([0.0, 1.0, 0.3]),
    reply=st.none() | any_text | any_text.map(lambda text: text * 100),
    prompt_tokens=st.none() | whole,
    completion_tokens=st.none() | whole,
    cost=st.none() | st.floats(0, 1e6),
    latency_ms=st.none() | whole,
    seed=st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
    is_cached=st.booleans(),
    outcome=st.none() | any_text,
    http=st.none() | st.integers(100, 599),
    detail=st.none() | any_text,
)


@contextmanager
def writing(directory: Path) -> Iterator[Store]:
    store = Store(directory, low_water=0)
    try:
        yield store
    finally:
        store.close()


def problem(at: int, *, cluster: str | None = None, target: str = "42") -> ProblemRow:
    record = {"messages": [["user", f"Question {at}?"]], "targets": [target], "choices": []}
    return ProblemRow(at, f"p{at}", canonical_json(record | {"doc": {"id": f"p{at}"}}), cluster)


def begin(
    store: Store,
    problems: Sequence[ProblemRow] = (),
    scorers: Sequence[tuple[str, str]] = (("exact", "exact 1"),),
    task: str = TASK,
    model: str = MODEL,
) -> tuple[int, list[int]]:
    """Enter a task; return the number of its run and those of its scorers."""
    run = store.begin(task, model, spec={"seed": "s"}, config={"metrics": []}, name="run")
    store.add_problems(run, problems or [problem(at) for at in range(3)])
    return run, store.set_scorers(run, entries(scorers))


def entries(scorers: Sequence[tuple[str, str]]) -> list[ScorerEntry]:
    return [ScorerEntry(*scorer) for scorer in scorers]


def filled(
    directory: Path,
    wins: Sequence[Sequence[float]],
    *,
    task: str = TASK,
    model: str = MODEL,
    clusters: Sequence[str] | None = None,
) -> Path:
    """Make a run directory in which problem i has these scores, trial by trial."""
    with writing(directory) as store:
        rows = [problem(at, cluster=clusters[at] if clusters else None) for at in range(len(wins))]
        run, (scorer,) = begin(store, rows, task=task, model=model)
        store.append(
            run,
            [
                TrialRow(
                    at, trial, "ok", f"The answer is {value:g}.", prompt_tokens=5,
                    completion_tokens=7, latency_ms=100, seed=at,
                    scores=[ScoreRow(scorer, value, answer=f"{value:g}", rule="last_number")],
                )
                for at, scores in enumerate(wins)
                for trial, value in enumerate(scores)
            ],
        )  # fmt: skip
    return directory


def sharded_row(at: int, trial: int, scorers: Sequence[int]) -> TrialRow:
    """The same trial each time, of a kind that depends on its place; some have failed."""
    rng = random.Random(1000 * at + trial)
    status: Status = rng.choice(["ok", "ok", "ok", "truncated", "gave_up", "refused"])
    text = (
        None
        if status == "gave_up"
        else f"text {at} {trial} \ud800" + "long " * rng.choice([0, 300])
    )
    scores = [ScoreRow(s, rng.choice([0.0, 1.0, 0.25]), answer="a", rule="r") for s in scorers]
    return TrialRow(
        at, trial, status, text, None, 3, 4, 5, rng.choice([1, 2]), seed=at,
        scores=scores if status in ("ok", "truncated") else [], cost=rng.choice([None, 0.5]),
        transcript=[{"role": "user", "content": str(at)}] if trial == 1 else None,
        reasoning_tokens=2, cached_tokens=rng.choice([None, 0, 3]),
    )  # fmt: skip


def shard(
    directory: Path,
    index: int = 0,
    of: int = 1,
    *,
    batch: int = 1,
    places: Sequence[tuple[int, int]] | None = None,
    problems: int = 5,
    trials: int = 6,
    change: Callable[[TrialRow], TrialRow] = lambda row: row,
    scorers: Sequence[tuple[str, str]] = (("exact", "1"), ("other", "1")),
) -> Path:
    """Make the directory that a shard leaves, or with index 0 one that was never split."""
    store = Store(directory, low_water=0, first_body=index << 40)
    try:
        config = {"shard": {"index": index, "of": of, "batch": batch}} if index else {}
        run = store.begin(TASK, MODEL, spec={"seed": "s"}, config=config, name="run")
        store.add_problems(run, [problem(at) for at in range(problems)])
        numbers = store.set_scorers(run, entries(scorers))
        if places is None:
            everything = [(at, trial) for at in range(problems) for trial in range(trials)]
            places = [(at, n) for at, n in everything if not index or (at + n) % of == index - 1]
        store.append(run, [change(sharded_row(at, trial, numbers)) for at, trial in places])
        store.add_attempts(
            run, [AttemptRow(at, trial, 1, 1, "late", None, "slow") for at, trial in places[:2]]
        )
        store.end_session(store.begin_session(8), 1.0, len(places))
    finally:
        store.close()
    return directory


def judged(directory: Path) -> Path:
    """Make a run whose main scorer has asked a judge: a pair of votes, copies, failures."""
    filled(directory, [[1, 0], [1, 1]])
    with writing(directory) as store:
        store.add_calls(
            [call(1, 0, 0), call(1, 0, 0, 1, value=0.25, reply="Hm.\nVERDICT: TIE\n\n")]
        )
        store.add_calls(
            [
                call(1, 0, 1, status="failed", value=None, reply=None, outcome="timeout",
                     detail="no answer in 60 s", prompt_tokens=None, completion_tokens=None,
                     cost=None),
                call(1, 0, 1, attempt=2, status="no_verdict", value=None, reply="I cannot say."),
                call(1, 1, 0, key=call(1, 0, 0).key, reply=None, is_cached=True, cost=None,
                     prompt_tokens=None, completion_tokens=None),
            ]
        )  # fmt: skip
    return directory


def call(scorer: int, at: int, trial: int, number: int = 0, **more: Any) -> CallRow:
    """A call to a judge that has passed a trial, unless more is said."""
    key = f"{scorer} {at} {trial} {number}".encode()
    known: dict[str, Any] = {
        "attempt": 1, "key": key, "at_ms": 1_000, "status": "ok", "value": 1.0,
        "reply": f"It is right, {number}.\nVERDICT: PASS", "prompt_tokens": 50,
        "completion_tokens": 9, "cost": 0.25, "latency_ms": 80, "seed": number,
    }  # fmt: skip
    return CallRow(scorer, at, trial, number, **known | more)


def read_back(directory: Path, task: str = TASK) -> tuple[RunRecord, list[TrialRow]]:
    with Trials(directory) as trials:
        run = trials.run(task)
        return run, list(trials.trials(run))


def score_rows(scorer: int) -> st.SearchStrategy[ScoreRow]:
    value = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    texts = [st.none() | any_text] * 3
    return st.builds(ScoreRow, st.just(scorer), value, st.sampled_from(SCORE_STATUSES), *texts)


def trial_rows(at: int, trial: int, scorers: Sequence[int] = ()) -> st.SearchStrategy[TrialRow]:
    """Any trial of this place, scored by these scorers."""
    count = st.none() | whole
    return st.builds(
        TrialRow,
        st.just(at),
        st.just(trial),
        st.sampled_from(STATUSES),
        text=st.none() | any_text | any_text.map(lambda text: text * 100),
        reasoning=st.none() | any_text,
        prompt_tokens=count,
        completion_tokens=count,
        latency_ms=count,
        attempts=st.integers(1, 10**6),
        seed=st.none() | st.integers(-(2**63), 2**63 - 1),
        request_id=st.none() | any_text,
        scores=st.tuples(*map(score_rows, scorers)).map(list),
        transcript=st.none() | transcripts,
        cost=st.none() | st.floats(0, 1e6),
        reason=st.none() | any_text,
        finish_reason=st.none() | any_text,
        reasoning_tokens=count,
        cached_tokens=count,
    )


def forget(store: Store, run: int, statuses: Sequence[Status]) -> int:
    """Delete the trials of these statuses, with their scores and completions."""
    chosen = ",".join(str(STATUSES.index(status)) for status in statuses)
    which = f"FROM trial WHERE run={run} AND status IN ({chosen})"
    with store.transaction():
        store._connection.execute(
            f"DELETE FROM score WHERE scorer IN (SELECT scorer FROM scorer WHERE run={run}) "
            f"AND (problem, trial) IN (SELECT problem, trial {which})"
        )
        store._connection.execute(f"DELETE FROM body WHERE id IN (SELECT body {which})")
        gone = store._connection.execute(f"DELETE {which}").rowcount
        recount(store)
        return gone


def recount(store: Store) -> None:
    """Make the tallies those of the rows that are left, as salvaging does."""
    store._tallies.forget()
    rebuild(store._connection, store.directory / STORE_FILE)
