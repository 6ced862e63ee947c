"""The built-in benchmarks, on small files with the columns of the real data."""

import csv
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.tasks.data.local_data import LocalData
from passband.tasks.file.loader import load_task
from passband.tasks.find import BUILTIN_TASKS, find_task
from support.runs.commands import run

Rows = list[dict[str, Any]]
NAMES = sorted(path.stem for path in BUILTIN_TASKS.glob("*.yaml") if path.stem != "arithmetic")


def _gsm8k(i: int) -> dict[str, Any]:
    work = f"Tom has {i} and 1,000 more, {i}+1000=<<{i}+1000={1000 + i}>>{1000 + i}."
    return {"question": f"What is {i} + 1000?", "answer": f"{work}\n#### {1000 + i:,}"}


def _aime(i: int, **more: Any) -> dict[str, Any]:
    return {"problem": f"What is {i} + 30?", "answer": f"{i + 30:03d}", "id": str(i), **more}


def _math(i: int) -> dict[str, Any]:
    return {
        "problem": f"What is {i} + 0.5?",
        "solution": "...",
        "answer": rf"\frac{{{2 * i + 1}}}{{2}}",
        "subject": ("Algebra", "Geometry")[i % 2],
        "level": 1 + i % 5,
        "unique_id": f"test/algebra/{i}.json",
    }


def _gpqa(i: int) -> dict[str, Any]:
    return {
        "Record ID": f"rec{i}",
        "Question": f"What is {i} + 1?\n",
        "Correct Answer": f"{i + 1}\n",
        "Incorrect Answer 1": f" {i + 2}",
        "Incorrect Answer 2": str(i + 3),
        "Incorrect Answer 3": str(i + 4),
        "High-level domain": ("Physics", "Chemistry", "Biology")[i % 3],
        "Subdomain": "any",
    }


def _mmlu_pro(i: int, work: str = "") -> dict[str, Any]:
    options = [f" {i + place}" for place in range(3 + i % 8)]
    return {
        "question_id": i,
        "question": f"What is {i} + {len(options) - 1}?",
        "options": options,
        "answer": "ABCDEFGHIJ"[len(options) - 1],
        "answer_index": len(options) - 1,
        "cot_content": work,
        "category": ("law", "math")[i % 2],
        "src": "any",
    }


def _arc(i: int) -> dict[str, Any]:
    labels = list("ABCD" if i % 2 else "12345")
    texts = [str(i + place) for place in range(len(labels))]
    choices = {"text": texts, "label": labels}
    return {"id": f"arc{i}", "question": f"What is {i} + 2?", "choices": choices,
            "answerKey": labels[2]}  # fmt: skip


def _human_eval(i: int) -> dict[str, Any]:
    return {
        "task_id": f"HumanEval/{i}",
        "prompt": f'def solve():\n    """What is {i} + 5?"""\n',
        "canonical_solution": f"    return {i + 5}\n",
        "test": f"def check(candidate):\n    assert candidate() == {i + 5}\n",
        "entry_point": "solve",
    }


def _mbpp(i: int) -> dict[str, Any]:
    return {
        "task_id": i,
        ("text", "prompt")[i % 2]: f"What is {i} + 5?",
        "code": f"def solve():\n    return {i + 5}\n",
        "test_list": [f"assert solve() == {i + 5}", f"assert int(solve()) == {i + 5}"],
        "test_setup_code": "",
    }


DATA: dict[str, Rows] = {
    "humaneval": [_human_eval(i) for i in range(12)],
    "humaneval_completion": [_human_eval(i) for i in range(12)],
    "mbpp": [_mbpp(i) for i in range(12)],
    "gsm8k": [_gsm8k(i) for i in range(12)],
    "gsm8k_platinum": [_gsm8k(i) | {"cleaning_status": "consensus"} for i in range(12)],
    "aime24": [
        {"ID": f"2024-I-{i}", "Problem": f"What is {i} + 30?", "Solution": "", "Answer": i + 30}
        for i in range(12)
    ],
    "aime25": [_aime(i) for i in range(12)],
    "math500": [_math(i) for i in range(12)],
    "gpqa_diamond": [_gpqa(i) for i in range(12)],
    "mmlu_pro": [_mmlu_pro(i) for i in range(12)],
    "mmlu_pro_5shot": [_mmlu_pro(i) for i in range(12)],
    "arc_challenge": [_arc(i) for i in range(12)],
}
PROGRAMS = ("humaneval", "humaneval_completion", "mbpp")
SHOTS: dict[str, tuple[str, Rows]] = {
    "mmlu_pro_5shot": (
        "validation",
        [_mmlu_pro(i, f"A: Let us see, number {i}.") for i in range(100, 112)],
    ),
    "gsm8k": ("train", [_gsm8k(i) for i in range(100, 104)]),
    "arc_challenge": ("train", [_arc(i) for i in range(100, 104)]),
}

