"""Test cases as LiveCodeBench stores them: JSON, or JSON in a pickle, compressed, in base64.

A pickle may name any function to be called. This one may hold a text and nothing else: a name of
any kind is refused before it is looked up.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from typing import Any, NoReturn

from passband.errors import InvalidInput

__all__ = ["unpacked_cases"]

_LARGEST = 1 << 30  # bytes, uncompressed


class _TextOnly(pickle.Unpickler):
    """Reads texts, numbers and lists, and refuses whatever would import something."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise InvalidInput(f"the test cases are a pickle that calls {module}.{name}; refused.")


def unpacked_cases(text: str) -> Any:
    """Return the test cases in a text.

    >>> unpacked_cases('[{"input": "1", "output": "2"}]')
    [{'input': '1', 'output': '2'}]
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        unpacking = zlib.decompressobj()
        pickled = unpacking.decompress(base64.b64decode(text, validate=True), _LARGEST)
        value = _TextOnly(io.BytesIO(pickled)).load()
        return json.loads(value) if isinstance(value, (str, bytes)) else value
    except InvalidInput:
        raise
    except (binascii.Error, zlib.error, pickle.UnpicklingError, ValueError, EOFError) as error:
        raise InvalidInput(f"the test cases are neither JSON nor packed JSON: {error}.") from None
    except Exception as error:  # what a broken pickle can raise is not limited to the above
        raise InvalidInput(f"the test cases cannot be unpacked: {error!r:.100}.") from None
