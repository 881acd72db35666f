"""Reranking: a model reads a query with each text that search found, and gives the text a score.

The services are in `remote`, models on this machine in `local` and `onnx`; `select` makes the one that the
settings name and asks it within its time. What the scores are used for is decided above, in `memory`.
"""
