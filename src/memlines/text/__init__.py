"""Pure functions on text: cutting it up, and telling words apart."""
