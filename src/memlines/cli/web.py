"""The command `web`: open a page on this machine to see, search, understand and fix the memory."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import click

from memlines.cli.common import choose_workspace, common_options
from memlines.cli.output import is_terminal, print_json, print_line, wants_json
from memlines.cli.serve import serve_application
from memlines.paths import Workspace


@click.command("web")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The port. [default: any that is free]"
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@common_options
def web_command(port: int, no_browser: bool, workspace: Path | None) -> int:
    """Open a page to search, read and edit your memory in a browser.

    It listens on this machine only, and only the address that is printed opens it. See docs/web.md.
    """
    from memlines.serve.rpc.workplace import Workplace
    from memlines.serve.web.render import need_packages

    need_packages()
    from memlines.serve.web.site import Site

    root = Workspace.at(choose_workspace(workspace).folder).root
    place = Workplace(root)
    memory = place.memory()  # raises here, before anything is opened, if a setting is wrong

    def announce(url: str) -> None:
        if wants_json():
            print_json({"url": url, "workspace": str(root)})
        else:
            print_line(f"The memory of {root} is at {url}")
            print_line("Ctrl-C ends this.")
        # Not before the first page: what the first search needs takes a second of both cores.
        threading.Timer(0.3, _prepare).start()
        if not no_browser and is_terminal(sys.stdout):
            click.launch(url)

    def _prepare() -> None:
        memory.start_session()
        memory.warm_up()

    return serve_application(Site(place), announce, port=port)
