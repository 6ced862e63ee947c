"""`simple_evaluate`, called and answering as lm-evaluation-harness does."""
