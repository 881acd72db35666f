"""Write the page of the documentation that lists every setting."""

from __future__ import annotations

import sys
from pathlib import Path

from memlines.settings.keys import ALIASES, WITHOUT_EFFECT, known_keys
from memlines.settings.trusted_files import Project
from memlines.settings.values import Key, plain_number

_INTRODUCTION = """\
# Settings

<!-- Written by `make docs` from src/memlines/settings/tree.py; change it there. -->

Every setting has a default, so you need not set any. Later sources win over earlier ones:

1. the defaults below;
2. your own file: `config.yaml` in the user-wide settings folder, or in `$MEMLINES_HOME`;
3. what `.opencode/config.yaml` of the workspace says below `memory`;
4. the project's file: `.memory/config.yaml` in the workspace;
5. environment variables;
6. arguments: options of the command line, or `settings=` in Python.

`memlines config show` prints every value and where it came from, `memlines config path` the files.

```console
$ memlines config set query.max_results 10              # in your own file
$ memlines config set query.max_results 10 --project    # in .memory/config.yaml
$ memlines config get query.max_results
$ memlines config unset query.max_results
```

`config set` checks the value first, and refuses a number outside its range. The rest of the file stays as it
is, with its comments, and your own file is closed to other users. Lists are separated by commas, headers are
written `name=value,name=value`.

```yaml
query:
  max_results: 10
  hybrid:
    vector_weight: 0.6 # selects query.fusion: weighted
    text_weight: 0.4
```

**Names.** In files you can write `max_results` or `maxResults`, but not both with different values. An
unknown key is an error that names the nearest known one. YAML anchors, aliases and tags are not accepted. You
can also write a file as JSON, with comments and trailing commas if you like.

**Other names.** A configuration that you wrote for OpenClaw or OpenCode works as it is, wherever settings are
read. It may be below `memory`, `memorySearch` or `agents.defaults.memorySearch`, or at the top; the
[other names](#other-names) it may use are listed below. `config show` says which name set a value.

**Values.** Nothing (`null`) means the default. A number outside its range, in a file or a variable, becomes
the nearest number in the range. In a single call (`memlines search --max-results 0`, `min_score=2` in Python)
it is an error. A value of the wrong type is an error that says where it was set. The two weights of
`query.hybrid` are scaled to add up to 1.

**Settings that choose another.** Only the fusions `weighted` and `rrf` use `query.hybrid.vector_weight`,
`text_weight` and `candidate_multiplier`. Setting one of them selects the fusion `weighted`, unless you set
`query.fusion` yourself; `memlines config show` says so. With `query.fusion: evidence` they have no effect,
and `memlines config show`, `status` and `doctor` warn you. They also warn about `embeddings.model` and
`embeddings.base_url` with the providers `builtin` and `none`, which use neither.

**Environment variables.** The variable of a key is `MEMLINES_` and the key in capitals, with two underscores
for each dot: `MEMLINES_QUERY__MAX_RESULTS=10`. Lists are separated by commas:
`MEMLINES_SOURCES=memory,sessions`. Headers are written `name=value,name=value`. Switches take true, false,
yes, no, on, off, 1 and 0. An empty variable clears a setting whose default is nothing.

**Secrets.** In `embeddings.api_key`, `embeddings.headers` and `embeddings.base_url`, whether from a file or
an argument, `${VAR}` means the environment variable `VAR`. Keys and header values are never shown.

**Projects.** A project's file comes with a repository that someone else may have written. So it may only set
keys that change how that project's notes are found: those with "yes" in the column "project". "only less"
means that it may ask for less than the defaults and your own file allow, such as switching something off, but
not for more. It may always repeat the current value. Anything else is an error until you have read the file
and run `memlines config trust`; when the file changes, you must trust it again. The same rules apply to other
names of a key. The file and its folder must not be symbolic links. `memlines config off` writes `enabled:
false` into the file, `memlines config on` removes it; the rest of the file stays as it is.

The same rules apply to `.opencode/config.yaml`, where only the part below `memory` is read.
`.memory/config.yaml` wins over it, and `memlines config trust` trusts both.

**Agents.** Keys below `agents.<name>` apply to one agent only; every key except `agent` can be there. The
setting `agent` chooses the agent, or `--agent NAME` for one command (the same as `MEMLINES_AGENT=NAME`). A
value for an agent wins over a value for all in the same file; a later source wins over both. `extra_paths` of
an agent are added to the common ones. A project's file may set for an agent what it may set for all.

```yaml
extra_paths: [../shared]
agents:
  research:
    extra_paths: [../papers]      # ../shared and ../papers
    query: {max_results: 10}
```

**The workspace.** If you name no folder, the first of these is used:

1. the environment variable `MEMLINES_WORKSPACE`;
2. the nearest folder, from where you are upwards, with `MEMORY.md` or `.memory`;
3. `workspace` in your own file, relative to that file;
4. the folder you are in.

This applies to every command, `Memory()` in Python, `serve` and `mcp`. Hooks use the variable, but not
`workspace` in your file: they do nothing in a folder without a memory. `install` and `uninstall` always use
the project you are in. A project's file must not set `workspace`, trusted or not. `memlines status` and
`memlines config show` say where the workspace came from.

**Profiles.** `profile: openclaw` gives every `query` key that you did not set the value that OpenClaw uses,
even if our default changes.
"""

