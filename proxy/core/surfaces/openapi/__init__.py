"""The description of the proxy's API."""
