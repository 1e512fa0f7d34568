"""What is remembered for clients, and what they keep for the proxy."""
