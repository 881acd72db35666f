"""Transcripts of other programs, turned into plain values: one file per client, and what they share.

A client's file says where its transcripts are, which belong to a workspace, and what each line of one says.
How a client is installed is in `clients`; what is done with conversations is in `memory.conversations`.
"""
