"""What all decoders share."""
