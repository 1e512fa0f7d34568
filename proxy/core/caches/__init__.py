"""What is remembered from one request to the next, in bounded memory."""
