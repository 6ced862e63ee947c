"""Trials as text to read: prompts, answers, marks and reasons."""
