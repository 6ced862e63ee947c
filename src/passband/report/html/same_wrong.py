"""Wrong in the same way: problems whose wrong answers agree, as a table of a page."""

from __future__ import annotations

from passband.report.html.document import escape
from passband.report.html.elements import caption, one_line, section, sentence
from passband.report.html.run_text import RunText
from passband.report.words import counted
from passband.summary import SameWrong, ShownProblem


def same_wrong_section(run: RunText) -> str:
    """Return the problems whose wrong answers agree most surprisingly."""
    agreement = run.findings.agreement
    if agreement is None or not agreement.found:
        return ""
    places = {one.problem.key: at for at, one in enumerate(run.findings.transcripts.problems)}
    rows = "".join(_row(run, one, places.get(one.problem)) for one in agreement.found)
    solved = "solved" if run.findings.group.is_binary else "best score"
    head = (
        '<tr><th>problem</th><th class="optional">question</th><th class="optional">right</th>'
        f'<th class="number">{solved}</th><th>most frequent wrong answer</th>'
        '<th class="number">times</th></tr>'
    )
    count = counted(len(agreement.found), "problem")
    finding = f"{count} whose wrong answers agree most surprisingly, out of {agreement.problems:,}."
    said = "The same wrong answer again and again is either a misconception or a wrong key."
    notes = " ".join(["", *(sentence(note.text) for note in agreement.notes)])
    body = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{caption(said + notes)}"
    return section("Wrong in the same way", finding, body)


def _row(run: RunText, one: SameWrong, place: int | None) -> str:
    key = escape(one_line(one.problem))
    question = ""
    if place is not None:
        question = _question(run.findings.transcripts.problems[place].problem)
        key = (
            f'<button type="button" class="link" data-run="{run.index}" data-problem="{place}">'
            f"{key}</button>"
        )
    right = " or ".join(one.targets)
    return (
        f'<tr><td dir="auto">{key}</td><td class="text optional" dir="auto">{escape(question)}</td>'
        f'<td class="text optional" dir="auto">{escape(one_line(right))}</td>'
        f'<td class="number">{one.right}/{one.scored}</td>'
        f'<td class="text wrong" dir="auto">{escape(one_line(one.answer))}</td>'
        f'<td class="number">{one.times}</td></tr>'
    )


def _question(problem: ShownProblem) -> str:
    return one_line(problem.messages[-1].text) if problem.messages else ""
