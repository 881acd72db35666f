"""The Model Context Protocol, over lines and over HTTP on this machine only.

`server` has the methods, `offers` what they list; `http`, `guard` and `exchange` answer requests from
programs that know the token. Lines are read and written by `serve.rpc.server`, and the tools are in
`serve.tools`.
"""
