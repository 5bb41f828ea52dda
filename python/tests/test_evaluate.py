"""Metrics: tables by hand, random input against definitions in loops, and the same metrics of other libraries."""

from __future__ import annotations

import importlib.util
import itertools
import math
import pickle
import sys
import unittest
import unittest.mock
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from graphmill import evaluate
from graphmill._order import draw, key
from graphmill.evaluate import _bootstrap, _curve, _ranks

Array = npt.NDArray[Any]
NAN = math.nan


def available(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def lists_of(r: np.random.Generator, n: int, k: int, items: int) -> tuple[Array, list[Array]]:
    """Lists of distinct items of several lengths, and the relevant items of each, often none."""
    top = np.full((n, k), -1, np.int64)
    for row in top:
        length = r.integers(0, k + 1)
        row[:length] = r.permutation(items)[:length]
    return top, [r.permutation(items)[: r.integers(0, 6)] for _ in range(n)]


# The definitions, in loops.


def rank(positive: float, negatives: list[float], share: float) -> float:
    return 1 + sum(x > positive for x in negatives) + share * sum(x == positive for x in negatives)


def auc(positives: list[float], negatives: list[float]) -> float:
    return sum((p > n) + (p == n) / 2 for p in positives for n in negatives) / (len(positives) * len(negatives))


def ap(positives: list[float], negatives: list[float]) -> float:
    out, before = 0.0, 0
    for t in sorted(set(positives), reverse=True):
        found, false = sum(p >= t for p in positives), sum(n >= t for n in negatives)
        out += (found - before) / len(positives) * found / (found + false)
        before = found
    return out


def of_list(metric: str, k: int, top: list[int], relevant: set[int]) -> float:
    found = [i in relevant for i in top[:k]]
    precision, recall = sum(found) / k, sum(found) / len(relevant)
    if metric == "ndcg":
        return sum(f / math.log2(i + 2) for i, f in enumerate(found)) / sum(1 / math.log2(i + 2) for i in range(min(k, len(relevant))))
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if any(found) else 0.0,
        "map": sum(f * sum(found[: i + 1]) / (i + 1) for i, f in enumerate(found)) / min(k, len(relevant)),
        "mrr": max((f / (i + 1) for i, f in enumerate(found)), default=0.0),
        "hits": float(any(found)),
    }[metric]


class Close(unittest.TestCase):
    def close(self, got: Any, want: dict[str, float], near: float = 1e-12) -> None:
        self.assertEqual(list(got), list(want))
        for name, x in want.items():
            self.assertTrue(abs(got[name] - x) <= near * max(1.0, abs(x)), (name, got[name], x))

    def refused(self, text: str, f: Callable[..., Any], *args: Any, error: type[Exception] = ValueError, **kwargs: Any) -> None:
        with self.assertRaises(error) as caught:
            f(*args, **kwargs)
        self.assertEqual(str(caught.exception), text)


