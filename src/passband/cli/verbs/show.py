"""`passband show`: print prompts, answers, extracted answers, targets and scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from passband.cli.options import QuietOptions, RecordOptions, TaskFilterOptions

if TYPE_CHECKING:
    from passband.summary import Shown, TrialBrowser, TrialQuery
    from passband.trials import RunRecord, Trials


_PROBLEMS = 10  # of --same-wrong, unless --limit says otherwise


Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrialFilterOptions(TaskFilterOptions):
    """Which trials to show."""

    GROUP = "Which trials"
    problem: Annotated[
        tuple[str, ...], Option(metavar="ID", help="Only this problem, by its id (repeatable).")
    ] = ()
    trial: Annotated[
        tuple[int, ...], Option(help="Only trials of this number, from 0 (repeatable).")
    ] = ()
    wrong: Annotated[bool, Option("--wrong", help="Only trials whose score is below the best.")] = (
        False
    )
    right: Annotated[bool, Option("--right", help="Only trials with the best score.")] = False
    no_answer: Annotated[
        bool, Option("--no-answer", help="Only trials in which no answer was found.")
    ] = False
    disagree: Annotated[
        bool, Option("--disagree", help="Only trials on which judge and label disagree.")
    ] = False
    status: Annotated[
        tuple[str, ...],
        Option(
            metavar="STATUS",
            help="Only this status: truncated, refused, scorer_error, ... (repeatable).",
        ),
    ] = ()
    scorer: Annotated[
        str | None,
        Option(metavar="NAME", help="Scorer whose scores count. Default: the main one."),
    ] = None
    limit: Annotated[
        int | None, Option(help="Show at most N trials (of --same-wrong, problems).", min=1)
    ] = None

    def wanted(self) -> "TrialQuery":
        """Return the filter of trials."""
        from passband.errors import InvalidInput
        from passband.summary import TrialQuery

        if self.wrong and self.right:
            raise InvalidInput(
                "--wrong and --right exclude each other; without them all are shown."
            )
        return TrialQuery(
            tuple(dict.fromkeys(self.problem)),
            tuple(dict.fromkeys(self.trial)),
            (*self.status, *(["no_answer"] if self.no_answer else ())),
            None if self.wrong == self.right else self.right,
            self.scorer,
            self.disagree,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ShowOptions(TrialFilterOptions, RecordOptions, QuietOptions):
    """The options of `passband show`."""

    GROUP = "Output"
    COMMON = (
        "problem", "trial", "wrong", "right", "no_answer", "limit", "diff", "same_wrong", "full",
        "json", "quiet",
    )  # fmt: skip
    run: Annotated[Path, typer.Argument(help="Run directory, or a table or log with texts.")]
    diff: Annotated[
        tuple[int, int] | None,
        Option(metavar="A B", help="Compare the texts of trials A and B of one problem."),
    ] = None
    same_wrong: Annotated[
        bool, Option("--same-wrong", help="Problems whose wrong answers agree: check the keys.")
    ] = False
    full: Annotated[bool, Option("--full", help="Do not shorten long texts.")] = False
    json: Annotated[bool, Option("--json", help="Print JSON, one line per trial.")] = False
    no_pager: Annotated[
        bool, Option("--no-pager", help="Print to the terminal without a pager.")
    ] = False


def show(options: ShowOptions) -> None:
    """Show prompts, answers, extracted answers, targets and scores."""
    from passband.cli.output import print_notes
    from passband.errors import InvalidInput
    from passband.readers import Options, opened_trials
    from passband.summary import browse_runs

    wanted, tasks, models, limit = options.wanted(), options.task, options.model, options.limit
    reading = Options.of(None, (), tasks, models, skip_bad=options.skip_bad, scales=options.scales)
    with opened_trials(_single(options.run), reading) as trials:
        runs = trials.chosen_runs(tasks, models)
        if not runs:
            raise InvalidInput(f"{options.run} holds no trials yet.")
        if not options.quiet:
            print_notes(text for each in runs for text, matters in each.imported.remarks if matters)
        form = _Form(options.json, options.full, not options.no_pager, options.quiet)
        if options.same_wrong:
            _print_same_wrong(trials, runs, wanted, limit, form)
        elif options.diff is not None:
            _print_diff(trials, runs, wanted, options.diff, form)
        else:
            _print_trials(trials, browse_runs(trials, runs, wanted), limit, form)


def _single(source: Path) -> Path:
    """Return the one run directory of a folder, or the source itself."""
    from passband.errors import InvalidInput
    from passband.readers import expand_sources, require_path

    paths = expand_sources([source])
    if len(paths) == 1:
        return require_path(paths[0], "passband show prints")
    names = ", ".join(map(str, paths[:5])) + (", ..." if len(paths) > 5 else "")
    raise InvalidInput(f"{source} holds {len(paths)} runs; show one of {names}.")


class _Form(NamedTuple):
    """How to print: as JSON, in full, through a pager, without notes."""

    json: bool
    full: bool
    pager: bool
    quiet: bool


def _print_trials(
    source: "Trials", chosen: "list[TrialBrowser]", limit: int | None, form: _Form
) -> None:
    from passband.cli.output import print_lines, style_of
    from passband.report import Page, json_line
    from passband.summary import ShownProblem

    damage = _Damage()
    shown = damage.noted(_limited(chosen, limit))
    if form.json:
        trials = (one for one in shown if not isinstance(one, ShownProblem))
        print_lines(map(json_line, trials), pager=False)
    else:
        page = Page(
            style_of(pager=form.pager), form.full, _apart(browser.run for browser in chosen)
        )
        print_lines(chain(_headlines(chosen, limit), page.lines(shown)), pager=form.pager)
    damage.report(source.directory)


def _print_diff(
    source: "Trials",
    runs: "list[RunRecord]",
    wanted: "TrialQuery",
    numbers: tuple[int, int],
    form: _Form,
) -> None:
    from passband.cli.output import print_lines, style_of
    from passband.report import Page, json_line
    from passband.summary import pair_of_trials

    first, second = pair_of_trials(source, runs, wanted, numbers)
    if form.json:
        print_lines([json_line(first), json_line(second)], pager=False)
        return
    page = Page(style_of(pager=form.pager), form.full, _apart(runs))
    print_lines(page.difference(first, second), pager=form.pager)


def _print_same_wrong(
    source: "Trials", runs: "list[RunRecord]", wanted: "TrialQuery", limit: int | None, form: _Form
) -> None:
    from passband.cli.output import print_lines, print_notes, print_rows, style_of
    from passband.report import agreement_json, agreement_lines, agreement_rows
    from passband.summary import browse_runs, rank_same_wrong

    most = _PROBLEMS if limit is None else limit
    agreements = [
        rank_same_wrong(source, browser.run, browser.scorer, problems=wanted.problems, limit=most)
        for browser in browse_runs(source, runs, wanted)
    ]
    if form.json:
        print_lines(agreement_json(agreements), pager=False)
        return
    print_rows(agreement_rows(agreements, style_of(pager=False).width))
    if not form.quiet:
        print_notes(agreement_lines(agreements, str(source.directory)))


def _apart(runs: "Iterable[RunRecord]") -> tuple[str, ...]:
    """Return which of task and model set the runs apart."""
    names = [(run.task, run.model) for run in runs]
    return tuple(
        what for place, what in enumerate(("task", "model")) if len({n[place] for n in names}) > 1
    )


def _headlines(chosen: "Iterable[TrialBrowser]", limit: int | None) -> Iterator[str]:
    from passband.report import headline

    found = 0
    for browser in chosen:
        matches = browser.count()
        found += matches.trials
        name = f"{browser.run.task} by {browser.run.model}"
        yield headline(name, matches, browser.count_all(), browser.wanted.words())
    if limit is not None and limit < found:
        yield f"the first {limit}:" if limit > 1 else "the first one:"
    yield ""


def _limited(chosen: "Iterable[TrialBrowser]", limit: int | None) -> "Iterator[Shown]":
    """Yield problems and trials, up to a number of trials; no problem without one."""
    from passband.summary import ShownProblem

    left = limit
    waiting: Shown | None = None
    for browser in chosen:
        for one in browser.shown():
            if isinstance(one, ShownProblem):
                waiting = one
                continue
            if left == 0:
                return
            if waiting is not None:
                yield waiting
            waiting, left = None, None if left is None else left - 1
            yield one


class _Damage:
    """Counts the damaged trials, for an error at the end."""

    def __init__(self) -> None:
        self._count = 0

    def noted(self, shown: "Iterable[Shown]") -> "Iterator[Shown]":
        """Yield the trials, and count the damaged ones."""
        from passband.summary import Damaged

        for one in shown:
            self._count += isinstance(one, Damaged)
            yield one

    def report(self, directory: Path) -> None:
        """Raise the error of a damaged store if anything could not be read."""
        from passband.trials import STORE_FILE, corrupt_store

        if self._count:
            what = "1 trial" if self._count == 1 else f"{self._count} trials"
            raise corrupt_store(directory / STORE_FILE, f"{what} could not be read")
