"""python -m graphmill.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any

from graphmill._command import command


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[Any]:
    return subprocess.run([sys.executable, "-m", "graphmill", *arguments], capture_output=True, **options)


class TestMain(unittest.TestCase):
    def test_arguments_output_and_status(self) -> None:
        for arguments in (["--version"], ["sample", "--help"], ["inof", "x"], ["info", "no folder"], ["info", b"\xff name"], ["info", ""], []):
            want = subprocess.run([command(), *arguments], capture_output=True)
            got = run(*arguments)
            self.assertEqual((got.returncode, got.stdout, got.stderr), (want.returncode, want.stdout, want.stderr), arguments)

    def test_input(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            p = run("import", "-", "--format", "txt", "--out", os.path.join(folder, "g.store"), input=b"1 2\n2 3\n")
            self.assertEqual(p.returncode, 0, p.stderr)

    def test_signals(self) -> None:
        """A signal ends the command itself, as there is no process between."""
        with tempfile.TemporaryDirectory() as folder:
            p = subprocess.Popen(
                [sys.executable, "-m", "graphmill", "generate", "rmat", "--scale", "26", "--out", os.path.join(folder, "g.store")], stderr=subprocess.PIPE
            )
            end = time.time() + 60  # against a hang
            while time.time() < end and os.path.realpath(f"/proc/{p.pid}/exe") != os.path.realpath(command()):  # against a hang
                time.sleep(0.01)  # between two looks
            self.assertEqual(os.path.realpath(f"/proc/{p.pid}/exe"), os.path.realpath(command()))
            while time.time() < end and not os.listdir(folder):  # against a hang
                time.sleep(0.01)  # until it writes: then it takes signals
            self.assertTrue(os.listdir(folder))
            p.send_signal(signal.SIGINT)
            _, err = p.communicate(timeout=60)  # against a hang
            self.assertNotEqual(p.returncode, 0)
            self.assertIn(b"interrupted", err)

    def test_mistakes(self) -> None:
        """An option that the source has no use for, and a port that is none, are errors."""
        with tempfile.TemporaryDirectory() as folder:
            gml, store = os.path.join(folder, "a.gml"), os.path.join(folder, "g.store")
            with open(gml, "w") as f:
                f.write("graph [ node [ id 1 ] ]")
            for arguments, words in (
                ((gml, "--key", "x"), "found --key with"),
                ((gml, "--drop-invalid"), "expected it with a file of the kinds smiles, sdf, xyz; leave it out"),
                (("bolt://localhost:99999",), "found an address with a mistake (Port out of range 0-65535), expected bolt://HOST:PORT"),
                (("bolt://localhost:x",), "found an address with a mistake (Port could not be cast to integer value as 'x'), expected bolt://HOST:PORT"),
                (("neo4j://localhost:0",), "found the port 0, expected neo4j://HOST:PORT, with a port from 1 to 65535"),
            ):
                p = run("import", *arguments, "--out", store, text=True)
                self.assertEqual((p.returncode, p.stdout, len(p.stderr.splitlines()), os.listdir(folder)), (1, "", 1, ["a.gml"]), p.stderr)
                self.assertIn(words, p.stderr)

    def test_no_command(self) -> None:
        p = run("info", env={**os.environ, "GRAPHMILL_COMMAND": "/nowhere/graphmill"}, text=True)
        self.assertEqual(
            (p.returncode, p.stdout, p.stderr), (1, "", "graphmill: GRAPHMILL_COMMAND=/nowhere/graphmill: found no program, expected the graphmill command\n")
        )


if __name__ == "__main__":
    unittest.main()
