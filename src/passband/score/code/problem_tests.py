"""Read the tests and the reference solution of a problem from the columns of its data set.

| style | columns |
|:--|:--|
| HumanEval, HumanEval+ | `test`, `entry_point`, and `prompt`, the beginning of the function |
| MBPP, MBPP+ | `test_list`, perhaps `test_setup_code`, `test_imports`, `code`; `test` of MBPP+ |
| APPS | `input_output`: JSON with `inputs`, `outputs`, perhaps `fn_name`; or these as columns |
| LiveCodeBench | `public_test_cases`, `private_test_cases`: JSON; `metadata`, `starter_code` |

>>> doc = {"test": "def check(candidate): assert candidate(1) == 2", "entry_point": "inc"}
>>> read_tests(doc).entry_point
'inc'

LiveCodeBench stores test cases as JSON, or as JSON in a pickle, compressed, in base64. A pickle may
name any function to be called, so every name in one is refused before it is looked up.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from passband.errors import InvalidInput
from passband.score.scorer import Doc
from passband.score.workers.worker_pool import WorkerFailed, WorkerTimeout, pool

_LARGEST = 1 << 30  # bytes, uncompressed


class _TextOnly(pickle.Unpickler):
    """Unpickler of texts, numbers and lists; refuses anything that would import a name."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise InvalidInput(f"the test cases are a pickle that calls {module}.{name}; refused.")


