"""Bootstrap intervals.

`methods` are the intervals; `units` what is resampled (problems, clusters, trials); `exact` the
distribution of a resampled mean without resampling; `draws` the resampling where there is no such
shortcut; `eva_bootstrap` that of another tool, reproduced bit for bit.
"""
