"""Logs as other tools write them: small valid files, and what becomes of them when they break."""

import copy
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from support.samples.any_files import json_values

Records = list[dict[str, Any]]


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """Write JSON lines; a text is written as it is."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_parquet(path: Path, records: Records) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(records), path)
    return path


# -- one record of each tool -----------------------------------------------------------------


def human_eval_line(task: str, passed: bool, result: str = "") -> dict[str, Any]:
    result = result or ("passed" if passed else "failed: ")
    return {"task_id": task, "completion": "    pass\n", "result": result, "passed": passed}


def evalplus_trial(task: str, base: str | None, plus: str | None) -> dict[str, Any]:
    return {
        "task_id": task, "solution": "pass", "base_status": base, "plus_status": plus,
        "base_fail_tests": [], "plus_fail_tests": [],
    }  # fmt: skip


def tau_trial(task: int, trial: int, reward: float) -> dict[str, Any]:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done"}]
    info = {"task": {"user_id": "u", "instruction": "book", "actions": []}, "user_cost": 0.1}
    return {"task_id": task, "reward": reward, "info": info, "traj": talk, "trial": trial}


def tau_error(task: int, trial: int) -> dict[str, Any]:
    info = {"error": "rate limit", "traceback": "Traceback ..."}
    return {"task_id": task, "reward": 0.0, "info": info, "traj": [], "trial": trial}


def evals_event(number: int, sample: str, kind: str, run: str = "r1", **data: Any) -> Any:
    return {
        "run_id": run, "event_id": number, "sample_id": sample, "type": kind, "data": data,
        "created_by": "", "created_at": "2026-01-01 00:00:00+00:00",
    }  # fmt: skip


def evals_spec(run: str = "r1", model: str = "gpt-4", name: str = "sums.dev.v0") -> Any:
    return {
        "spec": {
            "completion_fns": [model], "eval_name": name, "base_eval": "sums", "split": "dev",
            "run_config": {}, "created_by": "", "run_id": run, "created_at": "2026-01-01",
        }
    }  # fmt: skip


def trace(key: str, rewards: dict[str, Any], **more: Any) -> dict[str, Any]:
    nodes = [
        {"message": {"role": "user", "content": "1+1="}, "sampled": False},
        {"parent": 0, "message": {"role": "assistant", "content": "2"}, "sampled": True},
    ]
    return {
        "version": 1, "id": "t", "task": {"type": "Sum", "data": {"idx": 0}, "key": key},
        "agent": {"name": "agent", "config": {"model": "gpt-4"}}, "nodes": nodes,
        "calls": [{"node": 1, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}],
        "rewards": rewards, "metrics": {"turns": 1.0}, "is_completed": True, "ok": True,
        "is_timeout": False, "errors": [], **more,
    }  # fmt: skip


def episode(*traces: dict[str, Any], **more: Any) -> dict[str, Any]:
    task = traces[0]["task"] if traces else {"type": "Sum", "data": {"idx": 0}, "key": "a"}
    return {
        "id": "e", "env": {"id": "sums"}, "task": task, "ok": True, "is_timeout": False,
        "errors": [], "traces": list(traces), **more,
    }  # fmt: skip


def rollout(example: int, reward: float, **more: Any) -> dict[str, Any]:
    return {
        "example_id": example, "prompt": [{"role": "user", "content": "1+1="}],
        "completion": [{"role": "assistant", "content": "2"}], "task": "sums", "reward": reward,
        "generation_ms": 3.0, "scoring_ms": 1.0, "total_ms": 4.0, "answer": "2", "correct": reward,
        **more,
    }  # fmt: skip


def lm_eval_line(number: int, responses: list[str], score: float, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": number, "doc": {"question": f"{number}+1=", "level": number % 2},
        "target": str(number + 1),
        "arguments": {"gen_args_0": {"arg_0": f"{number}+1=", "arg_1": {"until": ["\n"]}}},
        "resps": [responses], "filtered_resps": responses[:1], "filter": "none",
        "metrics": ["exact_match"], "doc_hash": "d", "prompt_hash": "p", "target_hash": "t",
        "exact_match": score, **more,
    }  # fmt: skip


def lm_eval_results(task: str, settings: dict[str, Any], problems: int) -> dict[str, Any]:
    return {
        "results": {task: {"alias": task, "exact_match,none": 0.5}}, "group_subtasks": {task: []},
        "configs": {task: {"task": task, "output_type": "generate_until", **settings}},
        "versions": {task: 1}, "n-shot": {task: 0}, "model_name": "qwen3-8b",
        "n-samples": {task: {"original": problems, "effective": problems}},
        "config": {"model": "local-chat-completions"},
    }  # fmt: skip


def detail(number: int, texts: list[str], metric: dict[str, float], **more: Any) -> dict[str, Any]:
    doc = {
        "query": f"{number}+1=", "choices": [str(number + 1)], "gold_index": 0, "id": str(number),
        "task_name": "sums|0", "num_samples": len(texts), "specific": {"level": number % 2},
    }  # fmt: skip
    response = {"input": doc["query"], "text": texts, "output_tokens": [], "logprobs": []}
    return {"doc": doc | more.pop("doc", {}), "model_response": response | more, "metric": metric}


# -- one file of each tool -------------------------------------------------------------------

LINES: dict[str, Records] = {
    "human-eval": [human_eval_line("HumanEval/0", True), human_eval_line("HumanEval/1", False)],
    "openai-evals": [
        evals_spec(),
        evals_event(0, "sums.dev.0", "sampling", prompt="1+1=", sampled=["2"]),
        evals_event(1, "sums.dev.0", "match", correct=True, expected="2", picked="2"),
        evals_event(2, "sums.dev.1", "metrics", score=0.5, choice="B"),
        evals_event(3, "sums.dev.2", "error", type="ValueError", message="no"),
        {"final_report": {"accuracy": 1.0}, "run_id": "r1"},
    ],
    "verifiers": [
        episode(trace("a", {"correct": {"score": 1.0, "weight": 1.0}})),
        trace("b", {"correct": 1.0}),
        rollout(0, 1.0),
    ],
    "lm-eval": [lm_eval_line(0, ["1", "2"], 1.0), lm_eval_line(1, ["2", "3"], 1.0)],
}
DOCUMENTS: dict[str, Any] = {
    "evalplus": {
        "date": "2026-01-01 00:00", "hash": "0",
        "eval": {
            "HumanEval/0": [evalplus_trial("HumanEval/0", "pass", "fail")],
            "HumanEval/1": {"nfiles": 1, "base": [["pass", []]], "plus": [["timeout", []]]},
        },
    },
    "tau-bench": [tau_trial(0, 0, 1.0), tau_trial(0, 1, 0.0), tau_error(1, 0)],
    "lm-eval results": {
        **lm_eval_results("sums", {}, 1), "samples": {"sums": [lm_eval_line(0, ["1"], 1.0)]},
    },
}  # fmt: skip
DETAILS: Records = [detail(n, [str(n + 1), "x"], {"pass@k:k=1&n=2": 0.5}) for n in range(3)]

FILES: dict[str, Callable[[Path], Path]] = {
    **{
        name: lambda folder, name=name: write_lines(folder / "log.jsonl", LINES[name])
        for name in LINES
    },
    **{
        name: lambda folder, name=name: write_json(folder / "log.json", DOCUMENTS[name])
        for name in DOCUMENTS
    },
    "lighteval": lambda folder: write_parquet(folder / "log.parquet", DETAILS),
}


# -- broken ones -----------------------------------------------------------------------------


@st.composite
def broken(draw: st.DrawFn, value: Any) -> Any:
    """A value with a part of it dropped, replaced or put in twice."""
    whole = copy.deepcopy(value)
    part = whole
    while True:
        if not isinstance(part, (dict, list)) or not part:
            return whole
        place = draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
        inner = part[place]
        if isinstance(inner, (dict, list)) and inner and draw(st.integers(0, 3)):
            part = inner
            continue
        action = draw(st.sampled_from(["drop", "replace", "again"]))
        if action == "drop":
            del part[place]
        elif action == "again" and isinstance(part, list):
            part.append(copy.deepcopy(inner))
        else:
            part[place] = draw(json_values | st.sampled_from([True, 10**400, "1", [None], {}]))
        return whole
