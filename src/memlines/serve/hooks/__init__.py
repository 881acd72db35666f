"""Answers the hooks of clients: a thin command a hook, and one engine a workspace that ends itself."""
