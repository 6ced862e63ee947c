"""The command line: one short file per verb.

Nothing that takes time is imported here: loading the verbs takes a moment. Until then a terminal
shows that a run has begun, and Ctrl-C ends the command as it does later.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from types import FrameType

from passband.cli.progress_lines import close_opening, show_opening

__all__ = ["main"]

_INTERRUPTED = 130  # errors.ExitCode.INTERRUPTED, before anything is imported
_AGAIN = 1.0  # seconds in which the command has to end, or else it is interrupted once more
_OBJECTS = 50_000  # new ones before Python looks for cycles: imports make many, and no garbage
_ended = threading.Event()


def main() -> None:
    """Run the `passband` command; Ctrl-C exits with 130."""
    before = signal.getsignal(signal.SIGINT)
    is_ours = before is not signal.SIG_IGN and _is_main_thread()
    is_shown, collections = False, gc.get_threshold()
    _ended.clear()
    try:
        if is_ours:
            signal.signal(signal.SIGINT, _exit)
        if collections[0]:  # 0: switched off
            gc.set_threshold(_OBJECTS, *collections[1:])
        is_shown = show_opening(sys.argv[1:])
        from passband.cli.app import main as run

        run()
    finally:
        _ended.set()
        gc.set_threshold(*collections)
        if is_shown:
            close_opening()
        if is_ours and before is not None:
            signal.signal(signal.SIGINT, before)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _exit(number: int, frame: FrameType | None) -> None:
    threading.Thread(target=_insist, daemon=True).start()
    sys.exit(_INTERRUPTED)


def _insist() -> None:
    """Interrupt once more if the command goes on: a module under import may swallow any error."""
    if not _ended.wait(_AGAIN):
        os.kill(os.getpid(), signal.SIGINT)
