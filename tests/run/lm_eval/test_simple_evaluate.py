"""`simple_evaluate` from end to end: a scripted model, and numbers worked out by hand."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import passband
from passband import register_repeat_aggregation, simple_evaluate
from passband.errors import InvalidInput, PassbandWarning, UnknownName, WrongType
from passband.run.loop.loop import Runner
from passband.score.repeats import aggregations
from passband.tasks.file.loader import load_task
from support.runs.scripted import SEED, Script, evaluated, write_task
from support.servers.fault_server import FaultServer

TARGETS = {"a": "2", "b": "4", "c": "6", "d": "8"}
ANSWERS = {
    "a": ["2", "2", "3", "5"],  # scores 1 1 0 0
    "b": ["1", "1", "4", "7"],  # 0 0 1 0
    "c": ["6", "6", "6", "6"],  # 1 1 1 1
    "d": ["9", "8", "8", "9"],  # 0 1 1 0
}
BY_HAND = {
    "first": [1, 0, 1, 0],
    "mean": [2 / 4, 1 / 4, 4 / 4, 2 / 4],
    "max": [1, 1, 1, 1],
    "min": [0, 0, 1, 0],
    "majority": [1, 0, 1, 0],  # d: two votes for 9 and two for 8; 9 came first
    "any_correct": [1, 1, 1, 1],
    "all_correct": [0, 0, 1, 0],
    "pass@2": [5 / 6, 1 / 2, 1, 5 / 6],  # 1 - C(4 - c, 2) / C(4, 2)
    "pass^2": [1 / 6, 0, 1, 1 / 6],  # C(c, 2) / C(4, 2)
    "avg": [2 / 4, 1 / 4, 4 / 4, 2 / 4],
}


def metric(aggregation: str, name: str = "exact_match") -> str:
    return f"- {{metric: {name}, aggregation: mean, repeat_aggregation: '{aggregation}'}}"


def values(results: dict[str, Any], name: str = "exact_match") -> list[float | None]:
    return [sample[name] for sample in results["samples"]["t"]]


# -- the aggregations ----------------------------------------------------------------------


@pytest.mark.parametrize("name", BY_HAND)
def test_aggregations(tmp_path: Path, name: str) -> None:
    results = evaluated(tmp_path, metric(name), TARGETS, ANSWERS)
    by_hand = BY_HAND[name]
    assert values(results) == pytest.approx(by_hand)
    found = results["results"]["t"]
    assert found["exact_match,none"] == pytest.approx(sum(by_hand) / 4)  # type: ignore[call-overload]
    low, high = found["exact_match_interval,none"]
    assert 0 <= low <= found["exact_match,none"] <= high <= 1
    assert high - low > 0.1
    estimate = results["estimates"]["t"]["exact_match,none"]
    assert estimate["over"] == "problems"
    assert (estimate["n_problems"], estimate["left_out"], estimate["n_unscored"]) == (4, 0, 0)
    assert estimate["n_trials"] == (4 if name == "first" else 16)
    repeats = [sample["exact_match_repeats"] for sample in results["samples"]["t"]]
    assert repeats == [[1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 1, 0]]


EIGHT = {  # 6, 0, 8 and 4 of 8 are right
    "a": ["2", "2", "2", "1", "2", "2", "1", "2"],
    "b": ["1", "2", "3", "5", "6", "7", "8", "9"],
    "c": ["6"] * 8,
    "d": ["8", "8", "8", "8", "1", "2", "3", "5"],
}


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("pass@8", [1, 0, 1, 1]),
        ("maj@8", [1, 0, 1, 0]),  # more than half of 8; 4 are a tie
        ("pass^4", [15 / 70, 0, 1, 1 / 70]),  # C(c, 4) / C(8, 4)
        ("g-pass@8:0.75", [1, 0, 1, 0]),  # 6 of 8 at least
        ("majority", [1, 0, 1, 1]),  # the other answers to d differ, so four votes win
    ],
)
def test_metrics_of_the_statistics(tmp_path: Path, name: str, by_hand: list[float]) -> None:
    results = evaluated(tmp_path, metric(name), TARGETS, EIGHT)
    assert values(results) == pytest.approx(by_hand)
    assert results["results"]["t"]["exact_match,none"] == pytest.approx(sum(by_hand) / 4)


def test_any_correct_is_pass_at_n_and_not_below(tmp_path: Path) -> None:
    lines = "\n".join(metric(name) for name in ("any_correct", "pass@8", "pass@2"))
    answers = {key: list(reversed(given)) for key, given in EIGHT.items()}
    found = evaluated(tmp_path, lines, TARGETS, answers)["results"]["t"]
    assert found["exact_match,none"] == found["exact_match_1,none"] == 0.75
    # 1 - C(2, 2) / C(8, 2) = 27/28, 0, 1, 1 - C(4, 2) / C(8, 2) = 22/28
    assert found["exact_match_2,none"] == pytest.approx((27 / 28 + 1 + 22 / 28) / 4)


def test_the_standard_error_is_that_of_the_reduced_values(tmp_path: Path) -> None:
    targets = {f"p{at}": "1" for at in range(40)}
    answers = {key: ["1" if at % 4 else "0", "2"] for at, key in enumerate(targets)}
    found = evaluated(tmp_path, metric("first"), targets, answers)["results"]["t"]
    assert found["exact_match,none"] == 0.75
    error = (0.75 * 0.25 / 39) ** 0.5  # of 30 ones and 10 zeros
    assert found["exact_match_stderr,none"] == pytest.approx(error, rel=0.02)
    low, high = found["exact_match_interval,none"]
    assert low == pytest.approx(0.75 - 1.96 * error, abs=0.03)
    assert high == pytest.approx(0.75 + 1.96 * error, abs=0.03)
    narrow = evaluated(tmp_path, metric("first"), targets, answers, level=0.5)
    inner = narrow["results"]["t"]["exact_match_interval,none"]
    assert low < inner[0] < 0.75 < inner[1] < high


def test_one_problem_has_a_wide_interval(tmp_path: Path) -> None:
    for name in ("first", "mean", "majority", "any_correct", "pass@2"):
        found = evaluated(tmp_path, metric(name), {"a": "2"}, {"a": ["2", "1", "2"]})
        low, high = found["results"]["t"]["exact_match_interval,none"]
        assert high - low > 0.75


# -- other metrics -------------------------------------------------------------------------


def test_best_and_mean_bleu(tmp_path: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    targets = {"a": "the cat sat on the mat", "b": "a dog is in the garden today"}
    answers = {
        "a": ["the cat sat on a mat", "the cat sat on the mat", "no"],
        "b": ["a dog in the garden", "a dog is in a garden today", "it rains"],
    }
    lines = "- {metric: bleu, repeat_aggregation: max}\n- {metric: bleu, repeat_aggregation: mean}"
    results = evaluated(tmp_path, lines, targets, answers)
    scores = [
        [sacrebleu.sentence_bleu(answer, [targets[key]]).score for answer in given]
        for key, given in answers.items()
    ]
    best, mean = [max(row) for row in scores], [sum(row) / 3 for row in scores]
    assert best[0] == pytest.approx(100)
    assert values(results, "bleu") == pytest.approx(best)
    assert values(results, "bleu_1") == pytest.approx(mean)
    assert [s["bleu_repeats"] for s in results["samples"]["t"]] == [
        pytest.approx(row) for row in scores
    ]
    found = results["results"]["t"]
    assert found["bleu,none"] == pytest.approx(sum(best) / 2)
    assert found["bleu_1,none"] == pytest.approx(sum(mean) / 2)
    for key in ("bleu", "bleu_1"):
        low, high = found[f"{key}_interval,none"]
        assert 0 <= low < found[f"{key},none"] < high <= 100


@pytest.mark.process
def test_equal_mathematics_votes_together(tmp_path: Path) -> None:
    pytest.importorskip("math_verify")
    targets = {"a": r"\frac{1}{2}", "b": "3"}
    answers = {  # by text, three of five say 7
        "a": ["7", "1/2", "0.5", "7", r"\frac{2}{4}"],
        "b": ["7", "7", "3", "3.0", "7"],
    }
    lines = metric("majority", "math") + "\n" + metric("majority")
    results = evaluated(tmp_path, lines, targets, answers)
    assert values(results, "math") == [1, 0]
    assert values(results) == [0, 0]


def test_votes_follow_the_options_of_the_metric(tmp_path: Path) -> None:
    lines = """
        - {metric: exact_match, ignore_case: true, repeat_aggregation: majority}
        - {metric: exact_match, repeat_aggregation: majority}
    """
    results = evaluated(tmp_path, lines, {"a": "Yes"}, {"a": ["No", "No", "yes", "Yes", "YES"]})
    assert values(results) == [1]
    assert values(results, "exact_match_1") == [0]


def test_three_metrics_of_one_task(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    lines = f"{metric('majority')}\n{metric('max', 'bleu')}\n{metric('any_correct')}"
    results = evaluated(tmp_path, lines, TARGETS, ANSWERS)
    found = {key: value for key, value in results["results"]["t"].items() if "," in key}
    assert {key.split(",")[0] for key in found} == {
        "exact_match", "exact_match_stderr", "exact_match_interval",
        "bleu", "bleu_stderr", "bleu_interval",
        "exact_match_1", "exact_match_1_stderr", "exact_match_1_interval",
    }  # fmt: skip
    assert found["exact_match,none"] == 0.5
    assert found["exact_match_1,none"] == 1
    assert results["higher_is_better"]["t"] == dict.fromkeys(
        ("exact_match", "bleu", "exact_match_1"), True
    )


# -- functions of the user -----------------------------------------------------------------

WEIGHTED = '''
from passband import register_repeat_aggregation

@register_repeat_aggregation("custom_weighted")
def custom_weighted_agg(scores, predictions=None, **kwargs):
    """Count the second repeat twice, the third three times, and so on."""
    weights = [i + 1 for i in range(len(scores))]
    return sum(s * w for s, w in zip(scores, weights)) / sum(weights)
'''


@pytest.fixture
def registered() -> Any:
    """Forget what a test registers."""
    before = set(aggregations)
    yield
    for name in set(aggregations) - before:
        aggregations.remove(name)


@pytest.mark.usefixtures("registered")
def test_a_registered_function(tmp_path: Path) -> None:
    for _ in range(2):  # as when a cell of a notebook is run again
        exec(compile(WEIGHTED, "cell", "exec"), {"__name__": "__main__"})
    results = evaluated(tmp_path, metric("custom_weighted"), TARGETS, ANSWERS)
    assert values(results) == pytest.approx([3 / 10, 3 / 10, 1, 5 / 10])
    assert results["results"]["t"]["exact_match,none"] == pytest.approx(0.525)
    low, high = results["results"]["t"]["exact_match_interval,none"]
    assert 0 <= low < 0.525 < high <= 1


@pytest.mark.usefixtures("registered")
def test_what_a_function_gets(tmp_path: Path) -> None:
    seen = []

    @register_repeat_aggregation("curious")
    def curious(scores: Any, predictions: Any = None, same: Any = None, share: float = 1.0) -> Any:
        seen.append((scores, predictions, same("x", "x"), same("x", "y"), share))
        return 0

    lines = "- {metric: exact_match, repeat_aggregation: curious, repeat_options: {share: 0.5}}"
    evaluated(tmp_path, lines, {"a": "2"}, {"a": ["2", "", "3"]})
    assert seen == [([1.0, 0.0, 0.0], ["2", None, "3"], True, False, 0.5)]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("result", "told"),
    [
        (lambda scores: 1 / 0, "'broken' failed: ZeroDivisionError: division by zero"),
        (lambda scores: float("nan"), "'broken' must return a finite number; got nan"),
        (lambda scores: None, "'broken' must return a finite number; got None"),
    ],
)
def test_a_function_that_fails_costs_only_its_metric(
    tmp_path: Path, result: Any, told: str
) -> None:
    register_repeat_aggregation("broken")(result)
    lines = metric("broken") + "\n" + metric("mean")
    with pytest.warns(PassbandWarning, match=f"t: exact_match,none has no value: .*{told}"):
        results = evaluated(tmp_path, lines, TARGETS, ANSWERS)
    found = results["results"]["t"]
    assert found["exact_match,none"] is None
    assert found["exact_match_interval,none"] is None
    assert found["exact_match_1,none"] == pytest.approx(0.5625)
    assert values(results) == [None] * 4


@pytest.mark.usefixtures("registered")
def test_a_name_is_taken_once() -> None:
    register_repeat_aggregation("mine")(lambda scores: 0)

    def another(scores: Any) -> int:
        return 1

    with pytest.raises(InvalidInput, match="'mine' is already registered"):
        register_repeat_aggregation("mine")(another)
    with pytest.raises(InvalidInput, match="'mean' is already registered"):
        register_repeat_aggregation("mean")(another)
    with pytest.raises(WrongType, match="needs a name"):
        register_repeat_aggregation(another)  # type: ignore[arg-type]


def test_functions_of_the_task(tmp_path: Path) -> None:
    """A filter and a metric in Python, as in lm-eval's humaneval."""
    (tmp_path / "utils.py").write_text(
        "def build_predictions(resps, docs):\n"
        "    return [[r + '!' for r in resp] for resp in resps]\n"
        "def pass_at_k(references, predictions, k=None):\n"
        "    right = float(references[0] + '!' in predictions[0])\n"
        "    return {f'pass@{n}': right for n in k}\n"
    )
    more = """
        filter_list:
          - name: create_test
            filter:
              - function: custom
                filter_fn: !function utils.build_predictions
    """
    lines = "- {metric: !function utils.pass_at_k, aggregation: mean, k: [1, 4]}"
    with pytest.raises(InvalidInput, match="trust"):
        evaluated(tmp_path, lines, TARGETS, ANSWERS, more=more)
    results = evaluated(tmp_path, lines, TARGETS, ANSWERS, more=more, trust_task_code=True)
    assert results["results"]["t"]["pass@1,create_test"] == pytest.approx((2 + 1 + 4 + 2) / 16)
    assert results["results"]["t"]["pass@4,create_test"] == 1
    assert values(results, "pass@1") == [2 / 4, 1 / 4, 4 / 4, 2 / 4]
    assert results["samples"]["t"][0]["filtered_resps"] == [["2!", "2!", "3!", "5!"]]