class TestLinks(Close):
    def test_by_hand(self) -> None:
        positive, negative = [0.9, 0.5, 0.1], [[0.1, 0.2, 0.3], [0.5, 0.5, 0.9], [0.1, 0.0, 0.4]]
        for ties, ranks in {"mean": [1, 3, 2.5], "worst": [1.0, 4, 3], "best": [1.0, 2, 2]}.items():
            got = evaluate.links(positive, negative, ("mrr", "mr", "hits@1", "hits@3"), ties=ties)
            self.assertEqual(got.each["rank"].tolist(), ranks)
            self.close(got, {"mrr": sum(1 / r for r in ranks) / 3, "mr": sum(ranks) / 3, "hits@1": 1 / 3, "hits@3": sum(r <= 3 for r in ranks) / 3})
        shared = evaluate.links(positive, [0.5, 0.4, 0.4], ("auc", "ap", "hits@2"))
        self.close(shared, {"auc": (3 + 2.5 + 0) / 9, "ap": (1 + 2 / 3 + 3 / 6) / 3, "hits@2": 2 / 3})
        ragged = evaluate.links(positive, [0.95, 0.2, 0.1], offsets=[0, 2, 2, 3])
        self.assertEqual(ragged.each["rank"].tolist(), [2, 1, 1.5])

    def test_random(self) -> None:
        """All forms of the negatives, with many ties, NaN that are left out, and rows beyond a block and beyond 255 words."""
        r = np.random.default_rng(1)
        for n, k, dtype in itertools.product((1, 7, 40), (1, 8, 31), ("float32", "float64", "int64", "float16")):
            positive, negative = r.integers(0, 9, n).astype(dtype), r.integers(0, 9, (n, k)).astype(dtype)
            there = [row.tolist() for row in negative]
            if dtype[0] == "f":
                negative[r.random((n, k)) < 0.2] = NAN
                negative[0, 0] = 5
                there = [row[~np.isnan(row)].tolist() for row in negative]
            flat = [x for row in there for x in row]
            for (ties, share), form in itertools.product({"mean": 0.5, "worst": 1, "best": 0}.items(), ("matrix", "ragged", "shared")):
                each = [flat] * n if form == "shared" else there
                ranks = [rank(p, row, share) for p, row in zip(positive.tolist(), each)]
                offsets = np.cumsum([0, *map(len, there)]) if form == "ragged" else None
                given = negative if form == "matrix" else np.array(flat, dtype)
                got = evaluate.links(positive, given, ("mrr", "hits@2", "auc", "ap"), offsets=offsets, ties=ties, missing="skip")
                want = {"mrr": math.fsum(1 / x for x in ranks) / n, "hits@2": sum(x <= 2 for x in ranks) / n}
                self.close(got, {**want, "auc": auc(positive.tolist(), flat), "ap": ap(positive.tolist(), flat)})
                self.assertEqual(got.each["rank"].tolist(), ranks)

    def test_wide(self) -> None:
        r = np.random.default_rng(2)
        for k in (255 * 8 + 1, 2 * 255 * 8 + 7, 33_000, _ranks.BLOCK + 5):
            positive, negative = r.integers(0, 50, 5).astype("float32"), r.integers(0, 50, (5, k)).astype("float32")
            want = 1 + (negative > positive[:, None]).sum(1) + (negative == positive[:, None]).sum(1) / 2
            for given in (negative, np.asfortranarray(negative)):
                self.assertEqual(evaluate.links(positive, given).each["rank"].tolist(), want.tolist())
            self.assertEqual(evaluate.links(positive, negative.reshape(-1), offsets=np.arange(6) * k).each["rank"].tolist(), want.tolist())

    def test_blocks_and_orders_change_no_bit(self) -> None:
        r = np.random.default_rng(3)
        positive, negative = r.random(300, "float32"), r.random((300, 20), "float32")
        names = ("mrr", "auc", "ap", "hits@3")
        want = evaluate.links(positive, negative, names)
        order = r.permutation(300)
        self.assertEqual(dict(evaluate.links(positive[order], negative[order], names)), dict(want))
        before = _ranks.BLOCK, _curve._SORTED
        try:
            for block in (1, 64, 1000):
                _ranks.BLOCK = _curve._SORTED = block
                self.assertEqual(dict(evaluate.links(positive, negative, names)), dict(want))
        finally:
            _ranks.BLOCK, _curve._SORTED = before

    def test_float32_is_compared_as_float32(self) -> None:
        third = np.float32(1 / 3)
        self.assertEqual(evaluate.links(np.array([third]), np.array([[third]])).each["rank"].tolist(), [1.5])
        self.assertEqual(evaluate.links(np.array([third]), np.array([[1 / 3]])).each["rank"].tolist(), [1])
        self.assertEqual(evaluate.links([(1 << 53) + 1], [[1 << 53, (1 << 53) + 2]]).each["rank"].tolist(), [2])

    def test_corners(self) -> None:
        self.assertEqual(evaluate.links([1.0], [0.5])["mrr"], 1)
        self.assertEqual(dict(evaluate.links([math.inf, -math.inf], [math.inf], ("auc", "hits@1"))), {"auc": 0.25, "hits@1": 0.0})
        same = evaluate.links(np.zeros(4), np.zeros((4, 3)), ("mrr", "auc", "ap"))
        self.assertEqual(dict(same), {"mrr": 1 / 2.5, "auc": 0.5, "ap": 0.25})
        self.assertEqual(evaluate.links([1.0], [[NAN, 2.0]], "hits@1", missing="skip")["hits@1"], 0)

    def test_errors(self) -> None:
        for text, positive, negative, more in (
            ("found no positive links, expected at least one", [], [0.5], {}),
            ("found no negative links, expected at least one", [0.5], [], {}),
            ("found no negative links, expected at least one", [0.5], [NAN], dict(missing="skip")),
            ("found NaN in row 1 of positive, expected a number", [0.5, NAN], [0.5], {}),
            ("found NaN in row 1 of negative, expected a number", [0.5, 1.0], [[0.5], [NAN]], {}),
            ("found NaN in row 1 of negative, expected a number", [0.5, 1.0], [0.1, 0.2, NAN], dict(offsets=[0, 1, 3])),
            ("found NaN in row 2 of negative, expected a number", [0.5, 1.0], [0.1, 0.2, NAN], {}),
            ("found 2 positive links and 3 rows of negative, expected a row per positive link", [0.5, 1.0], [[1], [2], [3]], {}),
            ("found positive of shape [2, 1], expected [n]; give positive.reshape(-1)", [[0.5], [1.0]], [0.5], {}),
            ("found 2 offsets and 2 positive links, expected 3 offsets", [0.5, 1.0], [0.5], dict(offsets=[0, 1])),
            ("found offsets from 0 to 2, expected 0 to 1, the number of negative links", [0.5], [0.5], dict(offsets=[0, 2])),
            ("found offset 1 after 2, expected no offset below the one before it", [0.5, 1.0, 2.0], [0.5, 2.0], dict(offsets=[0, 2, 1, 2])),
            ("found groups of shape [3], expected [1]: the group of each of the positive links", [0.5], [0.5], dict(groups=[1, 2, 3])),
            ("found ties='first', expected one of mean, worst, best; did you mean worst?", [0.5], [0.5], dict(ties="first")),
            ("found missing='drop', expected one of error, skip", [0.5], [0.5], dict(missing="drop")),
            ("found level=95, expected a number between 0 and 1, such as 0.95", [0.5], [0.5], dict(level=95)),
            ("found bootstrap=-1, expected at least 0", [0.5], [0.5], dict(bootstrap=-1)),
        ):
            self.refused(text, evaluate.links, positive, negative, **more)
        for text, metrics in {
            "found the metric 'hits', expected hits@K with an integer K of at least 1, such as hits@10": ["hits"],
            "found the metric 'hits@0', expected hits@K with an integer K of at least 1, such as hits@10": ["hits@0"],
            "found the metric 'mrr@10', expected mrr, which has no number here": ["mrr@10"],
            "found the metric 'roc_auc', expected one of mrr, mr, auc, ap, hits@K; did you mean auc?": ["roc_auc"],
            "found the metric 'hit@3', expected one of mrr, mr, auc, ap, hits@K; did you mean hits@3?": ["mrr", "hit@3"],
            "found the metric 'mrrr', expected one of mrr, mr, auc, ap, hits@K; did you mean mrr?": "mrrr",
            "found no metrics, expected at least one of mrr, mr, auc, ap, hits@K": [],
        }.items():
            self.refused(text, evaluate.links, [0.5], [0.5], metrics)
        self.refused("found positive of dtype <U1, expected an array of numbers or a tensor", evaluate.links, ["a"], [0.5], error=TypeError)
        self.refused("found groups of several types, such as int and str, expected numbers or texts", evaluate.links, [1, 2], [0], groups=np.array([1, "a"], object), error=TypeError)  # fmt: skip

    def test_ranked(self) -> None:
        self.close(evaluate.ranked([1, 2.5, 4], ("mrr", "mr", "hits@2")), {"mrr": (1 + 0.4 + 0.25) / 3, "mr": 2.5, "hits@2": 1 / 3})
        self.refused("found the rank 0 in row 1 of ranks, expected at least 1", evaluate.ranked, [1, 0])
        self.refused("found no ranks, expected at least one", evaluate.ranked, [])


