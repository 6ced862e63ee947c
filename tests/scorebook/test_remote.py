"""Evaluations on a server: what is recorded, and what goes wrong on the way."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import passband
from passband.adaptive.remote.records import Item
from passband.adaptive.remote.service import NotFound, OtherProtocol, Unreachable, WrongKey
from passband.errors import InvalidInput, PassbandWarning, ScoreBookError
from passband.scorebook import evaluate
from passband.scorebook.remote import choice_id
from passband.trials.reader import Trials
from support.runs.commands import process
from support.samples.item_banks import solve, write_banks
from support.servers.trismik_server import Run, TrismikServer, refused

Serve = Callable[..., TrismikServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Return a function that starts a server, which the environment then names."""
    with ExitStack() as stack:

        def start(**options: Any) -> TrismikServer:
            datasets = {"far:adaptive": ["validation", "test"], "open:adaptive": ["test"]}
            server = stack.enter_context(TrismikServer(datasets, **options))
            monkeypatch.setenv("TRISMIK_SERVICE_URL", server.url)
            monkeypatch.setenv("TRISMIK_API_KEY", server.key)
            return server

        yield start


def few(inputs: list[Any], skill: int = 3) -> list[str]:
    return solve(inputs, skill)


def test_a_test_on_a_server_is_in_the_trials_table(serve: Serve) -> None:
    server = serve()
    (result,) = evaluate(few, "far:adaptive", {"skill": 2}, experiment_id="e", project_id="p")
    assert result["engine"] == server.url
    assert result["run_id"] == "run-0"
    assert result["stop_reason"] == "ended by the server"
    with Trials(result["trials"]) as trials:
        run = trials.run()
        rows = list(trials.trials(run))
        keys = [problem.key for problem in trials.problems(run.number)]
        (source,) = trials.sources()
    assert (run.task, run.address) == ("far:adaptive:validation", server.url)
    assert run.config["task"]["adaptive"]["thetas"][-1] == result["theta"]
    assert run.config["subject"]["experiment_id"] == "e"
    assert source.file == server.url
    assert keys == [step["id"] for step in result["path"]]
    assert [row.text for row in rows] == solve([{"id": key, "choices": ()} for key in keys], 2)
    assert [row.scores[0].value for row in rows] == [float(row.text == "B") for row in rows]
    assert all("theta" in str(row.reason) for row in rows)
    with Trials(result["trials"]) as trials, pytest.raises(InvalidInput, match="average"):
        trials.outcomes()


def test_a_test_on_a_server_is_summarized(serve: Serve) -> None:
    server = serve()
    (result,) = evaluate(few, "far:adaptive")
    (group,) = passband.summarize(result["trials"]).groups
    (line,) = group.lines
    assert line.estimate is not None
    assert (line.metric, line.estimate.value) == ("theta", result["theta"])
    assert line.estimate.low < result["theta"] < line.estimate.high
    assert server.url in str(group.notes[0])


def test_a_test_that_broke_off_has_no_summary(serve: Serve) -> None:
    serve(fault=lambda request, number: refused(404, "Gone", "") if number == 4 else None)
    with pytest.raises(NotFound):
        evaluate(few, "far:adaptive", out="kept")
    with pytest.raises(InvalidInput, match="broke off"):
        passband.summarize("kept/far-adaptive-validation")


def test_hyperparameters_and_ids_are_sent(serve: Serve) -> None:
    server = serve()
    evaluate(few, "far:adaptive:test", {"skill": 2}, None, "e", "p", {"note": "n"}, 7)
    (body,) = server.bodies
    assert (body["projectId"], body["experiment"], body["seed"]) == ("p", "e", 7)
    assert (body["datasetId"], body["split"]) == ("far:adaptive", "test")
    assert body["metadata"]["inference_setup"] == {"skill": 2}
    assert body["metadata"]["model_metadata"] == {"name": "few", "note": "n"}


