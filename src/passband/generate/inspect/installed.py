"""Check that inspect_ai is installed, and new enough."""

from __future__ import annotations

import importlib.util
import inspect
from importlib.metadata import version

from passband.errors import InvalidInput, describe

OLDEST = "0.3.278"  # whose enqueue_sample takes the epoch


def require_inspect() -> str:
    """Return the version of inspect_ai; refuse one that is missing or too old."""
    if importlib.util.find_spec("inspect_ai") is None:
        raise InvalidInput(
            "a task of Inspect needs the package inspect_ai; install it with: "
            "pip install 'passband[inspect]'"
        )
    try:
        import inspect_ai
    except ImportError as error:
        raise InvalidInput(f"inspect_ai cannot be imported: {describe(error)}.") from error
    installed = version("inspect_ai")
    enqueue = getattr(inspect_ai, "enqueue_sample", None)
    if enqueue is None or "epoch" not in inspect.signature(enqueue).parameters:
        raise InvalidInput(
            f"inspect_ai {installed} cannot run single epochs of a sample; {OLDEST} or newer can: "
            f"pip install --upgrade 'inspect-ai>={OLDEST}'"
        )
    return installed


def message_of(error: BaseException) -> str:
    """Return the text of an error that inspect_ai raised: its own are written for a terminal."""
    from rich.text import Text

    message = getattr(error, "message", None)
    if not isinstance(message, str):
        return describe(error, 500)
    return " ".join(Text.from_markup(message).plain.split()).removeprefix("ERROR: ")
