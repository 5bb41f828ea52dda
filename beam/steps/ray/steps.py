#!/usr/bin/env python3
"""Runs a command of graphmill-beam on a cluster of Ray: one task of Ray per index, and the submitter here.

usage: steps.py [--address auto] [--program graphmill-beam] [--wait 1h] N COMMAND ARGUMENT... --out OUT

    beam/steps/ray/steps.py --address auto 64 sample /shared/g.store --fanout 10,5 --out /shared/samples --method shuffle

The store, the output and the program lie at the same paths on all machines. Ray starts a task again that was killed, and one that ends with status 75,
the status of a step whose wait has ended. Without --address, Ray starts on this machine alone. It exits with the status of the command.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

import ray

TRY_AGAIN = 75


class TryAgain(Exception):
    """A step has waited in vain."""


class Failed(Exception):
    """A step ended with an error, which the submitter prints."""


@ray.remote(num_cpus=1, max_retries=10, retry_exceptions=[TryAgain])
def step(program: str, work: str, index: int, of: int, wait: str) -> None:
    """Run the tasks of an index."""
    done = subprocess.run([program, "step", work, "--index", f"{index}/{of}", "--wait", wait], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == TRY_AGAIN:
        raise TryAgain(done.stderr)
    if done.returncode:
        raise Failed(done.stderr)


def work_of(command: list[str]) -> str:
    """Return the work folder of a command."""
    a = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    a.add_argument("--out")
    out = a.parse_known_args(command)[0].out
    if not out:
        sys.exit("steps.py: found no --out, expected the output; give it")
    path = pathlib.Path(out).absolute()
    return str(path.parent / f".{path.name}.work")


def main() -> int:
    """Run the command and its steps."""
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--address", help="of the cluster; auto finds it on this machine")
    a.add_argument("--program", default="graphmill-beam")
    a.add_argument("--wait", default="1h", help="time that a step waits for others while nothing goes on")
    a.add_argument("n", metavar="N", type=int, help="indexes: at most the cores of the cluster")
    a.add_argument("command", nargs=argparse.REMAINDER)
    o = a.parse_args()
    work = work_of(o.command)
    ray.init(address=o.address, log_to_driver=False, include_dashboard=False if o.address is None else None)
    submitter = subprocess.Popen([o.program, *o.command, "--runner", "steps", "--parallelism", str(o.n)])
    left = [step.remote(o.program, work, i, o.n, o.wait) for i in range(o.n)]
    try:
        while left and submitter.poll() is None:
            done, left = ray.wait(left, timeout=0.5)
            ray.get(done)
        return submitter.wait()
    except ray.exceptions.RayError as e:
        # An error of a step reaches the submitter through the work folder; one of Ray does not.
        submitter.terminate()
        status = submitter.wait()
        print(f"steps.py: {e}", file=sys.stderr)
        return status if status > 0 else 1
    finally:
        for task in left:  # the output is whole, or cannot become so
            ray.cancel(task, force=True)
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
