"""Run directories of EVA: one folder for each trial, with a metrics.json in it.

    RUN/config.json                                what was planned
    RUN/records/RECORD/trial_N/metrics.json        one trial
    RUN/records/RECORD_trial_N/metrics.json        the same, as older versions wrote it
    RUN/records/RECORD/metrics.json                the only trial of a record

A record of EVA is a problem, and each of its metrics is a scorer.
"""
