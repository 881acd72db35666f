"""Looking after a memory from outside: doctor, the check before a commit, backups, imports and evaluation.

All of it works through `Memory` and the layers below; nothing in `memory` imports it. What an agent or a
client needs while it runs is in `agent` and `serve`.
"""