ADDS = '''
import re

def answer(prompt):
    """Work out the last sum; the right answer, but not to every seventh problem."""
    question = prompt[prompt.rindex("What is"):]
    a, b = re.match(r"What is ([0-9]+) [+] ([0-9.]+)", question).groups()
    total = int(a) + float(b) + (1 if int(a) % 7 == 3 else 0)
    number = f"{total:g}"
    if "solve" in prompt:
        return f"```python\\ndef solve():\\n    return {number}\\n```"
    if "letter" not in question:
        is_boxed = "boxed" in question
        return f"So \\\\boxed{{{number}}}." if is_boxed else f"Answer: {number} in all."
    for letter, choice in re.findall(r"^([A-J])[)] (.*)$", question, re.MULTILINE):
        if choice == number:
            return f"I am sure.\\n\\n**Answer:** ({letter})"
    return "A good question. I do not know."
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("adds", None)
    (tmp_path / "adds.py").write_text(ADDS)
    return tmp_path


def copy(folder: Path, name: str) -> Path:
    """Write the rows of a benchmark: a file, or a folder where it takes examples from another."""

    def lines(rows: Rows) -> str:
        return "".join(json.dumps(row) + "\n" for row in rows)

    if name == "mmlu_pro_5shot":
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "test.jsonl").write_text(lines(DATA[name]))
        (folder / name / f"{SHOTS[name][0]}.jsonl").write_text(lines(SHOTS[name][1]))
        return folder / name
    path = folder / f"{name}.jsonl"
    path.write_text(lines(DATA[name]))
    return path


def test_every_benchmark_has_rows_here() -> None:
    assert sorted(DATA) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_from_a_local_copy_to_a_table(folder: Path, name: str) -> None:
    words = ("--data", copy(folder, name), "--model", "python:adds:answer", "-n", 1, "--out", "run",
             *(["--unsafe-code"] if name in PROGRAMS else []))  # fmt: skip
    done = run("run", name, *words)
    assert done.code == 0, done.err
    row = next(line for line in done.out.splitlines() if "(mean)" in line)
    assert row.split()[2] in ("0.83", "0.833"), done.out  # 3 and 10 are wrong
    if name == "gpqa_diamond":  # whose choices are shuffled
        assert "(0 new)" in run("run", name, *words).err


@pytest.mark.parametrize("tasks", [("gsm8k", "math500"), ("gsm8k.jsonl",), ("inspect:any.py",)])
def test_data_replace_those_of_one_task_file(folder: Path, tasks: tuple[str, ...]) -> None:
    data = copy(folder, "gsm8k")
    done = run("run", *tasks, "--data", data, "--model", "tiny")
    assert done.code == 2
    assert "--data" in done.err


def test_the_prompts_ask_for_what_is_extracted(folder: Path) -> None:
    for name in set(NAMES) - set(PROGRAMS):
        task = load_task(find_task(name), data=LocalData.of([copy(folder, name)]))
        for problem in task.load(None):
            text = problem.messages[-1].content
            assert text.endswith(("within \\boxed{}.", 'last line, after "Answer: ".')), text
        assert task.sampling.stop == ()
        assert (task.sampling.temperature or 0) > 0


def test_gsm8k_keys_lose_their_commas(folder: Path) -> None:
    rows = load_task(find_task("gsm8k"), data=LocalData.of([copy(folder, "gsm8k")])).load(2)
    assert [problem.reference.targets for problem in rows] == [("1000",), ("1001",)]


@pytest.mark.parametrize(
    "row",
    [
        {"ID": "2024-I-1", "Problem": "What is 1 + 203?", "Solution": "", "Answer": 204},
        {"id": 60, "problem": "What is 1 + 203?", "solution": "", "answer": "204"},
        {"id": 60, "problem": "What is 1 + 203?", "solution": r"\boxed{204}", "url": "any"},
    ],
)
def test_aime_takes_the_columns_of_three_copies(folder: Path, row: dict[str, Any]) -> None:
    Path("copy.jsonl").write_text(json.dumps(row))
    task = load_task(find_task("aime24"), data=LocalData.of(["copy.jsonl"]))
    problem = task.load(None)[0]
    assert problem.key == str(row.get("ID", row.get("id")))
    assert problem.messages[0].content.startswith("What is 1 + 203?\n\nReason")
    for text, value in ((r"So \boxed{204}", 1.0), (r"\boxed{0204}", 1.0), (r"\boxed{20}", 0.0)):
        assert task.scorers[0].score(text, problem.reference).value == value


@pytest.mark.parametrize(
    ("name", "row", "reason"),
    [
        ("aime24", {"ID": "2024-I-12", "Problem": "?", "Answer": 384}, "right answer is 385"),
        ("aime24", {"ID": "2024-I-12", "Problem": "?", "Answer": "385"}, None),
        ("aime24", {"ID": "2024-I-6", "Problem": "Find it: 294", "Answer": 294}, "the answer"),
        ("aime24", {"ID": "2024-I-6", "Problem": "Find it.", "Answer": 294}, None),
        ("aime25", {"id": 1, "problem": "ABCDE and 90^\\circ", "answer": "60"}, "another angle"),
        ("aime25", {"id": 1, "problem": "ABCDE and 60^\\circ", "answer": "60"}, None),
        ("mmlu_pro", _mmlu_pro(6392) | {"answer": "D", "answer_index": 2}, "corrected to B"),
        ("mmlu_pro", _mmlu_pro(6392) | {"answer": "B", "answer_index": 1}, None),
    ],
)
def test_keys_known_to_be_wrong(
    folder: Path, name: str, row: dict[str, Any], reason: str | None
) -> None:
    Path("copy.jsonl").write_text(json.dumps(row))
    done = run("validate", name, "--data", "copy.jsonl")
    assert done.code == 0, done.out
    assert (reason in done.out) if reason else done.out.endswith(": ok\n")


def test_programs_are_asked_for_with_their_prompt_or_their_tests(folder: Path) -> None:
    shown = {}
    for name in PROGRAMS:
        task = load_task(find_task(name), data=LocalData.of([copy(folder, name)]))
        shown[name] = task.load(1)[0].messages[0].content
    row = _human_eval(0)
    assert shown["humaneval"].endswith(f"```python\n{row['prompt'].rstrip()}\n```")
    assert shown["humaneval_completion"] == row["prompt"]
    asserts = "\n".join(_mbpp(0)["test_list"])
    assert shown["mbpp"].startswith("What is 0 + 5?\n")
    assert shown["mbpp"].endswith(f"```python\n{asserts}\n```")


# -- choices -------------------------------------------------------------------------------


def test_gpqa_shuffles_choices_and_the_key_with_them(folder: Path) -> None:
    with Path("gpqa.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(_gpqa(0)))
        writer.writeheader()
        writer.writerows(map(_gpqa, range(60)))
    task = load_task(find_task("gpqa_diamond"), data=LocalData.of(["gpqa.csv"]))
    places: Counter[str] = Counter()
    for i, problem in enumerate(task.load(None)):
        shown = dict(re.findall(r"^([A-D])\) (.*)$", problem.messages[0].content, re.MULTILINE))
        assert sorted(shown.values()) == sorted(str(i + place) for place in range(1, 5))
        right = next(letter for letter, text in shown.items() if text == str(i + 1))
        places[right] += 1
        for letter in "ABCD":
            score = task.scorers[0].score(f"Answer: {letter}", problem.reference)
            assert score.value == float(letter == right)
    assert set(places) == set("ABCD")
    assert max(places.values()) < 30


def test_mmlu_pro_shows_worked_questions_of_the_same_category(folder: Path) -> None:
    task = load_task(
        find_task("mmlu_pro_5shot"), data=LocalData.of([copy(folder, "mmlu_pro_5shot")])
    )
    for i, problem in enumerate(task.load(None)):
        text = problem.messages[0].content
        shown = [int(number) for number in re.findall(r"Let us see, number (\d+)", text)]
        assert shown == [number for number in range(100, 112) if number % 2 == i % 2][:5]
        assert len(re.findall(r"^Answer: [A-J]$", text, re.MULTILINE)) == 5
        assert "A: Let" not in text
        assert f"A) {i}\n" in text


# -- the hub -------------------------------------------------------------------------------


class _Rows(list[dict[str, Any]]):
    def select(self, indices: Any) -> "_Rows":
        return _Rows(self[index] for index in indices)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_hub_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_dataset(path: str, config: str | None, *, split: str, **options: Any) -> _Rows:
        asked.append((path, config, split, options))
        examples, rows = SHOTS.get(name, ("", []))
        return _Rows(rows if split == examples else DATA[name])

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    problems = load_task(find_task(name)).load(3)
    assert len(problems) == 3
    for path, _, split, options in asked:
        assert re.fullmatch(r"[\w-]+/[\w.-]+", path)
        assert split in ("test", "train", "validation")
        assert options.pop("trust_remote_code") is False
        assert re.fullmatch("[0-9a-f]{40}", options.pop("revision", "0" * 40))
        assert options == {}


def test_a_run_goes_on_with_a_copy_of_the_data(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = SimpleNamespace(load_dataset=lambda *_, **__: _Rows(DATA["gsm8k"]))
    monkeypatch.setitem(sys.modules, "datasets", hub)
    words = ("run", "gsm8k", "--model", "python:adds:answer", "-n", 1, "--out", "run")
    assert "(12 new)" in run(*words).err
    assert "(0 new)" in run(*words, "--data", copy(folder, "gsm8k")).err
    Path("other.jsonl").write_text(json.dumps(_gsm8k(99)))
    refused = run(*words, "--data", "other.jsonl")
    assert refused.code == 2
    assert "holds trials of other problems: problem '0' has changed" in refused.err


def test_without_the_package_the_message_names_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InvalidInput, match=r"pip install 'passband\[datasets\]'.*--data FILE"):
        load_task(find_task("gsm8k")).load(1)
