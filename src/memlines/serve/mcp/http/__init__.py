"""The protocol over HTTP: on this machine only, and only for whoever has the token."""
