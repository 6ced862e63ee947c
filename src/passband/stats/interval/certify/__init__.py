"""Certificates: the coverage to expect of the default interval on data like the user's own.

The user's design (problems, the trials of each, clusters, metric, target, level) is simulated on
`laws` that are fitted to the data, and the very rule that made the interval is run on every
simulated data set::

    certified(request)                                                    certify.py
        |  0/1 scores            binary_sets.py   histograms, all data sets at once
        |  0/1 scores, clusters  binary_sets.py   data set by data set
        |  graded scores         graded_sets.py   data set by data set
        v
    Simulation: how often the interval contains the truth, at any level   simulation.py
        |
        v
    Certificate                                                           certificate.py
        |  on request
        v
    a higher quantile, where the certificate predicts too little          certificate.py

`needs_simulation` is the cheap test by which a summary decides whether to certify by itself.
"""
