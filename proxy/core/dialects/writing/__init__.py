"""What all encoders share."""
