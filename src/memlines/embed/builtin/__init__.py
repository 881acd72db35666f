"""The embedded model: Universal Sentence Encoder multilingual v3, 512 dimensions, 16 languages.

The weights and the vocabulary come inside an installed package and nothing is downloaded. `files` finds,
checks and unpacks them, `model` is the arithmetic, `engine` cuts text into tokens and spreads the work over
the cores, and `provider` is what the rest of Memlines sees.
"""
