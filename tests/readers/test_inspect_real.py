"""Logs that Inspect itself wrote: from them, its own numbers to the last digits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband import estimate, measure
from passband.readers import Log, Options, read
from passband.readers.inspect.log import InspectLog

pytestmark = pytest.mark.slow

PROBLEMS, EPOCHS = 12, 5
GRADES = ("C", "I", "P", "N", "C")


@pytest.fixture(scope="module")
def inspect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The log of a run with two scorers, errors, a limit and scores that are NaN."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Inspect's own, which would be errors of its samples here
        patch.setenv("INSPECT_DISPLAY", "none")
        yield evaluated(tmp_path_factory.mktemp("logs"))


def evaluated(folder: Path) -> Any:
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, accuracy, mean, scorer, stderr
    from inspect_ai.solver import generate, solver

    def place(state: Any) -> int:
        return int(state.sample_id[1:]) * EPOCHS + state.epoch - 1

    @scorer(metrics=[accuracy(), stderr()])
    def letters() -> Any:
        async def score(state: Any, target: Any) -> Score:
            number = place(state)
            value: Any = GRADES[number * number % 7 % 5] if number % 11 else math.nan
            return Score(value=value, answer=str(number))

        return score

    @scorer(metrics={"clear": [mean(), stderr()], "kind": [mean()]})
    def judge() -> Any:
        async def score(state: Any, target: Any) -> Score:
            number = place(state)
            return Score(value={"clear": number % 4 / 3, "kind": number % 2})

        return score

    @solver
    def twice() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            if place(state) % 13 == 5:
                raise ValueError("the tool is gone")
            if place(state) % 10 == 3:
                state = await generate(state)
                state.messages.append(ChatMessageUser(content="Are you sure?"))
            return state

        return solve

    def answer(input: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", f"An answer to {len(input)} messages.")
        output.usage = ModelUsage(input_tokens=3, output_tokens=4, total_tokens=7)
        return output

    task = inspect_ai.Task(
        dataset=MemoryDataset([
            Sample(id=f"p{number}", input=f"{number}?", target="x", metadata={"level": number % 3})
            for number in range(PROBLEMS)
        ]),
        solver=[twice(), generate()],
        scorer=[letters(), judge()],
        epochs=inspect_ai.Epochs(EPOCHS, ["mean", "pass_at_2", "pass_k_2"]),
        fail_on_error=False,
        name="grades",
    )  # fmt: skip
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(folder), display="none", log_realtime=False
    )
    assert log.status == "success", log.error
    # Its samples are read when first used. Inside an event loop, such as that of its own writers,
    # that would patch asyncio for the rest of the process.
    assert len(log.samples) == PROBLEMS * EPOCHS
    return log


@pytest.fixture(scope="module")
def whole(inspect: Any) -> Log:
    (log,) = InspectLog().read(Path(inspect.location), Options(texts=True))
    return log


def name_of(score: Any) -> str:
    return score.scorer if score.name == score.scorer else f"{score.scorer}/{score.name}"


METRICS = {"mean": "avg", "pass_at_2": "pass@2", "pass_k_2": "pass^2"}


def test_its_metrics_are_reproduced(inspect: Any) -> None:
    compared = 0
    for score in inspect.results.scores:
        metric = METRICS[score.reducer]
        outcomes = read(inspect.location, columns={"score": name_of(score)}).only()
        if metric != "avg":
            outcomes = outcomes.binarize(1.0)
        found = estimate(outcomes, metric, method="t")
        for name, value in ((name, entry.value) for name, entry in score.metrics.items()):
            ours = found.se if name == "stderr" else found.value
            assert ours == pytest.approx(value, abs=1e-12), (score.name, score.reducer, name)
            compared += 1
        assert measure(outcomes, metric).value == found.value
        assert found.n_problems == score.scored_samples
    assert compared == 15


def test_the_first_scorer_is_the_main_one(inspect: Any, whole: Log) -> None:
    assert whole.scorers == ("letters", "judge/clear", "judge/kind")
    assert (whole.task, whole.model, whole.planned) == ("grades", "mockllm/model", EPOCHS)
    assert read(inspect.location).reader == "inspect"


def test_both_ways_of_reading_agree(inspect: Any, whole: Log) -> None:
    (short,) = InspectLog().read(Path(inspect.location), Options())
    for scorer in whole.scorers:
        a, b = short.outcomes(scorer), whole.outcomes(scorer)
        assert a.status_counts == b.status_counts
        first, second = estimate(a, "avg"), estimate(b, "avg")
    assert replace(first, notes=()) == replace(second, notes=())  # summaries hold no texts
    assert short.remarks == whole.remarks


def test_every_sample_is_a_trial_with_its_texts(inspect: Any, whole: Log) -> None:
    samples = {(sample.id, sample.epoch - 1): sample for sample in inspect.samples}
    keys = [problem.key for problem in whole.problems]
    assert len(samples) == len(list(whole.trials)) == PROBLEMS * EPOCHS
    statuses = set()
    for trial in whole.trials:
        sample = samples[keys[trial.problem], trial.trial]
        statuses.add(trial.status)
        assert (trial.status == "errored") == (sample.error is not None)
        assert (trial.text or "") == sample.output.completion
        calls = [message for message in sample.messages if message.role == "assistant"]
        assert (trial.transcript is not None) == (len(calls) > 1)
        if trial.transcript:
            assert [one["content"] for one in trial.transcript] == [
                message.text for message in sample.messages
            ]
        assert trial.request_id == sample.uuid
        assert (trial.completion_tokens or 0) == 4 * len(calls)
    assert statuses == {"ok", "errored"}
    assert whole.data("level") == {f"p{number}": number % 3 for number in range(PROBLEMS)}


def test_its_other_format_gives_the_same(inspect: Any, whole: Log, tmp_path: Path) -> None:
    from inspect_ai.log import write_eval_log

    path = tmp_path / "log.json"
    write_eval_log(inspect, str(path), format="json")
    (log,) = InspectLog().read(path, Options(texts=True))
    assert log.scorers == whole.scorers
    assert sorted(log.trials, key=lambda one: (one.problem, one.trial)) == sorted(
        whole.trials, key=lambda one: (one.problem, one.trial)
    )
    assert [problem.key for problem in log.problems] == [problem.key for problem in whole.problems]


def test_invalidated_samples(inspect: Any, tmp_path: Path) -> None:
    from inspect_ai.log import ProvenanceData, invalidate_samples, write_eval_log

    scored = [
        one for one in inspect.samples if one.scores and one.scores["letters"].value in GRADES
    ]
    provenance = ProvenanceData(author="me", reason="wrong data")
    changed = invalidate_samples(inspect, [scored[1].uuid, scored[2].uuid], provenance)
    path = tmp_path / "log.eval"
    write_eval_log(changed, str(path))
    before, after = read(inspect.location), read(path)
    assert after.only().n_trials == before.only().n_trials - 2
    assert any("2 samples were declared invalid" in str(remark) for remark in after.remarks)


def test_samples_in_several_members(inspect: Any, whole: Log, tmp_path: Path) -> None:
    chunked = pytest.importorskip("inspect_ai.log._recorders.chunked")
    chunked.convert_eval_logs_to_chunked(inspect.location, str(tmp_path))
    (path,) = tmp_path.iterdir()
    (log,) = InspectLog().read(path, Options(texts=True))
    assert [(row.text, row.scores) for row in log.trials] == [
        (row.text, row.scores) for row in whole.trials
    ]
    assert [len(row.transcript or ()) for row in log.trials] == [
        len(row.transcript or ()) for row in whole.trials
    ]
