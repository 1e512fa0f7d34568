"""What all surfaces read alike."""
