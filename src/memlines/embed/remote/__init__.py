"""Services that make vectors over the network: OpenAI, Gemini, Voyage, Mistral, Ollama and the like.

`services` has the shapes of their messages, `provider` what is common to all, `http` the requests with their
deadlines and retries, and `errors` what a refusal means. Nothing here decides which provider is used.
"""
