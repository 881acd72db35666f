"""The command line: `memlines init | sync | search | get | status | config | eval`."""
