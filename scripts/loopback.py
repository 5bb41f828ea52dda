#!/usr/bin/env python3
"""Has the servers of Beam's Java listen on the address that they are given, in a copy of the jar beam-sdks-java-core.

Beam 2.62.0 makes a server by NettyServerBuilder.forPort(socket.getPort()): it listens on all interfaces, whatever --job-host says, and runs
the commands that a job names. This makes it NettyServerBuilder.forAddress(socket).

usage: loopback.py JAR
"""

import os
import pathlib
import shutil
import struct
import sys
import zipfile

CLASS = "org/apache/beam/sdk/fn/server/ServerFactory$InetSocketAddressServerFactory.class"

# Bytes of an entry of the constant pool after its tag; a text tells its own.
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
UTF8, LONG, DOUBLE, METHOD, NAMED = 1, 5, 6, 10, 12

# Instructions, of which the last two are followed by the number of a method.
LOAD_SOCKET, INVOKE_VIRTUAL, INVOKE_STATIC = b"\x2b", b"\xb6", b"\xb8"


def by_address(code: bytes) -> bytes:
    """The class with forAddress(socket) in place of forPort(socket.getPort())."""
    (count,) = struct.unpack_from(">H", code, 8)
    texts: dict[int, bytes] = {}
    calls: dict[int, int] = {}  # the numbers of names and types, by methods
    names: dict[int, int] = {}  # where entries of a name and a type stand
    at, n = 10, 1
    while n < count:
        tag = code[at]
        first, second = struct.unpack_from(">HH", code, at + 1)
        if tag == UTF8:
            texts[n] = code[at + 3 : at + 3 + first]
            at += 2 + first
        elif tag == METHOD:
            calls[n] = second
        elif tag == NAMED:
            names[n] = at
        at += 1 + SIZES.get(tag, 0)
        n += 2 if tag in (LONG, DOUBLE) else 1
    named = [n for n, at in names.items() if texts[struct.unpack_from(">H", code, at + 1)[0]] == b"forPort"]
    made = [m for m, n in calls.items() if n in named]
    body = bytearray(code[at:])
    call = body.find(INVOKE_STATIC + struct.pack(">H", made[0])) if len(made) == 1 else -1
    if call < 4 or body[call - 4 : call - 2] != LOAD_SOCKET + INVOKE_VIRTUAL:
        raise SystemExit(f"{CLASS}: found no call of forPort(socket.getPort()), expected that of Beam 2.62.0")
    body[call - 3 : call] = b"\0\0\0"  # three instructions that do nothing, in place of getPort
    (kind,) = struct.unpack_from(">H", code, names[named[0]] + 3)
    pool = bytearray(code[:at])
    for text in (b"forAddress", texts[kind].replace(b"(I)", b"(Ljava/net/SocketAddress;)")):
        pool += struct.pack(">BH", UTF8, len(text)) + text
    struct.pack_into(">HH", pool, names[named[0]] + 1, count, count + 1)
    struct.pack_into(">H", pool, 8, count + 2)
    return bytes(pool + body)


def main() -> None:
    jar = pathlib.Path(sys.argv[1])
    new = jar.with_suffix(".new")
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as out:
        for entry in old.infolist():
            if entry.is_dir():
                continue
            data = old.read(entry)
            out.writestr(entry, by_address(data) if entry.filename == CLASS else data)
    shutil.copymode(jar, new)
    os.replace(new, jar)


if __name__ == "__main__":
    main()