_HEAD = "| key | meaning | takes | default | project |\n|---|---|---|---|---|\n"

_OTHER_NAMES = """
## Other names

If a name means a group, it means everything in it: `search.maxResults` is `query.max_results`. You can write
each in camelCase.

`experimental.sessionMemory` works as in OpenClaw. If the same file also sets `sources`, conversations are
read only if both ask for them. If it does not, `true` adds `sessions` to the sources and `false` removes it.

| name | means | note |
|---|---|---|
"""

_UNITS = {
    "chunk_size": "Counts characters; a token is four.",
    "embeddings.batch.poll_interval_ms": "Counts milliseconds.",
}

_PROJECT_WORDS: dict[Project, str] = {"no": "no", "less": "only less", "yes": "yes"}


def render_table() -> str:
    """Return the whole page as Markdown."""
    rows = [f"| `{alias}` | `{key}` | {_UNITS.get(alias, '')} |\n" for alias, key in ALIASES.items()]
    rows += [f"| `{alias}` | nothing | No effect: {why}. |\n" for alias, why in WITHOUT_EFFECT.items()]
    groups: dict[str, list[Key]] = {}
    for key in known_keys().values():
        groups.setdefault(key.name.partition(".")[0], []).append(key)
    single = [key for keys in groups.values() if len(keys) == 1 for key in keys]
    titled = {"General": single, **{name: keys for name, keys in groups.items() if len(keys) > 1}}
    tables = (f"\n## {title}\n\n{_HEAD}{''.join(map(_row, keys))}" for title, keys in titled.items())
    return _INTRODUCTION + "".join(tables) + _OTHER_NAMES + "".join(rows)


def _row(key: Key) -> str:
    """Return the line of one key."""
    cells = (
        f"`{key.name}`",
        key.rule.doc,
        key.allowed,
        default_of(key),
        _PROJECT_WORDS[key.rule.project],
    )
    return f"| {' | '.join(cells)} |\n"


def default_of(key: Key) -> str:
    """Write a default the way one would write it in a file."""
    value = key.default
    if key.rule.kind == "dict":
        return "`{}`"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(value)}]`"
    if isinstance(value, int | float):
        return f"`{plain_number(value)}`"
    return f"`{value}`" if value else "empty"


def main(arguments: list[str]) -> None:
    """Write the page to the file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/write_settings.py PATH")
    Path(arguments[0]).write_text(render_table(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
