"""Keep the index of an open memory up to date: before a search, in the background, while watching."""
