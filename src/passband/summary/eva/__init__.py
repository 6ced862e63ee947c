"""metrics_summary.json: the fields of EVA's file, for any run, with estimates that are right.

    run directory, EVA run, log, table --> Run of Records --> MetricsSummary --> JSON
    composites in YAML ----------------------^

``method="eva"`` follows EVA's own rules, oddities included, to its four decimals.
"""
