"""A store that is deleted, moved, cut short or replaced under a run."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from passband.run.loop import loop
from passband.trials.file.open_file import StoreLost
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.records import SessionRecord
from support.runs.runs import Bench, sums
from support.samples.stores import filled, read_back
from support.servers import fault_server as faults
from support.servers.fault_server import FaultServer

pytestmark = pytest.mark.process
TRIALS = 160


def moved(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))


def deleted(directory: Path) -> None:
    shutil.rmtree(directory)


def unlinked(directory: Path) -> None:
    for path in directory.iterdir():
        path.unlink()


def replaced(directory: Path) -> None:
    other = filled(directory.with_name("other"), [[1, 0]], model="other")
    (other / STORE_FILE).replace(directory / STORE_FILE)


def truncated(directory: Path) -> None:
    with (directory / STORE_FILE).open("r+b") as file:
        file.truncate(0)


def overwritten(directory: Path) -> None:
    other = filled(directory.with_name("other"), [[1, 0] * 500], model="other")
    shutil.copyfile(other / STORE_FILE, directory / STORE_FILE)


def run_until(bench: Bench, deed: Callable[[Path], None], server: FaultServer) -> StoreLost:
    """Run, do it when 20 answers have come, and return how the run ended."""
    done: list[int] = []

    def tick() -> None:
        if not done and len(server.requests) >= 20:
            done.append(len(server.requests))
            deed(bench.directory)

    bench.notes.on_tick = lambda progress: tick()
    with pytest.raises(StoreLost) as caught:
        bench.run(server, sums(TRIALS // 4), n=4, concurrency=4)
    assert len(server.requests) < TRIALS
    return caught.value


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_TICK", 0.02)


@pytest.mark.parametrize(
    ("deed", "place"),
    [(moved, "elsewhere"), (deleted, "run.saved"), (unlinked, "run.saved"),
     (replaced, "run.saved")],
)  # fmt: skip
def test_every_answer_is_found_where_the_error_says(
    bench: Bench, deed: Callable[[Path], None], place: str
) -> None:
    with FaultServer(faults.after(0.01)) as server:
        lost = run_until(bench, deed, server)
        new = bench.directory.with_name(place)
        assert f"Every answer that came is recorded in {new}" in str(lost)
        rows = read_back(new)[1]
        assert len(rows) == len(server.requests)
        with Trials(new) as trials:
            (session,) = trials.sessions()
        assert session.trials == len(rows)
        there = Bench(new)
        there.run(server, sums(TRIALS // 4), n=4, concurrency=16)
        assert len(there.keys) == len(server.requests) == TRIALS


@pytest.mark.parametrize("deed", [truncated, overwritten])
def test_nothing_is_written_to_what_another_program_has_written(
    bench: Bench, deed: Callable[[Path], None], tmp_path: Path
) -> None:
    with FaultServer(faults.after(0.01)) as server:
        lost = run_until(bench, deed, server)
    assert "passband salvage" in str(lost)
    assert (bench.directory / STORE_FILE).stat().st_size in (
        0, *[path.stat().st_size for path in tmp_path.glob(f"other/{STORE_FILE}")],
    )  # fmt: skip


def test_a_store_cut_off_to_nothing_is_not_begun_again(bench: Bench) -> None:
    with FaultServer(faults.after(0.01)) as server:
        run_until(bench, truncated, server)
        before = len(server.requests)
        with pytest.raises(Exception, match=r"is damaged|it is empty"):
            bench.run(server, sums(TRIALS // 4), n=4)
        assert len(server.requests) == before


def test_a_session_is_recorded_where_something_is_asked(bench: Bench) -> None:
    with FaultServer(faults.after(0.05)) as server:
        unended: list[SessionRecord] = []

        def look(runner: object) -> None:
            with Trials(bench.directory) as trials:
                unended.extend(session for session in trials.sessions() if session.ended is None)

        bench.notes.on_tick = look
        bench.run(server, n=2)
        with Trials(bench.directory) as trials:
            (session,) = trials.sessions()
            assert (session.trials, session.ended is None) == (6, False)
        assert {session.unended()} == set(unended)  # which is what a killed run leaves
        bench.run(server, n=2)  # nothing to ask, no session
        with Trials(bench.directory) as trials:
            assert trials.sessions() == [session]
