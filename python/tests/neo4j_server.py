"""A real server of Neo4j with APOC for tests, from the files of the peer neo4j."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

USER, PASSWORD = "neo4j", "hidden-word"


class Server:
    """Neo4j, Community Edition, with an empty database."""

    def __init__(self) -> None:
        jars = pathlib.Path(sys.prefix) / "jars"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-neo4j-"))
        for name in ("conf", "data", "logs", "plugins"):
            (self.folder / name).mkdir()
        for jar in jars.glob("apoc-*.jar"):
            shutil.copy(jar, self.folder / "plugins")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        (self.folder / "conf" / "neo4j.conf").write_text(
            f"server.bolt.listen_address=127.0.0.1:{self.port}\nserver.http.enabled=false\ndbms.usage_report.enabled=false\n"
            "dbms.security.procedures.unrestricted=apoc.*\nserver.memory.pagecache.size=32m\n"
        )
        opened = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.nio", "java.io", "sun.nio.ch")]
        self._log = open(self.folder / "log", "wb")
        self._process = subprocess.Popen(
            [
                *("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *opened, "-cp", str(jars / "*"), "org.neo4j.server.CommunityEntryPoint"),
                *(f"--home-dir={self.folder}", f"--config-dir={self.folder / 'conf'}"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self.address = f"bolt://127.0.0.1:{self.port}"
        import neo4j

        try:
            self._change_password(neo4j)
            self._driver = neo4j.GraphDatabase.driver(self.address, auth=(USER, PASSWORD), notifications_min_severity="OFF")
        except BaseException:
            self._end()
            raise

    def _change_password(self, neo4j: Any) -> None:
        end = time.monotonic() + 120  # a start takes some ten seconds; the limit ends one that hangs
        while True:
            try:
                with neo4j.GraphDatabase.driver(self.address, auth=(USER, "neo4j")) as driver, driver.session(database="system") as session:
                    session.run("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new", new=PASSWORD).consume()
                return
            except neo4j.exceptions.ServiceUnavailable:
                if self._process.poll() is not None or time.monotonic() > end:  # it ended, or hangs
                    raise AssertionError((self.folder / "log").read_text() + (self.folder / "logs" / "neo4j.log").read_text()) from None
                time.sleep(0.2)  # the server starts

    def run(self, query: str, **parameters: Any) -> list[list[Any]]:
        """The rows of a query."""
        with self._driver.session() as session:
            return [r.values() for r in session.run(query, **parameters)]

    def fill(self, *queries: str) -> None:
        """Replaces the graph by what queries create."""
        self.run("MATCH (n) DETACH DELETE n")
        for q in queries:
            self.run(q)

    def exported(self, kind: str, path: pathlib.Path, **config: Any) -> pathlib.Path:
        """A file of apoc.export.KIND.all."""
        rows = self.run(f"CALL apoc.export.{kind}.all(null, $config) YIELD data RETURN data", config={"stream": True, **config})
        path.write_text("\n".join(data for (data,) in rows) + "\n", encoding="utf-8")
        return path

    def close(self) -> None:
        self._driver.close()
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def cut(port: int, after: int) -> Iterator[str]:
    """The address of a server in front of a server, which ends each connection after so many bytes of answers."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    ended = threading.Event()

    def pass_on(a: socket.socket, b: socket.socket, most: float) -> None:
        with contextlib.suppress(OSError):
            while most > 0 and (data := a.recv(4096)):
                b.sendall(data)
                most -= len(data)
        for s in (a, b):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while not ended.is_set():
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", port))
                threading.Thread(target=pass_on, args=(client, server, float("inf")), daemon=True).start()
                threading.Thread(target=pass_on, args=(server, client, after), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"bolt://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            socket.create_connection(listener.getsockname()).close()
        listener.close()
        thread.join()
