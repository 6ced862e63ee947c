"""What the house measures, and that it is within budgets.toml: see tools/house.py."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools"


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("house")


@pytest.fixture
def roads(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("roads")


def check(house: Any, numbers: Any) -> None:
    """Fail with what is over its budget; say what can be lowered."""
    differences = house.compared(numbers)
    print("\n".join(str(each) for each in differences if not each.is_over))
    assert [str(each) for each in differences if each.is_over] == []


@pytest.mark.slow
def test_the_house_is_within_its_budgets(house: Any) -> None:
    check(house, house.measured())


@pytest.mark.process
def test_the_roads_are_within_their_budgets(house: Any) -> None:
    check(house, house.road_numbers())


def test_what_is_over_a_budget(house: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(house, "BUDGETS", tmp_path / "budgets.toml")
    assert [each.budget for each in house.compared({"code": {"a": 5}})] == [None]
    house.BUDGETS.write_text("[code]\na = 1000\nb = 10\nc = 10\ngone = 1\n")
    numbers = {"code": {"a": 1010, "b": 9, "c": 11}}
    lines = {each.name: (each.is_over, str(each)) for each in house.compared(numbers)}
    assert lines == {
        "code.b": (False, "code.b can be lowered from 10 to 9"),
        "code.c": (True, "code.c is 11, more than its budget of 10"),
        "code.gone": (True, "code.gone is gone; run python tools/house.py --write"),
    }
    house.BUDGETS.write_text(house.written(numbers))
    assert house.budgets() == {"code": {"a": 1000, "b": 9, "c": 10}}


def test_lines_of_code(house: Any, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""A docstring.\n\nof three lines"""\n\n# a comment\nx = """text\n\nmore"""\n'
        'def f() -> int:\n    """One."""\n    # why\n    return (\n        1\n    )\n'
        "class C:\n    pass\nclass _D: ...\n"
    )
    module = house.Module(path)
    assert sorted(module.code) == [6, 7, 8, 9, 12, 13, 14, 15, 16, 17]
    assert list(module.functions()) == [3]
    assert module.classes() == ["C"]


def test_a_trace_sees_files_in_the_order_of_their_entry(roads: Any) -> None:
    from passband.errors import nearest
    from passband.registry import Registry

    trace = roads.Trace()
    sys.setprofile(trace)
    try:
        Registry("nothing").snapshot()
        nearest("pas", ["pass"])
    finally:
        sys.setprofile(None)
    assert list(trace.files) == ["registry.py", "errors.py"]
    assert trace.file_switches == 2