class TestScores(Close):
    def test_mapping(self) -> None:
        got = evaluate.links([0.9, 0.1, 0.2], [0.5], ("mrr", "auc"), groups=["new", "old", "old"], bootstrap=20)
        self.assertEqual((got.count, list(got), len(got), "auc" in got), (3, ["mrr", "auc"], 2, True))
        self.assertEqual(sorted(got.each), ["mrr", "rank"])
        again = pickle.loads(pickle.dumps(got))
        self.assertEqual((again, again.intervals, repr(again)), (got, got.intervals, repr(got)))
        for name in ("count", "each", "groups", "intervals"):
            with self.assertRaises(AttributeError):
                setattr(got, name, None)
        with self.assertRaises(TypeError):
            got.groups["new"] = got  # type: ignore[index]
        with self.assertRaisesRegex(ValueError, "read-only"):
            got.each["rank"][0] = 5

    def test_repr(self) -> None:
        got = evaluate.links([0.9, 0.1, 0.2], [0.5], ("mrr", "hits@1"), groups=["new", "old", "old"])
        self.assertEqual(
            repr(got),
            "Scores of 3 positive links\nmrr     0.6667\nhits@1  0.3333\n\n"
            "group  positive links     mrr  hits@1\nnew                 1  1.0000  1.0000\nold                 2  0.5000  0.0000",
        )
        self.assertRegex(repr(evaluate.links([0.9, 0.1], [0.5], "mrr", bootstrap=9)), r"^Scores of 2 positive links\nmrr  0\.7500  0\.\d{4} to 1\.0000$")
        self.assertIn("and 5 other groups", repr(evaluate.values(np.zeros(25), np.ones(25), "mae", groups=np.arange(25))))

    def test_a_group_is_an_evaluation_of_its_own(self) -> None:
        """A group has the Scores, and the intervals, of its items alone; a metric that it cannot have is NaN."""
        r = np.random.default_rng(4)
        n = 60
        more: dict[str, Any] = dict(bootstrap=10, seed=5)
        group = r.integers(0, 3, n) * 7
        positive, negative, ragged = r.random(n), r.random((n, 4)), r.random(n * 2)
        offsets = np.concatenate([[0], np.sort(r.integers(0, 2 * n, n - 1)), [2 * n]])
        names = ("mrr", "auc", "ap")
        matrix = evaluate.links(positive, negative, names, groups=group, **more)
        flat = evaluate.links(positive, ragged, names, offsets=offsets, groups=group, **more)
        label, relevant = r.integers(0, 2, n), [np.arange(i % 3) for i in range(n)]
        of_classes = evaluate.classes(positive, label, ("f1", "auc", "log-loss"), groups=group, **more)
        top = np.argsort(r.random((n, 5)), axis=1)
        of_lists = evaluate.lists(top, relevant, ("ndcg@2", "map@9"), groups=group, **more)
        of_values = evaluate.values(positive, negative[:, 0], groups=group, **more)
        self.assertEqual(list(matrix.groups), [0, 7, 14])
        for g, at in ((g, np.flatnonzero(group == g)) for g in (0, 7, 14)):
            own = np.concatenate([ragged[offsets[i] : offsets[i + 1]] for i in at])
            for got, want in (
                (matrix, evaluate.links(positive[at], negative[at], names, **more)),
                (flat, evaluate.links(positive[at], own, names, offsets=np.cumsum([0, *np.diff(offsets)[at]]), **more)),
                (of_classes, evaluate.classes(positive[at], label[at], ("f1", "auc", "log-loss"), **more)),
                (of_lists, evaluate.lists(top[at], [relevant[i] for i in at], ("ndcg@2", "map@9"), **more)),
                (of_values, evaluate.values(positive[at], negative[at, 0], **more)),
            ):
                self.assertEqual((dict(got.groups[g]), dict(got.groups[g].intervals), got.groups[g].count), (dict(want), dict(want.intervals), want.count))
        alone = evaluate.classes([0.1, 0.9, 0.3], [0, 1, 1], ("auc", "accuracy"), groups=[1, 1, 2])
        self.assertTrue(math.isnan(alone.groups[2]["auc"]))
        self.assertIn("2           1       -    0.0000", repr(alone))

    def test_resamples(self) -> None:
        """The draws follow the law, and an interval has the percentiles of the metric of each resample, which are of copies of the items."""
        r = np.random.default_rng(6)
        for n in (1, 5, 40):
            for b in range(3):
                want = np.bincount([draw(key(9, _bootstrap.WORD, b), j) * n >> 64 for j in range(n)], minlength=n)
                self.assertEqual(_bootstrap.times(9, b, n).tolist(), want.tolist())
        n, resamples = 30, 25
        positive, negative, label = r.integers(0, 9, n) / 8, r.integers(0, 9, (n, 3)) / 8, np.arange(n) % 3
        p = r.random((n, 3))
        p /= p.sum(1, keepdims=True)
        forms: list[tuple[Callable[..., evaluate.Scores], list[Array], tuple[str, ...]]] = [
            (evaluate.links, [positive, negative], ("mrr", "hits@1", "auc", "ap")),
            (lambda x, *a, **b: evaluate.links(x, negative[0], *a, **b), [positive], ("mr", "auc", "ap")),
            (evaluate.classes, [p, label], ("accuracy", "f1", "f1-micro", "f1-weighted", "precision", "recall", "auc", "ap", "log-loss")),
            (evaluate.classes, [positive, label % 2], ("f1", "auc", "ap")),
            (evaluate.values, [positive, negative[:, 0]], ("rmse", "mse", "mae", "r2")),
        ]
        for f, arrays, names in forms:
            got = f(*arrays, names, bootstrap=resamples, level=0.8, seed=3)
            copies = [np.repeat(np.arange(n), _bootstrap.times(3, b, n)) for b in range(resamples)]
            each = [f(*(x[c] for x in arrays), names) for c in copies]
            for name in names:
                want = np.quantile([s[name] for s in each], [0.1, 0.9])
                self.assertTrue(np.allclose(got.intervals[name], want, atol=1e-12), (name, got.intervals[name], want))

    def test_resamples_without_a_class(self) -> None:
        got = evaluate.classes([0.2, 0.7], [0, 1], ("auc",), bootstrap=40)
        self.assertEqual(got.intervals["auc"], (1, 1))


