"""The Model Context Protocol, over lines and over HTTP on this machine or behind a proxy.

`server` has the methods, `offers` what they list; `endpoint` and `exchange` answer requests over HTTP from
programs that know a token. A team has a file of `tokens`, a server for each of them (`team`) and a log of
what is written (`audit`). Lines are read and written by `serve.rpc.server`, and the tools are in
`serve.tools`.
"""