def test_banks_and_servers_in_one_call(serve: Serve, folder: Path) -> None:
    server = serve()
    write_banks(folder, {"near": ("validation",), "far": ("validation",)}, n=6)
    results = evaluate(few, ["near:adaptive", "open:adaptive", "far:adaptive"])
    assert [one["engine"] for one in results] == ["local", server.url, "local"]


def test_items_have_what_the_server_graded(serve: Serve) -> None:
    serve()
    results = evaluate(few, "open:adaptive", return_items=True, return_output=True)
    items = results["item_results"]
    assert len(items) == results["aggregate_results"][0]["n_items"] == 6
    assert all(item["correct"] == (item["output"] == "42") for item in items)


def test_a_name_that_neither_bank_nor_server_has(serve: Serve) -> None:
    serve()
    with pytest.raises(ScoreBookError, match=r"no data set fir:adaptive.*mean 'far:adaptive'"):
        evaluate(few, "fir:adaptive")


def test_a_server_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("TRISMIK_SERVICE_URL", url)
    monkeypatch.setenv("TRISMIK_API_KEY", "k")
    monkeypatch.setattr("passband.adaptive.remote.service._ATTEMPTS", 1)
    with pytest.raises(Unreachable, match="cannot be reached"):
        evaluate(few, "far:adaptive")


def test_a_server_of_another_protocol(serve: Serve) -> None:
    serve(fault=lambda request, number: web.json_response({"splits": {}}))
    with pytest.raises(OtherProtocol, match="splits"):
        evaluate(few, "far:adaptive")


def test_a_wrong_key_is_not_repeated(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve()
    monkeypatch.setenv("TRISMIK_API_KEY", "tr-wrong-key")
    with pytest.raises(WrongKey) as caught:
        evaluate(few, "far:adaptive")
    assert "tr-wrong-key" not in str(caught.value)


def test_the_key_is_in_no_file(serve: Serve, folder: Path) -> None:
    server = serve()
    evaluate(few, "far:adaptive", out="kept")
    files = [file for file in (folder / "kept").rglob("*") if file.is_file()]
    assert files
    assert not any(server.key.encode() in file.read_bytes() for file in files)


def test_a_run_that_breaks_off_keeps_its_answers(serve: Serve) -> None:
    def fault(request: web.Request, number: int) -> web.Response | None:
        return refused(404, "Gone", "no such run") if number == 5 else None

    serve(fault=fault)
    with pytest.raises(NotFound, match="no such run"):
        evaluate(few, "far:adaptive", out="kept")
    with Trials("kept/far-adaptive-validation") as trials:
        assert trials.statuses(trials.run().number) == {"ok": 2}


def test_a_test_on_a_server_is_not_gone_on_with(serve: Serve) -> None:
    serve()
    evaluate(few, "far:adaptive", out="kept")
    with pytest.raises(InvalidInput, match="earlier test"):
        evaluate(few, "far:adaptive", out="kept")


def test_an_item_that_is_asked_twice_has_two_trials(serve: Serve) -> None:
    server = serve()
    before = Run.__init__

    def twice(self: Run, *arguments: Any) -> None:
        before(self, *arguments)
        self.order = self.order[:2] * 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "__init__", twice)
        (result,) = evaluate(few, "far:adaptive")
    assert len(server.runs["run-0"].answers) == 4
    with Trials(result["trials"]) as trials:
        rows = list(trials.trials(trials.run()))
    assert [(row.problem, row.trial, len(row.scores)) for row in rows] == [
        (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1),
    ]  # fmt: skip


