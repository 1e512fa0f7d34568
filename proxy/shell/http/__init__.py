"""Everything that touches HTTP and aiohttp."""
