"""Write a gate as JUnit XML: a test case for each task and metric.

A regression is a failure. What is not decided is skipped, with its reason, since a test that found
nothing has not failed; what could not be compared is an error. Where a comparison does not decide
the gate, whatever is not a pass is skipped.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from passband.report.gate.words import headline, line_notes, line_texts, on_target, roundings
from passband.report.rendering import printable
from passband.stats.decision import Failed
from passband.stats.interval import Rounding
from passband.summary import GateLine, GateResult

_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def gate_junit(result: GateResult) -> str:
    """Return the test suite as text, ending in a newline."""
    name = f"passband gate {result.policy.name}"
    suite = ET.Element("testsuite", name=name, time="0")
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="target", value=on_target(result))
    for line, rounding in zip(result.lines, roundings(result), strict=True):
        suite.append(_case(line, rounding, result.policy.failed))
    if not result.deciding:
        case = ET.SubElement(suite, "testcase", classname=name, name="verdict", time="0")
        ET.SubElement(case, "error", message=printable(headline(result)), type=result.verdict)
    counts = {key: str(len(suite.findall(f"testcase/{tag}"))) for key, tag in _COUNTED.items()}
    counts["tests"] = str(len(suite.findall("testcase")))
    suite.attrib.update(counts)
    suites = ET.Element("testsuites", {"name": name, "time": "0", **counts})
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(line: GateLine, rounding: Rounding, failed: Failed) -> ET.Element:
    case = ET.Element(
        "testcase", classname=printable(line.task), name=printable(line.metric), time="0"
    )
    notes = (note.text for note in line_notes(line))
    texts = [*map(printable, (*line_texts(line, rounding, failed), *notes))]
    measured = _measured(line, rounding)
    tag = _tag(line)
    if tag is not None:
        message = f"{line.verdict} ({line.tier}): {'; '.join([measured, *texts])}"
        ET.SubElement(case, tag, message=message, type=line.verdict)
    ET.SubElement(case, "system-out").text = "\n".join([measured, *texts])
    return case


def _tag(line: GateLine) -> str | None:
    if line.has_passed:
        return None
    if line.verdict == "regression" and line.tier != "advisory":
        return "failure"
    is_error = line.verdict == "not-certified" and line.tier == "required"
    return "error" if is_error else "skipped"


def _measured(line: GateLine, rounding: Rounding) -> str:
    if line.difference is None:
        return f"not compared; tolerance {line.tolerance:g}"
    text = rounding.text(line.difference, line.low, line.high)
    return f"difference {text}, tolerance {line.tolerance:g}"
