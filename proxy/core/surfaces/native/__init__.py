"""Chat Completions in a stricter form whose calls arrive whole."""
