"""Opening the browser, without showing the address to those who list processes."""

from __future__ import annotations

import atexit
import os
import tempfile
import webbrowser
from pathlib import Path

from passband.report import escape


def open_in_browser(address: str) -> bool:
    """Open an address; return whether there is a browser.

    The browser is given a file that only this user can read and that leads on to the address: the
    command line of a process can be read by everyone on a machine.
    """
    path = redirect_file(address)
    atexit.register(path.unlink, missing_ok=True)
    return webbrowser.open(path.as_uri())


def redirect_file(address: str) -> Path:
    """Return a new file, readable by this user alone, that leads to an address."""
    descriptor, name = tempfile.mkstemp(prefix="passband-view-", suffix=".html")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<title>passband view</title><a href="{escape(address)}">passband view</a>\n'
        )
    return Path(name)
