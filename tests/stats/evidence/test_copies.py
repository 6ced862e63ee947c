"""Problems that are copies of each other by their prompts."""

import numpy as np
import pytest

from passband.stats.evidence.problems import problem_copies


def test_a_few_are_a_remark_and_many_are_weak() -> None:
    for copies, severity in ((1, "remark"), (10, "remark"), (11, "weak"), (50, "weak")):
        prompts = np.concatenate([np.arange(100 - copies), np.arange(copies)])
        (finding,) = problem_copies(prompts)
        assert finding.severity_for("problems", 1) == severity
        assert finding.severity_for("trials", 1) == "remark"
        assert finding.numbers["copies"] == copies
        assert "--cluster prompt" in finding.text


def test_different_prompts_have_none() -> None:
    assert problem_copies(np.arange(10)) == ()
    assert problem_copies(np.zeros(0, np.int64)) == ()


def test_inflation_is_that_of_equal_results() -> None:
    """The mean of values that copies share has the variance of their sums of weights squared."""
    rng = np.random.default_rng(1)
    prompts = rng.integers(0, 12, 30)
    (finding,) = problem_copies(prompts)
    means = rng.normal(size=(20_000, 12))[:, prompts].mean(axis=1)
    assert finding.numbers["inflation"] == pytest.approx(means.std() * 30**0.5, rel=0.03)
    assert problem_copies(rng.permutation(prompts)) == (finding,)
