"""Digests of source: what changes them, what does not, and what cannot be seen."""

import functools
import importlib
import json
import linecache
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from passband.generate.fingerprint.digest import file_digests, function_spec, source_digest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return written


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ("x = 1  # one\n", True),
        ("\n\nx=(1)\n", True),
        ("x = 2\n", False),
        ("x = 1.0\n", False),
        ("x = '1'\n", False),
        ("'a docstring'\nx = 1\n", False),
    ],
)
def test_comments_and_formatting_are_no_change(other: str, is_same: bool) -> None:
    assert (source_digest("x = 1\n") == source_digest(other)) == is_same


def test_source_that_is_no_python_has_a_digest() -> None:
    assert source_digest("x = (") != source_digest("x = [")
    assert source_digest(b"\xff\0") != source_digest(b"\xff")
    assert source_digest("-" * 50_000 + "1") != source_digest("-" * 50_001 + "1")


def test_digests_are_the_same_in_every_version_of_python() -> None:
    source = (
        "def f(a, /, b: int = 1, *c, d=2, **e):\n    return f'{a!r:>{b}}' if c[1:] else {**e}\n"
    )
    assert source_digest(source) == "sha256:459c5be6c0c766c0"


def test_files_beside_it_count_and_others_do_not(write: Write) -> None:
    main = write(
        "model.py", "import numpy\nimport near\nfrom pkg import inner\nfrom . import rel\n"
    )
    write("near.py", "import model\nimport far.away\n")
    write("pkg/__init__.py", "")
    write("pkg/inner.py", "from .deep import x\n")
    write("pkg/deep.py", "x = 1\n")
    write("rel.py", "")
    write("unused.py", "")
    names = ["model.py", "near.py", "pkg/__init__.py", "pkg/deep.py", "pkg/inner.py", "rel.py"]
    before = file_digests(main)
    assert list(before) == names
    write("pkg/deep.py", "x = 2\n")
    after = file_digests(main)
    assert [name for name in names if before[name] != after[name]] == ["pkg/deep.py"]


def test_a_function_of_a_package_names_files_from_its_root(
    write: Write, imported: Callable[[str], Any]
) -> None:
    write("digested/__init__.py", "")
    write("digested/model.py", "from digested.parts import answer\ndef f(prompt): return answer\n")
    write("digested/parts.py", "answer = '1'\n")
    spec = function_spec(imported("digested.model").f)
    assert spec["name"] == "digested.model.f"
    assert list(spec["code"]) == ["digested/__init__.py", "digested/model.py", "digested/parts.py"]
    assert "unseen" not in spec


def test_bound_values_count_unless_they_are_secret() -> None:
    def model(prompt: str, scale: int, api_key: str = "") -> str:
        return prompt * scale

    one, two = (function_spec(functools.partial(model, scale=scale)) for scale in (1, 2))
    assert one["values"] != two["values"]
    assert one["code"] == two["code"]
    keyed = function_spec(functools.partial(model, scale=1, api_key="sk-secret"))
    assert keyed == one


def test_variables_of_an_outer_function_count() -> None:
    def made(answer: Any) -> Callable[[str], Any]:
        return lambda prompt: answer

    assert function_spec(made("1"))["values"] != function_spec(made("2"))["values"]
    assert function_spec(made(object()))["unseen"] == ["the values of answer"]


def test_what_a_function_counts_with_is_no_change() -> None:
    calls, listed = 0, []

    def model(prompt: str) -> str:
        nonlocal calls
        calls += 1
        listed.append(prompt)
        return prompt

    before = function_spec(model)
    model("")
    assert function_spec(model) == before
    assert before["unseen"] == ["the values of listed"]


def test_digests_are_made_in_many_threads() -> None:
    source = Path(__file__).read_bytes()
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(source_digest, [source] * 64))) == 1


def test_the_state_of_an_object_is_not_seen() -> None:
    class Model:
        def __init__(self) -> None:
            self.scale = 2

        def __call__(self, prompt: str) -> str:
            return prompt * self.scale

        def answer(self, prompt: str) -> str:
            return prompt

    for function in (Model(), Model().answer):
        spec = function_spec(function)
        assert spec["unseen"] == ["the state of the Model"]
        assert "test_digest.py" in "".join(spec["code"])


