"""Stores that lie on a server: loaders read them by their address, and their arrays are errors.

GRAPHMILL_COMMAND is the path of the command, GRAPHMILL_TEST_STORES a folder with rmat.store and debian.store.
"""

from __future__ import annotations

import functools
import http.server
import os
import tempfile
import threading
import unittest
from unittest import mock

import made
import numpy as np
from graphmill import GraphmillError, NodeLoader, Store


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that has read enough ends the connection


class TestAddresses(unittest.TestCase):
    def setUp(self) -> None:
        server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=made.STORES))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.server = f"http://127.0.0.1:{server.server_port}"
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        env = mock.patch.dict(os.environ, {"GRAPHMILL_CACHE": cache.name})
        env.start()
        self.addCleanup(env.stop)

    def test_store(self) -> None:
        s, local = Store(f"{self.server}/debian.store"), Store(made.DEBIAN)
        self.assertEqual(repr(s).replace(s.path, ""), repr(local).replace(local.path, ""))
        self.assertEqual(s.meta, local.meta)
        with self.assertRaisesRegex(GraphmillError, f"{self.server}/debian.store/edges/.*: found an array in an object store, expected one on this machine"):
            _ = s.edges[local.edge_types[0]].neighbours

    def test_loader(self) -> None:
        for executor in ("auto", "stream"):
            with (
                NodeLoader(made.RMAT, [3, 2], 256, seed=4, as_="numpy") as want,
                NodeLoader(f"{self.server}/rmat.store", [3, 2], 256, seed=4, as_="numpy", executor=executor) as got,
            ):
                self.assertEqual(got.state_dict(), want.state_dict())
                batches = 0
                for a, b in zip(got, want, strict=True):
                    np.testing.assert_array_equal(a.n_id, b.n_id)
                    np.testing.assert_array_equal(a.edge_index, b.edge_index)
                    batches += 1
                self.assertEqual(batches, 16)

    def test_what_is_no_store(self) -> None:
        with self.assertRaisesRegex(GraphmillError, f"{self.server}/no.store: not a store: it has no graph.json"):
            Store(f"{self.server}/no.store")


if __name__ == "__main__":
    unittest.main()