class TestLists(Close):
    def test_by_hand(self) -> None:
        top = [[4, 2, 9], [1, -1, -1], [3, 5, 6], [7, 8, 0]]
        got = evaluate.lists(top, [[2, 9, 1], [1], [], [5]], ("precision@2", "recall@2", "f1@2", "map@3", "mrr@3", "hits@1", "ndcg@3"))
        gain = [1 / math.log2(i + 2) for i in range(3)]
        want = {"precision@2": 1 / 3, "recall@2": (1 / 3 + 1) / 3, "f1@2": (2 / 5 + 2 / 3) / 3, "map@3": ((1 / 2 + 2 / 3) / 3 + 1) / 3}
        self.close(got, {**want, "mrr@3": (1 / 2 + 1) / 3, "hits@1": 1 / 3, "ndcg@3": ((gain[1] + gain[2]) / sum(gain) + 1) / 3})
        self.assertEqual((got.count, got.each["hits@1"].tolist()[:2], math.isnan(got.each["hits@1"][2])), (3, [0, 1], True))

    def test_random(self) -> None:
        r = np.random.default_rng(7)
        names = [f"{m}@{k}" for m in ("precision", "recall", "f1", "ndcg", "map", "mrr", "hits") for k in (1, 3, 20)]
        for n, k, items in ((1, 1, 6), (50, 6, 9), (40, 12, 1000), (5, 0, 7)):
            top, relevant = lists_of(r, n, k, items)
            relevant[0] = np.array([1, 1, 4])
            sets = [set(x.tolist()) for x in relevant]
            want = {}
            for name in names:
                of, _, at = name.partition("@")
                each = [of_list(of, int(at), [i for i in row if i >= 0], s) for row, s in zip(top.tolist(), sets) if s]
                want[name] = math.fsum(each) / len(each)
            pairs = np.array([(i, j) for i, s in enumerate(sets) for j in s]).T
            order = r.permutation(pairs.shape[1])
            huge = np.where(top < 0, -1, top * (1 << 50)), pairs * np.array([[1], [1 << 50]])
            for got in (evaluate.lists(top, relevant, names), evaluate.lists(top, pairs[:, order], names), evaluate.lists(*huge, names)):
                self.close(got, want)

    def test_errors(self) -> None:
        for text, top, relevant, more in (
            ("found no relevant items, expected at least one for one of the lists", [[1]], [[]], {}),
            ("found the item 1 twice in row 1 of top, expected it once", [[1, 2], [1, 1]], [[1], [2]], {}),
            ("found an item after -1 in row 0 of top, expected -1 only after the last item", [[-1, 2]], [[1]], {}),
            ("found the item -2 in row 0 of top, expected items from 0, and -1 after the last", [[-2, 2]], [[1]], {}),
            ("found 1 lists in top and 2 arrays in relevant, expected an array per list", [[1]], [[1], [2]], {}),
            ("found the list 3 in relevant, expected numbers below 1, the number of lists in top", [[1]], np.array([[3], [1]]), {}),
            ("found the item -1 in relevant[0], expected items from 0", [[1]], [[-1]], {}),
            ("found relevant of shape [3, 2], expected [2, n]: numbers of lists and items; give relevant.T", [[1]], np.ones((3, 2), int), {}),
            ("found the metric 'ndcg', expected ndcg@K with an integer K of at least 1, such as ndcg@10", [[1]], [[1]], dict(metrics=["ndcg"])),
            (
                "found the metric 'NDCG@5', expected one of precision@K, recall@K, f1@K, ndcg@K, map@K, mrr@K, hits@K; did you mean ndcg@5?",
                [[1]], [[1]], dict(metrics="NDCG@5"),
            ),
        ):  # fmt: skip
            self.refused(text, evaluate.lists, top, relevant, **more)
        self.refused("found top of dtype float64, expected integers", evaluate.lists, [[1.0]], [[1]], error=TypeError)
        self.refused("found relevant of type dict, expected a list with an array per list, or a [2, m] array", evaluate.lists, [[1]], {0: [1]}, error=TypeError)


