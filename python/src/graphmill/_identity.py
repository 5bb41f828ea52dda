"""What the batches of a feed depend on, for the states of loaders and for the name of a feed that ranks share."""

from __future__ import annotations

import hashlib
import os

from ._command import command
from ._folder import is_address

_NOT_IN_DRAWS = (
    "threads",
    "features",
    "edge_features",
    "joined",
    "age",
    "age_unit",
    "memory",
    "executor",
    "no_edge_ids",
    "seeds_alone",
    "slots",
    "kept",
    "narrow_ids",
    "hosts",
    "hosts_token",
    "hosts_ca",
    "http",
)
_JOB = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "SLURM_STEP_ID")
_NAMESPACES = ("mnt", "pid", "user")


def identity(fingerprint: str, arguments: list[str]) -> dict[str, str]:
    """The arguments of a feed by keyword, as texts. A store is its fingerprint, a file its digest.

    Two feeds with the same identity make the same batches, with any number of threads.
    """
    out = {"store": fingerprint}
    at = 1
    while at < len(arguments):
        name = arguments[at][2:].replace("-", "_")
        at += 1
        if at < len(arguments) and not arguments[at].startswith("--"):
            value = arguments[at]
            out[name] = ",".join(map(_digest, value.split(","))) if _files(value) else _digests(value) if name == "assignment" else value
            at += 1
        else:
            out[name] = "True"
    return out


def _files(value: str) -> bool:
    """Whether a value is the name of a file, or of several with commas between."""
    return all(map(os.path.isfile, value.split(",")))


def of_draws(identity: dict[str, str]) -> dict[str, str]:
    """The part of an identity that the subgraphs depend on."""
    return {name: value for name, value in identity.items() if name not in _NOT_IN_DRAWS}


def shared_name(store: str | os.PathLike[str], identity: dict[str, str]) -> str:
    """The name of the feed that the ranks of a training on this machine share.

    It differs for every other store, argument, content of a file that is an argument, command, user, container, and training, as far
    as the launcher's environment tells trainings apart; and for the NUMA nodes that a rank is bound to, so that each has a feed on its own processors and memory.
    """
    h = hashlib.blake2b(digest_size=16)
    program = os.stat(command())
    path = os.fsdecode(store)
    parts = [path if is_address(path) else os.path.realpath(path), program.st_dev, program.st_ino, program.st_size, program.st_mtime_ns]
    parts += [os.environ.get(name) for name in _JOB]
    parts += [_namespace(name) for name in _NAMESPACES]
    parts += numa_nodes()
    for part in [*parts, *sorted(identity.items())]:
        h.update(repr(part).encode() + b"\0")
    return f"graphmill-ranks-{os.geteuid()}-{h.hexdigest()}"


def _namespace(name: str) -> int:
    try:
        return os.stat(f"/proc/self/ns/{name}").st_ino
    except OSError:
        return 0


def numa_nodes(root: str = "/sys/devices/system/node") -> list[str]:
    """The NUMA nodes that have processors which this process may use; empty where the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    mine, found = os.sched_getaffinity(0), []
    try:
        for name in sorted(os.listdir(root)):
            if name.startswith("node") and name[4:].isdecimal():
                with open(os.path.join(root, name, "cpulist")) as f:
                    spans = [span.split("-") for span in f.read().strip().split(",") if span]
                if any(int(span[0]) <= cpu <= int(span[-1]) for span in spans for cpu in mine):
                    found.append(name)
    except (OSError, ValueError):
        return []
    return found


def _digests(folder: str) -> str:
    """The digests of the files with the parts; the name of the folder if it cannot be read, of which the feed says what is wrong."""
    try:
        files = sorted(e.path for e in os.scandir(folder) if e.name.endswith(".txt"))
        return ",".join(f"{os.path.basename(path)}={_digest(path)}" for path in files)
    except OSError:
        return folder


def _digest(path: str) -> str:
    h = hashlib.blake2b(digest_size=8)
    with open(path, "rb") as f:
        while part := f.read(1 << 20):
            h.update(part)
    return h.hexdigest()