def test_decorated_functions_are_seen_through() -> None:
    @functools.lru_cache
    def model(prompt: str) -> str:
        return prompt

    assert function_spec(model)["name"].endswith("model")
    assert "unseen" not in function_spec(model)


def test_functions_without_source_say_so() -> None:
    made: dict[str, Any] = {"__name__": "nowhere"}
    exec("def f(prompt): return prompt", made)
    for function in (str, made["f"]):
        (unseen,) = function_spec(function)["unseen"]
        assert unseen.startswith("the source of ")


@pytest.mark.parametrize("name", ["max_tokens", "tokenizer", "keyword", "tokens"])
def test_names_that_only_resemble_those_of_keys_count(name: str) -> None:
    def model(prompt: str, **options: Any) -> str:
        return prompt

    one, two = (function_spec(functools.partial(model, **{name: value})) for value in (1, 2))  # type: ignore[arg-type]
    assert one["values"] != two["values"]


def test_values_of_a_wrapper_count() -> None:
    def model(prompt: str) -> str:
        return prompt

    def scaled(scale: int) -> Callable[[str], str]:
        @functools.wraps(model)
        def wrapper(prompt: str) -> str:
            return model(prompt) * scale

        return wrapper

    assert function_spec(scaled(1))["values"] != function_spec(scaled(2))["values"]


def test_defaults_count_as_they_are() -> None:
    def made(answer: str) -> Callable[[str], str]:
        return lambda prompt, answer=answer: answer

    assert function_spec(made("1"))["values"] != function_spec(made("2"))["values"]


def test_state_is_noticed_in_slots_and_calls_in_base_classes() -> None:
    class Slotted:
        __slots__ = ("scale",)

        def __call__(self, prompt: str) -> str:
            return prompt

    class Derived(Slotted):
        pass

    for model in (Slotted(), Derived()):
        spec = function_spec(model)
        assert spec["unseen"] == [f"the state of the {type(model).__name__}"]
        assert spec["code"]


SCRIPT = """
import functools
import json
import helper
from passband.generate.fingerprint.digest import function_spec
SCALE = 2
SETTINGS = {}
SETTINGS["n"] = 1
def other(): return 1
def used(text): return text * SCALE * SETTINGS["n"]
def wrapped(prompt): return ""
def wrapping(f):
    @functools.wraps(f)
    def wrapper(prompt): return f(prompt) + "."
    return wrapper
def model(prompt): return used(prompt) + helper.answer()
models = [model, lambda prompt: used(prompt) + helper.answer(), wrapping(wrapped)]
print(json.dumps([function_spec(one) for one in models]))
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("return 1", "return 2", []),
        ("SCALE = 2", "SCALE = 3", [0, 1]),
        ('["n"] = 1', '["n"] = 3', [0, 1]),
        ("text * SCALE", "text + SCALE", [0, 1]),
        ('"."', '"!"', [2]),
    ],
)
def test_of_a_script_everything_that_a_function_uses_counts(
    write: Write, old: str, new: str, changed: list[int]
) -> None:
    write("helper.py", "def answer(): return 1\n")
    one, two = (_specs(write("script.py", text)) for text in (SCRIPT, SCRIPT.replace(old, new)))
    assert [i for i in range(3) if one[i] != two[i]] == changed


@pytest.mark.process
def test_files_that_a_script_imports_count(write: Write) -> None:
    script = write("script.py", SCRIPT)
    write("helper.py", "def answer(): return 1\n")
    one = _specs(script)
    write("helper.py", "def answer(): return 2\n")
    two = _specs(script)
    assert [i for i in range(3) if one[i] != two[i]] == [0, 1]


def _specs(script: Path) -> Any:
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_of_a_notebook_everything_that_a_function_uses_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spec(scale: int, answer: str) -> dict[str, Any]:
        source = (
            f"SCALE = {scale}\ndef used(): return {answer!r}\n"
            f"def model(prompt): return used() * SCALE\n"
        )
        notebook = ModuleType("notebook")
        monkeypatch.setitem(sys.modules, "notebook", notebook)
        cell = f"<cell {scale} {answer}>"
        monkeypatch.setitem(linecache.cache, cell, (1, None, source.splitlines(True), cell))
        exec(compile(source, cell, "exec"), vars(notebook))
        return function_spec(vars(notebook)["model"])

    assert spec(1, "a") == spec(1, "a")
    assert spec(1, "a") != spec(2, "a")
    assert spec(1, "a") != spec(1, "b")
