"""Probes of a sandbox: programs that try to escape or to forge a verdict, and must fail."""
