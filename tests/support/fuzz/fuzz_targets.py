"""Everything that reads what a model, a server, a task author or another tool wrote.

A target takes any bytes, and may raise nothing but the errors that its parser documents; the files
that it needs are in the folder that `targets` is given. `make test` tries a hundred inputs of
each, `make fuzz` a million (benchmarks/fuzz.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from passband import plan_difference
from passband.adaptive.bank import read_bank, write_bank
from passband.adaptive.remote import records
from passband.adaptive.remote.service import refusal
from passband.adaptive.server.body import Fields, Refusal, parse
from passband.errors import InvalidInput
from passband.files.records import column_names, read_records
from passband.generate.provider import Message, Request, Sampling
from passband.generate.servers.errors import fault_of
from passband.generate.servers.http import retry_after
from passband.generate.servers.openai_wire import read_reply
from passband.report.show.diff import diff_lines
from passband.report.show.text import TerminalStyle, wrapped
from passband.run.budget import find_price
from passband.run.label.sheet import Ticket, parse_label, read_sheet
from passband.score.builtin.choice import choice
from passband.score.builtin.math import normalise
from passband.score.builtin.numeric import numeric
from passband.score.builtin.text import contains, exact_match, f1
from passband.score.code.problem_tests import read_tests
from passband.score.code.program import find_program_here
from passband.score.command import read_reply as read_command_reply
from passband.score.extract.answer import RULES, extract
from passband.score.extract.parse_number import read_number
from passband.score.filtering import make_step
from passband.score.judge.prompt import fenced, judge_prompt
from passband.score.judge.rubric import ANSWERS, read_rubric
from passband.score.judge.verdict import read_verdict
from passband.score.patterns import compile_pattern
from passband.score.sandbox.box import plain
from passband.score.sandbox.protocol import ProgramExit
from passband.score.scorer import Reference
from passband.score.span import find_span, steps_of
from passband.stats.decision.planning.file import Plan, content_hash
from passband.stats.metric.registry import expand_metrics, parse_metric
from passband.summary.eva.composites import read_composites
from passband.summary.from_sources import summarize
from passband.summary.gate.policy_file import read_policy
from passband.summary.json import from_json
from passband.tasks.check import check_task
from passband.tasks.file.yaml_file import read_with_includes
from passband.tasks.inspect import read_task_args
from passband.tasks.prompt.template import Template
from passband.trials.file import lock
from passband.trials.file.schema import LOCK_FILE
from support.fuzz.fuzz_logs import RECORDS, TABLE, log_targets
from support.fuzz.fuzz_target import Target, file_target, text
from support.samples.banks import bank

__all__ = ["GROUPS", "targets"]

ROOT = Path(__file__).resolve().parents[3]
REQUEST = Request((Message("user", "2+2="),), Sampling(), (1, 2))


def targets(folder: Path) -> dict[str, Target]:
    """Return every target by name; `folder` is new and gets the files that are read."""
    folder.mkdir()
    return {target.name: target for make in GROUPS.values() for target in make(folder)}


def encoded(*values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


# -- servers and clients ---------------------------------------------------------------------

CHAT = {
    "id": "r1",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "4"}},
        {
            "index": 1,
            "finish_reason": "length",
            "message": {"content": [{"type": "text", "text": "4"}], "reasoning_content": "2"},
        },
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 9},
}
TOOL = {
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {
                "content": None, "refusal": "no",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f",
                "arguments": "{}"}}],
            },
        }
    ],
}  # fmt: skip
PLAIN = {"choices": [{"text": " 4", "finish_reason": "stop"}], "usage": None}
ERROR = {"error": {"message": "slow down", "type": "rate_limit", "code": 429, "param": None}}
START = {"datasetId": "sums", "split": "test", "seed": 3, "metadata": {"a": [1]}, "projectId": "p"}
REPLAY = {"responses": [{"itemId": "i1", "textResponse": "4"}], "metadata": {}}
STATE = {
    "thetas": [0.1],
    "std_error_history": [0.5],
    "kl_info_history": [],
    "effective_difficulties": [],
}
RUN = {
    "runInfo": {"id": "r"}, "state": STATE, "completed": False,
    "nextItem": {"id": "i", "question": "?", "choices": [{"id": "A", "value": "4"}]},
}  # fmt: skip
DATASETS = {"data": [{"id": "sums", "splits": ["test"], "name": "Sums", "datacard": {}}]}
SUMMARY = {
    "id": "r", "datasetId": "d", "state": STATE, "dataset": [RUN["nextItem"]],
    "responses": [{"datasetItemId": "i", "value": "A", "correct": True}], "metadata": {},
}  # fmt: skip


def _reply(data: bytes) -> object:
    return read_reply(data, REQUEST, chat=b'"text": "' not in data[:40])


def _fault(data: bytes) -> object:
    status = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529)[len(data) % 12]
    return fault_of(status, {"Retry-After": text(data[-12:])}, data, 0.0), refusal(
        "the server", status, {}, data, 0.0
    )


def _header(data: bytes) -> object:
    seconds = retry_after({("retry-after", "Retry-After-Ms")[len(data) % 2]: text(data)}, 1.7e9)
    assert seconds is None or 0 <= seconds < 1e6
    return seconds


def _body(data: bytes) -> object:
    value = parse(data)
    fields = Fields(value if isinstance(value, dict) else {"metadata": value, "responses": value})
    first = fields.optional_text("datasetId"), fields.optional_integer("seed")
    whole = fields.metadata(), fields.optional_text("projectId")
    entries = fields.objects("responses") if fields.value("responses") else ()
    return first, whole, [entry.text("itemId") for entry in entries]


def _record(data: bytes) -> object:
    if b'"runInfo"' in data:
        return records.read_record(records.RunReply, data, "the server")
    kind = records.DatasetList if b'"splits"' in data else records.RunSummary
    return records.read_record(kind, data, "the server")


def _of_servers(folder: Path) -> list[Target]:
    dates = (b"1.5", b"120", b"Thu, 01 Jan 1970 00:01:00 GMT", b"Wed, 21 Oct 2015 07:28:00 -0700")
    return [
        Target("replies of a server", _reply, encoded(CHAT, TOOL, PLAIN, ERROR), "json"),
        Target("errors of a server", _fault, encoded(ERROR, ERROR["error"], "x"), "json"),
        Target("retry-after", _header, dates),
        Target("request bodies", _body, encoded(START, START | REPLAY), "json", (Refusal,)),
        Target("replies of Trismik", _record, encoded(RUN, DATASETS, SUMMARY), "json"),
    ]


# -- answers ---------------------------------------------------------------------------------

COMPLETIONS = (
    rb"<think>2+2</think>So \boxed{\frac{1}{2}}. Answer: 1,234.50", rb"\boxed{{4}} #### 4",
    b"<|channel|>analysis<|message|>x<|end|><|channel|>final<|message|>The answer is **(B)**.",
    "Final answer: −3½ %, €1.000,00".encode(), b"$12{,}000$ and 3/4 or 1e5",
)  # fmt: skip
PAIRS = (
    b"1,234.00\n1234", b"\\frac{1}{2}\n0.5", b"Answer: B\n(B)", b"the  Cat.\ncat", b"50%\n1/2",
    b"1 1/2\n1.5", "−3\n-3".encode(),
)  # fmt: skip
STEPS = (
    {"function": "regex", "regex_pattern": "(-?[0-9.,]+)|(x)", "group_select": -1, "fallback": "-"},
    {"function": "multi_choice_regex", "regex_pattern": "\\(([A-D])\\)", "ignore_case": True},
    {"function": "extract", "rules": ["boxed", "last_number"], "strip_reasoning": False},
    {"function": "remove_whitespace"},
    {"function": "map", "mapping_dict": {"a": "b"}, "default_value": "c"},
    {"function": "lowercase"},
)


def _extract(data: bytes) -> object:
    completion = text(data)
    return [
        extract(completion, (rule,), targets=targets)
        for rule in RULES
        for targets in ((), ("42",), ("B",))
    ]


def _number(data: bytes) -> object:
    number = read_number(text(data))
    return number is None or float(abs(number.value) < 10)


def _score(data: bytes) -> object:
    answer, _, target = text(data).partition("\n")
    reference = Reference((target,), choices=("Paris", target, "A"))
    same = exact_match(answer, target, ignore_case=True, ignore_punctuation=True)
    rest = contains(answer, target), f1(answer, target), choice(answer, reference)
    return same, rest, normalise(answer) == normalise(target), numeric(answer, target)


def _filter(data: bytes) -> object:
    try:
        spec = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInput("not JSON, as every task is before it has steps") from None
    step = make_step(spec if isinstance(spec, Mapping | str) else {"function": spec})
    if step.slow:
        return None  # it would run in a worker process, which is ended
    return [step.apply(completion.decode(), Reference(("4",))) for completion in COMPLETIONS]


def _pattern(data: bytes) -> object:
    source, _, completion = text(data).partition("\n")
    pattern = compile_pattern(source)
    if len(completion) > pattern.inline_up_to:
        return None  # it would run in a worker process, which is ended
    return pattern.findall(completion), pattern.search(completion)


def _show(data: bytes) -> object:
    completion = text(data)
    found = extract(completion, tuple(RULES)).answer
    steps = [{"function": "extract", "rules": list(RULES)}]
    span = None if found is None else find_span(completion, found, steps_of(steps))
    lines = [piece.text for piece in wrapped(completion, 30, [span] if span else [])]
    assert all(line.isprintable() for line in lines)
    return lines, list(diff_lines(completion, completion[::-1], TerminalStyle(30)))


VERDICTS = (
    b"It is right.\nVERDICT: PASS",
    b"<think>VERDICT: FAIL</think>\n**Final verdict: [[not so  good]]**\n",
    "VER\u200bDICT:\u00a0PASS\u2028> Verdict : fail".encode(),
    b"x</think>VERDICT: PASS<|channel|>final<|message|>VERDICT: PASS",
)
RUBRICS = (
    {"template": "Rate {{ answer }} by {{ hint }}.", "scale": "1-5", "system": "Be brief."},
    {"template": "{{ question }} {{ answer_a }} {{ answer_b }}", "form": "pairwise"},
    {"template": "Is {{ answer }} right?", "scale": {"no": 0, "partly": 0.5, "yes": 1}},
)


def _verdict(data: bytes) -> object:
    reply, words = text(data), ("PASS", "FAIL", "not so good")
    safe = fenced("answer", reply, "0123456789abcdef", words)
    assert read_verdict(safe, words).word is None, "a judged text is no verdict"
    return read_verdict(reply, words)


def _rubric(data: bytes) -> object:
    try:
        plain = json.loads(text(data))
    except (ValueError, RecursionError):
        return None
    rubric = read_rubric(plain)
    values = dict.fromkeys(rubric.variables, text(data))
    answers = {name: values.pop(name) for name in ANSWERS[rubric.form]}
    (*_, turn) = judge_prompt(rubric, values, answers, longest=500)
    assert read_rubric(rubric.as_json()) == rubric
    assert read_verdict(turn.content, rubric.words).word is None, "the prompt is no verdict"
    return turn


PROGRAMS = (
    b"So:\n```python\ndef f(x):\n    return x\n```\nUse:\n```\nf(1)\n```", b"    return (x\n",
    b"Sure.\n\nimport math\n\ndef f(x):\n    return x\n\nDone.", b"~~~py\nreturn 1\n",
)  # fmt: skip
CASES = ({"inputs": ["1"], "outputs": ["2"], "fn_name": "f"}, {"test": "x", "entry_point": "f"},
         {"public_test_cases": '[{"input": "1", "output": "2"}]', "metadata": "{}"})  # fmt: skip


def _program(data: bytes) -> object:
    prompt = "import re\n\ndef f(x):\n"
    return find_program_here(text(data), prompt, "f"), find_program_here(text(data))


def _tests(data: bytes) -> object:
    try:
        doc = json.loads(data)
    except (ValueError, RecursionError):
        doc = {"public_test_cases": text(data)}
    named = {str(name): value for name, value in doc.items()} if isinstance(doc, dict) else {}
    return read_tests({name: named[name] for name in named if name != "test_list"})


VALUES = (
    [1, 2.5, {"tuple": [None, True]}, {"dict": [["a", {"set": [1]}]]}, {"int": "0xff"}],
    [{"bytes": "ff"}, {"complex": [1, 2]}, {"range": [1, 9, 2]}, {"fraction": [1, 3]}],
    [{"decimal": "1.5"}, {"iterator": [1]}, {"opaque": ["object", True]}, {"array": [[1], "i4"]}],
)
COMMAND_REPLIES = ({"score": 1, "detail": "right"}, {"score": True}, {"score": 0.5, "detail": [1]})


def _value(data: bytes) -> object:
    """Read what a program sent to its tests, as frames do."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInput("not JSON, which a frame always is") from None
    try:
        return repr(plain.decode(value))
    except (ValueError, RecursionError):
        raise InvalidInput("no value") from None


