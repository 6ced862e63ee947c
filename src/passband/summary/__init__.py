"""Summaries: trials in, every metric with its interval out, as frozen values.

    run directory --> RunMeasurement --.
                                        >--> Summary --> text, --json, simple_evaluate, reports
    file, array, data frame --> Groups -'

`summarize` builds a `Summary` from recorded trials alone: neither the task file nor the model is
needed. Whatever shows numbers reads a `Summary`; nothing else computes one.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
