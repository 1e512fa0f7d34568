"""What operators see of the proxy, and what it sees of its machine."""
