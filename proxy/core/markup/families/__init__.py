"""The formats, one module per family of models that write alike."""
