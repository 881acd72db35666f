"""Bring in what other programs remember: OpenClaw, mem0, ChatGPT, and folders of Markdown.

`json_export` reads their files safely, `memories` writes single memories into notes (and has mem0), `vault`
copies whole notes; the other modules know one program each. Importing the same again adds nothing. To add a
program, write a module for it here and a command in `cli/imports.py`. Transcripts of coding agents are not
imported here: `transcripts` parses them where they are.
"""