def _command_reply(data: bytes) -> object:
    score, _ = read_command_reply(ProgramExit(0, stdout=text(data)))
    assert 0 <= score <= 1
    return score


def _of_answers(folder: Path) -> list[Target]:
    numbers = (b"1,234.50", b"\\frac{1}{2}", b"1 1/2", b"-3e5", b"50\\%", "−½".encode(), b"1.5e-3")
    patterns = (
        b"#### (-?[0-9.,]+)\n#### 12",
        b"(a|b)*c(?=d)\nababcd",
        b"(?i)answer: (\\w+)$\nanswer: x",
    )
    return [
        Target("answer extraction", _extract, COMPLETIONS),
        Target("texts to show", _show, COMPLETIONS),
        Target("numbers", _number, numbers),
        Target("scorers", _score, PAIRS),
        Target("filter steps", _filter, encoded(*STEPS), "json"),
        Target("regular expressions", _pattern, patterns),
        Target("verdicts", _verdict, VERDICTS),
        Target("rubrics", _rubric, encoded(*RUBRICS), "json"),
        Target("programs in answers", _program, PROGRAMS),
        Target("tests of programs", _tests, encoded(*CASES), "json"),
        Target("values of programs", _value, encoded(*VALUES), "json"),
        Target("replies of commands", _command_reply, encoded(*COMMAND_REPLIES), "json"),
    ]


