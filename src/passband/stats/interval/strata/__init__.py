"""Weighted means of the estimates of several strata, such as the subjects of a benchmark.

`weights` splits outcomes by labels and reads how much each stratum counts; `spread` is the variance
and skewness of each, and the ends of the weighted mean; `interval` chooses the rule; `combination`
is the whole way; `design` describes samples within strata or from a finite population.
"""
