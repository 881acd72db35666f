"""Services that make vectors over the network: OpenAI, Gemini, Voyage, Mistral, Ollama and the like.

`services` has the shapes of their messages, `provider` what is common to all, `http` the requests with their
deadlines and retries, and `errors` what a refusal means. To add a service, write
its class in `services` and name it in `SERVICES` of `settings/tree.py`. Which provider is used is decided in
`embed/select.py`.
"""
