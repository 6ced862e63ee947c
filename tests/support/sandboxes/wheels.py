"""Packages of one module, as wheels that pip can install without a build tool or a network."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path
from textwrap import dedent

WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(folder: Path, module: str, source: str) -> Path:
    """Write a package whose module is a plug-in of passband; return the file."""
    info = f"{module}-1.0.dist-info"
    files = {
        f"{module}.py": dedent(source),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n",
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": f"[passband.plugins]\n{module} = {module}\n",
    }
    path = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        record = [f"{name},{_digest(text)},{len(text)}" for name, text in files.items()]
        wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return path


def unpack(wheel: Path, folder: Path) -> None:
    """Put a package onto a folder of the import path, as if it were installed there."""
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
