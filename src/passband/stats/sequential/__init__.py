"""Sequential methods: when a run may stop, what a look costs, and logs stopped by their outcome.

`rounds` holds trials in the order in which they were made. `width` stops a run when its interval is
narrow enough, `bernstein` does so with a proof. `spending` makes the boundaries of repeated looks,
`settle` takes such looks at two models. `unstopped` and `detect` are for logs in which the outcome
of a trial decided whether there was another.
"""
