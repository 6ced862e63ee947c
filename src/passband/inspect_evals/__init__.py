"""pass@k of Inspect AI tasks with a bootstrap over problems, as tinker-cookbook offers it.

    python -m passband.inspect_evals tasks=inspect_evals/aime2024 model_name=... num_choices=64

`InspectEvaluatorBuilder` makes the same evaluation a part of a training loop.
"""
