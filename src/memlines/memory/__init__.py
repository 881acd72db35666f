"""The object that people hold, and everything that is done to a memory through it.

`Memory` and `AsyncMemory` are the public doors; `notes`, `facts` and `conversations` do the work.
Protocols and prompts are elsewhere: in `serve` and `agent`.
"""
