"""`evaluate` and `evaluate_async` on local banks, tasks, files and rows."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import passband
from passband.errors import (
    ConflictingArguments,
    InvalidInput,
    PassbandWarning,
    ScoreBookError,
    UnknownName,
    WrongType,
)
from passband.run.loop.attempts import NothingAnswered
from passband.scorebook import EvalDataset, evaluate, evaluate_all_splits, evaluate_async
from passband.scorebook.sweep import AllRunsFailedError
from passband.system.event_loop import complete
from passband.trials.reader import Trials
from passband.trials.settings import SettingsChanged
from support.samples.item_banks import place_of, solve, write_banks
from support.servers.trismik_server import TrismikServer

SHORT: dict[str, Any] = {"se": None, "max_items": 6}


@pytest.fixture(autouse=True)
def banks(folder: Path) -> Path:
    write_banks(folder, {"sums": ("train", "validation", "test")})
    return folder


async def solve_async(inputs: list[Any], skill: int = 15) -> list[str]:
    await asyncio.sleep(0)
    return solve(inputs, skill)


def run_of(result: dict[str, Any]) -> Any:
    """Return the record of a run and its trials."""
    with Trials(result["trials"]) as trials:
        run = trials.run()
        return run, list(trials.trials(run))


# -- where the function runs ---------------------------------------------------------------


@pytest.mark.parametrize("function", [solve, solve_async])
def test_functions_are_plain_or_async_in_both(function: Any) -> None:
    here = evaluate(function, "sums:adaptive", design=SHORT)
    there = complete(evaluate_async(function, "sums:adaptive", design=SHORT))
    assert here[0]["theta"] == there[0]["theta"]


def test_a_coroutine_runs_in_the_callers_loop() -> None:
    async def main() -> Any:
        loop, lock = asyncio.get_running_loop(), asyncio.Lock()

        async def answer(inputs: list[Any]) -> list[str]:
            assert asyncio.get_running_loop() is loop
            async with lock:
                return solve(inputs)

        return await evaluate_async(answer, ["sums:adaptive", "sums:adaptive:test"], design=SHORT)

    assert all(result["run_completed"] for result in complete(main()))


def test_evaluate_works_where_a_loop_is_running() -> None:
    async def main() -> Any:
        return evaluate(solve_async, "sums:adaptive", design=SHORT)

    assert complete(main())[0]["n_items"] == 6


def test_a_plain_function_is_called_once_at_a_time() -> None:
    inside: list[int] = []
    most: list[int] = []

    def answer(inputs: list[Any]) -> list[str]:
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return ["A"] * len(inputs)

    evaluate(answer, ROWS, num_repeats=4, batch_size=1)
    assert set(most) == {1}


def test_calls_at_a_time_are_bounded_over_all_runs() -> None:
    now, most, both = 0, 0, asyncio.Event()

    async def answer(inputs: list[Any], t: int) -> list[str]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        if most == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 30)
        await asyncio.sleep(0)
        now -= 1
        return ["A"] * len(inputs)

    evaluate(answer, ROWS, {"t": [1, 2, 3]}, num_repeats=8, concurrency=2, batch_size=1)
    assert most == 2


def test_inputs_that_wait_share_a_call() -> None:
    sizes: list[int] = []

    def answer(inputs: list[str]) -> list[str]:
        sizes.append(len(inputs))
        return ["A"] * len(inputs)

    evaluate(answer, [{"input": str(i), "label": "A"} for i in range(64)], batch_size=8)
    assert sum(sizes) == 64
    assert max(sizes) == 8
    assert len(sizes) < 40  # how many wait while a call is made is up to the machine


def test_a_cancelled_evaluation_keeps_its_trials(folder: Path) -> None:
    async def main() -> None:
        asked = asyncio.Event()

        async def answer(inputs: list[Any]) -> list[str]:
            if place_of(inputs[0]) != 14:  # the first that is asked
                asked.set()
                await asyncio.Event().wait()
            return solve(inputs)

        running = asyncio.ensure_future(
            evaluate_async(answer, "sums:adaptive", out="kept", timeout=0.2, retries=0)
        )
        await asked.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    complete(main())
    with Trials(folder / "kept" / "sums-adaptive-validation") as trials:
        assert trials.statuses(trials.run().number)["ok"] == 1


# -- data sets -----------------------------------------------------------------------------

ROWS = [{"input": f"{i} + 1", "label": i + 1} for i in range(4)]


def add(inputs: list[str]) -> list[int]:
    return [sum(map(int, text.split(" + "))) for text in inputs]


def test_rows_files_tasks_and_tests_in_one_call(folder: Path) -> None:
    (folder / "sums.csv").write_text("question,answer\n1 + 1,2\n2 + 2,5\n")
    (folder / "mine.yaml").write_text(
        "task: mine\ndataset_path: sums.csv\noutput_type: generate_until\n"
        "doc_to_text: '{{question}}'\ndoc_to_target: '{{answer}}'\n"
        "metric_list:\n  - metric: exact_match\n"
    )

    def answer(inputs: list[Any]) -> list[Any]:
        return add(inputs) if isinstance(inputs[0], str) else solve(inputs)

    named = EvalDataset.from_list("named", ["accuracy", "contains"], ROWS)
    given: Any = [ROWS, "sums.csv", "mine", named, "sums:adaptive"]
    results = evaluate(answer, given, design=SHORT)
    assert [one["dataset"] for one in results] == ["rows", "sums", "mine", "named", "sums:adaptive"]
    assert [one.get("accuracy") for one in results] == [1.0, 0.5, None, 1.0, None]
    assert results[2]["exact_match"] == 0.5
    assert results[3]["contains"] == 1.0
    low, high = results[1]["accuracy_interval"]
    assert low < 0.5 < high
    assert results[4]["theta"] == results[4]["score"]["theta"]


def test_items_and_outputs_of_rows() -> None:
    results = evaluate(add, ROWS, return_items=True, return_output=True)
    assert set(results) == {"aggregate_results", "item_results"}
    first = results["item_results"][0]
    assert first == {
        "id": "0", "dataset": "rows", "input": "0 + 1", "label": "1", "status": "ok",
        "output": "1", "accuracy": 1.0,
    }  # fmt: skip
    assert "output" not in evaluate(add, ROWS, return_items=True)["item_results"][0]


def test_items_of_a_test_are_those_of_its_path() -> None:
    results = evaluate(solve, "sums:adaptive", design=SHORT, return_items=True, return_output=True)
    (result,), items = results["aggregate_results"], results["item_results"]
    assert [item["id"] for item in items] == [step["id"] for step in result["path"]]
    assert {item["split"] for item in items} == {"validation"}
    assert all((item["output"] == "B") == (item["score"] == 1.0) for item in items)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("arithmetik", "Did you mean 'arithmetic'?"),
        ("sums", "Did you mean 'sums:adaptive'?"),
        ("nothing like it", "Known: "),
    ],
)
def test_a_plain_name_that_names_nothing(name: str, named: str) -> None:
    with pytest.raises(UnknownName) as caught:
        evaluate(solve, name)
    assert named in str(caught.value)


def test_a_test_that_is_no_bank_and_no_server() -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 'sums'\?.*set TRISMIK_API_KEY"):
        evaluate(solve, "sum:adaptive")
    with pytest.raises(UnknownName, match="no bank named 'org/data'"):
        evaluate(solve, "org/data:adaptive")


@pytest.mark.parametrize(
    ("datasets", "kind", "named"),
    [
        ([], InvalidInput, "empty"),
        (7, WrongType, "got 7"),
        ([None], WrongType, "got None"),
        ("missing.csv", InvalidInput, "missing.csv"),
        ([[]], InvalidInput, "no rows"),
        ([[1]], WrongType, "a row is a dict"),
        ([{"text": "a", "label": "b"}], InvalidInput, "Its columns are text, label; give input="),
        ([{"input": "a", "label": None}], InvalidInput, "row 1 has no label"),
        ("", InvalidInput, "empty"),
    ],
)
def test_data_sets_that_are_refused(datasets: Any, kind: type[Exception], named: str) -> None:
    with pytest.raises(kind) as caught:
        evaluate(solve, datasets)
    assert named in str(caught.value)


# -- splits --------------------------------------------------------------------------------


def test_all_splits_at_once() -> None:
    starred = evaluate(solve, "sums:adaptive:*", design=SHORT)
    assert [one["split"] for one in starred] == ["train", "validation", "test"]
    assert [one["dataset"] for one in starred] == [
        f"sums:adaptive:{split}" for split in ("train", "validation", "test")
    ]
    for name in ("sums", "sums:adaptive"):
        again = evaluate_all_splits(solve, name, design=SHORT)
        assert [one["theta"] for one in again] == [one["theta"] for one in starred]  # type: ignore[index]


def test_the_order_of_splits_can_be_chosen() -> None:
    (result,) = evaluate(solve, "sums:adaptive", split_order=["train", "test"], design=SHORT)
    assert result["split"] == "train"
    with pytest.raises(ScoreBookError, match="Expected 'dev' split"):
        evaluate(solve, "sums:adaptive", split_order=["dev"])


def test_the_split_as_an_argument() -> None:
    results = evaluate(solve, ["sums:adaptive", "sums:adaptive:test"], split="test", design=SHORT)
    assert [one["split"] for one in results] == ["test", "test"]
    assert results[0]["trials"] != results[1]["trials"]
    mixed = evaluate(
        solve, ["sums:adaptive", "sums:adaptive:validation"], split="test", design=SHORT
    )
    assert [row["split"] for row in mixed["aggregate_results"]] == ["test", "validation"]
    with pytest.raises(ConflictingArguments, match="'validation'"):
        evaluate(solve, "sums:adaptive:validation", split="test")
    with pytest.raises(InvalidInput, match="for adaptive data sets"):
        evaluate(add, ROWS, split="test")


def test_searching_on_the_test_split_is_warned_of() -> None:
    with pytest.warns(PassbandWarning, match="2 sets of hyperparameters .* sums:adaptive:test"):
        evaluate(solve, "sums:adaptive:test", {"skill": [10, 20]}, design=SHORT)
    evaluate(solve, "sums:adaptive:validation", {"skill": [10, 20]}, design=SHORT)
    evaluate(solve, "sums:adaptive:test", {"skill": 10}, design=SHORT)


# -- numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(("skill", "sign"), [(100, 1), (0, -1)])
def test_all_right_and_all_wrong_are_finite(skill: int, sign: int) -> None:
    (result,) = evaluate(solve, "sums:adaptive", {"skill": skill})
    assert 1 < sign * result["theta"] < 5
    assert 0 < result["std_error"] < 1


def test_the_same_seed_gives_the_same_path() -> None:
    design = {"selection": "randomesque", "max_items": 8, "se": None}

    def path(seed: int) -> list[str]:
        (result,) = evaluate(solve, "sums:adaptive", seed=seed, design=design)
        return [step["id"] for step in result["path"]]

    assert path(1) == path(1) != path(2)


def test_repeats_are_asked_of_every_item() -> None:
    (result,) = evaluate(solve, "sums:adaptive", num_repeats=3, design=SHORT)
    assert (result["n_items"], result["n_trials"]) == (6, 18)
    (rows,) = evaluate(add, ROWS, num_repeats=3)
    assert (rows["n_items"], rows["n_trials"]) == (4, 12)


def test_open_questions_are_scored_by_the_bank(folder: Path) -> None:
    write_banks(folder, {"open": ("test",)}, is_open=True)
    (result,) = evaluate(solve, "open:adaptive", design=SHORT)
    assert result["split"] == "test"
    assert {step["score"] for step in result["path"]} == {0.0, 1.0}


# -- records -------------------------------------------------------------------------------


def test_the_trials_table_has_the_run() -> None:
    (result,) = evaluate(
        solve, "sums:adaptive", {"skill": 12}, experiment_id="e 1", project_id="p",
        metadata={"note": "n", "theta": "no"}, model_name="mine", design=SHORT,
    )  # fmt: skip
    assert Path(result["trials"]).parts[:2] == ("runs", "e-1")
    assert result["note"] == "n"
    assert result["skill"] == 12
    assert isinstance(result["theta"], float)  # not what the metadata have under the name
    run, rows = run_of(result)
    assert (run.task, run.model) == ("sums:adaptive:validation", "mine")
    assert run.spec["hyperparameters"] == {"skill": 12}
    recorded = run.config["subject"]
    assert (recorded["experiment_id"], recorded["project_id"]) == ("e 1", "p")
    assert recorded["metadata"] == {"note": "n", "theta": "no"}
    assert len(rows) == 6
    assert all(row.reason for row in rows)


def test_a_directory_that_is_given_is_gone_on_with() -> None:
    calls: list[int] = []

    def answer(inputs: list[Any], skill: int = 15) -> list[str]:
        calls.append(len(inputs))
        return solve(inputs, skill)

    first = evaluate(answer, "sums:adaptive", out="kept", design=SHORT)
    count = len(calls)
    again = evaluate(answer, "sums:adaptive", out="kept", design=SHORT)
    assert len(calls) == count == 6
    assert again[0]["theta"] == first[0]["theta"]
    evaluate(answer, "sums:adaptive", {"skill": 3}, out="kept", design=SHORT)
    assert len(calls) == 12
    with pytest.raises(SettingsChanged, match="design"):
        evaluate(answer, "sums:adaptive", out="kept", design={**SHORT, "max_items": 7})


def test_every_call_has_a_folder_of_its_own() -> None:
    folders = {evaluate(add, ROWS)[0]["trials"] for _ in range(3)}
    assert folders == {f"runs/evaluate/{i:04d}/rows" for i in range(3)}


def test_results_are_a_list_and_have_their_parts_by_name() -> None:
    results = evaluate(add, ROWS)
    assert results["aggregate_results"] == list(results)
    assert json.loads(json.dumps(results)) == list(results)
    with pytest.raises(UnknownName, match="return_items=True"):
        results["item_results"]
    with pytest.raises(LookupError, match="Did you mean 'aggregate_results'"):
        results["aggregate_result"]


# -- failures ------------------------------------------------------------------------------


def test_a_failing_run_of_a_sweep_is_in_the_results() -> None:
    def answer(inputs: list[Any], skill: int) -> list[str]:
        if skill == 2:
            raise RuntimeError("no such skill")
        return solve(inputs, skill)

    with pytest.warns(PassbandWarning) as caught:
        results = evaluate(answer, "sums:adaptive", {"skill": [1, 2, 3]}, retries=0, design=SHORT)
    (message,) = [str(one.message) for one in caught]
    assert message.startswith(
        "Evaluation run failed (dataset='sums:adaptive', hyperparameters={'skill': 2}): "
    )
    assert [one["run_completed"] for one in results] == [True, False, True]
    failed = results[1]
    assert "no such skill" in failed["error"]
    assert "theta" not in failed
    assert failed["split"] == "validation"


def test_one_failing_run_raises_and_so_do_all() -> None:
    def answer(inputs: list[Any], skill: int = 0) -> list[str]:
        raise RuntimeError("always")

    with pytest.raises(NothingAnswered, match="RuntimeError: always"):
        evaluate(answer, "sums:adaptive", retries=0)
    with pytest.raises(AllRunsFailedError, match="all 2 runs failed"):
        evaluate(answer, "sums:adaptive", {"skill": [1, 2]}, retries=0)


def test_an_item_that_fails_is_no_evidence() -> None:
    def answer(inputs: list[Any]) -> list[str]:
        if place_of(inputs[0]) == 18:
            raise RuntimeError("this one")
        return solve(inputs)

    with pytest.warns(PassbandWarning, match="no evidence: 1 gave_up"):
        (result,) = evaluate(answer, "sums:adaptive", retries=0, design={"se": None})
    assert result["statuses"] == {"ok": 29, "gave_up": 1}
    failed = [step for step in result["path"] if step["score"] is None]
    assert [step["id"] for step in failed] == ["validation_18"]


@pytest.mark.parametrize(
    ("outputs", "named"),
    [
        ([], "it returned 0 for 1"),
        (["A", "B"], "it returned 2 for 1"),
        ("B", "it returned a value of type str"),
        (None, "it returned nothing"),
        ({"a": 1}, "it returned a value of type dict"),
        ({"B"}, "it returned a value of type set"),
    ],
)
def test_the_wrong_number_of_outputs_is_an_error(outputs: Any, named: str) -> None:
    with pytest.raises(ScoreBookError, match="a list with one output for each input") as caught:
        evaluate(lambda inputs: outputs, "sums:adaptive")
    assert named in str(caught.value)


def test_an_output_that_is_no_text_is_an_invalid_trial() -> None:
    def answer(inputs: list[str]) -> list[Any]:
        return [None if text == "0 + 1" else "2" for text in inputs]

    with pytest.warns(PassbandWarning, match="left out: 1 invalid"):
        (result,) = evaluate(answer, ROWS, retries=0)
    assert result["statuses"] == {"ok": 3, "invalid": 1}
    assert result["accuracy"] == pytest.approx(1 / 3)


@pytest.mark.filterwarnings("ignore:a call of the model's function is late")
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_function_that_hangs_is_given_up(kind: str) -> None:
    release = threading.Event()

    def hang(inputs: list[Any]) -> list[str]:
        release.wait(30)
        return solve(inputs)

    async def hang_async(inputs: list[Any]) -> list[str]:
        await asyncio.Event().wait()
        return solve(inputs)

    with pytest.raises(NothingAnswered, match=r"no answer within 0\.05 s"):
        evaluate(hang if kind == "plain" else hang_async, "sums:adaptive", timeout=0.05, retries=0)
    release.set()


def test_a_timeout_of_the_functions_own_is_its_error() -> None:
    def answer(inputs: list[Any]) -> list[str]:
        raise TimeoutError("of the client")

    with pytest.raises(NothingAnswered, match="inference raised TimeoutError: of the client"):
        evaluate(answer, "sums:adaptive", retries=0)


@pytest.mark.filterwarnings("ignore:a call of the model's function is late")
def test_an_input_that_hangs_does_not_stop_the_others() -> None:
    release = threading.Event()

    def answer(inputs: list[str]) -> list[int]:
        if inputs[0] == "2 + 1":
            release.wait(30)
        return add(inputs)

    with pytest.warns(PassbandWarning, match="1 gave_up"):
        (result,) = evaluate(answer, ROWS, timeout=0.2, retries=0, batch_size=1)
    release.set()
    assert result["accuracy"] == 1.0


def test_one_bad_input_of_a_call_is_found() -> None:
    def answer(inputs: list[str]) -> list[int]:
        if "2 + 1" in inputs:
            raise ValueError("bad input")
        return add(inputs)

    with pytest.warns(PassbandWarning, match="1 gave_up"):
        (result,) = evaluate(answer, ROWS * 4, num_repeats=1, retries=0, limit=4)
    assert result["statuses"] == {"ok": 3, "gave_up": 1}


def test_a_key_is_in_no_error_and_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISMIK_API_KEY", "tr-secret-0123456789")

    def answer(inputs: list[Any]) -> list[str]:
        raise RuntimeError("the key tr-secret-0123456789 is wrong")

    with pytest.raises(NothingAnswered) as caught:
        evaluate(answer, "sums:adaptive", retries=0, out="kept")
    assert "secret" not in str(caught.value)
    for file in Path("kept").rglob("*"):
        assert not file.is_file() or b"tr-secret" not in file.read_bytes()


@pytest.mark.parametrize(
    ("options", "kind", "named"),
    [
        ({"retrys": 1}, UnknownName, "Did you mean 'retries'?"),
        ({"retries": -1}, InvalidInput, "retries"),
        ({"concurrency": 0}, InvalidInput, "concurrency"),
        ({"batch_size": 0}, InvalidInput, "batch_size"),
        ({"timeout": 0}, InvalidInput, "timeout"),
        ({"num_repeats": 0}, InvalidInput, "num_repeats"),
        ({"limit": 1.5}, InvalidInput, "limit"),
        ({"level": 2}, InvalidInput, "level"),
        ({"seed": -1}, InvalidInput, "seed"),
        ({"seed": True}, InvalidInput, "seed"),
        ({"metadata": [1]}, WrongType, "metadata"),
        ({"metadata": {"a": {1}}}, InvalidInput, "JSON"),
        ({"experiment_id": " "}, WrongType, "experiment_id"),
        ({"project_id": 7}, WrongType, "project_id"),
        ({"split_order": "test"}, WrongType, "split_order"),
        ({"design": {"max_item": 3}}, UnknownName, "Did you mean 'max_items'?"),
        ({"hyperparameters": []}, InvalidInput, "no setting"),
        ({"hyperparameters": {"a": []}}, InvalidInput, "no setting"),
        ({"hyperparameters": "a"}, WrongType, "dict"),
        ({"hyperparameters": [1]}, WrongType, "dicts"),
        ({"hyperparameters": {"a b": 1}}, InvalidInput, "'a b'"),
        ({"hyperparameters": {"a": object()}}, InvalidInput, "JSON"),
        ({"upload_results": True}, InvalidInput, "experiment_id and project_id"),
    ],
)
def test_options_that_are_refused(
    options: dict[str, Any], kind: type[Exception], named: str
) -> None:
    with pytest.raises(kind) as caught:
        evaluate(solve, "sums:adaptive", **options)
    assert named in str(caught.value)
    assert not Path("runs").exists()


def test_inference_must_be_a_function() -> None:
    with pytest.raises(WrongType, match="a function of inputs"):
        evaluate("gpt", "sums:adaptive")  # type: ignore[call-overload]


def test_public_names() -> None:
    assert passband.evaluate is evaluate
    assert passband.evaluate_async is evaluate_async


# -- uploads -------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TrismikServer]:
    with TrismikServer() as made:
        monkeypatch.setenv("TRISMIK_SERVICE_URL", made.url)
        monkeypatch.setenv("TRISMIK_API_KEY", made.key)
        yield made


def test_classic_results_are_uploaded(server: TrismikServer) -> None:
    ids = {"experiment_id": "e", "project_id": "p"}
    evaluate(add, ROWS, upload_results=True, **ids)  # type: ignore[call-overload]
    ((_, path, body),) = server.requests
    assert path == "/adaptive-testing/runs/classic"
    assert body["items"][0] == {
        "datasetItemId": "0", "modelInput": "0 + 1", "modelOutput": "1", "goldOutput": "1",
        "metrics": {"accuracy": 1.0},
    }  # fmt: skip
    assert body["metrics"] == [{"metricId": "accuracy", "valueType": "Float", "value": 1.0}]


def test_an_upload_that_fails_is_a_warning(server: TrismikServer) -> None:
    server.key = "another"
    with pytest.warns(PassbandWarning, match="not uploaded"):
        evaluate(add, ROWS, upload_results=True, experiment_id="e", project_id="p")
