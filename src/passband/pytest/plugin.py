"""The plug-in of pytest: the marker `pass_rate`, the fixture `trial`, and the table at the end.

It is loaded with every session of an environment that has passband, so it imports nothing but the
standard library and pytest until an assertion or a marker is used. PYTEST_DONT_REWRITE: there is
no assert statement in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from passband.pytest.result import RateResult
    from passband.pytest.trial import Trial


UNDECIDED = ("skip", "fail", "xfail", "pass")


class Session:
    """Settings of the session, and the results of the running test."""

    def __init__(self) -> None:
        self.undecided = "skip"
        self.seed = 0
        self.test = ""  # the identifier of the test that runs
        self.results: list[RateResult] = []
        self.before: list[tuple[str, int]] = []  # the settings of sessions around this one


session = Session()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("passband", "pass rates of stochastic code")
    group.addoption(
        "--passband-seed", type=int, default=0, help="base of the seeds of all trials (default: 0)"
    )
    group.addoption(
        "--passband-undecided",
        choices=UNDECIDED,
        default=None,
        help="outcome of a test that its trials leave undecided (default: skip)",
    )
    parser.addini("passband_undecided", "the same as --passband-undecided", default="skip")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "pass_rate(at_least, trials=100, tolerance=0, level=0.95, errors='raise', undecided=None): "
        "repeat the test until its pass rate is shown to be high enough, or too low",
    )
    undecided = config.getoption("passband_undecided") or config.getini("passband_undecided")
    if undecided not in UNDECIDED:
        raise pytest.UsageError(
            f"passband_undecided must be one of {', '.join(UNDECIDED)}; got {undecided!r}."
        )
    session.before.append((session.undecided, session.seed))
    session.undecided, session.seed = undecided, config.getoption("passband_seed")


def pytest_unconfigure() -> None:
    if session.before:
        session.undecided, session.seed = session.before.pop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Attach the results of a test's assertions to its report."""
    before = session.test, session.results
    session.test, session.results = item.nodeid, []
    try:
        yield
        if not session.results and item.get_closest_marker("pass_rate") is not None:
            pytest.fail(
                "marker pass_rate: it repeats plain test functions and methods, not this kind of "
                "test (such as unittest.TestCase); call assert_pass_rate in the test.",
                pytrace=False,
            )
    finally:
        item.user_properties += [result.as_property() for result in session.results]
        session.test, session.results = before


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test again and again; its fixtures are set up once."""
    marker = pyfuncitem.get_closest_marker("pass_rate")
    if marker is None:
        return None
    from passband.pytest.check import run_marked

    names = pyfuncitem._fixtureinfo.argnames
    run_marked(pyfuncitem.obj, {name: pyfuncitem.funcargs[name] for name in names}, marker)
    return True


@pytest.fixture
def trial() -> Trial:
    """The trial that a test with the marker `pass_rate` is making: its number and its seed."""
    from passband.pytest.trial import Trial, seed_of

    return Trial(0, seed_of(session.test, session.seed, 0))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for each assertion of the session."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    found = [
        (cast(str, report.nodeid), value)
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == "passband_pass_rate"
    ]
    if found:
        from passband.pytest.result import table_lines

        terminalreporter.section("pass rates")
        for line in table_lines(found):
            terminalreporter.write_line(line)
