"""Detectors: what the data themselves say against the numbers that will be made of them.

Each function takes plain arrays and returns findings: `counts` numbers of trials that follow the
results (with `rules`, the names of patterns), `order` and `rounds` trials that are not alike in the
order of asking, `texts` answers that are copies, `agreement` the test of copies that both use,
`copies` problems that are, `failures` trials that failed on hard problems, `rare` scores that so
few problems may not have shown, `unasked` what a run has not asked. `correlation` is the test that
two of them share. False alarms of all of them together are measured by benchmarks/evidence.py.
"""
