"""Functions of scipy.special, without what its import costs for nothing."""

import subprocess
import sys

import pytest

LIGHT = """
import sys
from passband.stats.special import betaln
import numpy
assert betaln(1, 1) == 0.0
assert {"numpy.f2py", "numpy.testing"}.isdisjoint(sys.modules)
assert {"f2py", "testing"} <= {*dir(numpy)} & {*numpy.__all__}
import numpy.f2py
numpy.testing.assert_array_equal(numpy.fft.ifft([1.0]), [1.0])
"""


@pytest.mark.process
def test_numpy_is_not_cloned_whole_and_stays_whole() -> None:
    subprocess.run([sys.executable, "-c", LIGHT], check=True, timeout=60)
