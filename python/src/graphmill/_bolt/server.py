"""The database: its address, who asks it, and one transaction that reads."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any, Callable, TypeVar
from urllib.parse import urlsplit

from .._command import GraphmillError
from .._version import __version__

_SCHEMES = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?://", re.IGNORECASE)
_RETRIES = 30.0  # seconds for which the driver tries a transaction again

_T = TypeVar("_T")


def is_address(text: str) -> bool:
    """Whether a source is the address of a database: bolt:// or neo4j://, with +s or +ssc for TLS."""
    return _SCHEMES.match(text) is not None


class Server:
    """A database of a server.

    Args:
        address: as the driver takes it, without user and password.
        auth: a user and a password, or an object of the driver; None: NEO4J_USERNAME and NEO4J_PASSWORD, or nothing if there is no NEO4J_PASSWORD.
        database: its name; None: NEO4J_DATABASE, or the user's own.

    Raises:
        GraphmillError: the address has a user or a password, a path, or a port that is none.
        ModuleNotFoundError: the driver is not installed.
    """

    def __init__(self, address: str, auth: Any, database: str | None) -> None:
        scheme, _, rest = address.partition("://")
        if "@" in rest.split("/")[0]:
            raise GraphmillError(
                f"{scheme}://{rest.split('/')[0].rpartition('@')[2]}: found a user in the address, expected none, as others see addresses in the list of processes; set NEO4J_USERNAME and NEO4J_PASSWORD, or give auth="
            )
        try:
            wrong = "" if urlsplit(address).port != 0 else "the port 0"
        except ValueError as e:  # which the driver takes modulo 2^16
            wrong = f"an address with a mistake ({e})"
        if wrong:
            raise GraphmillError(f"{address}: found {wrong}, expected {scheme}://HOST:PORT, with a port from 1 to 65535; correct the address")
        if rest.partition("/")[2].strip("/"):
            raise GraphmillError(f"{address}: found a path in the address, expected {scheme}://HOST:PORT; name the database with database=")
        try:
            import neo4j
            import pyarrow  # noqa: F401
        except ModuleNotFoundError as e:
            raise ModuleNotFoundError(f'{address}: found no module {e.name}, expected it; install it: pip install "graphmill[neo4j]"', name=e.name) from None
        self.address, self._neo4j = address, neo4j
        if auth is None and "NEO4J_PASSWORD" in os.environ:
            auth = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ["NEO4J_PASSWORD"])
        self._numbered = False
        self._auth, self._database = auth, database or os.environ.get("NEO4J_DATABASE") or None

    def element_id(self, of: str) -> str:
        """The expression of Cypher for the id of a node or relationship, as a text: the element id, or the number where there is none, in Memgraph and before Neo4j 5."""
        return f"toString(id({of}))" if self._numbered else f"elementId({of})"

    @property
    def name(self) -> str:
        """The address, and the database if it is not the user's own."""
        return self.address if self._database is None else f"{self.address.rstrip('/')}/{self._database}"

    def read(self, work: Callable[[Any], _T]) -> _T:
        """Call a function with a transaction that reads, and again if the driver says that the error will pass. The function must begin anew each time.

        Raises:
            GraphmillError: the server cannot be reached, refuses the user or a query, or ends the connection.
        """
        with self._errors():
            try:
                driver = self._neo4j.GraphDatabase.driver(
                    self.address, auth=self._auth, user_agent=f"graphmill/{__version__}", max_transaction_retry_time=_RETRIES
                )
            except (ValueError, TypeError) as e:  # of the address, or of auth
                raise GraphmillError(f"{self.name}: {_said(e)}") from None
            with driver:
                agent = str(driver.get_server_info().agent)  # which does not try again
                self._numbered = "memgraph" in agent.lower() or agent.startswith(("Neo4j/3.", "Neo4j/4."))
                with driver.session(database=self._database) as session:
                    result: _T = session.execute_read(work)
                    return result

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Makes errors of the driver errors of a line, which have no password."""
        of = self._neo4j.exceptions
        try:
            yield
        except of.AuthError as e:
            if self._auth is None:
                raise GraphmillError(
                    f"{self.name}: found a server that wants a user and a password, expected them in the environment; set NEO4J_USERNAME and NEO4J_PASSWORD, or give auth="
                ) from None
            raise GraphmillError(
                f"{self.name}: found a user or password that the server refuses, expected others ({_said(e)}); set NEO4J_USERNAME and NEO4J_PASSWORD, or give auth="
            ) from None
        except (of.ServiceUnavailable, of.SessionExpired) as e:
            raise GraphmillError(
                f"{self.name}: found no server that answers, expected a Neo4j or Memgraph ({_said(e)}); start it, or correct the address"
            ) from None
        except of.Neo4jError as e:
            raise GraphmillError(f"{self.name}: found a query that the server refuses, expected its rows: {_said(e)}") from None
        except of.BrokenRecordError as e:
            raise GraphmillError(
                f"{self.name}: found a value that the driver cannot read ({_said(e.__cause__ or e)}), expected one, such as a time from the year 1 to 9999; correct it, or leave it out by a query of your own"
            ) from None
        except (of.DriverError, of.ConfigurationError) as e:
            raise GraphmillError(f"{self.name}: {_said(e)}") from None


def _said(e: BaseException) -> str:
    """What the driver or the server said, in a line."""
    text = " ".join(str(getattr(e, "message", None) or e).split()).rstrip(".") or type(e).__name__
    return text if len(text) < 400 else text[:400] + "..."