# -- tasks -----------------------------------------------------------------------------------

TEMPLATES = (
    b"Q: {{ question }}\n{% for c in choices %}{{ loop.index }}. {{ c }}\n{% endfor %}A:",
    b"{{ question | upper | replace('A', 'b') }}{{ choices | join(', ') }}{{ n * 2 ** 3 }}",
    b"{% if n > 1 %}{{ '%05d' % n }}{% else %}{{ choices[0] ~ question[:3] }}{% endif %}",
    b"{% set a = choices | map('length') | list %}{{ a | sum }}{{ question.split() | first }}",
)
ROW = {"question": "What is 2+2?", "choices": ["3", "4"], "n": 7}
METRICS = (
    b"pass@8",
    b"pass^1,2",
    b"g-pass@8:0.75",
    b"maj@*",
    b"avg",
    b"mg-pass@4",
    b"spectrum@8:1/2",
)
YAML = tuple(
    (ROOT / name).read_bytes()
    for name in (
        "examples/tasks/riddles.yaml", "examples/tasks/capitals.yaml",
        "src/passband/tasks/builtin/arithmetic.yaml",
    )
)  # fmt: skip
PRICES = (b"gpt-4o-mini: {prompt: 0.15, completion: 0.60}\n",)


def _template(data: bytes) -> object:
    return Template(text(data)).render(ROW)


