"""Families whose calls are JSON between two marks.

`hermes`, `mistral`, `harmony`, `llama`, `inkling`, `hyperclova`, `functionary`, and `plain_json` for all others.
"""
