"""The embedded model: Universal Sentence Encoder multilingual v3, 512 dimensions, 16 languages.

The weights and the vocabulary come inside an installed package and nothing is downloaded.
`files` finds and checks them, `cache` keeps them unpacked, `tokens` cuts text into the
vocabulary's pieces, `model` is the arithmetic, `engine` spreads it over the cores, and
`provider` is what the rest of Memlines sees.
"""
