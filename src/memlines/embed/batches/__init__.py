"""The batch APIs of embedding services: slow, cheap, and only shapes of requests and replies."""
