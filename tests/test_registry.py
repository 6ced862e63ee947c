"""Names and entries: what is registered, by whom, and what an unknown name leads to."""

import pytest

from passband import plugins
from passband.errors import InvalidInput, UnknownName
from passband.registry import Registry


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The times at which plug-ins were asked for; none is there."""
    calls: list[str] = []
    monkeypatch.setattr(plugins, "load", lambda: calls.append("load"))
    return calls


@pytest.fixture
def shapes(loads: list[str]) -> Registry[int]:
    registry = Registry[int]("shape")
    registry.add("square", 4)
    return registry


def test_a_known_name_loads_no_plug_in(shapes: Registry[int], loads: list[str]) -> None:
    assert shapes.get("square") == 4
    assert "square" in shapes
    assert shapes.registered("hexagon") is None
    shapes.add("pentagon", 5)
    assert loads == []


def test_an_unknown_name_loads_plug_ins_and_names_the_nearest(
    shapes: Registry[int], loads: list[str]
) -> None:
    with pytest.raises(UnknownName, match=r"no shape named 'sqare'. Did you mean 'square'\?"):
        shapes.get("sqare")
    with pytest.raises(UnknownName, match=r"no shape named 'zzz'. Known: square."):
        shapes.get("zzz")
    assert loads


def test_names_are_listed_before_plug_ins_are_loaded(
    shapes: Registry[int], loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(shapes)
    assert next(names) == "square"
    assert loads == []
    monkeypatch.setattr(plugins, "load", lambda: shapes.add("circle", 0))
    assert list(names) == ["circle"]


def test_a_name_is_registered_once(shapes: Registry[int]) -> None:
    with pytest.raises(InvalidInput, match="the shape 'square' is already registered; use another"):
        shapes.add("square", 5)
    assert shapes.get("square") == 4
    shapes.remove("square")
    assert len(shapes) == 0


def test_a_snapshot_undoes_registrations(shapes: Registry[int]) -> None:
    entries = shapes.snapshot()
    shapes.add("pentagon", 5)
    shapes.restore(entries)
    assert list(shapes) == ["square"]


def test_homes_are_imported_at_the_first_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    monkeypatch.setattr("importlib.import_module", imported.append)
    registry = Registry[int]("shape", homes=("module.of.shapes",))
    assert imported == []
    assert registry.registered("square") is None
    assert imported == ["module.of.shapes"]


def test_a_named_home_is_imported_for_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry[int]("shape", homes={"square": "module.of.squares", "disc": "of.discs"})
    imported: list[str] = []

    def import_module(home: str) -> None:
        imported.append(home)
        registry.add({"module.of.squares": "square", "of.discs": "disc"}[home], len(imported))

    monkeypatch.setattr("importlib.import_module", import_module)
    monkeypatch.setattr(plugins, "load", lambda: None)
    registry.add("circle", 0)
    assert list(registry) == ["square", "disc", "circle"]
    assert (registry.get("disc"), imported) == (1, ["of.discs"])
    with pytest.raises(InvalidInput, match="the shape 'square' is already registered"):
        registry.add("square", 4)
    assert imported == ["of.discs", "module.of.squares"]
    registry.remove("square")
    assert list(registry) == ["disc", "circle"]
