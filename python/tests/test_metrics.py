"""The metrics of feeds: what a loader's process counts, where an address is given for it.

GRAPHMILL_COMMAND is the path of the command.
"""

from __future__ import annotations

import re
import unittest
from urllib.request import urlopen

import numpy as np
from graphmill import EventLoader, GraphmillError, NodeLoader, from_arrays


def page(address: str | None, name: str = "metrics") -> str:
    """A page of a feed."""
    with urlopen(f"http://{address}/{name}", timeout=60) as answer:  # against a hang
        text: str = answer.read().decode()
        return text


def value(text: str, name: str) -> float:
    """A metric without labels."""
    found = re.search(rf"(?m)^{re.escape(name)} (\S+)$", text)
    assert found is not None, text
    return float(found[1])


class TestMetrics(unittest.TestCase):
    def test_loaders(self) -> None:
        """Loaders of nodes and of events count the batches and bytes that came; without an address there is none."""
        r = np.random.default_rng(1)
        store = from_arrays({"x": np.arange(50.0)}, {"edge_index": r.integers(0, 50, (2, 300)), "time": np.arange(300)})
        with NodeLoader(store, [3], 10, http="127.0.0.1:0") as loader, EventLoader(store, 20, http="127.0.0.1:0") as events, NodeLoader(store, [3]) as without:
            self.assertIsNone(without.http)
            for of in (loader, events):
                self.assertEqual(page(of.http, "readyz"), "ok\n")
                made = len(list(of))
                text = page(of.http)
                self.assertIn('graphmill_store_info{store="', text)
                self.assertEqual(value(text, "graphmill_clients"), 1)
                self.assertEqual(value(text, "graphmill_batches_failed_total"), 0)
                self.assertGreater(value(text, "graphmill_batch_bytes_total"), 0)
                self.assertEqual(value(text, "graphmill_batches_total"), made if of is loader else 1)  # events come many to a slot
            with self.assertRaisesRegex(GraphmillError, 'found "127.0.0.1:.*expected HOST:PORT of this machine that is free'):
                NodeLoader(store, [3], http=loader.http)
        for wrong in (9090, b"127.0.0.1:0"):
            with self.assertRaises(TypeError):
                NodeLoader(store, [3], http=wrong)  # type: ignore[arg-type]
            with self.assertRaises(TypeError):
                EventLoader(store, http=wrong)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
