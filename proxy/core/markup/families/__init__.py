"""The dialects, one module per family of models that write alike."""
