"""Import functions of scipy.special without the parts of numpy that they do not use.

scipy clones the namespace of numpy, and so imports all that numpy lists, with numpy.f2py and
numpy.testing: 0.1 s, longer than a command takes to read and measure a small table. While
scipy.special is imported, numpy leaves these out of its lists; both can be imported as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np

_NOT_CLONED = {"f2py", "testing", "test"}  # `test` is an object of numpy.testing


@contextmanager
def _shortened_lists(module: ModuleType) -> Iterator[None]:
    """Leave names out of `from module import *` and of `dir(module)` within the block."""
    namespace = vars(module)
    listed, directory = namespace["__all__"], namespace["__dir__"]
    names = sorted(set(directory()) - _NOT_CLONED)
    shortened = [name for name in listed if name not in _NOT_CLONED]
    try:
        namespace.update(__all__=shortened, __dir__=lambda: names)
        yield
    finally:
        namespace.update(__all__=listed, __dir__=directory)


with _shortened_lists(np):
    from scipy.special import bdtrc as bdtrc
    from scipy.special import betainc as betainc
    from scipy.special import betaincinv as betaincinv
    from scipy.special import betaln as betaln
    from scipy.special import chdtrc as chdtrc
    from scipy.special import expit as expit
    from scipy.special import gammaincinv as gammaincinv
    from scipy.special import gammaln as gammaln
    from scipy.special import ndtr as ndtr
    from scipy.special import ndtri as ndtri
    from scipy.special import stdtr as stdtr
    from scipy.special import stdtrit as stdtrit
    from scipy.special import xlog1py as xlog1py
    from scipy.special import xlogy as xlogy
