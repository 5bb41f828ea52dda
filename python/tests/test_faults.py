"""Files of a store that are cut while a loader reads them."""

import os
import unittest

import graphmill
import made
import numpy as np
from graphmill import GraphmillError, NodeLoader


class TestFaults(unittest.TestCase):
    def test_cut(self) -> None:
        r = np.random.default_rng(1)
        n = 20000
        x = r.standard_normal((n, 16)).astype(np.float32)
        store = made.path("cut.store")
        graphmill.from_arrays({"x": x}, r.integers(0, n, (2, 4 * n)), store)
        (file,) = (
            os.path.join(folder, name) for folder, _, files in os.walk(store) for name in files if name.startswith("x") or os.path.basename(folder) == "x"
        )
        with open(file, "rb") as f:
            whole = f.read()
        with NodeLoader(store, [2], 64, shuffle=True) as loader:
            want = [b.x["x"].tobytes() for b in loader]
            loader.set_epoch(0)
            os.truncate(file, 8192)
            with self.assertRaisesRegex(
                GraphmillError, f"batch \\d+: {file}: byte \\d+: the file was cut while it was read: found 8192 bytes, expected {len(whole)}"
            ):
                for _ in loader:
                    pass
            # The feed goes on, and serves the batches once the bytes are back.
            with open(file, "r+b") as f:
                f.write(whole)
            loader.set_epoch(0)
            self.assertEqual([b.x["x"].tobytes() for b in loader], want)


if __name__ == "__main__":
    unittest.main()
