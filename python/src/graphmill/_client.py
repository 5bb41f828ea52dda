"""The client of ``graphmill serve``: the subgraphs of single nodes, for a service.

docs/format-answers.md describes the protocol.
"""

from __future__ import annotations

import datetime
import json
import os
import socket
import struct
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _arrays
from ._arguments import choice, integer
from ._arrays import Array
from ._as.forms import FORMS, check_schema
from ._command import GraphmillError
from ._feed import Described
from ._folder import Column
from ._makers import maker
from ._schema import Raw, Schema, key, parts_of

_VERSION = 1
_HEAD = struct.Struct("<IIQ")  # bytes, kind, number of the question
_QUESTION, _DESCRIPTION, _ANSWER, _FAILURE = 1, 2, 3, 4
_MOST = (1 << 31) - 1  # bytes of a frame
_MOST_NUMBER = (1 << 64) - 1


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _after_fork() -> None:
    for c in list(_clients):
        c._lock = threading.Lock()  # a thread that the child does not have may hold the other one


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


class Busy(GraphmillError):
    """The server has too much work at this moment: ask again later, or answer with status 503."""


class _Answers(Described):
    """What the server says of the answers of one plan, and how they become what `Client.ask` returns.

    Raises:
        LookupError, TypeError, ValueError: it cannot be read.
    """

    def __init__(self, said: Any) -> None:
        self._describe(said)
        self.name: str = said.get("plan", "")  # of the plan
        plans = said.get("plans", [])
        self.plans: tuple[str, ...] = tuple(str(p["name"]) for p in plans)
        # By plan, the ids of a seed and the unit of times: what a question needs.
        self.asked: dict[str, tuple[int, str]] = {p["name"]: (len(p["seed_types"]), p.get("time_unit", "")) for p in plans}
        self.asked[self.name] = len(self.seed_types), said.get("time_unit", "")
        self.store: str = said.get("store", "")
        ages = frozenset(said.get("ages", ()))
        self.schema = Schema(self.names, self.ops, self.seed_types, 0, None, self.bfloat16, self.seed_edges, self.negatives, self.least, ages)
        # Texts come as bytes and offsets, and are columns of strings in answers.
        self.texts: list[tuple[str, str]] = [
            (t, name) for t, what, name in (p[1:] for p in map(parts_of, self.names) if len(p) == 4) if what == "text" and t in self.schema.nodes
        ]

    def check(self, form: str, label: str | None) -> None:
        """Refuse a form that cannot have the answers."""
        if self.texts and form not in ("numpy", "pyg"):
            raise ValueError(f"found a server with --texts and as_={form!r}, expected as_='numpy' or 'pyg', whose answers can have texts")
        if form == "numpy":
            for t, name in self.texts:
                self.schema.node_columns[t].append(name)
        check_schema(form, self.schema, label, "")

    def raw(self, body: Array, batch: int) -> Raw:
        """The batch of an answer."""
        n, words = self._head(body, 0)
        raw = Raw(self._arrays(body, words), n, batch, self.hops)
        for t, name in self.texts:
            offsets = raw.columns[key("nodes", t, "text_offset", name)]
            values = raw.columns[key("nodes", t, "text", name)]
            raw.columns[key("nodes", t, "x", name)] = Column(name, "string", (), len(offsets) - 1, values, (), offsets)  # type: ignore[assignment]
        return raw

    def answer(self, raw: Raw, form: str, label: str | None) -> Any:
        """An answer in a form."""
        self.schema.batch_size = raw.seeds
        answer = maker("batch", form)(self.schema, raw, label)
        if form == "pyg":  # beside the features, so that no text becomes x
            for t, name in self.texts:
                (answer[t] if self.schema.typed else answer)[name] = raw.columns[key("nodes", t, "x", name)].tolist()
        return answer


