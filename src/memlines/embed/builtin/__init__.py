"""The embedded model: Universal Sentence Encoder multilingual v3, 512 dimensions, 16 languages.

The weights and the vocabulary come inside an installed package and nothing is downloaded. `files` finds,
checks and unpacks them and has the provider that the rest of Memlines sees, `model` is the arithmetic, and
`engine` cuts text into tokens and spreads the work over the cores.
"""
