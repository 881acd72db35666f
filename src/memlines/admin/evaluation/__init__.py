"""Measuring how well search finds what it should: labelled sets, metrics, and the run over them."""