class TestClasses(Close):
    def test_by_hand(self) -> None:
        names = ("accuracy", "f1", "f1-micro", "f1-weighted", "precision", "recall")
        guess, label = [0, 0, 1, 2, 2], [0, 1, 1, 1, 2]
        f1 = [2 / 3, 1 / 2, 2 / 3]
        want = {"accuracy": 0.6, "f1": sum(f1) / 3, "f1-micro": 0.6, "f1-weighted": (f1[0] + 3 * f1[1] + f1[2]) / 5}
        want.update({"precision": (1 / 2 + 1 + 1 / 2) / 3, "recall": (1 + 1 / 3 + 1) / 3})
        self.close(evaluate.classes(guess, label, names), want)
        self.close(evaluate.classes(np.eye(3)[guess], label, names), want)
        self.close(evaluate.classes(np.array(guess) << 40, np.array(label) << 40, names), want)
        got = evaluate.classes([0.9, 0.2, 0.6, 0.6], [1, 0, 1, 0], ("accuracy", "auc", "ap", "log-loss"))
        loss = -(math.log(0.9) + math.log(0.8) + math.log(0.6) + math.log(0.4)) / 4
        self.close(got, {"accuracy": 0.75, "auc": 3.5 / 4, "ap": (1 + 2 / 3) / 2, "log-loss": loss})
        self.assertEqual(evaluate.classes([2.0, -1.0, 0.2], [1, 0, 1], "accuracy", threshold=0)["accuracy"], 1)
        self.assertEqual(evaluate.classes([True, False], [True, True], "accuracy")["accuracy"], 0.5)

    def test_random(self) -> None:
        r = np.random.default_rng(8)
        for n, count in ((30, 2), (60, 4)):
            p = r.integers(1, 5, (n, count)).astype(float)
            p /= p.sum(1, keepdims=True)
            label = np.concatenate([np.arange(count), r.integers(0, count, n - count)])
            curves = [(p[label == c, c].tolist(), p[label != c, c].tolist()) for c in (range(count) if count > 2 else [1])]
            want = {"auc": sum(auc(*c) for c in curves) / len(curves), "ap": sum(ap(*c) for c in curves) / len(curves)}
            self.close(evaluate.classes(p, label, ("auc", "ap")), want)
            self.close(evaluate.classes(p, label, ("log-loss",)), {"log-loss": math.fsum(-math.log(p[i, c]) for i, c in enumerate(label)) / n})

    def test_missing(self) -> None:
        got = evaluate.classes([0.9, NAN, 0.2], [1, -1, 1], "accuracy", missing="skip", groups=["a", "b", "a"])
        self.assertEqual((got.count, got["accuracy"], got.each["accuracy"][[0, 2]].tolist(), list(got.groups)), (2, 0.5, [1, 0], ["a"]))
        self.assertTrue(math.isnan(got.each["accuracy"][1]))

    def test_errors(self) -> None:
        two = [[0.5, 0.5], [0.9, 0.1]]
        for text, predicted, label, metrics in (
            ('found the label -1 in row 1, expected classes from 0; missing="skip" leaves such rows out', two, [0, -1], "f1"),
            ("found 2 rows of predicted and 3 labels, expected a label per row", two, [0, 1, 1], "f1"),
            ("found no labels, expected at least one", [], [], "f1"),
            ("found the label 2 in row 1, expected 0 to 1, because predicted has 2 columns", two, [0, 2], "f1"),
            ("found the label 3 in row 0, expected 0 to 1, because predicted has the scores of class 1 alone", [0.5], [3], "f1"),
            ("found NaN in row 0 of predicted, expected a number", [NAN], [1], "f1"),
            ("found predicted classes, expected scores for auc; give floats, [n, classes] or [n]", [1, 0], [1, 0], ("f1", "auc")),
            ("found the predicted class -3 in row 1, expected classes from 0", [1, -3], [1, 0], "f1"),
            ("found no label of class 1, expected at least one of each of the 2 classes for auc", two, [0, 0], "auc"),
            ("found scores from 1 to 3 with the sum 4 in row 1 of predicted, expected probabilities for ap; apply a softmax first", [[0.5, 0.5], [1, 3.0]], [0, 1], "ap"),
            ("found the score 3 in row 1 of predicted, expected probabilities for log-loss; apply a sigmoid first", [0.5, 3], [0, 1], "log-loss"),
            ("found predicted of shape [n, 1], expected a column per class; give predicted.reshape(-1) for the scores of class 1", [[0.5]], [0], "f1"),
            (
                "found the metric 'macro_f1', expected one of accuracy, f1, f1-micro, f1-weighted, precision, recall, auc, ap, log-loss; did you mean f1?",
                [0.5], [0], "macro_f1",
            ),
        ):  # fmt: skip
            self.refused(text, evaluate.classes, predicted, label, metrics)
        self.refused("found label of dtype float64, expected integers", evaluate.classes, [0.5], [1.0], error=TypeError)


