"""A program that serves a few methods over its standard streams; none knows of memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from memlines.cli.serve import serve_stdio
from memlines.serve.rpc.server import ENGINE, Method


class FewMethods:
    """What the tests of the process call."""

    def methods(self) -> Mapping[str, Method]:
        calls = {
            "initialize": lambda params: "hello",
            "echo": lambda params: params,
            "large": lambda params: "x" * params["bytes"],
            "hang": self.hang,
            "noise": self.noise,
            "child": self.child,
            "shout": lambda params: sys.stderr.write("x" * 1_000_000),
            "mistake": lambda params: params["is missing"],
        }
        return {name: Method(call, 60) for name, call in calls.items()}

    def close(self) -> None:
        sys.stderr.write("closed\n")
        if "hang-at-the-end" in sys.argv:
            self.hang({})

    def hang(self, params: Mapping[str, Any]) -> None:
        sys.stderr.write("hanging\n")
        threading.Event().wait()

    def noise(self, params: Mapping[str, Any]) -> None:
        print("a print")  # noqa: T201 (that it does no harm is what is tested)
        os.write(1, b"a write\n")
        subprocess.run([sys.executable, "-c", "print('a child')"], check=True)

    def child(self, params: Mapping[str, Any]) -> str:
        code = "import sys; print(repr(sys.stdin.read()))"
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.decode()


if __name__ == "__main__":
    few: Any = FewMethods
    sys.exit(serve_stdio(few, ENGINE))
