"""The guide to repeat metrics: its YAML and its Python, with other import lines."""

GUIDE = {
    "majority voting": """
        task: my_task
        repeats: 5  # Generate 5 outputs per sample
        metric_list:
          - metric: exact_match
            aggregation: mean
            repeat_aggregation: majority  # Take most common answer
            higher_is_better: true
    """,
    "best of k": """
        task: my_task
        repeats: 10
        metric_list:
          - metric: bleu
            aggregation: mean
            repeat_aggregation: max  # Take best BLEU score across 10 attempts
            higher_is_better: true
    """,
    "pass at k": """
        task: code_task
        repeats: 10
        metric_list:
          - metric: exact_match
            aggregation: mean
            repeat_aggregation: any_correct  # 1.0 if any repeat is correct
            higher_is_better: true
    """,
    "several": """
        task: complex_task
        repeats: 10
        metric_list:
          - metric: exact_match
            aggregation: mean
            repeat_aggregation: majority
            higher_is_better: true

          - metric: bleu
            aggregation: mean
            repeat_aggregation: max
            higher_is_better: true

          - metric: exact_match
            aggregation: mean
            repeat_aggregation: any_correct
            higher_is_better: true
    """,
    "migrated": """
        # New way: Simple configuration
        task: my_code_task
        repeats: 10
        metric_list:
          - metric: exact_match
            aggregation: mean
            repeat_aggregation: any_correct  # Pass@K style
            higher_is_better: true
    """,
    "custom": """
        metric_list:
          - metric: exact_match
            aggregation: mean
            repeat_aggregation: custom_weighted
    """,
    "question answering": """
        repeats: 5
        metric_list:
          - metric: exact_match
            repeat_aggregation: majority
    """,
    "code generation": """
        repeats: 10
        metric_list:
          - metric: exact_match
            repeat_aggregation: any_correct  # Pass@10
    """,
    "text generation": """
        repeats: 5
        metric_list:
          - metric: bleu
            repeat_aggregation: max  # Best BLEU
          - metric: bleu
            repeat_aggregation: mean  # Average BLEU
    """,
    "mathematics": """
        repeats: 10
        metric_list:
          - metric: exact_match
            repeat_aggregation: majority  # Most common answer
          - metric: exact_match
            repeat_aggregation: any_correct  # Pass@10
    """,
}

OLD = """
    # Old way: Custom filter + custom metric function
    task: humaneval
    repeats: 10
    filter_list:
      - name: "create_test"
        filter:
          - function: "custom"
            filter_fn: !function utils.build_predictions
    metric_list:
      - metric: !function utils.pass_at_k
        aggregation: mean
        k: [1, 10]
"""

OLD_CODE = """
    def build_predictions(resps, docs):
        return [[f"{doc['id']}={r}" for r in resp] for resp, doc in zip(resps, docs)]

    def pass_at_k(references, predictions, k=None):
        right = [one.partition("=")[2] == references[0] for one in predictions[0]]
        n, c = len(right), sum(right)
        shares = {1: c / n, 10: float(c > 0)}
        return {f"pass@{draws}": shares[draws] for draws in k}
"""

# -- Python ----------------------------------------------------------------------------------

RUNTIME = """
from passband import simple_evaluate

results = simple_evaluate(
    model="gpt2",
    tasks=["my_task"],
    num_repeats=5,  # Override task config
)
"""

SCORES = """
results = simple_evaluate(
    model="gpt2",
    tasks=["my_task"],
    num_repeats=5,
    log_samples=True,
)

# Access logged samples
for sample in results["samples"]["my_task"]:
    # Aggregated score
    print("Final score:", sample["exact_match"])

    # Individual repeat scores
    print("Repeat scores:", sample["exact_match_repeats"])
    # Example output: [1.0, 0.0, 1.0, 1.0, 0.0]
"""

CUSTOM = """
from passband import register_repeat_aggregation

@register_repeat_aggregation("custom_weighted")
def custom_weighted_agg(scores, predictions=None, **kwargs):
    \"\"\"Weight later repeats more heavily.\"\"\"
    weights = [i + 1 for i in range(len(scores))]
    return sum(s * w for s, w in zip(scores, weights)) / sum(weights)
"""