def _metric(data: bytes) -> object:
    name = text(data)
    return expand_metrics(name, 16) if "," in name or "*" in name else parse_metric(name, 16)


def _of_tasks(folder: Path) -> list[Target]:
    for number in range(16):  # the data beside a task file
        place = folder / "task-files" / str(number)
        place.mkdir(parents=True)
        for name in ("riddles.csv", "capitals.jsonl"):
            (place / name).write_bytes((ROOT / "examples/tasks" / name).read_bytes()[:400])
    composites = ((ROOT / "examples/eva.yaml").read_bytes(),)
    policies = ((ROOT / "examples/gate.yaml").read_bytes(),)
    return [
        Target("metric names", _metric, METRICS),
        Target("templates", _template, TEMPLATES),
        Target("task arguments", lambda data: read_task_args([text(data)]), (b"a=1", b"b=[c, d]",
        b"e=f,g")),
        file_target("YAML files", folder, "t.yaml", read_with_includes, YAML, "yaml"),
        file_target("task files", folder, "t.yaml", check_task, YAML, "yaml"),
        file_target("policies of a gate", folder, "g.yaml", read_policy, policies, "yaml"),
        file_target("composites", folder, "c.yaml", read_composites, composites, "yaml"),
        file_target("prices", folder, "p.yaml", lambda path: find_price("x:gpt-4o-mini", path),
        PRICES, "yaml"),
    ]  # fmt: skip


