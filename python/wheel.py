"""Puts the graphmill command into wheels, and its source into the sdist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_GO = "go"  # the folder of the Go module in the sdist


class CommandHook(BuildHookInterface):
    """Adds the command that make wheel and make wheels put into bin/, for the platform GRAPHMILL_WHEEL_TAG. In an sdist, builds it with Go."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add files to a wheel or an sdist."""
        if self.target_name == "sdist":
            build_data["force_include"].update(_source(os.path.dirname(self.root)))
            return
        if version == "editable":
            return
        tag = os.environ.get("GRAPHMILL_WHEEL_TAG")
        windows = "-win_" in tag if tag else sys.platform == "win32"
        program = "graphmill.exe" if windows else "graphmill"
        command = os.path.join(self.root, "bin", program)
        if os.path.isfile(os.path.join(self.root, _GO, "go.mod")):
            _build(os.path.join(self.root, _GO), command)
            tag = "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())
        elif not tag or not os.path.isfile(command):
            raise RuntimeError(f"{command}: found no command for a platform, expected both; run make wheel")
        build_data["pure_python"] = False
        build_data["tag"] = tag
        build_data["shared_scripts"] = {command: program}


def _source(module: str) -> dict[str, str]:
    """The files that the command is built from, on every platform, and where they are in the sdist."""
    out = subprocess.run(["go", "list", "-deps", "-json", "./cmd/graphmill"], cwd=module, check=True, capture_output=True, text=True).stdout
    paths, at, decoder = ["go.mod", "go.sum", "LICENSE"], 0, json.JSONDecoder()
    while at < len(out.rstrip()):
        package, at = decoder.raw_decode(out, at)
        at += 1  # the newline
        if not package.get("Module", {}).get("Main"):
            continue
        for kind in ("GoFiles", "SFiles", "HFiles", "EmbedFiles", "IgnoredGoFiles", "IgnoredOtherFiles"):
            for name in package.get(kind, ()):
                if not name.endswith("_test.go"):
                    paths.append(os.path.relpath(os.path.join(package["Dir"], name), module))
    return {os.path.join(module, path): f"{_GO}/{path}" for path in sorted(set(paths))}


def _build(module: str, command: str) -> None:
    """Build the command of this machine."""
    with open(os.path.join(module, "go.mod")) as f:
        needed = re.search(r"^go (\d+)\.(\d+)", f.read(), re.MULTILINE)
    assert needed, "found no version of Go in go.mod"
    want = f"{needed[1]}.{needed[2]}"
    help_ = "install it from https://go.dev/dl, or take a wheel, which needs no Go: pip install --only-binary graphmill graphmill"
    go = shutil.which("go")
    if go is None:
        raise RuntimeError(f"building graphmill from its source needs Go {want} or newer: found no go on PATH; {help_}")
    said = subprocess.run([go, "env", "GOVERSION"], cwd=module, capture_output=True, text=True).stdout.strip()
    found = re.match(r"go(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < (int(needed[1]), int(needed[2])):
        raise RuntimeError(f"building graphmill from its source needs Go {want} or newer: found {said}; {help_}")
    os.makedirs(os.path.dirname(command), exist_ok=True)
    built = subprocess.run(
        [go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s", "-o", command, "./cmd/graphmill"], cwd=module, env={**os.environ, "CGO_ENABLED": "0"}
    )
    if built.returncode:
        raise RuntimeError("go build failed, with the errors above; it needs the Go modules of go.mod, from the net or from the module cache")