def unpacked_cases(text: str) -> Any:
    """Return the test cases in a text.

    >>> unpacked_cases('[{"input": "1", "output": "2"}]')
    [{'input': '1', 'output': '2'}]
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        unpacking = zlib.decompressobj()
        pickled = unpacking.decompress(base64.b64decode(text, validate=True), _LARGEST)
        value = _TextOnly(io.BytesIO(pickled)).load()
        return json.loads(value) if isinstance(value, (str, bytes)) else value
    except InvalidInput:
        raise
    except (binascii.Error, zlib.error, pickle.UnpicklingError, ValueError, EOFError) as error:
        raise InvalidInput(f"the test cases are neither JSON nor packed JSON: {error}.") from None
    except Exception as error:  # what a broken pickle can raise is not limited to the above
        raise InvalidInput(f"the test cases cannot be unpacked: {error!r:.100}.") from None


_SECONDS = 10.0  # to read the tests of one problem


@dataclass(frozen=True)
class FunctionTests:
    """Unit tests of one function."""

    entry_point: str
    test: str
    prompt: str = ""  # the beginning of the function, in code


@dataclass(frozen=True)
class Case:
    """The input of a program and its expected output."""

    stdin: str
    expected: str


@dataclass(frozen=True)
class ProgramTests:
    """Inputs and outputs of a program, or of a function that is called with JSON values."""

    cases: tuple[Case, ...]
    prompt: str = ""  # a class or function that was to be completed
    entry_point: str | None = None  # the function; None: the program reads standard input
    is_wrapped: bool = False  # an expected result may stand in a list, as APPS writes them


Tests = FunctionTests | ProgramTests


def read_tests(doc: Doc) -> Tests:
    """Return the tests in a row of a data set; raise `InvalidInput` if it has none."""
    for columns, read in _STYLES.items():
        if all(doc.get(column) not in (None, "", []) for column in columns):
            return read(doc)
    known = "; ".join(" and ".join(columns) for columns in _STYLES)
    raise InvalidInput(
        f"the row has no tests: of the columns {known} it needs those of one style, not empty; it "
        f"has {', '.join(map(str, doc)) or 'none'}."
    )


def _human_eval(doc: Doc) -> Tests:
    entry_point = _text(doc, "entry_point").strip()
    if not entry_point.isidentifier():
        raise InvalidInput(f"entry_point must be the name of a function; got {entry_point!r:.60}.")
    prompt = doc.get("prompt")
    return FunctionTests(entry_point, _text(doc, "test"), prompt if isinstance(prompt, str) else "")


def _mbpp(doc: Doc) -> Tests:
    asserts = "\n".join(_texts(doc, "test_list"))
    imports = _texts(doc, "test_imports") if doc.get("test_imports") else []
    setup = [str(doc["test_setup_code"])] if doc.get("test_setup_code") else []
    before = "\n".join([*imports, *setup])
    code = doc.get("code")
    name = _entry_point(asserts, before, code if isinstance(code, str) else "")
    plus = doc.get("test")
    test = plus if isinstance(plus, str) and plus.strip() else f"{before}\n{asserts}"
    return FunctionTests(name, test)


@lru_cache(maxsize=4096)
def _entry_point(asserts: str, before: str, code: str) -> str:
    """Return the function that assertions call, found in a process that can be killed."""
    try:
        name = pool.call("entry_point", [asserts, before, code], seconds=_SECONDS)
    except (WorkerFailed, WorkerTimeout) as error:
        raise InvalidInput(f"test_list cannot be read: {error}.") from None
    if not isinstance(name, str):
        raise InvalidInput(
            f"test_list calls no function that a program could define: {asserts!r:.200}."
        )
    return name


def _apps(doc: Doc) -> Tests:
    pairs = _json(doc, "input_output")
    if not isinstance(pairs, Mapping):
        raise InvalidInput("input_output must be a mapping with inputs and outputs.")
    return _listed({**pairs, "starter_code": doc.get("starter_code")})


def _listed(doc: Doc) -> Tests:
    inputs, outputs = _json(doc, "inputs"), _json(doc, "outputs")
    if not (isinstance(inputs, list) and isinstance(outputs, list)):
        raise InvalidInput("inputs and outputs must be lists, one entry for each test.")
    if len(inputs) != len(outputs) or not inputs:
        raise InvalidInput(
            f"there are {len(inputs)} inputs and {len(outputs)} outputs; each test needs both."
        )
    name, starter = doc.get("fn_name"), doc.get("starter_code")
    write = _written if name is None else json.dumps
    cases = tuple(Case(write(i), write(o)) for i, o in zip(inputs, outputs, strict=True))
    return ProgramTests(cases, starter if isinstance(starter, str) else "", name, name is not None)


def _live_code_bench(doc: Doc) -> Tests:
    rows = [*_cases(doc, "public_test_cases"), *_cases(doc, "private_test_cases")]
    metadata = _json(doc, "metadata") if doc.get("metadata") else {}
    is_call = any(row.get("testtype") == "functional" for row in rows)
    name = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    if is_call and not isinstance(name, str):
        raise InvalidInput("tests of a function need its name, as func_name in metadata.")
    write: Callable[[object], str] = _arguments if is_call else _written
    cases = tuple(Case(write(row["input"]), _written(row["output"])) for row in rows)
    starter = doc.get("starter_code")
    prompt = starter if isinstance(starter, str) else ""
    return ProgramTests(cases, prompt, name if is_call else None)


def _cases(doc: Doc, column: str) -> list[Doc]:
    value = doc.get(column)
    if value in (None, "", []):
        return []
    rows = unpacked_cases(value) if isinstance(value, str) else value
    if not isinstance(rows, list) or not all(
        isinstance(row, Mapping) and {"input", "output"} <= set(row) for row in rows
    ):
        raise InvalidInput(f"{column} must be a list of tests, each with input and output.")
    return rows


_STYLES: dict[tuple[str, ...], Callable[[Doc], Tests]] = {
    ("test", "entry_point"): _human_eval,
    ("test_list",): _mbpp,
    ("input_output",): _apps,
    ("inputs", "outputs"): _listed,
    ("public_test_cases",): _live_code_bench,
}


def _text(doc: Doc, column: str) -> str:
    value = doc[column]
    if not isinstance(value, str):
        raise InvalidInput(f"{column} must be text; got {value!r:.60}.")
    return value


def _texts(doc: Doc, column: str) -> list[str]:
    value = _json(doc, column)
    if not isinstance(value, Sequence) or not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"{column} must be a list of texts; got {value!r:.60}.")
    return [value] if isinstance(value, str) else list(value)


def _json(doc: Doc, column: str) -> Any:
    """Return the value of a column; text that begins like JSON is parsed."""
    value = doc.get(column)
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{column} is no JSON: {error}.") from None


def _written(value: object) -> str:
    """Return an input or an output as text; a list is its lines."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value)


def _arguments(text: object) -> str:
    """Return the arguments of a call, a line of JSON each, as one list of JSON."""
    try:
        return json.dumps([json.loads(line) for line in str(text).splitlines() if line.strip()])
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the arguments of a test are no JSON: {error}.") from None


def solution_of(doc: Doc, tests: Tests) -> str | None:
    """Return the reference solution as a program: of HumanEval, of MBPP, or the first of APPS.

    >>> from passband.score.code.problem_tests import FunctionTests
    >>> tests = FunctionTests("f", "def check(f): assert f(1) == 1", "def f(x):\\n")
    >>> solution_of({"canonical_solution": "    return x"}, tests)
    'def f(x):\\n    return x'
    """
    body = doc.get("canonical_solution")
    if isinstance(body, str) and body.strip():
        return tests.prompt + body
    code = doc.get("code")
    if isinstance(code, str) and code.strip():
        return code
    return _first(doc.get("solutions"))


def _first(solutions: object) -> str | None:
    if isinstance(solutions, str):
        try:
            solutions = json.loads(solutions)
        except (ValueError, RecursionError):
            return None
    first = solutions[0] if isinstance(solutions, list) and solutions else None
    return first if isinstance(first, str) else None
