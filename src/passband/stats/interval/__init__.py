"""Uncertainty of metrics: intervals by several methods, bands over curves, extrapolation.

How a request flows::

    estimate(outcomes, "pass@8", over=, method=, level=, seed=)        estimation.py
        |  checks, the policy for unscored trials, the metric by name
        v
    IntervalRequest: outcomes, metric, value, over, level, seed          request.py
        |  the method by name; a new one is a function with @register_method
        v                                                                registry.py
      default/        "auto": unbiased centre, score-type ends
      bootstrap/      "percentile" "bca" "studentized" "two-level" "t" "eva"
      posterior.py    "uniform" "jeffreys" "empirical-bayes" "hierarchical"
        |  two of the rooms rest on
        |     fit/    distributions of success probabilities, fitted to the counts, and kept
        v             in `outcomes.memo` for the next metric on the same outcomes
    Interval: low, high, se, notes, seed
        |
        v
    Estimate, which is written with digits by its error                  rounding.py

With ``certify=True`` the room `certify` simulates the user's own design, and the estimate has the
coverage to expect. `bands` covers a whole curve at once, with `band_ends`. `extrapolation` goes
beyond the trials, with the spiked Beta of `fit`. `seeds` makes seeds from names.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
