"""Sequential methods: stopping rules, repeated looks, and logs stopped by their outcome.

`width` stops a run when its interval is narrow enough, `bernstein` does so with a proof. `spending`
makes the boundaries of repeated looks, `settle` takes such looks at two models. `stopped_logs` is
for logs in which the outcome of a trial decided whether there was another.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
