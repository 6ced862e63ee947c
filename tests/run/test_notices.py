"""Notes and warnings of a run that its progress does not show."""

from types import SimpleNamespace
from typing import Any, cast

from passband.generate.provider import Backend, Sampling
from passband.run.before_asking import warn_before_asking
from passband.run.notices import notes_of
from support.runs.runs import Notes


class Subject(Backend):
    notes = ("one", "two")

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        return [f"temperature {sampling.temperature} is ignored, seeds {seeds}"]


def task_run(subject: Any, *, done: int = 0) -> Any:
    counters = SimpleNamespace(done=done, planned=4)
    task = SimpleNamespace(name="sums", notes=(), warnings=())
    return SimpleNamespace(
        subject=subject, counters=counters, sampling=Sampling(temperature=1.0), task=task,
        unasked=0, n=4, seed="s",
    )  # fmt: skip


def test_the_notes_of_a_subject_come_once() -> None:
    subject = Subject()
    assert notes_of([task_run(subject), task_run(subject)]) == ["one", "two"]
    assert notes_of([task_run(Backend())]) == []


def test_settings_without_effect_are_a_warning_before_the_first_request() -> None:
    notes, subject = Notes(), Subject()
    asking = [task_run(subject), task_run(subject), task_run(subject, done=4)]
    warn_before_asking(cast(Any, asking), [], {}, None, notes)
    assert notes.warnings == ["temperature 1.0 is ignored, seeds True."]
    done = Notes()
    warn_before_asking(cast(Any, [task_run(subject, done=4)]), [], {}, None, done)
    assert done.warnings == []
