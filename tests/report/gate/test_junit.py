"""JUnit XML: parsed back, with a test case for each comparison."""

from xml.etree import ElementTree as ET

import pytest

from passband.report.gate.junit import gate_junit
from passband.summary.gate.gate import gate
from passband.summary.gate.policy import GatePolicy
from support.samples.gates import BASE, NASTY, WORSE, every_verdict, named


def test_each_verdict_has_its_tag() -> None:
    suite = ET.fromstring(gate_junit(every_verdict()))[0]
    tags = {case.get("classname"): [part.tag for part in case] for case in suite.iter("testcase")}
    assert {name: [tag for tag in own if tag != "system-out"] for name, own in tags.items()} == {
        "lost": ["failure"],
        "same": [],
        "slight": [],
        "open": ["skipped"],
        "holed": ["error"],
        "absent": ["error"],
        "advice": ["skipped"],
        "support": ["skipped"],
    }
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["8", "1", "2", "3"]
    target = suite.find("properties/property[@name='target']")
    assert target is not None
    assert "for problems like these (--over problems) it is" in target.get("value", "")
    skipped = suite.find("testcase[@classname='open']/skipped")
    assert skipped is not None
    assert "more trials of each problem" in skipped.get("message", "")


@pytest.mark.parametrize("name", NASTY)
def test_any_name_can_be_written(name: str) -> None:
    text = gate_junit(named([name, "b"], "worse"))
    case = ET.fromstring(text.encode())[0].find("testcase")
    assert case is not None
    shown = case.get("classname", "")
    assert shown == name or not name.isprintable()
    assert shown.isprintable()


def test_a_gate_without_comparisons_is_an_error() -> None:
    for result in (gate({}, {}), gate({"a": BASE}, {"a": WORSE}, GatePolicy(others="advisory"))):
        suite = ET.fromstring(gate_junit(result))[0]
        assert suite.get("errors") == "1"