class TestValues(Close):
    def test_by_hand(self) -> None:
        got = evaluate.values([1, 2, 4], [1, 3, 2], ("rmse", "mse", "mae", "r2"))
        self.close(got, {"rmse": math.sqrt(5 / 3), "mse": 5 / 3, "mae": 1, "r2": 1 - 5 / 2})
        self.assertEqual(evaluate.values([1.0, 5.0], [NAN, 4.0], "mae", missing="skip").count, 1)

    def test_errors(self) -> None:
        for text, predicted, actual, metrics in (
            ("found 2 predicted values and 1 actual values, expected one for each", [1, 2], [1], "mae"),
            ("found no actual values, expected at least one", [], [], "mae"),
            ("found nan in row 1 of actual, expected a finite number", [1, 2], [1, NAN], "mae"),
            ("found inf in row 0 of predicted, expected a finite number", [math.inf], [1], "mae"),
            ("found only one number in actual, 3, expected at least two different ones for r2", [1, 2], [3, 3], "r2"),
        ):
            self.refused(text, evaluate.values, predicted, actual, metrics)


class TestFull(Close):
    def test_ranks(self) -> None:
        """Against loops: functions and arrays, known links or none, several links of a source, all sizes of blocks."""
        r = np.random.default_rng(9)
        of = r.integers(0, 12, (20, 30)).astype("float32")
        links, known = r.integers(0, 20, (2, 120)), np.stack([r.integers(0, 22, 150), r.integers(0, 30, 150)])
        links[0, :40] = 5  # more than the few for which all items are compared
        known[:, :30] = links[:, :30]
        for (ties, share), filtered in itertools.product({"mean": 0.5, "worst": 1, "best": 0}.items(), (known, known[:, :0], None)):
            without = set() if filtered is None else set(map(tuple, filtered.T.tolist()))
            want = [rank(float(of[s, t]), [float(of[s, i]) for i in range(30) if i != t and (s, i) not in without], share) for s, t in links.T.tolist()]
            for block in (1, 3, None):
                asked: list[int] = []

                def scores(sources: Array, asked: list[int] = asked) -> Array:
                    asked += sources.tolist()
                    return of[sources]

                self.assertEqual(evaluate.full_ranks(scores, links, filtered, ties=ties, block=block).tolist(), want)
                self.assertEqual(asked, sorted(set(links[0].tolist())))
                self.assertEqual(evaluate.full_ranks(of[links[0]], links, filtered, ties=ties, block=block).tolist(), want)
        self.assertEqual(evaluate.full_ranks(lambda s: of[s], np.empty((2, 0), int), known).tolist(), [])
        self.assertEqual(evaluate.full_ranks(of.astype(int)[links[0]], links).tolist(), evaluate.full_ranks(of[links[0]], links).tolist())

    def test_top(self) -> None:
        r = np.random.default_rng(10)
        of = r.integers(0, 6, (15, 12)).astype("float32")
        of[0, :3] = -math.inf
        known = np.stack([r.integers(0, 15, 60), r.integers(0, 12, 60)])
        known = np.concatenate([known, np.stack([np.full(12, 3), np.arange(12)])], axis=1)  # a row of which everything is known
        without, sources = set(map(tuple, known.T.tolist())), r.permutation(15)
        for k, block in itertools.product((1, 4, 12, 20), (1, 4, None)):
            want = np.full((15, k), -1)
            for row, s in enumerate(sources.tolist()):
                left = sorted((-of[s, i], i) for i in range(12) if (s, i) not in without)[:k]
                want[row, : len(left)] = [i for _, i in left]
            for given in (of[sources], lambda s: of[s]):
                top, scores = evaluate.top_k(given, k, known, sources=sources, block=block)
                self.assertEqual(top.tolist(), want.tolist())
                self.assertTrue(((top < 0) == np.isnan(scores)).all() and scores.dtype == np.float32)
                self.assertTrue((scores[top >= 0] == of[sources[np.nonzero(top >= 0)[0]], top[top >= 0]]).all())
            self.assertEqual(evaluate.top_k(of, k, known, block=block)[0][sources].tolist(), want.tolist())
            items = np.array([1, 4, 5, 9])
            some = evaluate.top_k(of[:, items], k, known, items, block=block)[0]
            kept = [[(-of[s, i], i) for i in items.tolist() if (s, i) not in without] for s in range(15)]
            self.assertEqual([[i for i in row if i >= 0] for row in some.tolist()], [[i for _, i in sorted(row)[:k]] for row in kept])

    def test_input_stays(self) -> None:
        of, known = np.ones((2, 3), "float32"), [[0, 1], [1, 1]]
        evaluate.top_k(of, 2, known)
        evaluate.full_ranks(lambda s: of[s[0] : s[-1] + 1], [[0, 1], [0, 0]], known)
        self.assertTrue((of == 1).all())

    def test_errors(self) -> None:
        of = np.zeros((2, 3))
        no_rows: dict[str, Any] = dict(block=0)
        for text, f, args, more in (
            ("found the target 3 in links, expected numbers below 3, the number of items that have scores", evaluate.full_ranks, (of, [[0, 1], [0, 3]]), {}),
            ("found the item 7 in known, expected numbers below 3, the number of items that have scores", evaluate.full_ranks, (of, [[0, 1], [0, 1]], [[0], [7]]), {}),
            ("found 2 rows of scores and 1 links, expected a row for each", evaluate.full_ranks, (of, [[0], [0]]), {}),
            ("found scores of shape [1, 3], expected [2, items]: a row for each source", evaluate.full_ranks, (lambda s: of[:1], [[0, 1], [0, 0]]), {}),
            ("found NaN in row 4 of scores, expected a number", evaluate.full_ranks, (lambda s: [[NAN]], [[4], [0]]), {}),
            ("found -1 in links, expected integers of at least 0", evaluate.full_ranks, (of, [[0, -1], [0, 0]]), {}),
            ("found block=0, expected at least 1", evaluate.full_ranks, (of, [[0, 1], [0, 0]]), no_rows),
            ("found k=0, expected at least 1", evaluate.top_k, (of, 0), {}),
            ("found 2 items and scores of 3, expected an item per column", evaluate.top_k, (of, 1, None, [0, 1]), {}),
            ("found the item 1 after 4 in items, expected increasing items; sort them, and the columns of the scores alike", evaluate.top_k, (of, 1, None, [0, 4, 1]), {}),
        ):  # fmt: skip
            self.refused(text, f, *args, **more)
        self.refused(
            "found a function of scores without sources, expected sources=, the sources to ask it for", evaluate.top_k, lambda s: of, 1, error=TypeError
        )


