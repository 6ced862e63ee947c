"""Every registered reader: it knows its own files alone, reads them, and refuses broken ones.

Samples are in tests/support/samples/log_samples.py. They are broken in all ways that a file in the
world is: cut off, overwritten, with fields that are absent, twice there, or of another type, deep
inside.
"""

import copy
import gzip
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import measure, read
from passband.errors import InvalidInput, PassbandError
from passband.readers import Groups, Options, readers
from passband.readers.log_import import import_logs
from passband.readers.logs import read_logs
from passband.readers.signatures import SIGNATURES, Beginning
from passband.stats.data.outcomes import Outcomes
from support.samples.log_samples import SAMPLES

NAMES = sorted(SAMPLES)
BINARY = {"run directory", "numpy", "lighteval", "inspect .eval"}  # samples without any JSON
JSON = [name for name in NAMES if name not in BINARY]
#: What is a run already; and texts of which only their first has a score, to be scored again.
NOT_STORED = {"run directory", "lm-eval"}
DEEP = 100_000  # brackets: more than any parser follows


def test_every_reader_has_a_sample() -> None:
    names = {name for name in readers if readers.plugin_of(name) is None}
    assert names == set(map(reader_of, SAMPLES)), (
        "give its tests a SAMPLE, as tests/readers/tools/test_swe_bench.py has one"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_known_by_its_reader_alone(name: str, tmp_path: Path) -> None:
    path = sample(name, tmp_path)
    assert [one for one in readers if readers.get(one).sniff(path)] == [reader_of(name)]


@pytest.mark.parametrize("name", NAMES)
def test_few_readers_are_asked_about_a_sample(name: str, tmp_path: Path) -> None:
    start = Beginning(sample(name, tmp_path))
    asked = [reader for reader, signature in SIGNATURES.items() if signature.fits(start)]
    assert reader_of(name) in asked
    assert len(asked) <= 5


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_holds_its_trials(name: str, tmp_path: Path) -> None:
    expected = SAMPLES[name]
    groups = read(sample(name, tmp_path))
    assert groups.reader == reader_of(name)
    check(groups)
    found = [group.outcomes for group in groups.groups]
    assert sum(int(one.trials.sum()) for one in found) == expected.scored
    assert sum(map(passes, found)) == expected.passes
    assert (
        sum(int(counts.sum()) for one in found for counts in one.unscored.values())
        == expected.unscored
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_STORED])
def test_a_sample_is_stored_as_it_is_read(name: str, tmp_path: Path) -> None:
    path = sample(name, tmp_path)
    import_logs(read_logs(path, Options(texts=True)), tmp_path / "run", low_water=0)
    stored, direct = (counted(read(source)) for source in (tmp_path / "run", path))
    assert stored == direct


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_nothing(name: str, tmp_path: Path) -> None:
    """A file is recognized under any name with the same ending."""
    path = sample(name, tmp_path)
    if path.is_dir():
        return
    other = path.rename(path.parent / f"x{path.suffix}")
    assert readers.get(reader_of(name)).sniff(other)


@pytest.mark.parametrize("name", JSON)
def test_a_packed_sample_is_the_same(name: str, tmp_path: Path) -> None:
    path = sample(name, tmp_path)
    if path.is_dir():
        return
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    groups = read(packed)
    assert groups.reader == reader_of(name)
    assert counted(groups) == counted(read(path))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_no_file_of_a_tool(name: str, tmp_path: Path) -> None:
    reader = readers.get(reader_of(name))
    for path in (tmp_path, tmp_path / "none.json"):
        assert not reader.sniff(path)
    for text in ("", "{}", "[]", "null", "[[]]", '[{"id": 1}]', "x", "[" * DEEP):
        path = tmp_path / "t.json"
        path.write_text(text)
        assert not reader.sniff(path)
        refuse(lambda path=path: read(path, reader=reader_of(name)))


@pytest.mark.parametrize("name", JSON)
@given(seed=st.integers(0, 2**32), skip_bad=st.booleans(), texts=st.booleans())
def test_broken_values(name: str, tmp_path: Path, seed: int, skip_bad: bool, texts: bool) -> None:
    """A value deep inside is absent, twice there, or another one: a result, or a refusal."""
    chance = random.Random(seed)
    path = sample(name, tmp_path)
    for file in files(path):
        values, is_lines = parsed(file)
        if values is None:
            continue
        for _ in range(chance.randint(1, 3)):
            mutate(values, chance)
        file.write_text(written(values, is_lines), "utf-8", "surrogatepass")
        attempt(name, path, skip_bad=skip_bad, texts=texts)


def test_tags_and_metrics_of_other_types(tmp_path: Path) -> None:
    """Lists whose items are looked up, as numbers or with objects in them."""
    path = sample("helm", tmp_path)
    state = path / "scenario_state.json" if path.is_dir() else path.with_name("scenario_state.json")
    text = state.read_text()
    broken = json.loads(text)
    for one in broken["request_states"]:
        one["instance"]["references"][0]["tags"] = 0.5
    state.write_text(json.dumps(broken))
    check(read(path))
    rows = [{"problem": "a", "resps": "x", "metrics": [{}, "acc"], "acc": 1}]
    path = tmp_path / "t.jsonl"
    path.write_text(written(rows, True))
    check(read(path))


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32), skip_bad=st.booleans())
def test_broken_bytes(name: str, tmp_path: Path, seed: int, skip_bad: bool) -> None:
    """A file is cut off, or some of its bytes are others."""
    chance = random.Random(seed)
    path = sample(name, tmp_path)
    for file in files(path):
        data = bytearray(file.read_bytes())
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        for _ in range(chance.choice([0, 1, 1, 2, 20])):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data)
        attempt(name, path, skip_bad=skip_bad)


