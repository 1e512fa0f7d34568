"""The Chat Completions API of a backend."""