# -- files of passband, and of data ----------------------------------------------------------


TICKET = Ticket("p1", 0, "abc", "judge", "spread", 7, 2, 3, 4, 0.5, "d" * 16)
LABELS = f"problem,trial,answer,label,ticket\np1,0,=1,pass,{TICKET.text()}\np2,1,x,,\n".encode()
LABEL_LINES = b"\n".join(
    json.dumps({"problem": "p1", "trial": 0, "label": label, "ticket": ticket}).encode()
    for label, ticket in (("pass", TICKET.text()), (None, None), (0, ""))
)


def _labels(path: Path) -> object:
    """Read a file of labels; a ticket that is read is the one that was written."""
    rows = list(read_sheet(path))
    for row in rows:
        parse_label(row.label, None)
        assert row.ticket is None or Ticket.parse(row.ticket.text()) == row.ticket
    return rows


def _data(path: Path) -> object:
    return column_names(path), [
        record for record, _ in zip(read_records(path), range(50), strict=False)
    ]


def _plan(path: Path) -> object:
    """Read a plan; half of the changed ones get a hash that fits, as an author could write it."""
    data = path.read_bytes()
    if len(data) % 2:
        try:
            whole = json.loads(data)
            path.write_text(json.dumps(whole | {"sha256": content_hash(whole["plan"])}))
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
    return Plan.load(path)


def _lock(path: Path) -> object:
    owner = path.read_bytes()
    held = lock.Lock(path.parent)
    try:
        path.write_bytes(owner)
        return lock.holder(path.parent)
    finally:
        held.release()


def _of_files(folder: Path) -> list[Target]:
    made = folder / "made"
    made.mkdir()
    write_bank(bank(6), made / "bank.jsonl")
    plan_difference(0.1, between=0.1, trials=8).save(made / "plan.json")
    summary = summarize([[1, 0, 1], [0, 0, None], [1, 1, 1]], ["pass@1,2", "pass^3"]).to_json()
    lines = b"\n".join(encoded(*RECORDS))
    owner = encoded({"pid": 1, "host": "h", "made": True})
    return [
        Target("summaries", from_json, (summary.encode(),), "json"),
        file_target("plans", folder, "plan.json", _plan, ((made / "plan.json").read_bytes(),),
        "json"),
        file_target("banks", folder, "b.jsonl", read_bank, ((made / "bank.jsonl").read_bytes(),),
        "lines"),
        file_target("lock file", folder, LOCK_FILE, _lock, owner, "json"),
        file_target("labels csv", folder, "l.csv", _labels, (LABELS,), "csv"),
        file_target("labels jsonl", folder, "l.jsonl", _labels, (LABEL_LINES,), "lines"),
        file_target("data csv", folder, "d.csv", _data, (TABLE, b"a\tb\n1\t2\n"), "csv"),
        file_target("data json", folder, "d.json", _data, (*encoded(RECORDS, RECORDS[0]), lines),
        "json"),
        file_target("data jsonl", folder, "d.jsonl", _data, (lines,), "lines"),
        file_target("data gzip", folder, "d.jsonl.gz", _data, (_gzip(lines),), "bytes"),
        file_target("data parquet", folder, "d.parquet", _data, (_parquet(),), "bytes"),
    ]  # fmt: skip


def _gzip(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, mtime=0)


def _parquet() -> bytes:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), file)
    return file.getvalue()


GROUPS: Mapping[str, Callable[[Path], list[Target]]] = {
    "servers": _of_servers,
    "answers": _of_answers,
    "tasks": _of_tasks,
    "files": _of_files,
    "logs": log_targets,
}
