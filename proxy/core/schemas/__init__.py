"""JSON Schema: is it one, and what can a backend read of it."""
