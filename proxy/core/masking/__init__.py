"""What is left out of a text before anybody reads it."""
