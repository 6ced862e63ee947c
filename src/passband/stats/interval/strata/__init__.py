"""Weighted means of the estimates of several strata, such as the subjects of a benchmark.

`partition` splits outcomes by labels; `weights` reads how much each stratum counts; `spread` is
the variance and skewness of one stratum; `over_problems`, `over_trials` and `square_and_add` make
the interval of the weighted mean; `combine` is the whole way.
"""
