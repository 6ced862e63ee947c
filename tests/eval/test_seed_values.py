"""The 39 values that the reference documentation of these functions prints."""

import numpy as np
import pytest

from passband import eval as ev

R = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])
GRADED = np.array([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]])
EARLIER = np.array([[0, 2], [1, 2]])
W = np.array([0.0, 0.5, 1.0])

ONE_DRAW = (0.642857, 0.118451, 0.4107, 0.875)
TWO_DRAWS = (0.839286, 0.097263, 0.6487, 1.0)
BOTH_OF_TWO = (0.446429, 0.146167, 0.1599, 0.7329)

PRINTED = [
    (ev.bayes, (GRADED, W, EARLIER), {}, (0.575, 0.084275)),
    (ev.bayes, (GRADED, W), {}, (0.5625, 0.091998)),
    (ev.bayes_ci, (R,), {"bounds": (0.0, 1.0)}, ONE_DRAW),
    (ev.avg, (R,), {}, (0.7, 0.165831)),
    (ev.avg, (GRADED, W), {}, (0.6, 0.147196)),
    (ev.avg_ci, (R,), {"bounds": (0.0, 1.0)}, (0.7, 0.1658, 0.375, 1.0)),
    (ev.avg_ci, (GRADED, W), {"confidence": 0.95}, (0.6, 0.1472, 0.3115, 0.8885)),
    (ev.pass_at_k, (R, 1), {}, 0.7),
    (ev.pass_at_k, (R, 2), {}, 0.95),
    (ev.pass_hat_k, (R, 1), {}, 0.7),
    (ev.pass_hat_k, (R, 2), {}, 0.45),
    (ev.pass_at_k_ci, (R, 1), {}, ONE_DRAW),
    (ev.pass_at_k_ci, (R, 2), {}, TWO_DRAWS),
    (ev.pass_hat_k_ci, (R, 1), {}, ONE_DRAW),
    (ev.pass_hat_k_ci, (R, 2), {}, BOTH_OF_TWO),
    (ev.auc_at_k, (R, 1), {}, 0.7),
    (ev.auc_at_k, (R, 2), {}, 0.825),
    (ev.auc_at_k, (R, 3), {}, 0.9),
    (ev.maj_at_k, (R, 1), {}, 0.7),
    (ev.maj_at_k, (R, 2), {}, 0.45),
    (ev.maj_at_k, (R, 3), {}, 0.85),
    (ev.maj_at_k_ci, (R, 2), {}, BOTH_OF_TWO),
    (ev.maj_at_k_ci, (R, 3), {}, (0.684524, 0.151958, 0.3867, 0.9824)),
    (ev.g_pass_at_k, (R, 1), {}, 0.7),
    (ev.g_pass_at_k, (R, 2), {}, 0.45),
    (ev.g_pass_at_k_tau, (R, 2, 0.5), {}, 0.95),
    (ev.g_pass_at_k_tau, (R, 2, 1.0), {}, 0.45),
    (ev.mg_pass_at_k, (R, 2), {}, 0.45),
    (ev.mg_pass_at_k, (R, 3), {}, 0.166667),
    (ev.geom_at_k, (R, 2), {}, 0.647106),
    (ev.geom_at_k_ci, (R, 2), {}, (0.610666, 0.133107, 0.3498, 0.8716)),
    (ev.geom_ds_at_k, (R, 2), {}, 0.653835),
    (ev.geom_ds_at_k_ci, (R, 2), {}, (0.612112, 0.132755, 0.3519, 0.8723)),
    (ev.geo_spectrum_at_k, (R, 3), {}, 0.408248),
    (ev.geo_spectrum_at_k, (R, 3), {"lam": 1.0}, 1.0),
    (ev.max_at_k, (R, 2), {}, 0.95),
    (ev.max_at_k, (GRADED, 2), {"w": W}, 0.85),
    (ev.max_at_k_ci, (R, 2), {}, TWO_DRAWS),
    (ev.max_at_k_ci, (GRADED, 2), {"w": W}, (0.75, 0.08812, 0.5773, 0.9227)),
]


def decimals(number: float) -> int:
    return len(repr(number).partition(".")[2])


def test_none_is_left_out() -> None:
    assert len(PRINTED) == 39


@pytest.mark.parametrize(
    ("function", "arguments", "options", "printed"),
    PRINTED,
    ids=[f"{row}-{case[0].__name__}" for row, case in enumerate(PRINTED)],
)
def test_printed_value(function, arguments, options, printed) -> None:
    found = function(*arguments, **options)
    if isinstance(printed, float):
        assert round(found, 6) == printed
        return
    assert len(found) == len(printed)
    for number, wanted in zip(found, printed, strict=True):
        assert round(number, max(4, decimals(wanted))) == wanted
