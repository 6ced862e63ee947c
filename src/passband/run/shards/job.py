"""Describe a shard to the process that asks for it: names and settings that can be pickled."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from passband import plugins
from passband.errors import PassbandError
from passband.generate import Connection
from passband.run.judge.choice import JudgeChoice
from passband.run.request import Recipe, RunRequest
from passband.run.session import TrialMasks
from passband.run.settings import Settings
from passband.run.task_run import Price
from passband.version import __version__


@dataclass(frozen=True)
class ShardJob:
    """One shard of a run; it can be pickled, and holds no key as long as no header is given."""

    recipe: Recipe
    directory: Path  # of the shard; the same wherever it is asked
    settings: Settings
    price: Price | None
    judge: JudgeChoice | None
    elsewhere: TrialMasks
    folder: str  # that relative paths are relative to
    imports: Sequence[str] = ()  # plug-in modules
    version: str = __version__

    @property
    def name(self) -> str:
        """The shard as INDEX/N."""
        return str(self.settings.shard)

    @property
    def has_secrets(self) -> bool:
        """Whether it holds values that must not leave this machine."""
        options = self.recipe.options
        headers = options.get("headers") or {}
        judge = None if self.judge is None else self.judge.base_url
        addresses = [options.get("base_url"), judge]
        return any(Connection(each, headers=headers).has_secrets for each in addresses)

    def request(self) -> RunRequest:
        """Make the request of the shard, in the process that asks for it."""
        if self.version != __version__:
            raise PassbandError(
                f"the run is led by passband {self.version}, and this process has {__version__}; "
                "install the same version everywhere."
            )
        try:
            os.chdir(self.folder)
        except OSError as error:
            raise PassbandError(
                f"{self.folder}, where the run was started, cannot be entered on this machine: "
                f"{error.strerror}. Start it in a folder that every node sees."
            ) from None
        plugins.import_modules(list(self.imports))
        request = self.recipe.make(self.directory)
        concurrency = self.settings.concurrency
        return replace(
            request,
            settings=self.settings,
            connection=replace(request.connection, concurrency=concurrency),
            price=self.price,
            judge=self.judge,
            elsewhere=self.elsewhere,
        )
