"""The state directory: what is kept, who may have it, and what is refused."""

import sqlite3
from pathlib import Path

import pytest

from passband.adaptive.server.state import FILE, AnswerRow, Document, RunRow, ServerState
from passband.errors import InvalidInput, PassbandError
from passband.system.event_loop import complete
from passband.trials.file.lock import Busy
from passband.trials.file.writer import DiskNearlyFull

RUN = RunRow("r", "sums", "test", "hash", "{}", "3", "p", "e", "{}", "now")
ANSWER = AnswerRow("item\0ä", "B", 1.0, None, "token", "now")


def test_what_is_recorded_is_there_again(tmp_path: Path) -> None:
    async def write() -> None:
        state = ServerState(tmp_path)
        await state.add_run(RUN)
        await state.add_answer("r", 0, ANSWER)
        await state.add_run(RUN._replace(id="replay", replay_of="r"), [ANSWER])
        await state.add_document(Document("d", "project", "now", "{}"))
        await state.close()

    async def read() -> None:
        state = ServerState(tmp_path)
        assert state.run("r") == RUN
        assert state.run("other") is None
        assert state.answers("r") == state.answers("replay") == [ANSWER]
        assert state.documents("project", "d") == [Document("d", "project", "now", "{}")]
        assert state.documents("classic") == []
        await state.close()

    complete(write())
    complete(read())


def test_a_place_is_taken_once(tmp_path: Path) -> None:
    async def main() -> None:
        state = ServerState(tmp_path)
        await state.add_answer("r", 0, ANSWER)
        with pytest.raises(sqlite3.IntegrityError):
            await state.add_answer("r", 0, AnswerRow("other", "B", 1.0, None, None, "now"))
        await state.add_answer("r", 1, ANSWER)
        assert len(state.answers("r")) == 2
        await state.close()

    complete(main())


def test_a_directory_belongs_to_one_server(tmp_path: Path) -> None:
    async def main() -> None:
        state = ServerState(tmp_path)
        with pytest.raises(Busy, match="in use by process"):
            ServerState(tmp_path)
        await state.close()
        await ServerState(tmp_path).close()

    complete(main())


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="not a directory"):
        ServerState(tmp_path / "file")
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE other(a)")
    connection.commit()
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(PassbandError, match="not the state of a server"):
        ServerState(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before
    (tmp_path / FILE).write_bytes(b"no database at all" * 1000)
    with pytest.raises(PassbandError):
        ServerState(tmp_path)


def test_nothing_is_written_to_a_full_disk(tmp_path: Path) -> None:
    async def main() -> None:
        state = ServerState(tmp_path, low_water=1 << 62)
        with pytest.raises(DiskNearlyFull, match="free on the server's disk"):
            await state.add_run(RUN)
        assert state.run("r") is None
        await state.close()

    complete(main())
