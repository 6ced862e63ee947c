"""Templates of strangers, rendered in a worker: the same texts and errors, and no memory taken."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.workers.worker_pool import pool
from passband.tasks.file.loader import load_task
from passband.tasks.prompt import rendering
from passband.tasks.prompt.rendering import Renderer
from passband.tasks.prompt.template import Template

pytestmark = pytest.mark.process

NOT_SIMPLE = "{% set words = text.split() %}{{ words | map('upper') | join('-') }}"


@pytest.fixture(autouse=True)
def no_worker_left() -> Iterator[None]:
    yield
    pool.close()


def rendered(source: str, rows: list[dict[str, Any]]) -> list[str]:
    renderer = Renderer(Template(source))
    renderer.expect(rows)
    return [renderer.render(row) for row in rows]


def test_rows_go_to_a_worker_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    call = pool.call

    def counted(function: str, arguments: list[object], *, seconds: float) -> object:
        sent.append(function)
        return call(function, arguments, seconds=seconds)

    monkeypatch.setattr(pool, "call", counted)
    rows: list[dict[str, Any]] = [{"text": f"a {n}"} for n in range(600)]
    assert rendered(NOT_SIMPLE, rows) == [f"A-{n}" for n in range(600)]
    assert sent == ["render"] * 3


def test_values_arrive_as_they_are() -> None:
    row = {"a": 1, "b": 1.5, "c": None, "d": [1, {"e": "\ud800\n"}], "f": True, "g": (1, 2)}
    source = "{% set x = 1 %}{{ [a, b, c, d, f, g] }}"
    assert rendered(source, [row]) == [Template(source).render(row)]


def test_a_large_row_goes_to_a_worker_even_if_the_template_is_simple() -> None:
    source, row = "{{ [a, a] | length }}", {"a": "x" * 200_000}
    assert Template(source).is_simple
    assert rendered(source, [row]) == ["2"]
    assert pool._idle


def test_trusted_templates_are_rendered_here() -> None:
    pool.close()
    renderer = Renderer(Template(NOT_SIMPLE), trusted=True)
    assert renderer.is_here
    assert renderer.render({"text": "a b"}) == "A-B"
    assert not pool._idle


def test_a_reply_is_bounded_and_the_rest_is_asked_for_again() -> None:
    rows: list[dict[str, Any]] = [{"n": n} for n in range(12)]
    renderer = Renderer(Template("{{ 'x' * 900000 }}{{ n * 1 }}"))
    renderer.expect(rows)
    for n, row in enumerate(rows):
        assert renderer.render(row) == "x" * 900_000 + str(n)
        assert len(renderer._rendered) <= 5


def test_an_error_costs_its_own_row() -> None:
    renderer = Renderer(Template("{% set y = 1 %}{{ 10 / n }}"))
    rows: list[dict[str, Any]] = [{"n": 1}, {"n": 0}, {"m": 2, "k": 3}, {"n": 5}]
    renderer.expect(rows)
    assert renderer.render(rows[0]) == "10.0"
    with pytest.raises(InvalidInput, match="the template failed: division by zero"):
        renderer.render(rows[1])
    with pytest.raises(InvalidInput, match=r"there is no column 'n'\. The columns are m, k"):
        renderer.render(rows[2])
    assert renderer.render(rows[3]) == "2.0"


RUNAWAY = "{% set y = 1 %}{{ text | regex_replace('(a+)+$', 'b') }}"


def test_a_row_that_takes_too_long_is_found_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "RENDER_SECONDS", 0.5)
    monkeypatch.setattr(rendering, "BATCH_SECONDS", 0.5)
    renderer = Renderer(Template(RUNAWAY))
    rows = [{"text": text} for text in ("aa", "ba", "a" * 60 + "!", "xa")]
    renderer.expect(rows)
    assert [renderer.render(row) for row in rows[:2]] == ["b", "bb"]
    with pytest.raises(InvalidInput, match=r"the template took longer than 0\.5 s"):
        renderer.render(rows[2])
    assert renderer.render(rows[3]) == "xb"


def test_a_template_that_always_fails_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "RENDER_SECONDS", 0.2)
    monkeypatch.setattr(rendering, "BATCH_SECONDS", 0.1)
    renderer = Renderer(Template(RUNAWAY))
    rows = [{"text": "a" * 60 + f"!{n}"} for n in range(50)]
    renderer.expect(rows)
    for row in rows:
        with pytest.raises(InvalidInput, match="took longer"):
            renderer.render(row)
    assert len(renderer._failures) == rendering.MOST_FAILURES


def test_a_value_that_is_not_plain_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not plain data"):
        rendered(NOT_SIMPLE, [{"text": lambda: None}])


# -- through a task ------------------------------------------------------------------------

BOMBS = [
    "{{ ('%*d' % (10**9, 1)) }}",
    "{{ (('%(a)99999d' * 20000) % {'a':1})|length }}",
    "{{ ('a'.encode() * (10**9*2))|length }}",
    "{{ ((5).to_bytes(2000000000,'big'))|length }}",
    "{{ (('{0:99999}' * 100000).format(1))|length }}",
    "{% set x = 'xxxxxxxxxx' %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 30 + "{{ x|length }}",
    "{% macro m(n) %}{% if n %}{% set s = m(n - 1) %}{{ s }}{{ s }}{% else %}xxxxxxxxxx{% endif %}"
    "{% endmacro %}{{ m(30)|length }}",
    "{% set t = 'a' * 900000 %}{% set ns = namespace(l=[]) %}{% for i in range(90000) %}"
    "{% set ns.l = ns.l + [t ~ i] %}{% endfor %}{{ ns.l|length }}",
    "{{ (('a'*1000000,)*1000000)|string|length }}",
    "{{ [[0]*1000000]*1000000 }}",
    "{{ ([[0]*1000000]*3000)|join|length }}",
    "{{ ([[0]*1000000]*3000)|tojson|length }}",
    "{{ ([[0]*1000000]*3000)|sum(start=[])|length }}",
    "{{ '" + "%99999d" * 10000 + "' | format(" + ", ".join(["1"] * 10000) + ") | length }}",
]

CHILD = """
import json, resource, sys
from passband.errors import InvalidInput
from passband.tasks.prompt import rendering
from passband.tasks.check import check_task
from passband.tasks.file.loader import load_task
rendering.RENDER_SECONDS = 0.5
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
messages = []
for path in sys.argv[1:]:
    try:
        load_task(path).load()
        messages.append("accepted")
    except InvalidInput as error:
        messages.append(" ".join(error.lines()))
