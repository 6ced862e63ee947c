"""The command line: one short file per verb.

Nothing is imported here: loading the verbs takes a moment, and Ctrl-C within it should end the
command as it does later.
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

__all__ = ["main"]

_INTERRUPTED = 130  # errors.ExitCode.INTERRUPTED, before anything is imported


def main() -> None:
    """Run the `passband` command; Ctrl-C exits with 130."""
    before = signal.getsignal(signal.SIGINT)
    is_ours = before is not signal.SIG_IGN and _is_main_thread()
    try:
        if is_ours:
            signal.signal(signal.SIGINT, _exit)
        from passband.cli.app import main as run

        run()
    finally:
        if is_ours and before is not None:
            signal.signal(signal.SIGINT, before)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(_INTERRUPTED)
