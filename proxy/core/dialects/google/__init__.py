"""Google's generateContent API."""