@unittest.skipUnless(available("torch"), "torch is not installed")
class TestTorch(Close):
    def test_tensors(self) -> None:
        import torch

        r = np.random.default_rng(11)
        positive, negative = r.random(9, "float32"), r.random((9, 5), "float32")
        t = torch.from_numpy
        self.assertEqual(
            dict(evaluate.links(t(positive).requires_grad_(), t(negative), ("mrr", "auc"))), dict(evaluate.links(positive, negative, ("mrr", "auc")))
        )
        half = t(positive).bfloat16()
        self.assertEqual(
            evaluate.links(half, t(negative).bfloat16(), ("mrr",))["mrr"],
            evaluate.links(half.float().numpy(), t(negative).bfloat16().float().numpy(), ("mrr",))["mrr"],
        )
        label, links, z = r.integers(0, 2, 9), r.integers(0, 9, (2, 20)), torch.from_numpy(r.random((9, 4), "float32"))
        self.assertEqual(dict(evaluate.classes(t(positive), t(label), groups=t(label))), dict(evaluate.classes(positive, label)))
        self.assertEqual(dict(evaluate.values(t(positive), t(negative[:, 0]))), dict(evaluate.values(positive, negative[:, 0])))

        def scores(sources: Any) -> Any:
            self.assertTrue(torch.is_tensor(sources))
            return z[sources] @ z.T

        ranks = evaluate.full_ranks(scores, t(links), t(links))
        self.assertEqual(ranks.shape, (20,))
        top, _ = evaluate.top_k(scores, 3, t(links), sources=torch.arange(9))
        self.assertEqual(dict(evaluate.lists(t(top), t(links))), dict(evaluate.lists(top, links)))
        self.assertEqual(dict(evaluate.lists(t(top), [t(label[:i]) for i in range(9)])), dict(evaluate.lists(top, [label[:i] for i in range(9)])))


# Other libraries. OGB, PyG and torchmetrics compute in float32.


@unittest.skipUnless(available("ogb"), "OGB is not installed")
class TestOGB(Close):
    def test_evaluator(self) -> None:
        import torch

        with unittest.mock.patch.dict(sys.modules, {"outdated": None}):  # by which OGB asks PyPI for a newer version of itself
            from ogb.linkproppred import Evaluator

        r = np.random.default_rng(12)
        for n, k, most in ((40, 30, 10), (500, 100, 1 << 20)):
            positive, negative = (r.integers(0, most, s).astype("float32") for s in (n, (n, k)))
            theirs = {
                name[:-5]: x.double().mean().item()
                for name, x in Evaluator("ogbl-citation2").eval({"y_pred_pos": torch.from_numpy(positive), "y_pred_neg": torch.from_numpy(negative)}).items()
            }
            self.close(evaluate.links(positive, negative, ("hits@1", "hits@3", "hits@10", "mrr")), theirs, 1e-6)
            for name, at in (("ogbl-ppa", 100), ("ogbl-ddi", 20), ("ogbl-collab", 50)):
                want = Evaluator(name).eval({"y_pred_pos": positive, "y_pred_neg": negative[0]})
                self.close(evaluate.links(positive, negative[0], (f"hits@{at}",), ties="worst"), want)
            want = Evaluator("ogbl-vessel").eval({"y_pred_pos": positive, "y_pred_neg": negative.reshape(-1)})
            self.close(evaluate.links(positive, negative.reshape(-1), ("auc",)), {"auc": want["rocauc"]})


class TestTGB(Close):
    def test_published_formula(self) -> None:
        """The evaluator of TGB's link prediction, whose package is large: these are its lines (tgb.linkproppred.evaluate, version 2), of one positive each."""

        def theirs(positive: Array, negative: Array, k: int) -> dict[str, float]:
            positive = positive.reshape(-1, 1)
            optimistic = (negative > positive).sum(axis=1)
            pessimistic = (negative >= positive).sum(axis=1)
            ranks = 0.5 * (optimistic + pessimistic) + 1
            return {f"hits@{k}": (ranks <= k).astype(np.float32).mean(), "mrr": (1.0 / ranks.astype(np.float32)).mean()}

        r = np.random.default_rng(13)
        positive, negative = r.integers(0, 9, 50).astype("float32"), r.integers(0, 9, (50, 20)).astype("float32")
        self.close(evaluate.links(positive, negative, ("hits@10", "mrr")), theirs(positive, negative, 10), 1e-6)


