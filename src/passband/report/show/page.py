"""Render problems and trials as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from passband.report.rendering import printable
from passband.report.show.diff import diff_lines
from passband.report.show.excerpt import ALL, Amount, excerpt
from passband.report.show.problem_page import Passage, lay_out_problem, lay_out_trial
from passband.report.show.reason import Verdict, call_text, verdict
from passband.report.show.text import Piece, TerminalStyle, cells, one_line, wrapped
from passband.report.words import counted
from passband.summary import Damaged, Shown, ShownProblem, ShownTrial


def headline(
    name: str,
    found: tuple[int, int],
    total: tuple[int, int],
    conditions: Sequence[str] = (),
) -> str:
    """Return how many of all trials and problems were found under some conditions.

    >>> headline("sums by tiny", (49, 16), (80, 20), ["wrong"])
    'sums by tiny: 49 of 80 trials are wrong (16 of 20 problems)'
    >>> headline("sums by tiny", (80, 20), (80, 20))
    'sums by tiny: 80 trials of 20 problems'
    """
    if found == total and not conditions:
        text = f"{counted(total[0], 'trial')} of {counted(total[1], 'problem')}"
    else:
        what = f" {'is' if found[0] == 1 else 'are'} {' and '.join(conditions)}"
        text = (
            f"{found[0]:,} of {counted(total[0], 'trial')}{what if conditions else ''} "
            f"({found[1]:,} of {counted(total[1], 'problem')})"
        )
    return printable(f"{name}: {text}")


_GUTTER = 10  # columns of labels
_LONGEST_CARETS = 200  # characters of an answer that is underlined without colours
_ASKED = Amount(600, 900, 8, 12)
_ANSWERED = Amount(600, 1200, 8, 16)
_REASONING = Amount(300, 300, 4, 4)


@dataclass(frozen=True)
class Page:
    """Renders problems and trials in one style; `full` shortens nothing."""

    style: TerminalStyle = field(default_factory=TerminalStyle)
    full: bool = False
    apart: tuple[str, ...] = ()  #: which of task and model are named with each problem

    def lines(self, shown: Iterable[Shown]) -> Iterator[str]:
        """Yield the lines of problems and trials as they come."""
        for item in shown:
            if isinstance(item, ShownProblem):
                yield from self.problem(item)
            elif isinstance(item, ShownTrial):
                yield from self.trial(item)
            else:
                yield from self.damaged(item)

    # -- problems --------------------------------------------------------------------------

    def problem(self, problem: ShownProblem) -> Iterator[str]:
        """Yield the heading of a problem, its prompt and its targets."""
        page = lay_out_problem(problem)
        yield self._heading(problem, page.outcome)
        for label, text in page.question:
            is_prompt = label == "user" and len(page.question) == 1
            yield from self._text("asked" if is_prompt else label, text, _ASKED)
        for index, (letter, choice) in enumerate(page.choices):
            yield from self._text("" if index else "choices", f"{letter}) {choice}", _ASKED)
        for index, target in enumerate(page.targets):
            yield from self._text("or" if index else "expected", target, _ASKED)
        yield ""

    def _heading(self, problem: ShownProblem, outcome: str) -> str:
        key = f"problem {problem.key}" if problem.key.isdecimal() else problem.key
        names = [*(getattr(problem, name) for name in self.apart), key]
        is_complete = problem.scored == problem.trials > 0
        right = f"{problem.right} of {problem.trials} right" if is_complete else outcome
        room = self.style.width - len(right) - 8
        name = one_line(" / ".join(names), max(8, room), self.style.ellipsis)
        rule = self.style.rule
        line = rule * max(2, self.style.width - cells(name) - len(right) - 6)
        return f"{rule * 2} {self.style.set(name, 'heading')} {line} {right}"

    # -- trials ----------------------------------------------------------------------------

    def trial(self, trial: ShownTrial) -> Iterator[str]:
        """Yield a trial: its verdict, its completion, and the place of the answer."""
        page = lay_out_trial(trial)
        yield from self._verdict(f"trial {trial.trial}", page.verdict)
        for scorer, other in page.others:
            yield from self._verdict("", other, scorer)
        yield from self._votes(trial)
        for failure in list(dict.fromkeys(trial.failures))[-3:]:
            yield from self._text("failed", failure, _REASONING)
        facts = (*page.ending, *(page.measures if self.full else ()))
        if facts:
            yield from self._text("", ", ".join(facts), _REASONING)
        if page.reasoning:
            yield from self._text("reasoning", page.reasoning, _REASONING)
        if page.steps:
            yield from self._steps(page.steps)
        if trial.text is not None:
            yield from self._answered(trial)
        yield ""

    def _verdict(self, label: str, of: Verdict, scorer: str | None = None) -> Iterator[str]:
        """Yield the verdict of a scorer in a line, and longer reasons below."""
        style = self.style
        named = "" if scorer is None else f"{one_line(scorer, 24, style.ellipsis)}: "
        by = "" if of.rule is None or of.answer is None else f" by {one_line(of.rule, 20)}"
        room = style.width - _GUTTER - len(named) - len(of.word) - len(by) - 2
        answer = "" if of.answer is None else one_line(of.answer, max(10, room), style.ellipsis)
        told = f": {answer}{by}" if of.answer is not None else ""
        line = f"{named}{style.set(of.word, of.kind)}{told}"
        fits = of.answer is None and len(of.reason) <= room and of.reason.isprintable()
        if of.reason and fits:
            line, of = f"{line}: {of.reason}", replace(of, reason="")
        yield f"{label:{_GUTTER}}{line}"
        if of.reason:
            yield from self._text("why", of.reason, _REASONING)

    def _votes(self, trial: ShownTrial) -> Iterator[str]:
        """Yield each vote of a judge and the end of its reply; with `full`, all of it."""
        for number, call in enumerate(trial.calls):
            label = "judged" if number == 0 else ""
            yield from self._text(label, call_text(call, trial.calls), _REASONING)
            if self.full and call.reply:
                yield from self._text("reply", call.reply, ALL)

    def _steps(self, steps: Sequence[Passage]) -> Iterator[str]:
        if not self.full:
            summary = f"{counted(len(steps), 'message')} and tool calls (--full shows them)"
            yield from self._text("steps", summary, _REASONING)
            return
        for label, text in steps:
            yield from self._text(label, text, ALL)

    def _answered(self, trial: ShownTrial) -> Iterator[str]:
        text = trial.text or ""
        if not text:
            yield f"{self._label('answered')}{self.style.set('(an empty text)', 'label')}"
            return
        whole = trial.span is not None and text[slice(*trial.span)] == text.strip()
        yield from self._text("answered", text, _ANSWERED, None if whole else trial.span)

    def difference(self, first: ShownTrial, second: ShownTrial) -> Iterator[str]:
        """Yield two trials of a problem, and their texts as one with differences marked."""
        yield from self.problem(first.problem)
        for trial, mark in ((first, "[- -]"), (second, "{+ +}")):
            yield from self._verdict(f"trial {trial.trial}", verdict(trial))
            yield from self._text("", f"only in this one: {mark}", _REASONING)
        yield ""
        for label, texts in _texts_of(first, second):
            yield self._label(label).rstrip()
            if texts[0] == texts[1]:
                yield f"{'':{_GUTTER}}{counted(len(texts[0]), 'character')}, the same in both"
            else:
                yield from diff_lines(*texts, self.style, full=self.full, indent=_GUTTER)
            yield ""

    def damaged(self, damage: Damaged) -> Iterator[str]:
        """Yield that a trial, or a whole problem, cannot be read."""
        what = f"problem {damage.problem}" if damage.trial is None else f"trial {damage.trial}"
        word = self.style.set("damaged", "odd")
        if damage.trial is None:
            yield self.style.rule * self.style.width
        label = self._label(one_line(what, _GUTTER - 1, ".")) if damage.trial is not None else ""
        prefix = label or f"{one_line(what, 60)}: "
        yield f"{prefix}{word}: {one_line(damage.why, 400)}"
        yield ""

    # -- text ------------------------------------------------------------------------------

    def _label(self, label: str) -> str:
        text = one_line(label, _GUTTER - 1, ".")
        return self.style.set(text, "label") + " " * (_GUTTER - cells(text))

    def _text(
        self, label: str, text: str, amount: Amount, mark: tuple[int, int] | None = None
    ) -> Iterator[str]:
        """Yield a text beside its label; a line counts the characters of each cut."""
        head = self._label(label)
        end_of_last = 0
        for start, end in excerpt(text, ALL if self.full else amount, mark):
            if start > end_of_last:
                left_out = f"[{start - end_of_last:,} characters left out; --full shows them]"
                yield head + self.style.set(left_out, "label")
                head = " " * _GUTTER
            part = text[start:end].strip("\n")
            lost = len(text[start:end]) - len(text[start:end].lstrip("\n")) + start
            marks = [] if mark is None else [(mark[0] - lost, mark[1] - lost)]
            for piece in wrapped(part, max(20, self.style.width - _GUTTER), marks):
                yield from self._piece(head, piece, mark)
                head = " " * _GUTTER
            end_of_last = end

    def _piece(self, head: str, piece: Piece, mark: tuple[int, int] | None) -> Iterator[str]:
        """Yield one line, its marked part emphasised or, without colours, underlined."""
        text = piece.text
        if not piece.marks or mark is None:
            yield (head + text).rstrip()
            return
        low, high, _ = piece.marks[0]
        yield head + text[:low] + self.style.set(text[low:high], "mark") + text[high:]
        if not self.style.colour and mark[1] - mark[0] <= _LONGEST_CARETS:
            yield " " * (_GUTTER + cells(text[:low])) + "^" * max(1, cells(text[low:high]))


def _texts_of(first: ShownTrial, second: ShownTrial) -> Iterator[tuple[str, tuple[str, str]]]:
    if first.reasoning or second.reasoning:
        yield "reasoning", (first.reasoning or "", second.reasoning or "")
    yield "answered", (first.text or "", second.text or "")
