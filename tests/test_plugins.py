"""Plug-ins: how they are found, and what happens when they fail."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from passband import plugins
from passband.errors import InvalidInput, PassbandWarning, UnknownName
from passband.score.registry import register_scorer, scorers
from passband.stats.metric.registry import families
from support.runs.commands import Done, apart, finish, run
from support.sandboxes.wheels import unpack, write_wheel

METRIC = """
    import passband

    @passband.register_metric("{name}", summary="at least two of k succeed")
    def two_of(k):
        return [successes >= 2 for successes in range(k + 1)]
"""
Install = Callable[[str, str], None]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path; nothing is loaded yet, and nothing stays loaded."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setattr(plugins, "_is_loaded", False)
    monkeypatch.setattr(plugins, "failures", {})
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    modules, metrics, functions = set(sys.modules), families.snapshot(), scorers.snapshot()
    yield folder
    families.restore(metrics)
    scorers.restore(functions)
    for name in set(sys.modules) - modules:
        if name.startswith("plugin_"):
            del sys.modules[name]


@pytest.fixture
def install(site: Path, tmp_path: Path) -> Install:
    """Put a package with a plug-in onto the import path."""

    def installed(module: str, source: str) -> None:
        unpack(write_wheel(tmp_path, module, source), site)

    return installed


def test_an_installed_plug_in_is_used_by_name(install: Install) -> None:
    install("plugin_good", METRIC.format(name="two-of"))
    assert "plugin_good" not in sys.modules
    assert families.get("pass@").key == "pass@"
    assert "plugin_good" not in sys.modules  # a built-in name loads nothing
    assert families.get("two-of@").summary == "at least two of k succeed"
    assert families.plugin_of("two-of@") == "plugin_good"
    assert families.plugin_of("pass@") is None


def test_a_plug_in_that_raises_is_named_and_the_others_are_used(install: Install) -> None:
    install("plugin_bad", "raise RuntimeError('not today')")
    install("plugin_exits", "raise SystemExit('no')")
    install("plugin_good", METRIC.format(name="two-of"))
    with pytest.warns(PassbandWarning) as caught:
        assert "two-of@" in families
    assert [str(warning.message) for warning in caught] == [
        "plug-in 'plugin_bad' (plugin_bad) is not used: RuntimeError: not today",
        "plug-in 'plugin_exits' (plugin_exits) is not used: SystemExit: no",
    ]
    with pytest.raises(UnknownName, match=r"imported: plugin_bad \(RuntimeError: not today\);"):
        families.get("three-of@")


def test_a_built_in_name_cannot_be_taken(install: Install) -> None:
    install("plugin_thief", METRIC.format(name="pass"))
    built_in = families.get("pass@")
    with pytest.warns(PassbandWarning, match=r"'plugin_thief'.*'pass@' is already registered"):
        plugins.load()
    assert families.get("pass@") is built_in


def test_the_first_of_two_plug_ins_keeps_a_name(install: Install) -> None:
    install("plugin_a", METRIC.format(name="two-of"))
    install("plugin_b", METRIC.format(name="two-of"))
    with pytest.warns(PassbandWarning, match=r"'two-of@' is already registered by plug-in 'plu"):
        plugins.load()
    assert families.plugin_of("two-of@") == "plugin_a"


def test_the_built_in_scorers_come_before_any_plug_in(install: Install) -> None:
    source = """
        import passband

        @passband.register_scorer("numeric")
        def numeric(answer, target):
            return True
    """
    install("plugin_numeric", source)
    with pytest.warns(PassbandWarning, match="'numeric' is already registered"):
        plugins.load()
    assert scorers.get("numeric").call.__module__ == "passband.score.builtin.numeric"


def test_modules_of_the_variable(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "plugin_named.py").write_text("import passband\n")
    monkeypatch.setenv(plugins.VARIABLE, " plugin_named ,, plugin_missing")
    for _ in range(2):  # an error the first time, and every time
        with pytest.raises(InvalidInput, match=r"PASSBAND_IMPORT plugin_missing: the module cann"):
            families.get("two-of@")
    assert "plugin_named" in sys.modules


def test_a_plug_in_may_look_names_up(install: Install) -> None:
    source = """
        from passband.stats.metric.registry import families

        assert "unheard-of@" not in families
    """
    install("plugin_curious", source)
    plugins.load()
    assert plugins.failures == {}


def test_registering_loads_no_plug_in(install: Install) -> None:
    install("plugin_bad", "raise RuntimeError('not today')")
    register_scorer("of_this_test")(lambda answer, target: True)
    assert scorers.registered("of_this_test") is not None
    assert "plugin_bad" not in sys.modules


# -- on the command line -------------------------------------------------------------------


@pytest.fixture
def folder(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "t.csv").write_text("problem,trial,score\na,0,1\na,1,1\nb,0,0\nb,1,1\n")
    (tmp_path / "plugin_mine.py").write_text(
        "import passband\n"
        "@passband.register_metric('two-of', summary='at least two')\n"
        "def two_of(k):\n"
        "    return [j >= 2 for j in range(k + 1)]\n"
    )
    (tmp_path / "plugin_broken.py").write_text("import passband\nnonsense()\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def two_of(done: Done) -> str:
    assert done.code == 0, done.err
    return next(line.split()[1] for line in done.out.splitlines() if line.startswith("two-of@2"))


@pytest.mark.process
def test_import_after_the_verb_and_before_it(folder: Path) -> None:
    stats = ("stats", "t.csv", "-m", "two-of@2", "-q")
    assert two_of(finish(*stats, "--import", "plugin_mine")) == "0.50"
    assert two_of(apart("--import", "plugin_mine", *stats)) == "0.50"
    assert two_of(apart(*stats, PASSBAND_IMPORT="plugin_mine")) == "0.50"
    done = apart(*stats)
    assert done.code == 2
    assert "no metric named 'two-of@'" in done.err


@pytest.mark.process
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("plugin_broken", "NameError: name 'nonsense' is not defined"),
        ("plugin_nowhere", "ModuleNotFoundError: No module named 'plugin_nowhere'"),
    ],
)
def test_a_named_module_that_fails_ends_the_command(folder: Path, module: str, reason: str) -> None:
    expected = f"{module}: the module cannot be imported: {reason}"
    for arguments in (("--import", module, "metrics"), ("metrics", "--import", module)):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"passband: --import {expected}\n"
    done = apart("stats", "t.csv", "-m", "two-of@2", PASSBAND_IMPORT=module)
    assert done.code == 2
    assert f"passband: PASSBAND_IMPORT {expected}" in done.err


def test_every_verb_takes_import() -> None:
    from passband.cli.app import Verbs

    for command in Verbs().values():
        assert any("--import" in parameter.opts for parameter in command.params)


@pytest.mark.process
def test_help_does_not_look_for_plug_ins(folder: Path) -> None:
    done = finish("--help", PASSBAND_IMPORT="plugin_broken", PYTHONPROFILEIMPORTTIME="1")
    assert done.code == 0
    assert "importlib.metadata" not in done.err
    assert "plugin_broken" not in done.err
