"""Search in completions: every trial with the text, once, whatever its case and its codec."""

from pathlib import Path

from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from support.samples.stores import begin, writing


def test_every_text_of_a_trial_is_searched(tmp_path: Path) -> None:
    rows = [
        TrialRow(0, 0, "ok", "The Needle is here"),
        TrialRow(0, 1, "ok", "nothing", reasoning="a NEEDLE"),
        TrialRow(0, 2, "ok", "hay " * 2_000 + "needle"),
        TrialRow(1, 0, "ok", "none", transcript=[{"role": "tool", "content": "needle"}]),
        TrialRow(1, 1, "ok", "needle", reasoning="needle"),
        TrialRow(2, 0, "gave_up"),
    ]
    with writing(tmp_path) as store:
        run, _ = begin(store)
        other, _ = begin(store, task="other")
        store.append(other, [TrialRow(0, 0, "ok", "a needle elsewhere")])
        store.append(run, rows)
    with Trials(tmp_path) as trials:
        search = trials.search(trials.run("sums"), "nEEdle")
        last, found, searched = 0, [], 0
        while (stretch := search.stretch(last, 2)) is not None:
            last = stretch.last
            found += stretch.found
            searched += stretch.searched
    found.sort()
    assert [(one.problem, one.trial) for one in found] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert found[0][2:] == ("The ", "Needle", " is here")
    assert searched == 5


def test_letters_that_grow_when_folded_do_not_shift_what_is_found(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "ßßß: 42!")])
    with Trials(tmp_path) as trials:
        stretch = trials.search(trials.run(), "42").stretch()
    assert stretch is not None
    assert stretch.found[0][2:] == ("ßßß: ", "42", "!")