# -- how it is called ----------------------------------------------------------------------


@pytest.fixture
def my_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task of sums in the working folder, by the name of my_task."""
    rows = [{"a": 17 + at, "b": 25, "sum": 42 + at} for at in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "my_task.yaml"
    path.write_text(
        "task: my_task\n"
        "dataset_path: rows.jsonl\n"
        'doc_to_text: "What is {{ a }} + {{ b }}?"\n'
        'doc_to_target: "{{ sum }}"\n'
        "repeats: 2\n"
        "filter_list: [{name: none, filter: [{function: extract, rules: [last_number]}]}]\n"
        "metric_list: [{metric: exact_match, aggregation: mean, repeat_aggregation: majority}]\n"
    )
    monkeypatch.chdir(tmp_path)
    return path


def test_a_name_of_a_model_and_of_a_task(
    my_task: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        results = simple_evaluate(
            model="gpt2",
            tasks=["my_task"],
            num_repeats=5,
            log_samples=True,
        )
    assert {request.body["model"] for request in server.requests} == {"gpt2"}
    assert sum(request.n for request in server.requests) == 15
    for sample in results["samples"]["my_task"]:
        assert sample["exact_match"] in (0.0, 1.0)
        assert len(sample["exact_match_repeats"]) == 5
        assert set(sample["exact_match_repeats"]) <= {0.0, 1.0}
        assert len(set(sample["resps"][0])) > 1  # five draws, not one
    assert capsys.readouterr() == ("", "")
    assert not list(my_task.parent.glob("runs*"))


def test_tasks_in_the_folder_tasks(my_task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (my_task.parent / "tasks").mkdir()
    for name in ("my_task.yaml", "rows.jsonl"):
        (my_task.parent / name).rename(my_task.parent / "tasks" / name)
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        results = simple_evaluate(model="gpt2", tasks="my_task", log_samples=False)
    assert sum(request.n for request in server.requests) == 6  # as often as the task says
    assert "samples" not in results


def test_a_task_may_be_given_in_many_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_task(tmp_path, metric("mean"), TARGETS, more="repeats: 4\n")
    monkeypatch.chdir(tmp_path)
    for given in ("t", ["t"], path, [path, "t.yaml", "t"], load_task(path)):
        script = Script("t", ANSWERS)
        results = simple_evaluate(script, given, seed=SEED)  # type: ignore[arg-type]
        assert results["results"]["t"]["exact_match,none"] == 0.5625
        assert script.calls == 16


def test_several_tasks(tmp_path: Path) -> None:
    one = write_task(tmp_path, metric("mean"), {"a": "1", "b": "2"}, name="one")
    two = write_task(tmp_path, metric("first"), {"a": "2"}, name="two")
    with pytest.warns(PassbandWarning, match=r"temperature 0: 2 trials .* identical, worth one"):
        results = simple_evaluate(lambda prompt: "1", [one, two], num_repeats=2, temperature=0.0)
    assert results["results"]["one"]["exact_match,none"] == 0.5
    assert results["results"]["two"]["exact_match,none"] == 0
    assert list(results["samples"]) == ["one", "two"]
    copy = write_task(tmp_path / "copy", metric("mean"), {"a": "1"}, name="one")
    with pytest.raises(InvalidInput, match="two tasks are named 'one'"):
        simple_evaluate(lambda prompt: "1", [one, copy])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"model": 5}, "model must be a name, a Provider or a function; got 5"),
        ({"model": "tinny"}, "Did you mean 'tiny'"),
        ({"tasks": []}, "at least one task"),
        ({"tasks": [5]}, "a task is a name, a path or a Task; got 5"),
        ({"tasks": ["arithmetc"]}, "Did you mean 'arithmetic'"),
        ({"num_repeats": 0}, "num_repeats must be a whole number, 1 or more; got 0"),
        ({"num_repeats": 2.5}, "num_repeats must be a whole number, 1 or more; got 2.5"),
        ({"num_repeats": True}, "num_repeats must be"),
        ({"limit": 0}, "limit must be a whole number, 1 or more, or a share"),
        ({"limit": 1.0}, "limit=1.0 may mean one problem or all"),
        ({"limit": 2.5}, "limit must be"),
        ({"level": 95}, "level must be a number between 0 and 1; got 95"),
        ({"batch_size": 0}, "batch_size must be a whole number, 1 or more, or auto; got 0"),
        ({"num_fewshot": -1}, "num_fewshot must be a whole number, 0 or more; got -1"),
        ({"num_fewshot": "5"}, "num_fewshot must be a whole number, 0 or more; got '5'"),
        ({"system_instruction": 5}, "system_instruction must be text; got 5"),
        ({"apply_chat_template": "chatml"}, "the server chooses the template"),
        ({"fewshot_as_multiturn": 1}, "fewshot_as_multiturn must be True or False; got 1"),
        ({"model_args": "model=x"}, "model_args are for a model that is given by its name"),
        ({"gen_kwargs": "temperature"}, "gen_kwargs: 'temperature' is not key=value"),
        ({"gen_kwargs": {"temprature": 1}}, "Did you mean 'temperature'"),
        ({"gen_kwargs": "max_gen_toks=5", "max_tokens": 5}, "are the same setting"),
        (
            {"model": "openai-completions:x", "apply_chat_template": True},
            "completes plain text. Give the model as openai:NAME",
        ),
        ({"model": "openai:x", "apply_chat_template": False}, "chat completions, which apply it"),
        ({"model": "hf", "model_args": "pretrained=gpt2"}, "vllm serve gpt2"),
    ],
)
def test_wrong_arguments_are_refused_before_anybody_is_asked(
    arguments: dict[str, Any], told: str
) -> None:
    def model(prompt: str) -> str:
        raise AssertionError("asked")

    with pytest.raises(InvalidInput, match=told):
        simple_evaluate(**({"model": model, "tasks": ["arithmetic"]} | arguments))  # type: ignore[arg-type]


def test_too_few_repeats_for_a_metric(tmp_path: Path) -> None:
    lines = metric("pass@8") + "\n" + metric("first")
    with pytest.warns(PassbandWarning, match=r"exact_match,none has no value: .*8"):
        results = evaluated(tmp_path, lines, TARGETS, ANSWERS)
    assert values(results) == [None] * 4  # and not the score of the first
    assert results["results"]["t"]["exact_match,none"] is None
    assert results["results"]["t"]["exact_match_1,none"] == 0.5


def test_an_unknown_aggregation(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no repeat aggregation named 'majorty'"):
        evaluated(tmp_path, metric("majorty"), TARGETS, ANSWERS)


@pytest.mark.parametrize(("name", "best"), [("bleu", 100), ("ter", 0)])
def test_being_correct_needs_a_score_that_says_so(tmp_path: Path, name: str, best: int) -> None:
    pytest.importorskip("sacrebleu")
    told = f"any_correct counts scores of 1 as correct; the best {name} is {best}"
    with pytest.raises(InvalidInput, match=told):
        evaluated(tmp_path, metric("any_correct", name), TARGETS, ANSWERS)


# -- called as lm-eval is ------------------------------------------------------------------

SHOTS = """
fewshot_config: {sampler: first_n, samples: [{id: x, target: "1"}, {id: y, target: "2"}]}
num_fewshot: 2
"""


def test_the_arguments_of_lm_eval_reach_the_server(tmp_path: Path) -> None:
    path = write_task(tmp_path, metric("mean"), TARGETS, more=SHOTS)
    with FaultServer() as server, pytest.warns(PassbandWarning, match="no effect here.*tokenizer"):
        results = simple_evaluate(
            model="local-chat-completions",
            model_args=f"model=qwen,base_url={server.url}/chat/completions,num_concurrent=2,"
            "tokenizer=gpt2,tokenized_requests=False",
            tasks=[path],
            num_fewshot=1,
            batch_size="auto",
            limit=0.3,
            system_instruction="Be brief.",
            apply_chat_template=True,
            gen_kwargs="temperature=0.5,top_k=20,max_gen_toks=9",
        )
    bodies = [request.body for request in server.requests]
    assert {body["model"] for body in bodies} == {"qwen"}
    assert {(b["temperature"], b["top_k"], b["max_tokens"]) for b in bodies} == {(0.5, 20, 9)}
    asked = sorted({tuple((m["role"], m["content"]) for m in body["messages"]) for body in bodies})
    before = [("system", "Be brief."), ("user", "Problem x"), ("assistant", "1")]
    assert [list(messages) for messages in asked] == [
        [*before, ("user", f"Problem {key}")] for key in "ab"
    ]
    assert results["n-samples"]["t"] == {"original": 4, "effective": 2}  # 0.3 of 4, rounded up
    assert results["n-shot"] == {"t": 1}
    config = results["config"]
    assert config["gen_kwargs"] == {"temperature": 0.5, "top_k": 20, "max_gen_toks": 9}
    assert (config["system_instruction"], config["limit"]) == ("Be brief.", 0.3)


def test_worked_examples_are_one_message_unless_turns_are_asked_for(tmp_path: Path) -> None:
    path = write_task(tmp_path, metric("mean"), {"a": "2"}, more=SHOTS)
    for options, number in (({}, 1), ({"fewshot_as_multiturn": True}, 5)):
        with FaultServer() as server:
            simple_evaluate("openai:m", path, base_url=server.url, **options)  # type: ignore[arg-type]
        assert {len(request.body["messages"]) for request in server.requests} == {number}


def test_turns_are_no_matter_for_a_task_without_examples(tmp_path: Path) -> None:
    path = write_task(tmp_path, metric("mean"), {"a": "2"})
    results = simple_evaluate(lambda prompt: "2", path, fewshot_as_multiturn=True)
    assert results["results"]["t"]["exact_match,none"] == 1


def test_a_share_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = write_task(tmp_path, metric("mean"), TARGETS)
    for limit, asked in ((0.5, 8), (0.75, 4), (None, 4)):
        script = Script("t", ANSWERS)
        options: dict[str, Any] = {"num_repeats": 4, "seed": SEED, "out": tmp_path / "run"}
        simple_evaluate(script, path, limit=limit, **options)
        assert script.calls == asked


def test_other_fields_of_requests_are_refused_on_resuming(tmp_path: Path) -> None:
    path = write_task(tmp_path, metric("mean"), TARGETS)
    script, out = Script("t", ANSWERS), tmp_path / "run"
    simple_evaluate(script, path, 1, seed=SEED, out=out, gen_kwargs={"top_k": 20})
    for changed in ({"gen_kwargs": {"top_k": 5}}, {"system_instruction": "Be brief."}):
        with pytest.raises(InvalidInput, match=r"top_k|system"):
            simple_evaluate(script, path, 1, seed=SEED, out=out, **changed)


def test_every_standard_error_is_a_number_or_not_available(tmp_path: Path) -> None:
    """What lm-eval's make_table takes: it formats every other value with four digits."""
    lines = f"{metric('mean')}\n{metric('pass@8')}"
    answers = {key: [target] * 4 for key, target in TARGETS.items()}
    with pytest.warns(PassbandWarning, match="has no value"):
        results = evaluated(tmp_path, lines, TARGETS, answers)
    found = results["results"]["t"]
    errors = [value for key, value in found.items() if "_stderr," in key]
    assert errors == ["N/A", "N/A"]
    assert {*results["versions"], *results["n-shot"], *results["higher_is_better"]} == {"t"}