messages += [str(line) for line in check_task(sys.argv[1], trust=False, limit=1)]
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([messages, grown]))
"""


def task(folder: Path, name: str, **fields: object) -> Path:
    (folder / "data.jsonl").write_text('{"question": "2+2?", "answer": "4"}\n')
    values = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": "data.jsonl"},
        "doc_to_text": "{{ question }}",
        "doc_to_target": "answer",
        **fields,
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(values))
    return path


@pytest.mark.slow
def test_no_bomb_takes_memory_of_the_parent(tmp_path: Path) -> None:
    paths = [task(tmp_path, f"bomb{n}", doc_to_text=bomb) for n, bomb in enumerate(BOMBS)]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    messages, grown = json.loads(done.stdout)
    assert len(messages) == len(BOMBS) + 1  # the last is of validating the first again
    for number, message in enumerate(messages[:-1]):
        assert f"bomb{number}.yaml:1" in message
        assert "doc_to_text of problem '0': the template" in message, message
    assert "bomb0.yaml:1" in messages[-1]
    assert grown * (1 if sys.platform == "linux" else 1 / 1024) < 60_000  # KB


BOMB = "{{ ((5).to_bytes(2000000000,'big'))|length }}"


@pytest.mark.parametrize(
    "fields",
    [
        {"doc_to_target": BOMB},
        {"doc_to_choice": BOMB},
        {"description": BOMB},
        {"gen_prefix": BOMB},
        {"num_fewshot": 1, "fewshot_config": {"samples": [{"question": "a", "answer": "b"}],
                                              "doc_to_text": BOMB}},
        {"num_fewshot": 1, "fewshot_config": {"samples": [{"question": "a", "answer": "b"}],
                                              "doc_to_target": BOMB}},
    ],
)  # fmt: skip
def test_every_field_is_rendered_with_limits(tmp_path: Path, fields: dict[str, Any]) -> None:
    path = task(tmp_path, "bomb", **fields)
    with pytest.raises(InvalidInput, match=r"of problem .0.: the template failed: .*memory"):
        load_task(path).load()  # type: ignore[call-arg]


def test_examples_are_written_as_they_are_here(tmp_path: Path) -> None:
    rows = [{"question": f"{n}+1?", "answer": str(n + 1), "id": n} for n in range(30)]
    upper = "{% set q = question %}{{ q | upper }}"
    path = task(tmp_path, "shots", doc_to_text=upper, num_fewshot=3)
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    there = load_task(path).load()  # type: ignore[call-arg]
    assert there == load_task(path, trust=True).load()  # type: ignore[call-arg]
    assert pool._idle