@unittest.skipUnless(available("torch_geometric"), "PyG is not installed")
class TestPyGMetrics(Close):
    def test_lists(self) -> None:
        import torch
        from torch_geometric import metrics

        of = {"precision": metrics.LinkPredPrecision, "recall": metrics.LinkPredRecall, "f1": metrics.LinkPredF1, "ndcg": metrics.LinkPredNDCG}
        of.update({"map": metrics.LinkPredMAP, "mrr": metrics.LinkPredMRR, "hits": metrics.LinkPredHitRatio})
        r = np.random.default_rng(14)
        for n, k, items in ((30, 5, 12), (200, 20, 60)):
            _, relevant = lists_of(r, n, k, items)
            top = np.argsort(r.random((n, items)), axis=1)[:, :k]  # of -1, PyG makes the last item of the row before
            pairs = np.array([(i, j) for i, x in enumerate(relevant) for j in x]).T
            names, want = [f"{m}@{at}" for m in of for at in (1, 4, k, 30)], {}
            for name in names:
                metric = of[name.partition("@")[0]](int(name.partition("@")[2]))
                metric.update(torch.from_numpy(top), torch.from_numpy(pairs))
                want[name] = float(metric.compute())
            self.close(evaluate.lists(top, pairs, names), want, 2e-6)

    def test_differences(self) -> None:
        """What docs/evaluation.md says of PyG: -1 can be found relevant, and an item that is relevant twice counts twice."""
        import torch
        from torch_geometric.metrics import LinkPredRecall

        for top, pairs, theirs, ours in (([[0], [-1]], [[0, 1], [1, 0]], 0.5, 0.0), ([[5]], [[0, 0, 0], [5, 5, 1]], 1 / 3, 0.5)):
            metric = LinkPredRecall(1)
            metric.update(torch.tensor(top), torch.tensor(pairs))
            self.assertAlmostEqual(float(metric.compute()), theirs, 6)
            self.assertEqual(evaluate.lists(top, np.array(pairs), "recall@1")["recall@1"], ours)


@unittest.skipUnless(available("sklearn"), "scikit-learn is not installed")
class TestScikitLearn(Close):
    def test_classes(self) -> None:
        from sklearn import metrics

        r = np.random.default_rng(15)
        for n, count, dtype in ((50, 2, "float64"), (400, 2, "float32"), (300, 5, "float64")):
            p = r.integers(1, 40, (n, count)).astype(dtype)
            p /= p.sum(1, keepdims=True, dtype=dtype)
            label = np.concatenate([np.arange(count), r.integers(0, count, n - count)])
            guess = np.argmax(p, axis=1)
            want = {"accuracy": metrics.accuracy_score(label, guess)}
            for name, average in (("f1", "macro"), ("f1-micro", "micro"), ("f1-weighted", "weighted")):
                want[name] = metrics.f1_score(label, guess, average=average)
            want["precision"] = metrics.precision_score(label, guess, average="macro", zero_division=0)
            want["recall"] = metrics.recall_score(label, guess, average="macro", zero_division=0)
            hot = np.eye(count)[label]
            want["auc"] = metrics.roc_auc_score(*((label, p[:, 1]) if count == 2 else (hot, p)))
            want["ap"] = metrics.average_precision_score(*((label, p[:, 1]) if count == 2 else (hot, p)))
            want["log-loss"] = metrics.log_loss(label, p.astype("float64") / p.sum(1, keepdims=True, dtype="float64"))
            self.close(evaluate.classes(p, label, list(want)), want, 1e-6 if dtype == "float32" else 1e-12)
            few = r.integers(0, 3, 40), r.integers(1, 7, 40)  # classes that only one of the two has
            self.close(evaluate.classes(*few, ("f1",)), {"f1": metrics.f1_score(few[1], few[0], average="macro", zero_division=0)})

    def test_values_and_links(self) -> None:
        from sklearn import metrics

        r = np.random.default_rng(16)
        a, b = r.random(100), r.random(100)
        want = {"mse": metrics.mean_squared_error(b, a), "mae": metrics.mean_absolute_error(b, a), "r2": metrics.r2_score(b, a)}
        self.close(evaluate.values(a, b, list(want)), want)
        positive, negative = r.integers(0, 50, 80).astype("float32"), r.integers(0, 50, (80, 9)).astype("float32")
        label, scores = np.repeat([1, 0], [80, 720]), np.concatenate([positive, negative.reshape(-1)])
        self.close(
            evaluate.links(positive, negative, ("auc", "ap")),
            {"auc": metrics.roc_auc_score(label, scores), "ap": metrics.average_precision_score(label, scores)},
        )


@unittest.skipUnless(available("torchmetrics"), "torchmetrics is not installed")
class TestTorchMetrics(Close):
    def test_classes_and_ranks(self) -> None:
        import torch
        from torchmetrics.functional import classification as of
        from torchmetrics.functional.retrieval import retrieval_reciprocal_rank

        r = np.random.default_rng(17)
        p = torch.from_numpy(r.random((300, 4), "float32")).softmax(1)
        label = torch.from_numpy(np.concatenate([np.arange(4), r.integers(0, 4, 296)]))
        want = {
            "accuracy": of.multiclass_accuracy(p, label, 4, average="micro"),
            "f1": of.multiclass_f1_score(p, label, 4),
            "auc": of.multiclass_auroc(p, label, 4),
        }
        want["ap"] = of.multiclass_average_precision(p, label, 4)
        self.close(evaluate.classes(p, label, list(want)), {k: float(v) for k, v in want.items()}, 1e-5)
        scores = torch.from_numpy(r.permutation(200).reshape(20, 10).astype("float32"))
        target = torch.zeros(10, dtype=torch.bool)
        target[0] = True
        mrr = sum(float(retrieval_reciprocal_rank(row, target)) for row in scores) / 20
        self.close(evaluate.links(scores[:, 0], scores[:, 1:], ("mrr",)), {"mrr": mrr}, 1e-6)


if __name__ == "__main__":
    unittest.main()