def test_progress_is_shown_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_task(tmp_path, metric("mean"), {"a": "2"})
    simple_evaluate(lambda prompt: "2", path, progress=False)
    assert capsys.readouterr().err == ""
    simple_evaluate(lambda prompt: "2", path, progress=True)
    last = capsys.readouterr().err.strip().rpartition("\r")[2]
    assert last.startswith("1 of 1 trials, 100 %")


# -- what comes back -----------------------------------------------------------------------


def test_the_shape_is_that_of_lm_eval(tmp_path: Path) -> None:
    more = "metadata: {version: 3}\n"
    results = evaluated(tmp_path, metric("majority"), TARGETS, ANSWERS, more=more, limit=2)
    assert {*results} >= {
        "results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better",
        "n-samples", "samples", "config", "date", "total_evaluation_time_seconds",
    }  # fmt: skip
    assert [*results["results"]["t"]] == [
        "name",
        "alias",
        "sample_len",
        "exact_match,none",
        "exact_match_stderr,none",
        "exact_match_interval,none",
    ]
    assert results["results"]["t"]["sample_len"] == 2
    assert results["versions"] == {"t": "3"}
    assert results["n-shot"] == {"t": 0}
    assert results["config"]["num_repeats"] == 4
    assert json.loads(json.dumps(results))["results"] == results["results"]
    sample = results["samples"]["t"][1]
    doc = {"id": "b", "target": "4", "group": "b"}
    assert sample == {
        "doc_id": 1,
        "problem_id": "b",
        "doc": doc,
        "target": "4",
        "arguments": [["Problem b", {"temperature": 1.0}]],
        "resps": [["1", "1", "4", "7"]],
        "filtered_resps": [["1", "1", "4", "7"]],
        "filter": "none",
        "metrics": ["exact_match"],
        "statuses": ["ok"] * 4,
        "doc_hash": digest(json.dumps(doc, indent=2)),
        "prompt_hash": digest("Problem b"),
        "target_hash": digest("4"),
        "exact_match": 0.0,
        "exact_match_repeats": [0.0, 0.0, 1.0, 0.0],
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_one_repeat_has_no_repeats(tmp_path: Path) -> None:
    answers = {key: given[:1] for key, given in ANSWERS.items()}
    results = evaluated(tmp_path, metric("majority"), TARGETS, answers)
    for sample in results["samples"]["t"]:
        assert "exact_match_repeats" not in sample
        assert sample["filtered_resps"] == sample["resps"][0]
    assert values(results) == [1, 0, 1, 0]


def test_pipelines_of_filters(tmp_path: Path) -> None:
    more = """
        filter_list:
          - {name: first, filter: [{function: take_first}]}
          - {name: maj, filter: [{function: majority_vote}, {function: take_first}]}
          - name: maj@3
            filter:
              - {function: take_first_k, k: 3}
              - {function: majority_vote}
              - {function: take_first}
    """
    results = evaluated(tmp_path, "- metric: exact_match", TARGETS, ANSWERS, more=more)
    found = results["results"]["t"]
    assert found["exact_match,first"] == 0.5
    assert found["exact_match,maj"] == 0.5
    assert found["exact_match,maj@3"] == 0.75  # d: 9 8 8
    samples = [(s["filter"], s["problem_id"], s["exact_match"]) for s in results["samples"]["t"]]
    assert samples == [
        (name, key, score)
        for name, row in (("first", [1, 0, 1, 0]), ("maj", [1, 0, 1, 0]), ("maj@3", [1, 0, 1, 1]))
        for key, score in zip("abcd", row, strict=True)
    ]


# -- keeping trials ------------------------------------------------------------------------


def test_calling_again_goes_on(tmp_path: Path) -> None:
    path = write_task(tmp_path, metric("mean"), TARGETS)
    for repeats, asked in ((3, 12), (4, 4), (4, 0)):
        script = Script("t", ANSWERS)
        options: dict[str, Any] = {"num_repeats": repeats, "seed": SEED, "out": tmp_path / "run"}
        results = simple_evaluate(script, path, **options)
        assert script.calls == asked
    assert results["results"]["t"]["exact_match,none"] == 0.5625
    with passband.Trials(tmp_path / "run") as trials:
        assert trials.outcomes().n_trials == 16


@pytest.mark.filterwarnings("ignore:.*all answers are identical")
@pytest.mark.parametrize("in_a_notebook", [False, True])
def test_an_interrupt_is_passed_on_and_nothing_is_lost(
    tmp_path: Path, in_a_notebook: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_task(tmp_path, metric("mean"), TARGETS)
    script = Script("t", ANSWERS)
    heard: list[asyncio.Event] = []
    interrupt = Runner.interrupt

    def told(self: Runner, *arguments: Any) -> None:
        interrupt(self, *arguments)
        heard[0].set()

    monkeypatch.setattr(Runner, "interrupt", told)

    async def model(prompt: str, seed: int) -> Any:
        answer = script(prompt, seed)
        if script.calls == 6:
            heard.append(asyncio.Event())
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.wait_for(heard[0].wait(), 30)
        return answer

    def evaluate() -> dict[str, Any]:
        out = tmp_path / "run"
        return simple_evaluate(model, path, num_repeats=4, seed=SEED, concurrency=1, out=out)

    async def cell() -> dict[str, Any]:
        return evaluate()

    def run() -> dict[str, Any]:
        return within_a_loop(cell()) if in_a_notebook else evaluate()

    with pytest.raises(KeyboardInterrupt):
        run()
    assert 6 <= script.calls < 16
    results = run()
    assert script.calls == 16
    assert results["results"]["t"]["exact_match,none"] == 0.5625


def within_a_loop(work: Any) -> Any:
    """Run where an event loop runs already, and signals are Python's own affair."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


def test_names_are_offered_at_the_top() -> None:
    assert passband.simple_evaluate is simple_evaluate
    assert passband.register_repeat_aggregation is register_repeat_aggregation
    with pytest.raises(UnknownName, match="Did you mean 'majority'"):
        aggregations.get("majorty")


def test_the_seed_may_be_a_number(tmp_path: Path) -> None:
    path, out = write_task(tmp_path, metric("mean"), TARGETS), tmp_path / "run"
    with pytest.raises(InvalidInput, match="seed must be"):
        simple_evaluate(str.upper, path, 1, seed=1.5, out=out)  # type: ignore[arg-type]
    assert not out.exists()
    number = simple_evaluate(str.upper, path, 1, seed=1, out=out)
    assert simple_evaluate(str.upper, path, 1, seed="1", out=out)["results"] == number["results"]
