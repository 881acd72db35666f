"""The page that `memlines web` opens: search, read, edit and understand a memory in a browser.

`site` decides who is let in and which page answers, `render` turns values into HTML. `finding`, `notes`,
`overview`, `review` and `health` have the pages, `charts` draws, `export` writes one page for an archive. It
changes nothing on GET, loads nothing from the network, and holds no logic: that is in `memory`.
"""
