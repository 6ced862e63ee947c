"""Prompts: templates, few-shot examples, fields and choices."""
