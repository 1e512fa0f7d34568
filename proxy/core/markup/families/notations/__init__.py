"""Families whose calls have a notation of their own: `gemma`, `pythonic`, `arrows`."""
