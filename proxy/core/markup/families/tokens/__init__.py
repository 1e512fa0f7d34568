"""Families whose calls are special tokens around a head and JSON: `deepseek`, `kimi`, `solar`, `plamo`."""
