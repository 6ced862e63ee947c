"""Problems and trials as lines to read: asked, expected, answered, and why it was scored so.

The first line of what is shown: how many trials were found, and of what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from passband.report.rendering import printable
from passband.report.show.diff import diff_lines
from passband.report.show.excerpt import ALL, Amount, excerpt
from passband.report.show.reason import Verdict, call_text, verdict, verdict_of_score
from passband.report.show.text import Piece, TerminalStyle, cells, one_line, wrapped
from passband.report.words import counted, tokens_text
from passband.summary import Damaged, Shown, ShownMessage, ShownProblem, ShownTrial


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
    """Writes what is looked at, in one style; `full` leaves nothing out."""

    style: TerminalStyle = field(default_factory=TerminalStyle)
    full: bool = False
    apart: tuple[str, ...] = ()  #: which of task and model are named with each problem

    def lines(self, shown: Iterable[Shown]) -> Iterator[str]:
        """Yield the lines of problems and trials as they come."""
        for one in shown:
            if isinstance(one, ShownProblem):
                yield from self.problem(one)
            elif isinstance(one, ShownTrial):
                yield from self.trial(one)
            else:
                yield from self.damaged(one)

    # -- problems --------------------------------------------------------------------------

    def problem(self, problem: ShownProblem) -> Iterator[str]:
        """Yield the heading of a problem, its prompt and its targets."""
        yield self._heading(problem)
        yield from self._messages(problem.messages)
        for number, choice in enumerate(problem.choices):
            label = "choices" if number == 0 else ""
            yield from self._text(label, f"{_letter(number)}) {choice}", _ASKED)
        if problem.targets:
            for number, target in enumerate(problem.targets):
                yield from self._text("expected" if number == 0 else "or", target, _ASKED)
        yield ""

    def _heading(self, problem: ShownProblem) -> str:
        key = f"problem {problem.key}" if problem.key.isdecimal() else problem.key
        names = [*(getattr(problem, name) for name in self.apart), key]
        right = f"{problem.right} of {counted(problem.scored, 'scored trial')} right"
        if problem.scored == problem.trials:
            right = f"{problem.right} of {problem.trials} right"
        if problem.scored == 0:
            right = f"{counted(problem.trials, 'trial')}, none scored"
        room = self.style.width - len(right) - 8
        name = one_line(" / ".join(names), max(8, room), self.style.ellipsis)
        rule = self.style.rule
        line = rule * max(2, self.style.width - cells(name) - len(right) - 6)
        return f"{rule * 2} {self.style.set(name, 'heading')} {line} {right}"

    def _messages(self, messages: Iterable[ShownMessage]) -> Iterator[str]:
        several = tuple(messages)
        for message in several:
            only = len(several) == 1 and message.role == "user"
            yield from self._text("asked" if only else message.role, message.text, _ASKED)

    # -- trials ----------------------------------------------------------------------------

    def trial(self, trial: ShownTrial) -> Iterator[str]:
        """Yield a trial: what became of it, what was answered, and where the answer is."""
        yield from self._verdict(f"trial {trial.trial}", verdict(trial))
        for score in trial.scores[1:]:
            yield from self._verdict("", verdict_of_score(score, trial.text), score.scorer)
        yield from self._votes(trial)
        for failure in list(dict.fromkeys(trial.failures))[-3:]:
            yield from self._text("failed", failure, _REASONING)
        yield from self._facts(trial)
        if trial.reasoning:
            yield from self._text("reasoning", trial.reasoning, _REASONING)
        if trial.transcript:
            yield from self._transcript(trial.transcript)
        if trial.text is not None:
            yield from self._answered(trial)
        yield ""

    def _verdict(self, label: str, of: Verdict, scorer: str | None = None) -> Iterator[str]:
        """Yield the line that says what a scorer made of a trial, and reasons too long for it."""
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
        """Yield what each vote of a judge was, and how its reply ends; with `full`, all of it."""
        for number, call in enumerate(trial.calls):
            label = "judged" if number == 0 else ""
            yield from self._text(label, call_text(call, trial.calls), _REASONING)
            if self.full and call.reply:
                yield from self._text("reply", call.reply, ALL)

    def _facts(self, trial: ShownTrial) -> Iterator[str]:
        """Yield how a trial ended, where that is unusual; with `full`, what it took."""
        facts = [f"status {trial.status}"] if trial.status != "ok" and trial.score else []
        if trial.finish_reason is not None:
            facts.append(f"finish reason {trial.finish_reason}")
        if self.full:
            facts += list(_measured(trial))
        if facts:
            yield from self._text("", ", ".join(facts), _REASONING)

    def _transcript(self, messages: tuple[ShownMessage, ...]) -> Iterator[str]:
        if not self.full:
            told = f"{counted(len(messages), 'message')} and tool calls (--full shows them)"
            yield from self._text("steps", told, _REASONING)
            return
        for message in messages:
            yield from self._text(message.role, message.text, ALL)

    def _answered(self, trial: ShownTrial) -> Iterator[str]:
        text = trial.text or ""
        if not text:
            yield f"{self._label('answered')}{self.style.set('(an empty text)', 'label')}"
            return
        whole = trial.span is not None and text[slice(*trial.span)] == text.strip()
        yield from self._text("answered", text, _ANSWERED, None if whole else trial.span)

    def difference(self, first: ShownTrial, second: ShownTrial) -> Iterator[str]:
        """Yield two trials of a problem, and their texts as one with what differs marked."""
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
        """Yield a text beside its label, with what is left out said in its place."""
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


def _letter(number: int) -> str:
    return chr(65 + number) if number < 26 else str(number + 1)


def _measured(trial: ShownTrial) -> Iterator[str]:
    if trial.prompt_tokens is not None or trial.completion_tokens is not None:
        yield _tokens(trial)
    if trial.latency_ms is not None:
        yield f"{trial.latency_ms / 1000:.3g} s"
    if trial.attempts != 1:
        yield f"{trial.attempts} attempts"
    if trial.seed is not None:
        yield f"seed {trial.seed}"


def _tokens(trial: ShownTrial) -> str:
    return tokens_text(
        trial.prompt_tokens, trial.completion_tokens, trial.cached_tokens, trial.reasoning_tokens
    )
