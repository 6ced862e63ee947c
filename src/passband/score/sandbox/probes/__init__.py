"""Programs that try to get out of a sandbox, or to forge a verdict: all of them must fail."""
