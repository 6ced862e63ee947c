"""Identify the run that a page shows, with the links around it."""

from __future__ import annotations

from dataclasses import dataclass

from passband.trials import RunRecord
from passband.view.links import Links, RunLinks
from passband.view.markup import Html, fragment, name, tag
from passband.view.page_frame import Crumb
from passband.view.reading.run_index import RunFolder


@dataclass(frozen=True)
class RunPage:
    """One run as pages name it and link to it."""

    links: Links
    folder: RunFolder
    number: int
    task: str
    model: str

    @classmethod
    def of(cls, links: Links, folder: RunFolder, run: RunRecord) -> RunPage:
        """Return the place of a run."""
        return cls(links, folder, run.number, run.task, run.label or run.model)

    @property
    def run(self) -> RunLinks:
        """The addresses of this run."""
        return self.links.run(self.folder.name, self.number)

    @property
    def reference(self) -> str:
        """The name of this run in addresses of comparisons."""
        return f"{self.folder.name}/{self.number}"

    @property
    def title(self) -> str:
        """The task and the model, as text."""
        return f"{self.task} by {self.model}"

    @property
    def heading(self) -> Html:
        """The task and the model as a heading has them."""
        return fragment(name(self.task), " ", tag("span", "by", class_="by"), " ", name(self.model))

    @property
    def crumbs(self) -> list[Crumb]:
        """The way to pages of this run."""
        where = fragment(name(self.folder.label), ": ", name(self.task), " by ", name(self.model))
        return [Crumb("runs", self.links.home), Crumb(where, self.run.page)]
