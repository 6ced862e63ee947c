"""The gate: may the new model replace the base? Policies, verdicts and the result's JSON."""