class Client:
    """Asks a server on this machine (``graphmill serve``) for the subgraphs of single nodes.

    An answer is the batch that a `NodeLoader` with the options of the server gives for these seeds, so a model that was trained on its batches
    sees the same at serving time. It comes from the newest version of the store that the server has, which `store` names. Several threads may use a client; questions of
    threads that ask at a time go one after the other, so give each busy thread a client of its own. A child that was forked connects by itself, as does a client whose
    server was started again.

    Args:
        socket: the path that the server was given.
        as_: what `ask` returns: "numpy" (`NodeBatch`), "pyg" (``Data`` or ``HeteroData``), "dgl", "tfgnn" or "jraph", as in `NodeLoader`. Texts are `Column` objects in
            ``x`` of NumPy, and lists in PyG.
        label: the column that becomes y (PyG).
        timeout: seconds after which a server that does not answer is an error.

    Raises:
        GraphmillError: no server answers at the path, or it is of another release.
    """

    def __init__(self, socket: str | os.PathLike[str], as_: str = "numpy", label: str | None = None, timeout: float = 30.0) -> None:
        self._path, self._form, self._label = os.fspath(socket), choice("as_", as_, FORMS), label
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0.001 <= timeout <= 1e6:
            raise ValueError(f"found timeout={timeout!r}, expected seconds, from 0.001 to 1e6")
        self._timeout = float(timeout)
        self._lock = threading.Lock()
        _clients.add(self)
        self._socket: _Frames | None = None
        self._number = 0
        self._answers: dict[str, _Answers] = {}  # by the names of plans
        self._pid = os.getpid()
        with self._lock:
            self._connect()

    @property
    def store(self) -> str:
        """The name of the version of the store that the last answer came from: the checksum of its manifest, as in lineages."""
        return self._store

    @property
    def plans(self) -> tuple[str, ...]:
        """The names of the plans that `ask` can name; empty where the server has one plan, without a name."""
        return self._plans

    def ask(self, ids: Any = None, *, seeds: Any = None, times: Any = None, epoch: int = 0, batch: int = 0, plan: str | None = None) -> Any:
        """The subgraph of some seeds.

        Args:
            ids: original ids, texts or whole numbers, in a list or one by itself; for links, pairs of source and destination.
            seeds: row numbers of the store in place of ids.
            times: for servers with ``--before``: the time of each seed, or one for all: numbers in the unit of the store's times, datetime64, or ``datetime`` (UTC without a zone). The
                answer has what was before.
            epoch, batch: whose draws the answer has. The same numbers give the same answer from the same version; a random epoch gives other draws.
            plan: the name of the plan to ask, one of `plans`. Default: the server's default plan.

        Raises:
            Busy: the server has too much work.
            GraphmillError: the question cannot be answered; the text says why.
            TypeError, ValueError: a wrong argument.
        """
        if (ids is None) == (seeds is None):
            raise ValueError("found both or neither of ids= and seeds=, expected one of them")
        question: dict[str, Any] = {"epoch": integer("epoch", epoch, 0, _MOST_NUMBER), "batch": integer("batch", batch, 0, _MOST_NUMBER >> 1)}
        if plan is not None:
            if not isinstance(plan, str) or not plan:
                raise TypeError(f"found plan={plan!r}, expected the name of a plan")
            question["plan"] = plan
        given = question["ids" if seeds is None else "seeds"] = _flat(ids) if seeds is None else _numbers(seeds)
        with self._lock:
            self._own()
            try:
                of, raw = self._asked(question, times, given)
            except _Gone:
                # A question changes nothing, so a server that was started again gets it once more.
                self._connect()
                try:
                    of, raw = self._asked(question, times, given)
                except _Gone as e:
                    raise GraphmillError(f"{self._path}: the server ended the connection ({e}); look at what it says, and start it again") from e
            except GraphmillError:
                raise
            except BaseException:  # an interrupt: the rest of an answer would be taken for the next one
                self._hang_up()
                raise
            return of.answer(raw, self._form, self._label)

    def close(self) -> None:
        """Disconnect. Answers stay readable."""
        with self._lock:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self._path, "form": self._form, "label": self._label, "timeout": self._timeout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"], state["form"], state["label"], state["timeout"])  # type: ignore[misc]

    def _own(self) -> None:
        """Connect if this process has no connection: a fork's replies must not be shared."""
        if self._socket is None or self._pid != os.getpid():
            self._connect()

    def _connect(self) -> None:
        self._hang_up()
        self._pid, self._answers = os.getpid(), {}
        try:
            self._socket = _Frames(self._path, self._timeout)
        except OSError as e:
            raise GraphmillError(f"{self._path}: found no server ({e.strerror or e}), expected one: graphmill serve STORE --socket {self._path}") from e
        try:
            kind, _, body = self._socket.receive()
            self._take(kind, body)
        except _Gone as e:
            raise GraphmillError(f"{self._path}: the server ended the connection before it said what it answers ({e})") from e
        finally:
            if not self._answers:
                self._hang_up()

    def _take(self, kind: int, body: Array) -> None:
        """Take a description, or raise the failure that came in its place."""
        if kind == _FAILURE:
            raise _failure(body)
        try:
            said = json.loads(body.tobytes())
            if kind != _DESCRIPTION or said["version"] != _VERSION:
                raise ValueError(f"frame {kind}, version {said.get('version')}")
            of = _Answers(said)
        except (LookupError, TypeError, ValueError, RecursionError) as e:
            raise GraphmillError(
                f"{self._path}: found a server of another protocol ({e}), expected version {_VERSION}; install client and command of one release"
            ) from e
        of.check(self._form, self._label)
        if not self._answers:  # the first one is of the default plan
            self._default, self._store, self._plans = of.name, of.store, of.plans
        self._answers[of.name] = of

    def _asked(self, question: dict[str, Any], times: Any, given: list[Any]) -> tuple[_Answers, Raw]:
        """The answer to a question, and what the server says of it."""
        assert self._socket is not None
        if times is not None:
            asked = question.get("plan", self._default)
            types, unit = self._answers[self._default].asked.get(asked, (1, ""))  # the server says what an unknown plan is
            question["times"] = _times(times, unit, len(given) // types)
        self._number += 1
        text = json.dumps(question).encode()
        self._socket.send(_HEAD.pack(len(text), _QUESTION, self._number) + text)
        while True:
            kind, number, body = self._socket.receive()
            if kind == _DESCRIPTION:
                self._take(kind, body)
                continue
            if number != self._number:  # of a question whose caller was interrupted
                if kind == _FAILURE and number == 0:
                    raise _failure(body)
                continue
            if kind == _FAILURE:
                raise _failure(body)
            try:
                of = self._answers[question.get("plan", self._default)]
                self._store = of.store
                return of, of.raw(body, question["batch"])
            except (LookupError, TypeError, ValueError, OverflowError, struct.error) as e:
                self._hang_up()
                raise GraphmillError(f"{self._path}: the server sent an answer that cannot be read ({e}); install client and command of one release") from e


class _Gone(Exception):
    """The server has ended the connection, or does not answer."""


class _Frames:
    """A connection. A frame is read into memory of its own, which its arrays keep."""

    def __init__(self, path: str, timeout: float) -> None:
        self._timeout = timeout
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # The kernel counts the time, so that a frame is read by one call.
            seconds = struct.pack("@ll", int(timeout), int(timeout % 1 * 1e6))
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                self._socket.setsockopt(socket.SOL_SOCKET, option, seconds)
            self._socket.connect(path)
        except BaseException:
            self._socket.close()
            raise

    def send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except OSError as e:
            raise self._gone(e) from e

    def receive(self) -> tuple[int, int, Array]:
        """The kind, the number and the bytes of the next frame."""
        size, kind, number = _HEAD.unpack(self._exactly(_HEAD.size).data)
        if size > _MOST:
            raise _Gone(f"a frame of {size} bytes")
        return kind, number, self._exactly(size)

    def _exactly(self, n: int) -> Array:
        out = np.empty(n, np.uint8)  # the system gives memory as bytes arrive
        left = out.data
        while left:
            try:
                got = self._socket.recv_into(left, len(left), socket.MSG_WAITALL)
            except OSError as e:
                raise self._gone(e) from e
            if got == 0:
                raise _Gone("it ended")
            left = left[got:]
        return out

    def _gone(self, e: OSError) -> Exception:
        if isinstance(e, BlockingIOError):
            self.close()  # a late answer would be taken for the next one
            return GraphmillError(f"found no answer within {self._timeout:g} s, expected one; ask again, or give a larger timeout=")
        return _Gone(str(e))

    def close(self) -> None:
        self._socket.close()


def _failure(body: Array) -> Exception:
    """The error of a failure."""
    try:
        said = json.loads(body.tobytes())
        text, code = str(said["error"]), said["code"]
    except (LookupError, TypeError, ValueError, RecursionError):
        return GraphmillError("the server sent a failure that cannot be read; install client and command of one release")
    return Busy(text) if code == "busy" else GraphmillError(text)


def _flat(ids: Any) -> list[Any]:
    """Original ids one after the other, of links source and destination in turn."""
    if isinstance(ids, (str, int, np.integer)):
        ids = [ids]
    elif not isinstance(ids, Iterable):
        raise TypeError(f"found ids= of type {type(ids).__name__}, expected original ids: texts or whole numbers")
    out: list[Any] = []
    for x in ids:
        for y in x if isinstance(x, (tuple, list, np.ndarray)) else [x]:
            if isinstance(y, (bool, np.bool_)) or not isinstance(y, (str, int, np.integer)):
                raise TypeError(f"found {y!r} in ids=, expected original ids: texts or whole numbers")
            out.append(str(y) if isinstance(y, str) else int(y))
    return out


def _numbers(seeds: Any) -> list[int]:
    """Row numbers one after the other, of links source and destination in turn."""
    x = np.atleast_1d(_arrays.numpy(seeds))
    if x.dtype.kind not in "iu" or x.ndim > 2:
        raise TypeError(f"found seeds= of dtype {x.dtype} and shape {x.shape}, expected row numbers of the store; give ids= for original ids")
    numbers: list[int] = x.reshape(-1).tolist()
    return numbers


def _times(times: Any, unit: str, seeds: int) -> list[Any]:
    """A time per seed, as numbers in the unit of the store's times."""
    if isinstance(times, datetime.datetime) and times.tzinfo is not None:
        times = times.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    x = np.asarray(times if not isinstance(times, datetime.date) else np.datetime64(times))
    if x.dtype.kind == "O":
        raise TypeError("found times= of mixed types, expected numbers or datetime64")
    if x.dtype.kind == "M":
        if not unit:
            raise ValueError(f"found times= of dtype {x.dtype}, expected numbers, because the times of the store have no unit")
        exact = x.astype(f"datetime64[{unit}]")
        if not (exact == x).all():
            raise ValueError(f"found times= of dtype {x.dtype}, expected whole {unit}, the unit of the times of the store")
        x = exact.astype(np.int64)
    if x.dtype.kind not in "iuf" or x.ndim > 1 or (x.ndim == 1 and len(x) != seeds):
        raise ValueError(f"found times= of dtype {x.dtype} and shape {x.shape}, expected a number or datetime64 for each of {seeds} seeds, or one for all")
    return np.broadcast_to(x, seeds).tolist()  # type: ignore[no-any-return]
