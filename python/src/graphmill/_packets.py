"""Packets between a client and its feed, with descriptors.

A feed on Linux has an abstract socket of packets (SOCK_SEQPACKET). Other systems have neither abstract names nor such sockets: there its
address is the path of a stream socket, and each packet follows its length. On Windows, where no descriptor can be sent, the address is a port of
the loopback address, and the bytes of a batch follow its packet.
"""

from __future__ import annotations

import array
import collections
import contextlib
import errno
import os
import socket
import struct
import sys
import threading

import numpy as np

from ._arrays import Array

_RIGHTS = socket.CMSG_SPACE(4) if hasattr(socket, "CMSG_SPACE") else 0  # bytes of the message that carries a descriptor
_LENGTH = struct.Struct("<I")
_BUFFER = 256 << 10  # bytes of a stream's buffers: room for messages about all slots; macOS gives 8 KiB


class TooLong(ValueError):
    """A packet that is longer than any of the protocol."""


class Packets:
    """A connection at an abstract socket of packets."""

    shared = True  # batches lie in memory whose descriptor comes with a packet; else their bytes follow their packets

    def __init__(self, most: int, patience: int) -> None:
        self._socket = self._new()
        # The kernel counts the time, so that waiting costs no further call.
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, 1000 * patience if sys.platform == "win32" else struct.pack("@ll", patience, 0))
        self._packet = memoryview(bytearray(most))

    def _new(self) -> socket.socket:
        return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def connect(self, addr: str) -> None:
        """Connect to a feed."""
        self._socket.connect("\0" + addr)

    def send(self, packet: bytes) -> None:
        """Send a packet, perhaps after waiting for room."""
        self._socket.send(packet)

    def send_now(self, packet: bytes) -> None:
        """Send a packet from any thread, also while another one waits in `receive`. It does not wait."""
        self._socket.send(packet, socket.MSG_DONTWAIT)

    def receive(self) -> tuple[bytes, list[int]]:
        """The next packet, and the descriptors that came with it. It is empty if the feed has ended."""
        # Into memory that is kept: a new buffer for the largest packet costs more than all else here.
        size, ancillary, flags, _ = self._socket.recvmsg_into([self._packet], _RIGHTS)
        found = _descriptors(ancillary)
        if flags & socket.MSG_TRUNC:
            raise _too_long(len(self._packet), found)
        return bytes(self._packet[:size]), found

    @property
    def closed(self) -> bool:
        return self._socket.fileno() < 0

    def hang_up(self) -> None:
        """Disconnect, for all processes that have the connection, so that a thread that waits in `receive` goes on."""
        with contextlib.suppress(OSError):  # it is not connected
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def close(self) -> None:
        """Disconnect this process."""
        self._socket.close()


class Framed(Packets):
    """A connection at a stream socket with a path."""

    def __init__(self, most: int, patience: int) -> None:
        super().__init__(most, patience)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        # Packets that are not sent yet, of which the first may be sent in part. Who has the lock sends all of them.
        self._queue: collections.deque[bytes] = collections.deque()
        self._sending = threading.Lock()

    def _new(self) -> socket.socket:
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def connect(self, addr: str) -> None:
        self._socket.connect(addr)

    def send(self, packet: bytes) -> None:
        if len(packet) > len(self._packet):
            raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))
        self._queue.append(_LENGTH.pack(len(packet)) + packet)
        self._flush(0)

    def send_now(self, packet: bytes) -> None:
        self._queue.append(_LENGTH.pack(len(packet)) + packet)
        self._flush(socket.MSG_DONTWAIT)

    def _flush(self, flags: int) -> None:
        # A packet that is added while another thread has the lock is seen by that thread, or by this loop. A collection of garbage
        # may call this while the same thread is below, so it never waits for the lock.
        while self._queue and self._sending.acquire(blocking=False):
            try:
                while self._queue:
                    head = self._queue[0]
                    sent = self._socket.send(head, flags)
                    if sent < len(head):
                        self._queue[0] = head[sent:]
                    else:
                        self._queue.popleft()
            finally:
                self._sending.release()

    def receive(self) -> tuple[bytes, list[int]]:
        self._flush(0)  # what did not fit when it was given back
        found: list[int] = []
        try:
            head = self._exactly(_LENGTH.size, found)
            if len(head) < _LENGTH.size:
                return b"", found
            (size,) = _LENGTH.unpack(head)
            if size > len(self._packet):
                raise _too_long(len(self._packet), [])
            body = self._exactly(size, found)
        except BaseException:
            for fd in found:
                os.close(fd)
            raise
        return (body if len(body) == size else b""), found

    def _exactly(self, n: int, found: list[int]) -> bytes:
        """The next n bytes, less at the end of the stream. Descriptors are added to found."""
        done = 0
        while done < n:
            size, ancillary, _, _ = self._socket.recvmsg_into([self._packet[done:n]], _RIGHTS)
            found += _descriptors(ancillary)
            if size == 0:
                break
            done += size
        return bytes(self._packet[:done])


class Loopback(Framed):
    """A connection at a port of the loopback address."""

    shared = False

    def _new(self) -> socket.socket:
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def connect(self, addr: str) -> None:
        host, _, port = addr[len(_LOOPBACK) :].rpartition(":")
        self._socket.connect((host, int(port)))

    def send_now(self, packet: bytes) -> None:
        self.send(packet)  # the feed always reads, so it does not wait for this side

    def body(self, size: int) -> Array:
        """The bytes of the batch whose packet was the last one."""
        out = np.empty(size, np.uint8)  # the system gives memory as bytes arrive
        if self._fill(out.data) < size:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        return out

    def _exactly(self, n: int, found: list[int]) -> bytes:
        return bytes(self._packet[: self._fill(self._packet[:n])])

    def _fill(self, into: memoryview) -> int:
        """Read until some memory is full, or to the end of the stream; how many bytes were read."""
        done = 0
        while done < len(into):
            try:
                n = self._socket.recv_into(into[done:])
            except TimeoutError as e:  # of Windows; elsewhere it is a BlockingIOError
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from e
            if n == 0:
                break
            done += n
        return done


_LOOPBACK = "tcp:"  # what begins an address of a feed whose batches go over the connection


def dial(addr: str, most: int, patience: int) -> Packets:
    """A connection, not connected yet, of the kind that an address needs. ``most`` bounds a packet; ``patience`` is seconds."""
    if addr.startswith(_LOOPBACK):
        return Loopback(most, patience)
    return (Framed if addr.startswith("/") else Packets)(most, patience)


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    found: list[int] = fds.tolist()
    return found


def _too_long(most: int, found: list[int]) -> TooLong:
    for fd in found:
        os.close(fd)
    return TooLong(f"it sent a packet of more than {most} bytes")
