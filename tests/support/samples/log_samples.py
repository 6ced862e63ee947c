"""One small file or folder for every reader, as its tool writes it.

A reader without a sample fails tests/readers/test_battery.py. A sample is a function that writes
its files into a folder and returns what is to be read, together with the trials that are in it.
The sample of a new reader is SAMPLE in its own tests, as in tests/readers/tools/test_swe_bench.py.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from support.samples.eva_runs import example
from support.samples.inspect_logs import failed, grid, write_eval, write_json
from support.samples.stores import filled
from support.samples.tool_logs import FILES

__all__ = ["SAMPLES", "Sample"]

TESTS = Path(__file__).resolve().parents[2]


class Sample(NamedTuple):
    """A way to write the files of a tool, and what they hold in all of their groups."""

    write: Callable[[Path], Path]
    scored: int  # trials with a score
    passes: float  # the sum of these scores
    unscored: int = 0  # trials without, those that are missing among them
    reader: str = ""  # where it is not the sample's name: a reader may know several forms


def document(name: str, value: Any) -> Callable[[Path], Path]:
    """Return a function that writes a JSON document."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text(json.dumps(value, indent=1))
        return path

    return write


def lines(name: str, values: list[Any]) -> Callable[[Path], Path]:
    """Return a function that writes JSON lines."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text("".join(json.dumps(value) + "\n" for value in values))
        return path

    return write


def folder(files: Mapping[str, Any]) -> Callable[[Path], Path]:
    """Return a function that writes JSON documents into a folder of their own."""

    def write(parent: Path) -> Path:
        path = parent / "sample"
        path.mkdir(exist_ok=True)
        for name, value in files.items():
            document(name, value)(path)
        return path

    return write


# -- passband itself -----------------------------------------------------------------------


def run_directory(parent: Path) -> Path:
    return filled(parent / "run", [[1, 0], [1, 1]])


def matrix(parent: Path) -> Path:
    np.save(parent / "scores.npy", np.array([[1, 0], [1, 1]]))
    return parent / "scores.npy"


EXPORT = [
    {
        "task": "sums", "model": "M", "problem_id": problem, "trial": trial, "status": "ok",
        "score": score, "score_status": "ok", "answer": "4", "rule": None, "completion": "4",
    }
    for problem, trial, score in [("a", 0, 1), ("a", 1, 0), ("b", 0, 1), ("b", 1, 1)]
]  # fmt: skip

# -- HELM ----------------------------------------------------------------------------------


def stat(name: str, value: float, **context: Any) -> dict[str, Any]:
    return {
        "name": {"name": name, "split": "test", **context}, "count": 1, "sum": value,
        "sum_squared": value**2, "min": value, "max": value, "mean": float(value),
        "variance": 0.0, "stddev": 0.0,
    }  # fmt: skip


def request_state(instance: str, success: bool = True, **result: Any) -> dict[str, Any]:
    return {
        "instance": {
            "id": instance, "split": "test", "input": {"text": "2+2?"},
            "references": [{"output": {"text": "4"}, "tags": ["correct"]}],
        },
        "train_trial_index": 0,
        "request": {"model": "org/m", "prompt": "Q: 2+2?", "temperature": 1.0},
        "result": {
            "success": success, "cached": False, "embedding": [],
            "completions": [{"text": "4", "logprob": 0.0, "tokens": []}] if success else [],
            **result,
        },
    }  # fmt: skip


HELM = {
    "per_instance_stats.json": [
        {"instance_id": instance, "train_trial_index": 0, "stats": stats}
        for instance, value in [("id1", 1), ("id2", 0), ("id3", 0)]
        for stats in (
            [stat("exact_match", value), stat("quasi_exact_match", 1)],
            [stat("num_prompt_tokens", 12)],
        )
    ],
    "run_spec.json": {"name": "mmlu:subject=law,model=org_m", "adapter_spec": {"model": "org/m"}},
    "scenario_state.json": {
        "adapter_spec": {"model": "org/m"},
        "request_states": [
            request_state("id1"),
            request_state("id2"),
            request_state("id3", success=False, error="the server was down"),
        ],
    },
}

# -- evalscope -----------------------------------------------------------------------------


def review(sample: int, value: float | None, **score: Any) -> dict[str, Any]:
    values = {} if value is None else {"acc": value, "f1": 0.5}
    return {
        "index": sample,
        "target": ["4"],
        "messages": [
            {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "It is 4."},
        ],
        "agent_trace": None,
        "sample_score": {
            "score": {
                "value": values, "status": "success", "judge_summary": None, "metadata": {},
                "extracted_prediction": "4", "prediction": "It is 4.", "explanation": None,
                "main_score_name": None, **score,
            },
            "sample_id": sample, "group_id": sample // 2, "generation_index": sample % 2,
            "sample_metadata": {"level": 1},
        },
    }  # fmt: skip


EVALSCOPE = [
    review(0, 1.0),
    review(1, 0.0),
    review(2, 1.0),
    review(3, None, status="parse_error", explanation="no verdict"),
]

# -- opencompass ---------------------------------------------------------------------------

OPENCOMPASS = {
    "accuracy (2 runs average)": 75.0,
    "details": [
        {
            "example_abbr": f"gsm8k_{number}", "pred": ["4", "5"], "answer": ["4", "4"],
            "correct": correct, "G-Pass@2_0.5": 1.0,
        }
        for number, correct in enumerate([[True, False], [True, True]])
    ],
}  # fmt: skip

NUMBERED = {
    "accuracy": 50.0,
    "details": {
        "type": "GEN",
        **{
            str(number): {
                "prompt": f"Question {number}?", "origin_prediction": "It is 4.",
                "predictions": "4", "references": "4", "correct": number == 1,
            }
            for number in range(3)
        },
    },
}  # fmt: skip

# -- SWE-bench -----------------------------------------------------------------------------


def report(**ids: list[str]) -> dict[str, Any]:
    classes = ("incomplete", "empty_patch", "resolved", "unresolved", "error")
    found = {f"{name}_ids": ids.get(name, []) for name in classes}
    infra = ids.get("infra_failure", [])
    return {
        "total_instances": sum(map(len, found.values())),
        "submitted_instances": sum(map(len, found.values())) - len(found["incomplete_ids"]),
        "completed_instances": len(found["resolved_ids"] + found["unresolved_ids"]),
        "resolved_instances": len(found["resolved_ids"]),
        "completed_ids": found["resolved_ids"] + found["unresolved_ids"],
        **found,
        "infra_failure_ids": infra,
        "ambiguous_failure_ids": [],
        "failure_reasons": dict.fromkeys(infra, "out_of_memory"),
        "schema_version": 2,
    }


SWE_BENCH = {
    "org__m.r1.json": report(
        resolved=["a__b-1"], unresolved=["a__b-2", "a__b-3"], error=["a__b-4"],
        incomplete=["a__b-5"], empty_patch=["a__b-6"], infra_failure=["a__b-3"],
    ),
    "org__m.r2.json": report(
        resolved=["a__b-1", "a__b-2", "a__b-3"], unresolved=["a__b-4", "a__b-5", "a__b-6"],
    ),
}  # fmt: skip

# -- terminal-bench ------------------------------------------------------------------------


def attempt(task: str, number: int, resolved: bool | None, mode: str = "unset") -> dict[str, Any]:
    return {
        "id": f"{task}-{number}", "trial_name": f"{task}.{number}-of-2.run1", "task_id": task,
        "instruction": f"Do {task}.", "is_resolved": resolved, "failure_mode": mode,
        "parser_results": {}, "total_input_tokens": 10, "total_output_tokens": 5,
    }  # fmt: skip


TERMINAL_BENCH: dict[str, Any] = {
    "results.json": {
        "id": "x",
        "results": [
            attempt("hello", 1, True),
            attempt("hello", 2, False, "agent_timeout"),
            attempt("chess", 1, None, "test_timeout"),
            attempt("chess", 2, False, "unknown_agent_error"),
        ],
        "n_resolved": 1,
        "accuracy": 0.25,
    },
    "run_metadata.json": {
        "run_id": "run1", "agent_name": "terminus", "model_name": "org/m", "n_attempts": 2,
        "dataset_name": "terminal-bench-core", "dataset_version": "0.1.1",
        "task_ids": ["hello", "chess", "never"],
    },
}  # fmt: skip


def terminal_bench(parent: Path) -> Path:
    return folder(TERMINAL_BENCH)(parent) / "results.json"


# -- promptfoo -----------------------------------------------------------------------------


def result(test: int, question: str, success: bool, reason: int, **more: Any) -> dict[str, Any]:
    grading = {
        "pass": success, "score": int(success), "reason": "All assertions passed",
        "componentResults": [{"pass": success, "score": int(success), "reason": "r"}],
    }  # fmt: skip
    return {
        "id": f"r{test}", "testIdx": test, "promptIdx": 0, "promptId": "p", "success": success,
        "score": int(success), "failureReason": reason, "namedScores": {"right": int(success)},
        "provider": {"id": "openai:m", "label": ""}, "vars": {"q": question},
        "prompt": {"raw": f"What is {question}?", "label": "What is {{q}}?"},
        "response": {"output": "4", "tokenUsage": {"total": 5}}, "latencyMs": 6, "cost": 0,
        "testCase": {"vars": {"q": question}, "assert": [{"type": "equals", "value": "4"}]},
        "tokenUsage": {"prompt": 3, "completion": 2, "total": 5},
        "gradingResult": None if reason == 2 else grading, **more,
    }  # fmt: skip


PROMPTFOO: dict[str, Any] = {
    "evalId": "eval-1",
    "results": {
        "version": 3,
        "timestamp": "2026-11-17T00:00:00Z",
        "prompts": [],
        "results": [
            result(0, "2+2", True, 0),
            result(1, "2+2", False, 1),
            result(2, "3+1", True, 0),
            result(3, "3+1", False, 2, error="server down", response=None),
        ],
        "stats": {"successes": 2, "failures": 1, "errors": 1},
    },
    "config": {"description": "sums"},
    "shareableUrl": None,
}

# -- deepeval ------------------------------------------------------------------------------


def case(number: int, question: str, score: float | None, **more: Any) -> dict[str, Any]:
    passed = score is not None and score >= 0.5
    metric = {
        "name": "Correctness", "threshold": 0.5, "success": passed, "strictMode": False,
        "flaky": False, **({"error": "judge down"} if score is None else {"score": score}),
    }  # fmt: skip
    return {
        "name": f"test_case_{number}", "input": question, "actualOutput": "4",
        "expectedOutput": "4", "flaky": False, "success": passed, "metricsData": [metric],
        "runDuration": 0.1, "order": number, **more,
    }  # fmt: skip


DEEPEVAL = {
    "testCases": [
        case(0, "2+2?", 0.9), case(1, "2+2?", 0.2), case(2, "3+1?", 1.0), case(3, "3+1?", None),
    ],
    "conversationalTestCases": [],
    "metricsScores": [
        {"metric": "Correctness", "scores": [0.9, 0.2, 1.0], "passes": 2, "fails": 1, "errors": 1}
    ],
    "hyperparameters": {"model": "qwen3"},
    "runDuration": 0.5,
}  # fmt: skip

# -- NeMo Evaluator ------------------------------------------------------------------------


def step(problem: int, repeat: int, reward: float, **details: Any) -> dict[str, Any]:
    return {
        "problem_idx": problem, "repeat": repeat, "reward": reward,
        "scorer_rewards": {"scorer:brief": 1.0}, "model_response": "It is 4.",
        "extracted_answer": "4", "expected_answer": "4", "scoring_details": details,
        "metadata": {"category": "sums"}, "tokens": 12, "latency_ms": 3.5,
    }  # fmt: skip


NEMO_EVALUATOR = [
    step(0, 0, 1.0, method="exact"),
    step(0, 1, 0.0, method="exact"),
    step(1, 0, 0.0, error="no container", error_category="infra_error"),
    step(1, 1, 1.0, method="exact"),
]

# -- tools of tool_logs.py --------------------------------------------------------------------

TOOL_LOGS = {
    name: Sample(FILES[name], *counts)  # type: ignore[arg-type]
    for name, counts in {
        "human-eval": (2, 1), "openai-evals": (1, 1, 2), "verifiers": (3, 3), "lm-eval": (2, 2),
        "evalplus": (2, 0), "tau-bench": (2, 1, 2), "lm-eval results": (1, 1),
        "lighteval": (6, 3),
    }.items()
}  # fmt: skip


def inspect_eval(parent: Path) -> Path:
    records = [*grid({"a": ["C", "I"], "b": ["C"]}), failed("b", 2)]
    return write_eval(parent / "log.eval", records)


def inspect_log(folder: Path) -> Path:
    records = [*grid({"a": ["C", "I"], "b": ["P", float("nan")]}), failed("c")]
    return write_json(folder / "log.json", records)


def beside_tests() -> dict[str, Sample]:
    """Return each SAMPLE that the tests of a reader have, by the name of that reader."""
    found = {}
    for path in sorted((TESTS / "readers").rglob("test_*.py")):
        if "\nSAMPLE = " in path.read_text("utf-8"):
            name = ".".join(path.relative_to(TESTS).with_suffix("").parts)
            sample = importlib.import_module(name).SAMPLE
            found[sample.reader] = sample
    return found


SAMPLES: Mapping[str, Sample] = {
    "run directory": Sample(run_directory, 4, 3),
    "numpy": Sample(matrix, 4, 3),
    "export": Sample(lines("trials.jsonl", EXPORT), 4, 3),
    "inspect": Sample(inspect_log, 3, 1.5, 3),
    "helm": Sample(folder(HELM), 2, 1, 1),
    "evalscope": Sample(lines("aime_default.jsonl", EVALSCOPE), 3, 2, 1),
    "opencompass": Sample(document("gsm8k.json", OPENCOMPASS), 4, 3),
    "terminal-bench": Sample(terminal_bench, 2, 1, 4),
    "promptfoo": Sample(document("out.json", PROMPTFOO), 3, 2, 1),
    "deepeval": Sample(document("test_run.json", DEEPEVAL), 3, 2, 1),
    "nemo-evaluator": Sample(lines("results.jsonl", NEMO_EVALUATOR), 3, 2, 1),
    "eva": Sample(example, 7, 4, 2),
    "inspect .eval": Sample(inspect_eval, 3, 2, 1, reader="inspect"),
    "opencompass, numbered": Sample(document("x.json", NUMBERED), 3, 1, reader="opencompass"),
    "promptfoo, in lines": Sample(
        lines("out.jsonl", PROMPTFOO["results"]["results"]), 3, 2, 1, reader="promptfoo"
    ),
    "swe-bench, one report": Sample(
        document("m.r1.json", SWE_BENCH["org__m.r1.json"]), 3, 1, 3, reader="swe-bench"
    ),
    **TOOL_LOGS,
    **beside_tests(),
}