@pytest.mark.parametrize("name", JSON)
def test_deep_nesting(name: str, tmp_path: Path) -> None:
    path = sample(name, tmp_path)
    for file in files(path):
        text = file.read_text() if parsed(file)[0] is not None else None
        for depth in (300, 900, DEEP) if text else ():
            nested = "[" * depth + "]" * depth
            for leaf in ('"4"', "1", "true", "null"):
                if text and leaf in text:
                    file.write_text(text.replace(leaf, nested, 1))
                    attempt(name, path)


# -- samples -------------------------------------------------------------------------------


def sample(name: str, folder: Path) -> Path:
    """Write the sample of a reader into a folder, in place of an earlier one."""
    shutil.rmtree(folder / "of", ignore_errors=True)
    (folder / "of").mkdir()
    return SAMPLES[name].write(folder / "of")


def reader_of(name: str) -> str:
    return SAMPLES[name].reader or name


def counted(groups: Groups) -> list[tuple[Any, ...]]:
    """Return what the groups hold: trials and passes by problem, and what has no score."""
    found = [
        (
            str(group.task) if len(groups.groups) > 1 else "",
            dict(zip(one.problems, one.trials.tolist(), strict=True)),
            passes(one),
            {name: int(counts.sum()) for name, counts in one.unscored.items() if counts.sum()},
        )
        for group in groups.groups
        if (one := group.outcomes)
    ]
    return sorted(found, key=str)


def passes(outcomes: Outcomes) -> float:
    graded = outcomes.graded
    return float(outcomes.required_successes().sum() if graded is None else graded.values.sum())


# -- checks --------------------------------------------------------------------------------


def attempt(name: str, path: Path, *, skip_bad: bool = False, texts: bool = False) -> None:
    """Read a file as whatever it is taken for, and by its reader; then measure it."""
    refuse(lambda: read(path, skip_bad=skip_bad))
    refuse(lambda: read(path, skip_bad=skip_bad, reader=reader_of(name)))
    if texts:
        refuse(lambda: [list(log.trials) for log in logs(name, path, skip_bad)])


def logs(name: str, path: Path, skip_bad: bool) -> Iterator[Any]:
    content = readers.get(reader_of(name)).read(path, Options(texts=True, skip_bad=skip_bad))
    yield from () if isinstance(content, Groups) else content


def refuse(action: Callable[[], Any]) -> None:
    """Do something that gives groups, or an error that explains itself."""
    try:
        result = action()
    except PassbandError as error:  # a damaged store is no input of the user's
        assert_explained(error)
        return
    if isinstance(result, Groups):
        check(result)


def assert_explained(error: PassbandError) -> None:
    assert str(error).strip()
    said = str(error).partition("got ")[0]  # without what a file holds
    assert "Error" not in said  # the name of an exception explains nothing


def check(groups: Groups) -> None:
    """No group is empty, none has more passes than trials, and each can be measured."""
    assert groups.groups
    for group in groups.groups:
        outcomes = group.outcomes
        assert outcomes.n_problems > 0
        assert all((counts >= 0).all() for counts in outcomes.unscored.values())
        if outcomes.graded is None:
            assert (outcomes.required_successes() <= outcomes.trials).all()
        try:
            value = measure(outcomes, "avg").value
        except InvalidInput:  # no trial has a score
            continue
        if outcomes.graded is None:
            assert 0 <= value <= 1


# -- mutations -----------------------------------------------------------------------------


def files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())


def parsed(file: Path) -> tuple[Any, bool]:
    """Return the JSON values of a file, and whether it has one in each line."""
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in file.read_text().splitlines()], True
    return (json.loads(file.read_text()), False) if file.suffix == ".json" else (None, False)


def written(values: Any, is_lines: bool) -> str:
    if is_lines and isinstance(values, list):
        return "".join(json.dumps(value) + "\n" for value in values)
    return json.dumps(values)


ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, 10**30, -(10**400), 1e308, float("nan"), float("inf"),
    "", "x", "1", "nan", "\ud800", "\x00", "é" * 300, [], {}, [[]], [None], [{}], {"": {}},
    {"x": 1}, [1, "1", True],
]  # fmt: skip


def mutate(value: Any, chance: random.Random) -> None:
    """Change one place of a JSON value, chosen by a walk from its root."""
    parent, key = value, None
    while isinstance(value, (dict, list)) and value:
        parent, key = (
            value,
            chance.choice(list(value) if isinstance(value, dict) else range(len(value))),
        )
        value = parent[key]
        if chance.random() < 0.15:
            break
    if key is None:
        return
    kind = chance.choice(["odd", "odd", "odd", "drop", "twice", "other"])
    if kind == "drop":
        del parent[key]
    elif kind == "twice":
        twin = copy.deepcopy(value)
        if isinstance(parent, list):
            parent.insert(key, twin)
        else:
            parent[f"{key} "] = twin
    elif kind == "other" and isinstance(parent, dict):
        parent[key] = copy.deepcopy(chance.choice(list(parent.values())))
    else:
        parent[key] = copy.deepcopy(chance.choice(ODD))
