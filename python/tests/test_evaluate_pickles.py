"""The reader of pickles: what Python's pickle and torch write comes back, and nothing else does any harm."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import pickle
import struct
import tempfile
import time
import tracemalloc
import unittest
from typing import Any

import numpy as np
import numpy.typing as npt
from graphmill.evaluate import _negative_lists, _pickled, _pickles, _torch_files
from test_evaluate import available

Array = npt.NDArray[Any]
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", ">i4", ">i8", ">f4")


def older(data: Any, protocol: int = 2) -> bytes:
    """A file of torch.save before version 1.6, of an object without tensors."""
    sizes = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    parts: list[Any] = [0x1950A86A20F9469CFC6C, 1001, sizes, data, []]
    return b"".join(pickle.dumps(x, protocol) for x in parts)


def same(got: Any, want: Any) -> bool:
    if isinstance(want, np.ndarray):
        return isinstance(got, np.ndarray) and got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
    return type(got) is type(want) and bool(got == want)


def random_object(r: np.random.Generator) -> dict[str, Any]:
    """Arrays of all dtypes, orders and numbers of dimensions, often empty, and some that occur twice; texts, numbers and lists."""
    out: dict[str, Any] = {}
    for i in range(r.integers(0, 8)):
        shape = tuple(r.integers(0, 5, r.integers(0, 4)))
        x: Array = r.integers(0, 2 if r.random() < 0.2 else 100, shape).astype(DTYPES[r.integers(len(DTYPES))])
        x = np.asfortranarray(x) if r.random() < 0.3 else x
        out[f"array {i}"] = x[::-1] if x.ndim and r.random() < 0.3 else x
        if r.random() < 0.3:
            out[f"again {i}"] = out[f"array {i}"]
    out["large"] = r.integers(0, 256, r.integers(4000, 9000)).astype("uint8")
    out["texts"] = [("drug", "disease", "ä€𝄞")[j] for j in r.integers(0, 3, r.integers(0, 9))]
    out["numbers"] = [0, -1, 255, 256, 1 << 16, -(1 << 31), 1 << 40, -(1 << 62), int(r.integers(1 << 62)), 0.5, float("inf"), True, None]
    out["tuples"] = [(), (1,), (1, 2), (1, 2, 3), tuple(range(9))]
    return out


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, data: bytes, name: str = "x.pt") -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def damaged(self, text: str, data: bytes) -> None:
        path = self.written(data)
        with self.assertRaises(ValueError) as caught:
            _torch_files.load(path)
        self.assertIn(text, str(caught.exception).replace(path, "PATH"))


class TestPickles(Folder):
    def test_what_pickle_writes(self) -> None:
        for seed, protocol in itertools.product(range(25), (2, 3, 4, 5)):
            want = random_object(np.random.default_rng(seed))
            got = _torch_files.load(self.written(older(want, protocol)))
            self.assertEqual(list(got), list(want))
            for key in want:
                self.assertTrue(same(got[key], want[key]), (seed, protocol, key, got[key], want[key]))

    def test_long_texts_of_bytes(self) -> None:
        """Protocol 2 writes bytes as a text of the characters 0 to 255, which is decoded in blocks."""
        before = _pickled._BLOCK
        try:
            for block in (1 << 20, 1000, 7):
                _pickled._BLOCK = block
                want = np.random.default_rng(1).integers(0, 256, 9001).astype("uint8")
                self.assertTrue(same(_torch_files.load(self.written(older({"x": want})))["x"], want))
        finally:
            _pickled._BLOCK = before

    def test_no_other_name(self) -> None:
        ran = self.folder / "ran"

        class Evil:
            def __reduce__(self) -> Any:
                return os.mkdir, (str(ran),)

        class Odd:
            pass

        for protocol in (2, 3, 4, 5):
            self.damaged(
                f"found '{os.mkdir.__module__}.mkdir', which a pickle could run, expected names of NumPy arrays and torch tensors only; it is not run",
                older({"edge": Evil()}, protocol),
            )
            path = self.written(pickle.dumps({(1, 2, 3): Evil()}, protocol))
            with self.assertRaisesRegex(ValueError, "mkdir"):
                _negative_lists.negative_lists(path)
        self.assertFalse(ran.exists())
        self.damaged("found 'builtins.eval', which", older({"x": eval}, 4))
        self.damaged("found the opcode 0x8f, expected one that protocols 2 to 5 write for", older({"x": {1, 2}}, 4))
        self.damaged("found an array of dtype O8, expected one of numbers", older({"x": np.array(["a"], object)}, 2))
        self.damaged("found an array of dtype U1, expected one of numbers", older({"x": np.array(["a"])}, 2))
        self.damaged("found a key that is a tuple, expected a text or an integer", older({(1, 2): 3}, 2))

    def test_bad_files(self) -> None:
        for text, data in {
            "PATH: found an empty file, expected a pickle": b"",
            "PATH: byte 0: found the opcode 0x23": b"#edge\n",
            "found protocol 9 of pickles, expected 2 to 5": b"\x80\x09.",
            "found a pickle that is none of torch.save": pickle.dumps({"edge": 1}),
        }.items():
            self.damaged(text, data)
        head = older({})[: len(older({})) - len(pickle.dumps({}, 2) + pickle.dumps([], 2))]
        for text, body in {
            "bytes up to the end, expected 1152921504606846976": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60),
            "found an integer of 255 bytes, expected at most 16": b"\x80\x02\x8a\xff" + b"x" * 255,
            "found a frame that is longer than the file": b"\x80\x04\x95" + struct.pack("<Q", 1 << 40),
            "expected more of a pickle; the file is cut or damaged": b"\x80\x02(]",
            "found a name of more than 200 bytes": b"\x80\x02c" + b"a" * 300,
            "byte": b"\x80\x02h\x05.",
        }.items():
            self.damaged(text, head + body)

    def test_claims_take_no_memory(self) -> None:
        """Lengths, shapes, numbers of objects and strides that the file does not have."""
        reconstruct = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01bt\x52"
        dtype = b"cnumpy\ndtype\nX\x02\x00\x00\x00u1K\x00K\x01\x87\x52"
        big = b"\x8a\x08" + struct.pack("<q", 1 << 61)
        bodies = [
            b"\x80\x04r\xff\xff\xff\xff" * 100,
            b"\x80\x03}X\x01\x00\x00\x00xNr\xff\xff\xff\x7fs.",
            b"\x80\x03}X\x01\x00\x00\x00x" + reconstruct + b"(K\x01" + big + big + b"\x86" + dtype + b"\x89C\x00tbs.",
            b"\x80\x03}X\x01\x00\x00\x00x" + reconstruct + b"(K\x01K\x00" + big + b"\x86" + dtype + b"\x89C\x00tbs.",
            b"\x80\x03}X\x01\x00\x00\x00x" + reconstruct + b"(K\x01(" + big * 5000 + b"t" + dtype + b"\x89C\x00tbs.",
            b"\x80\x03" + b"(" * 100_000 + b"t" * 100_000 + b".",
        ]
        head = older({})[: len(older({})) - len(pickle.dumps({}, 2) + pickle.dumps([], 2))]
        text = b"X" + struct.pack("<I", 50_000) + b"a" * 50_000
        bodies.append(b"\x80\x02(c_codecs\nencode\nq\x00" + text + b"q\x01X\x06\x00\x00\x00latin1q\x020" + b"h\x00h\x01h\x02\x86R" * 20_000 + b"t.")
        inner = {str(i): None for i in range(3000)}
        bodies.append(pickle.dumps(dict.fromkeys(range(3000), inner), 2))
        for body in bodies:
            path = self.written(head + body + pickle.dumps([]))
            tracemalloc.start()
            with contextlib.suppress(ValueError):
                _torch_files.load(path)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            self.assertLess(peak, (1 << 20) + 300 * len(body), body[:40])

    def test_cuts_and_flips(self) -> None:
        """Any cut and any change of bytes gives an answer or the error that is documented, soon, and in memory of the order of the file."""
        r = np.random.default_rng(5)
        files = [older(random_object(np.random.default_rng(seed)), protocol) for seed, protocol in ((1, 2), (2, 4), (3, 5))]
        lists = {(i, np.int64(2 * i), i % 7): np.arange(i % 5) if i % 3 else [1, 2, 3][: i % 4] for i in range(60)}
        files += [pickle.dumps(lists, protocol) for protocol in (2, 4, 5)]
        start = time.monotonic()  # of a reader that hangs, not of a slow machine
        for of, data in enumerate(files):
            load = _torch_files.load if of < 3 else _negative_lists.negative_lists
            for i in range(160):
                x = bytearray(data)
                if i % 4 == 0:
                    del x[r.integers(len(x)) :]
                for at in r.integers(0, max(len(x), 1), 0 if i % 4 == 0 else r.integers(1, 6)):
                    x[at] = r.integers(256)
                path = self.written(bytes(x))
                if i % 5 == 1:
                    tracemalloc.start()
                try:
                    load(path)
                except ValueError as e:
                    self.assertTrue(str(e).startswith(path), e)
                    self.assertLess(len(str(e)), 700)
                if i % 5 == 1:
                    self.assertLess(tracemalloc.get_traced_memory()[1], (4 << 20) + 300 * len(x))
                    tracemalloc.stop()
        self.assertLess(time.monotonic() - start, 300)  # as above: it takes seconds


class TestNegativeLists(Folder):
    def test_random(self) -> None:
        """Any form of list that TGB writes: arrays of integers and of floats, lists, empty ones; with few objects remembered, and with all."""
        before = _negative_lists._TOGETHER, _negative_lists._MOST, _pickles.stream.__defaults__
        try:
            for seed, protocol in itertools.product(range(12), (2, 3, 4, 5)):
                r = np.random.default_rng(seed)
                _negative_lists._TOGETHER, _negative_lists._MOST = int(r.integers(1, 50)), int(r.integers(1, 20))
                _pickles.stream.__defaults__ = (int(r.integers(4, 60)),)
                number = np.int64 if r.random() < 0.5 else int
                node = 1 << (33 if seed % 4 == 0 else 20)
                shared = r.integers(0, node, 3)
                want: dict[Any, Any] = {}
                for _ in range(r.integers(0, 60)):
                    x: Any = r.integers(0, node, r.integers(0, 6))
                    form = r.integers(5)
                    x = x.astype("float64") if form == 0 else x.tolist() if form == 1 else x.astype("int32" if node < 1 << 31 else "int64") if form == 2 else x
                    want[tuple(number(k) for k in (r.integers(9), r.integers(1 << 40), r.integers(9)))] = shared if r.random() < 0.1 and len(want) > 5 else x
                got = _negative_lists.negative_lists(self.written(pickle.dumps(want, protocol)))
                self.assertEqual([tuple(k) for k in got.keys.tolist()], [tuple(map(int, k)) for k in want])
                self.assertEqual(got.flat.dtype, np.int64 if any(len(x) and max(x) >= 1 << 31 for x in want.values()) else np.int32)
                for i, x in enumerate(want.values()):
                    self.assertEqual(got.flat[got.offsets[i] : got.offsets[i + 1]].tolist(), [int(y) for y in x])
        finally:
            _negative_lists._TOGETHER, _negative_lists._MOST, _pickles.stream.__defaults__ = before

    def test_objects_that_were_forgotten(self) -> None:
        """A list that occurs again after many others is found by reading once more."""
        early = np.array([7, 8, 9])
        want = {(i, 0, 0): np.array([i, i + 1, i + 2]) for i in range(300)}
        want[(0, 0, 0)] = want[(299, 0, 0)] = early
        path = self.written(pickle.dumps(want, 4))
        seen: list[Any] = []
        _pickles.stream(_torch_files.contents(path), path, lambda: seen.append([]) or (lambda k, v: seen[-1].append(k)), 20)  # type: ignore[func-returns-value]
        self.assertEqual(len(seen), 2)
        self.assertEqual(seen[1], list(want))
        got = _negative_lists.negative_lists(path)
        self.assertEqual(got.flat[-3:].tolist(), [7, 8, 9])

    def test_errors(self) -> None:
        own = "expected a tuple of 3 integers and an array or a list of nodes, from 0"
        for text, data in (
            (f"found a key that is no tuple of 3 integers in item 0 of the dict, {own}", {(1, 2): [3]}),
            (f"found a key with a str, or one of more than 62 bits in item 1 of the dict, {own}", {(1, 2, 3): [3], (1, "2", 3): [3]}),
            (f"found a key with a float, or one of more than 62 bits in item 0 of the dict, {own}", {(1, 0.5, 3): [3]}),
            (f"found an array of shape [1, 2] in item 0 of the dict, {own}", {(1, 2, 3): np.ones((1, 2), int)}),
            (f"found a fraction in item 0 of the dict, {own}", {(1, 2, 3): np.array([0.5])}),
            (f"found a fraction in item 0 of the dict, {own}", {(1, 2, 3): np.array([np.nan])}),
            (f"found a list in item 0 of the dict, {own}", {(1, 2, 3): [1, "a"]}),
            (f"found a str in item 0 of the dict, {own}", {(1, 2, 3): "abc"}),
            ("found the node -1 before item 1 of the dict, expected nodes from 0", {(1, 2, 3): [1, -1]}),
            ("found a pickle of a list, expected one of a dict of links and their negatives", [1]),
        ):
            for protocol in (2, 4):
                path = self.written(pickle.dumps(data, protocol))
                with self.assertRaises(ValueError) as caught:
                    _negative_lists.negative_lists(path)
                self.assertIn(text, str(caught.exception))
        again = np.arange(2000)
        path = self.written(pickle.dumps({(i, 0, 0): again for i in range(5000)}))
        with self.assertRaisesRegex(ValueError, "found lists that occur again and again"):
            _negative_lists.negative_lists(path)

    def test_memory(self) -> None:
        """Beside the array of nodes there are the keys, and a part of the lists."""
        n, k = 4000, 500
        path = self.written(pickle.dumps({(i, i + 1, i): np.arange(i, i + k) for i in range(n)}))
        tracemalloc.start()
        got = _negative_lists.negative_lists(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertEqual(len(got.flat), n * k)
        self.assertLess(peak, 1.13 * n * k * 4 + (40 << 20))


@unittest.skipUnless(available("torch"), "torch is not installed")
class TestTorchFiles(Folder):
    def test_what_torch_writes(self) -> None:
        """Arrays and tensors, views of one storage, both forms of file, all protocols."""
        import torch

        dtypes = [getattr(torch, d) for d in ("int64", "int32", "int16", "int8", "uint8", "bool", "float64", "float32", "float16")]
        for seed, archive, protocol in itertools.product(range(6), (True, False), (2, 3, 4, 5)):
            r = np.random.default_rng(seed)
            data = random_object(r)
            whole = torch.from_numpy(r.integers(0, 100, (6, 4)))
            data.update(whole=whole, part=whole[2:4], turned=whole.T, column=whole[:, 1], none=whole[:0], number=torch.tensor(5))
            data.update({f"tensor {d}": torch.from_numpy(r.integers(0, 9, r.integers(0, 5, r.integers(0, 3)))).to(d) for d in dtypes})
            path = str(self.folder / "x.pt")
            torch.save(data, path, pickle_protocol=protocol, _use_new_zipfile_serialization=archive)
            got = _torch_files.load(path)
            self.assertEqual(list(got), list(data))
            for key, x in data.items():
                self.assertTrue(same(got[key], x.numpy() if torch.is_tensor(x) else x), (seed, archive, protocol, key))

    def test_refused(self) -> None:
        import torch

        path = self.folder / "x.pt"
        for archive in (True, False):
            torch.save({"x": torch.zeros(1).expand(1 << 40)}, path, _use_new_zipfile_serialization=archive)
            self.damaged("expected as many; the file is damaged, or the tensor was expanded", path.read_bytes())
            torch.save(torch.nn.Linear(1, 1), path, _use_new_zipfile_serialization=archive)
            self.damaged("which a pickle could run, expected names of NumPy arrays and torch tensors only; it is not run", path.read_bytes())
            torch.save({"x": torch.zeros(2, dtype=torch.bfloat16)}, path, _use_new_zipfile_serialization=archive)
            self.damaged("found 'torch.BFloat16Storage', which", path.read_bytes())

    def test_cuts_and_flips(self) -> None:
        import torch

        r = np.random.default_rng(6)
        for archive in (True, False):
            torch.save({"edge": torch.arange(40).reshape(20, 2), "x": np.arange(9)}, self.folder / "y.pt", _use_new_zipfile_serialization=archive)
            data = (self.folder / "y.pt").read_bytes()
            for i in range(600):
                x = bytearray(data)
                if i % 4 == 0:
                    del x[r.integers(len(x)) :]
                for at in r.integers(0, max(len(x), 1), 0 if i % 4 == 0 else r.integers(1, 6)):
                    x[at] = r.integers(256)
                path = self.written(bytes(x))
                try:
                    _torch_files.load(path)
                except ValueError as e:
                    self.assertTrue(str(e).startswith(path), e)


if __name__ == "__main__":
    unittest.main()
