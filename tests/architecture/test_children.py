"""Child processes get files, pipes or nothing: the screen's own streams have no descriptor that a child could use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STARTS = {
    "Popen", "run", "call", "check_call", "check_output", "create_subprocess_exec", "create_subprocess_shell",
    "system", "popen", "posix_spawn", "fork", "forkpty", "spawn", "getoutput", "getstatusoutput",
}  # fmt: skip
OWNERS = {"subprocess", "os", "pty", "asyncio", "anyio"}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Every call that starts a process, and where it stands."""
    for path in sorted((ROOT / "voicetui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _starts(ast.unparse(node.func)):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def _starts(called: str) -> bool:
    owner, _, name = called.rpartition(".")
    return (owner in OWNERS and name in STARTS and called not in ("asyncio.run", "anyio.run")) or called == "Popen"


def test_every_child_is_told_where_its_streams_lead() -> None:
    found = list(calls())
    assert found, "this looks for the wrong calls"
    for where, call in found:
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert {"stdin", "stdout", "stderr"} <= given.keys(), f"{where}: a child inherits a stream of the screen's"
        for name in ("stdin", "stdout", "stderr"):
            assert "sys." not in given[name], f"{where}: {name} is a stream object of the screen's"
