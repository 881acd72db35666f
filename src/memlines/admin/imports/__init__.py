"""Bring in what other programs remember: OpenClaw, mem0, ChatGPT, and folders of Markdown.

`exports` reads their files safely, `memories` writes single memories into notes, `vault` copies whole notes;
the other modules know one program each. Importing the same again adds nothing. Transcripts of coding agents
are not imported here: `transcripts` parses them where they are.
"""
