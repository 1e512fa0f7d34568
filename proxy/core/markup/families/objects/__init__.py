"""Families whose calls are JSON between two marks.

`hermes`, `mistral`, `harmony`, `llama`, `inkling`, and `plain_json` for all others.
"""
