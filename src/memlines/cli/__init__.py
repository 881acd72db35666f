"""The command line: each command parses its arguments, calls the layers below and prints.

`main` finds a command and imports its module; `common` has the options that commands share, `output` the
functions that they print with. No logic lives here: what a command does can also be done from Python.
"""
