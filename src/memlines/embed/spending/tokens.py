"""How many tokens a text has, near enough to hold a limit before a service has counted them."""

ASCII_CHARACTERS_PER_TOKEN = 4


def estimate(text: str) -> int:
    """Return about how many tokens a text has: one for four ASCII characters, one for every other.

    Rather too many than too few outside English, because a limit is held against this number
    before the service says what it really counted.
    """
    if text.isascii():
        return -(-len(text) // ASCII_CHARACTERS_PER_TOKEN)
    # Encoding with "ignore" drops what is not ASCII (lone surrogates too), many times faster than a loop.
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // ASCII_CHARACTERS_PER_TOKEN) + len(text) - ascii_count
