"""The log of what passband does: silent, unless `-v` or PASSBAND_LOG asks for it.

Events go to the logger `passband` of the standard library, as one line of key=value each. They
carry names, counts and times; never a key, a header, or the text of a prompt or of an answer.
All of them are below WARNING, which is why a program that has set up no logging sees none.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from logging import DEBUG as DEBUG
from logging import INFO as INFO

from passband.errors import InvalidInput

VARIABLE = "PASSBAND_LOG"
_LEVELS = {"debug": DEBUG, "info": INFO}
LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z [a-z]+ pid=\d+ ")  # how each line begins
_BARE = re.compile(r"[\w./:@+*%,\[\]-]+")  # a value that needs no quotes

_logger = logging.getLogger("passband")
_handlers: list[logging.Handler] = []


def is_logged(level: int = DEBUG) -> bool:
    """Return whether anyone reads events of a level."""
    return _logger.isEnabledFor(level)


def event(name: str, level: int = DEBUG, /, **values: object) -> None:
    """Log an event with its values; those that are None are left out."""
    if _logger.isEnabledFor(level):
        pairs = (f" {key}={_text(value)}" for key, value in values.items() if value is not None)
        _logger.log(level, "%s", name + "".join(pairs))


@contextmanager
def phase(name: str, **values: object) -> Iterator[None]:
    """Log how many milliseconds a phase took, and whether it ended with an error."""
    began, error = time.perf_counter(), None
    try:
        yield
    except BaseException as raised:
        error = type(raised).__name__ if getattr(raised, "exit_code", 1) else None
        raise
    finally:
        ms = round(1000 * (time.perf_counter() - began), 1)
        event("phase", INFO, name=name, ms=ms, error=error, **values)


def open_log(to: str, clean: Callable[[str], str] = str) -> None:
    """Write events to stderr, from the level `debug` or `info` on, or all of them to a file.

    `clean` takes keys out of a line.
    """
    level = _LEVELS.get(to.lower())
    try:
        handler = _Stderr() if level else logging.FileHandler(to, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"{VARIABLE}={to}: the log cannot be written ({error.strerror}); give debug, info or "
            "a file."
        ) from None
    handler.setLevel(level or DEBUG)
    handler.setFormatter(_Line(clean))
    handler.addFilter(_is_event)
    _handlers.append(handler)
    _logger.addHandler(handler)
    _logger.setLevel(min(handler.level for handler in _handlers))


def close_log() -> None:
    """Be silent again."""
    _logger.setLevel(logging.NOTSET)
    while _handlers:
        handler = _handlers.pop()
        _logger.removeHandler(handler)
        handler.close()


def _is_event(record: logging.LogRecord) -> bool:
    """Pass events and warnings: what else is logged below `passband` may quote texts."""
    return record.name == _logger.name or record.levelno >= logging.WARNING


class _Stderr(logging.Handler):
    """Writes to what stderr is at the moment; a closed one is no reason to fail."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(self.format(record) + "\n")


class _Line(logging.Formatter):
    """Time, level and event in one line, without keys."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        super().__init__()
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        head = f"{at}.{int(record.msecs):03d}Z {record.levelname.lower()}"
        lines = super().format(record).splitlines()  # of a traceback there are several
        return self._clean(f"{head} pid={os.getpid()} " + "\\n".join(lines))


def _text(value: object) -> str:
    r"""Return a value as it stands in a line.

    >>> _text("runs/tiny"), _text("two\nlines"), _text(0.25)
    ('runs/tiny', '"two\\nlines"', '0.25')
    """
    text = str(value)
    return text if _BARE.fullmatch(text) else json.dumps(text)
