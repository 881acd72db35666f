"""The program qmd as a search engine: run it, read what it prints.

What comes back are plain values. When it is asked, and what happens if it fails, is decided in `memory`.
"""
