"""Digests of source: what changes them, what does not, and what cannot be seen."""

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from passband.generate.source_digests import _slice, file_digests, function_spec, source_digest

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
        assert "test_source_digests.py" in "".join(spec["code"])


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


SCRIPT = """
import passband
SCALE = 2
def other(): return 1
def helped(text): return text * SCALE
def model(prompt): return helped(prompt)
passband.simple_evaluate(model, "sums", num_repeats=4)
"""


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("num_repeats=4", "num_repeats=8", True),
        ("return 1", "return 2", True),
        ("SCALE = 2", "SCALE = 3", False),
        ("text * SCALE", "text + SCALE", False),
        ("helped(prompt)", "helped(prompt) ", True),
    ],
)
def test_of_a_script_only_what_the_function_uses_counts(old: str, new: str, is_same: bool) -> None:
    one, two = (_slice(text.encode(), "model") for text in (SCRIPT, SCRIPT.replace(old, new)))
    assert one is not None
    assert (one == two) == is_same
    assert _slice(SCRIPT.encode(), "<lambda>") is None
