"""What to do about a sandbox that does not start, by what it wrote."""

from __future__ import annotations

__all__ = ["advice"]

_ADVICE = (
    ("ENOSPC", "user namespaces are off: see user.max_user_namespaces"),
    ("uid map", "user namespaces are forbidden: see kernel.apparmor_restrict_unprivileged_userns"),
    ("namespace", "this kernel, or the container around, forbids user namespaces"),
    ("Unknown option", "bubblewrap 0.8 or newer is needed"),
    ("execvp", "name a Python in PASSBAND_SANDBOX_PYTHON that programs can see"),
    ("image", "pull the image first, or name another one in PASSBAND_SANDBOX_IMAGE"),
    ("daemon", "start the engine, or ask for access to it"),
)


def advice(message: str) -> str:
    """Return the message of a sandbox with what to do about it, where that is known.

    >>> advice("bwrap: Unknown option --disable-userns")
    'bwrap: Unknown option --disable-userns; bubblewrap 0.8 or newer is needed'
    >>> advice("it ended")
    'it ended'
    """
    for words, remedy in _ADVICE:
        if words in message:
            return f"{message.rstrip('.')}; {remedy}"
    return message
