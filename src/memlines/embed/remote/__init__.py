"""Embedding services over the network; see `catalogue.py` for the list."""