def test_a_failing_run_of_a_sweep_on_a_server(serve: Serve) -> None:
    server = serve()

    def answer(inputs: list[Any], skill: int) -> list[str]:
        return few(inputs) if skill else ["neither of them"]

    with pytest.warns(PassbandWarning, match="Evaluation run failed"):
        good, bad = evaluate(answer, "far:adaptive", {"skill": [1, 0]})
    assert good["run_completed"]
    assert not bad["run_completed"]
    assert bad["engine"] == server.url
    assert "'neither of them' is none of its choices" in bad["error"]
    with Trials(bad["trials"]) as trials:
        assert trials.statuses(trials.run().number) == {"invalid": 1}


def test_a_function_that_fails_on_an_item_ends_the_test(serve: Serve) -> None:
    serve()

    def answer(inputs: list[Any]) -> list[str]:
        raise RuntimeError("no model")

    with pytest.raises(ScoreBookError, match=r"got no answer: inference raised .*no model"):
        evaluate(answer, "far:adaptive", retries=0, out="kept")
    with Trials("kept/far-adaptive-validation") as trials:
        assert trials.statuses(trials.run().number) == {"gave_up": 1}


def test_the_wrong_number_of_outputs_ends_the_test(serve: Serve) -> None:
    serve()
    with pytest.raises(ScoreBookError, match="it returned 2 for 1"):
        evaluate(lambda inputs: ["A", "B"], "far:adaptive")


def test_grades_that_cannot_be_read_are_a_warning(serve: Serve) -> None:
    def fault(request: web.Request, number: int) -> web.Response | None:
        return refused(404, "Gone", "none") if "/runs/adaptive/" in request.path else None

    serve(fault=fault)
    with pytest.warns(PassbandWarning, match="its grades cannot be read"):
        (result,) = evaluate(few, "far:adaptive")
    assert result["n_items"] == 6


def test_a_server_that_restarts_loses_no_answer(serve: Serve) -> None:
    def cut(request: web.Request, number: int) -> None:
        if number in (4, 6) and request.transport is not None:
            request.transport.close()  # after the answer is taken, before the reply

    server = serve(fault=cut)
    (result,) = evaluate(few, "far:adaptive")
    (run,) = server.runs.values()
    assert [key for key, *_ in run.answers] == [step["id"] for step in result["path"]]
    assert len(run.answers) == 6


@pytest.mark.process
def test_a_server_that_is_killed_in_mid_test_loses_no_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    write_banks(folder / "elsewhere", {"far": ("test",)})
    bank = folder / "elsewhere" / "banks" / "far.jsonl"
    with ExitStack() as stack:

        def start(port: int) -> str:
            words = ("serve", bank, "--state", "state", "--port", port, "--max-items", 8)
            servers.append(stack.enter_context(process(*words)))
            stack.callback(servers[-1].kill)
            assert servers[-1].stdout is not None
            address: str = servers[-1].stdout.readline().decode().partition(" ")[0]
            return address

        servers: list[Any] = []
        url = start(0)
        monkeypatch.setenv("TRISMIK_SERVICE_URL", url)
        monkeypatch.setenv("TRISMIK_API_KEY", "any")
        asked: list[str] = []

        def answer(inputs: list[Any]) -> list[str]:
            asked.extend(item["id"] for item in inputs)
            if len(asked) in (2, 5):
                servers[-1].kill()
                servers[-1].wait()
                assert start(int(url.rpartition(":")[2])) == url
            return solve(inputs)

        (result,) = evaluate(answer, "far:adaptive")
    assert len(servers) == 3
    assert len(asked) == len(set(asked)) == result["n_items"]
    assert [step["id"] for step in result["path"]] == asked


@pytest.mark.parametrize(
    ("output", "chosen"),
    [("y", "y"), ("B", "y"), ("(b)", "y"), ("B. Po", "y"), ("po", "y"), ("C", None), ("", None)],
)
def test_outputs_that_name_a_choice(output: str, chosen: str | None) -> None:
    choices = [{"id": "x", "value": "Elbe"}, {"id": "y", "value": "Po"}]
    item = Item.model_validate({"id": "1", "question": "The longer one?", "choices": choices})
    assert choice_id(item, output) == chosen
