"""Public names of the package; each is imported when it is first used."""

from passband.pytest.check import assert_no_worse as assert_no_worse
from passband.pytest.check import assert_pass_rate as assert_pass_rate
from passband.pytest.result import RateResult as RateResult
from passband.pytest.trial import Trial as Trial
