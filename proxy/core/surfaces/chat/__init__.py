"""The Chat Completions API, as clients speak it."""
