"""The command line: `recollect init | sync | search | get | status | config | eval`."""
