"""From a question to cited lines: words, vectors, and what makes one ranking of both."""
