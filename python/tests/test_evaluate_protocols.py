"""The protocols of OGB's and TGB's link sets: random folders in their layouts against definitions in loops, and against OGB and TGB."""

from __future__ import annotations

import itertools
import math
import pathlib
import pickle
import sys
import unittest
import unittest.mock
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from graphmill import evaluate
from graphmill.evaluate import Asked, Links, _ogb, _tgb, _tgb_nodes
from test_evaluate import Close, auc, available, rank
from test_evaluate_pickles import Folder, older

Array = npt.NDArray[Any]

NODES = 40
TYPES = np.array(["drug", "disease"], object)


def model(r: np.random.Generator) -> Callable[[Links], Array]:
    """Scores that are often equal, and depend on everything that links have."""
    z, by = r.integers(0, 4, (NODES * 4, 2)), r.integers(1, 4, 50)

    def score(of: Links) -> Array:
        x = (z[of.edge_index[0]] * z[of.edge_index[1]][:, ::-1]).sum(-1)
        x = x if of.relation is None else x * by[of.relation]
        x = x if of.time is None else x + of.time % 3
        if of.source_type is not None and of.target_type is not None:
            x = x + np.where(of.source_type == "drug", of.edge_index[0] % 2, 0) + np.where(of.target_type == "drug", of.edge_index[1] % 2, 0)
        return np.asarray(x.astype("float32"))

    return score


def ogb_split(r: np.random.Generator, name: str, n: int, k: int) -> dict[str, Any]:
    """A split of a set of OGB with its own keys and shapes."""

    def nodes(*shape: int) -> Array:
        return r.integers(0, NODES, shape)

    if name in ("ogbl-ppa", "ogbl-ddi", "ogbl-vessel"):
        return {"edge": nodes(n, 2), "edge_neg": nodes(k, 2)}
    if name == "ogbl-collab":
        return {"edge": nodes(n, 2), "weight": np.ones(n, "int64"), "year": np.full(n, 2019), "edge_neg": nodes(k, 2)}
    if name == "ogbl-citation2":
        return {"source_node": nodes(n), "target_node": nodes(n), "target_node_neg": nodes(n, k)}
    out = {"head": nodes(n), "relation": r.integers(0, 50, n), "tail": nodes(n), "head_neg": nodes(n, k), "tail_neg": nodes(n, k)}
    if name == "ogbl-biokg":
        out.update({f"{end}_type": TYPES[r.integers(0, 2, n)].tolist() for end in ("head", "tail")})
    return out


def one(source: Any, target: Any, time: Any = None, relation: Any = None, types: Any = (None, None)) -> Links:
    return Links(
        np.array([[source], [target]]), *(None if x is None else np.array([x], object if isinstance(x, str) else None) for x in (time, relation, *types))
    )


def ogb_ranks(data: dict[str, Any], score: Any, share: float) -> list[float]:
    """The rank of each link by the protocol, in loops."""

    def of(*link: Any) -> float:
        return float(score(one(*link))[0])

    if "edge" in data:
        negative = [of(*e) for e in data["edge_neg"]]
        return [rank(of(*e), negative, share) for e in data["edge"]]
    if "source_node" in data:
        return [rank(of(s, t), [of(s, x) for x in row], share) for s, t, row in zip(data["source_node"], data["target_node"], data["target_node_neg"])]
    n = len(data["head"])
    types = list(zip(data.get("head_type", [None] * n), data.get("tail_type", [None] * n)))
    rows = list(zip(data["head"], data["tail"], data["relation"], data["head_neg"], data["tail_neg"], types))
    tails = [rank(of(h, t, None, r, k), [of(h, x, None, r, k) for x in tail], share) for h, t, r, _, tail, k in rows]
    return tails + [rank(of(h, t, None, r, k), [of(x, t, None, r, k) for x in head], share) for h, t, r, head, _, k in rows]


def tgb_folder(r: np.random.Generator, folder: pathlib.Path, name: str, n: int, version: int = 1) -> pathlib.Path:
    """A table of links in the layout of a set, in the order of time."""
    of, path = _tgb.SETS[name], folder / name.replace("-", "_")
    path.mkdir()
    time, source, target, relation = np.sort(r.integers(0, 30, n)), r.integers(0, 12, n), r.integers(6, 22, n), r.integers(0, 3, n)
    lines = ["names,of,columns"]
    for t, s, d, e in zip(time.tolist(), source.tolist(), target.tolist(), relation.tolist()):
        if of.items:
            lines.append(f"{s},{d},{t}.0,0,0.5,0.25")
        elif of.columns[3] is None:
            lines.append(f"{t},0x{s:02d},0x{d:02d},3,4")
        else:
            lines.append(f"{t},Q{s},Q{d},P{e}" if of.named else f"{t},{s},{d},{e},3,4")
    (path / f"{name}_edgelist{'' if version == 1 else f'_v{version}'}.csv").write_text("".join(f"{x}\n" for x in lines))
    return path


def tgb_negatives(r: np.random.Generator, path: pathlib.Path, name: str, split: str, links: Links, least: int = 0, version: int = 1) -> dict[Any, Any]:
    """A dict of negatives in the form of TGB, which is written, too."""
    of, out = _tgb.SETS[name], {}
    (source, target), time, relation = links.edge_index, links.time, links.relation
    assert time is not None
    for i in range(len(links)):
        key = (source[i], target[i], time[i]) if relation is None else (time[i], source[i], relation[i])
        if of.others:
            assert relation is not None
            alike = (time == time[i]) & (source == source[i]) & (relation == relation[i])
            out[key] = np.array(list({int(t) for t in target[alike]}))
        else:
            x = r.choice(20, r.integers(least, 9), replace=False)  # positives are among them
            out[key] = [x, np.concatenate((np.array([]), x)), x.tolist()][r.integers(3)]
    (path / f"{name}_{'val' if split == 'valid' else split}_ns{'' if version == 1 else f'_v{version}'}.pkl").write_bytes(
        pickle.dumps(out, int(r.integers(2, 6)))
    )
    return out


class TestOGBLayout(Folder, Close):
    def split(self, name: str, data: Any, split: str = "test", protocol: int = 2) -> pathlib.Path:
        folder = self.folder / name.replace("-", "_") / "split" / _ogb.SETS[name].folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{split}.pt").write_bytes(older(data, protocol))
        return folder.parent.parent

    def test_against_loops(self) -> None:
        for i, (name, (n, k)) in enumerate(itertools.product(_ogb.SETS, ((1, 1), (1, 9), (12, 1), (25, 120)))):
            r = np.random.default_rng(i)
            data, score = ogb_split(r, name, n, k), model(r)
            path = self.split(name, data, "valid", 2 + i % 4)
            ranks = ogb_ranks(data, score, 1 if "edge" in data else 0.5)
            own = _ogb.SETS[name].metric
            want = {"mrr": math.fsum(1 / x for x in ranks) / len(ranks), "hits@3": sum(x <= 3 for x in ranks) / len(ranks)}
            for split, block in (("valid", 1), ("val", 7), ("valid", 1 << 17)):
                got = evaluate.ogbl(path, score, split, ("mrr", "hits@3"), block=block)
                self.close(got, want)
                self.assertEqual(got.each["rank"].tolist(), ranks)
            default = evaluate.ogbl(path, score, "valid")
            self.assertEqual(list(default), [own])
            if own.startswith("hits"):
                self.close(default, {own: sum(x <= int(own[5:]) for x in ranks) / len(ranks)})
            elif own == "auc":
                positive, negative = (score(Links(data[key].T)).tolist() for key in ("edge", "edge_neg"))
                self.close(default, {"auc": auc(positive, negative)})

    def test_areas_groups_and_intervals(self) -> None:
        """What `links` has for the same scores, of knowledge graphs with both ends of each link."""
        r = np.random.default_rng(1)
        data, score = ogb_split(r, "ogbl-wikikg2", 20, 6), model(r)
        path, group = self.split("ogbl-wikikg2", data), r.integers(0, 3, 20)
        given = evaluate.given(path)
        positive = score(given.links)
        negative = np.empty((40, 6), "float32")
        for i, j in itertools.product(range(20), range(6)):
            negative[i, j] = score(one(data["head"][i], data["tail_neg"][i, j], None, data["relation"][i]))[0]
            negative[20 + i, j] = score(one(data["head_neg"][i, j], data["tail"][i], None, data["relation"][i]))[0]
        more: dict[str, Any] = dict(bootstrap=20, seed=3, level=0.9)
        names = ("mrr", "auc", "ap")
        for metrics in (names, ("mrr",)):
            got = evaluate.ogbl(path, score, "test", metrics, groups=group, block=11, **more)
            want = evaluate.links(np.tile(positive, 2), negative, metrics, groups=np.tile(group, 2), **more)
            self.assertEqual((dict(got), got.intervals, got.groups), (dict(want), want.intervals, want.groups))

    def test_given(self) -> None:
        r = np.random.default_rng(2)
        collab, citation, biokg = (ogb_split(r, f"ogbl-{name}", 5, 4) for name in ("collab", "citation2", "biokg"))
        got = evaluate.given(self.split("ogbl-collab", collab))
        self.assertEqual((got.name, got.split, len(got.links), got.offsets, got.source_negatives), ("ogbl-collab", "test", 5, None, None))
        self.assertEqual(got.links.edge_index.tolist(), collab["edge"].T.tolist())
        self.assertTrue(got.negatives is not None and got.negatives.tolist() == collab["edge_neg"].T.tolist())
        self.assertEqual({k: x.tolist() for k, x in got.columns.items()}, {k: collab[k].tolist() for k in ("weight", "year")})
        got = evaluate.given(self.split("ogbl-citation2", citation))
        self.assertTrue(got.negatives is not None and got.negatives.tolist() == citation["target_node_neg"].tolist() and got.offsets is None)
        nodes, offsets = got.negatives_of(1, 3)
        self.assertEqual((nodes.tolist(), offsets.tolist()), (citation["target_node_neg"][1:3].reshape(-1).tolist(), [0, 4, 8]))
        got = evaluate.given(self.split("ogbl-biokg", biokg))
        self.assertEqual(
            [x.tolist() for x in (got.links.relation, got.links.source_type, got.links.target_type) if x is not None],
            [biokg[k] if isinstance(biokg[k], list) else biokg[k].tolist() for k in ("relation", "head_type", "tail_type")],
        )
        self.assertTrue(got.source_negatives is not None and got.source_negatives.tolist() == biokg["head_neg"].tolist())
        train = evaluate.given(self.split("ogbl-ddi", {"edge": collab["edge"]}, "train"), "train")
        self.assertEqual((len(train.links), train.negatives), (5, None))
        both = self.split("ogbl-ppa", {"edge": collab["edge"]}, "train")
        (both / "split" / "throughput" / "split_dict.pt").write_bytes(older({"train": {}, "test": {"edge": collab["edge_neg"]}}))
        self.assertEqual(evaluate.given(both).links.edge_index.tolist(), collab["edge_neg"].T.tolist())

    def test_names(self) -> None:
        data, score = ogb_split(np.random.default_rng(3), "ogbl-ddi", 3, 3), model(np.random.default_rng(3))
        path = self.split("ogbl-ddi", data)
        want = evaluate.ogbl(path, score)
        for name in ("ogbl_ddi_pyg", "ogbl-ddi"):
            self.assertEqual(evaluate.ogbl(path.rename(self.folder / name), score), want)
            path = self.folder / name
        path = path.rename(self.folder / "mine")
        self.assertEqual(evaluate.ogbl(path, score, name="ogbl-ddi"), want)
        known = "ogbl-ppa, ogbl-collab, ogbl-ddi, ogbl-citation2, ogbl-wikikg2, ogbl-biokg, ogbl-vessel"
        for text, arguments in (
            (f"found the folder {path}, expected one with the name of a data set, of {known}; or give name", {}),
            (f"found name='ogbl-dd', expected one of {known}; did you mean ogbl-ddi?", dict(name="ogbl-dd")),
            ("found split='dev', expected one of train, valid, val, test", dict(split="dev", name="ogbl-ddi")),
            ("found the metric 'ndcg', expected one of mrr, mr, auc, ap, hits@K", dict(metrics="ndcg", name="ogbl-ddi")),
            ("found block=0, expected at least 1", dict(block=0, name="ogbl-ddi")),
        ):
            with self.assertRaises(ValueError) as caught:
                evaluate.ogbl(path, score, **arguments)
            self.assertEqual(str(caught.exception), text)

    def test_errors(self) -> None:
        e = np.zeros((3, 2), int)
        score = model(np.random.default_rng(4))
        for name, data, text in (
            ("ogbl-ddi", {"edge": e}, "found no negatives in the split test of ogbl-ddi, expected some; evaluate on valid or test"),
            ("ogbl-ddi", {"edge": e[:0], "edge_neg": e}, "found no links in the split test of ogbl-ddi, expected at least one"),
            ("ogbl-ddi", {"edge": e, "edge_neg": e[:0]}, "found no negative links, expected at least one"),
            ("ogbl-ddi", {"edge": e.T, "edge_neg": e}, "PATH: found edge of shape [2, 3], expected [n, 2]"),
            ("ogbl-ddi", {"edge": e + 0.5, "edge_neg": e}, "PATH: found edge of dtype float64, expected integers"),
            ("ogbl-ddi", {"edge": e - 1, "edge_neg": e}, "PATH: found -1 in edge, expected numbers of nodes or relations, from 0"),
            ("ogbl-ddi", {"edges": e}, "PATH: found the keys 'edges', expected edge, or source_node, or head, as OGB writes them"),
            ("ogbl-ddi", {"edge": "abc"}, "PATH: found edge that is a str, expected an array of integers"),
            ("ogbl-ddi", [1], "PATH: found a list, expected a dict of arrays, as OGB writes it"),
            ("ogbl-citation2", {"source_node": e[:, 0]}, "PATH: found no target_node, expected an array of integers"),
            ("ogbl-citation2", {"source_node": e[:, 0], "target_node": e[:2, 0]}, "PATH: found target_node of shape [2], expected [3]"),
            (
                "ogbl-citation2",
                {"source_node": e[:, 0], "target_node": e[:, 0], "target_node_neg": e[:2]},
                "PATH: found target_node_neg of shape [2, 2], expected [3, n]",
            ),
            ("ogbl-biokg", {"head": e[:, 0], "tail": e[:, 0], "relation": e[:, 0], "head_type": ["a"]}, "PATH: found 1 texts in head_type, expected 3"),
        ):
            path = self.split(name, data)
            with self.assertRaises(ValueError) as caught:
                evaluate.ogbl(path, score)
            self.assertEqual(str(caught.exception).replace(str(path / "split" / _ogb.SETS[name].folder / "test.pt"), "PATH"), text)
        path = self.split("ogbl-ddi", {"edge": e, "edge_neg": e})
        for text, bad in (
            ("found 1 scores of 3 links, expected one of each", lambda of: [1.0]),
            ("found NaN in row 0 of scores, expected a number", lambda of: np.full(len(of), np.nan)),
            ("found scores of shape [3, 1], expected [n]; give scores.reshape(-1)", lambda of: np.zeros((len(of), 1))),
        ):
            self.refused(text, evaluate.ogbl, path, bad)
        with self.assertRaises(OSError):
            evaluate.ogbl(path, score, "valid")


class TestTGBLayout(Folder, Close):
    def test_against_loops(self) -> None:
        """The links of a split in the order of time, each among the list of its key; batches and blocks of any size, and an update after each batch."""
        for i, name in enumerate(_tgb.SETS):
            r = np.random.default_rng(i)
            score = model(r)
            path = tgb_folder(r, self.folder, name, 60)
            for split in ("valid", "test"):
                (path / f"{name}_{'val' if split == 'valid' else split}_ns.pkl").write_bytes(b"")
            of = _tgb.SETS[name]
            for split in ("valid", "test"):
                every, nodes = self.edges(path, name)
                cut = np.quantile(every[2], [1 - 2 * of.share, 1 - of.share])
                mask = (every[2] > cut[0]) & (every[2] <= cut[1]) if split == "valid" else every[2] > cut[1]
                mine = every[:, mask]
                mine = mine[:, np.argsort(mine[2], kind="stable")]
                links = Links(mine[:2], mine[2], mine[3] if of.columns[3] is not None else None)
                if not len(links):
                    continue
                lists = tgb_negatives(r, path, name, split, links)
                ranks, flat, sizes = [], [], []
                for s, d, t, e in mine.T.tolist():
                    known = lists[(s, d, t) if links.relation is None else (t, s, e)]
                    negative = sorted(set(range(nodes)) - set(known.tolist())) if of.others else [int(x) for x in known]
                    relation = None if links.relation is None else e
                    ranks.append(rank(score(one(s, d, t, relation))[0], [score(one(s, x, t, relation))[0] for x in negative], 0.5))
                    flat += negative
                    sizes.append(len(negative))
                for batch, block in ((1, 1), (7, 1000), (200, 13), (3, 1 << 17)):
                    calls: list[tuple[str, Links]] = []

                    def scoring(of: Links, calls: Any = calls, score: Any = score) -> Any:
                        calls.append(("score", of))
                        return score(of)

                    def learning(of: Links, calls: Any = calls) -> None:
                        calls.append(("update", of))

                    got = evaluate.tgbl(path, scoring, split, ("mrr", "hits@3"), update=learning, batch_size=batch, block=block)
                    self.assertEqual(got.each["rank"].tolist(), ranks)
                    self.close(got, {"mrr": math.fsum(1 / x for x in ranks) / len(ranks), "hits@3": sum(x <= 3 for x in ranks) / len(ranks)})
                    self.assertLessEqual(max(len(of) for what, of in calls if what == "score"), block)
                    updates = [of for what, of in calls if what == "update"]
                    self.assertEqual([len(of) for of in updates], [min(batch, len(links) - at) for at in range(0, len(links), batch)])
                    self.assertEqual(np.concatenate([of.edge_index for of in updates], axis=1).tolist(), mine[:2].tolist())
                    done = -1
                    for what, link in calls:  # no time before one that was learned
                        assert link.time is not None
                        self.assertGreaterEqual(int(link.time.min()), done)
                        done = max(done, int(link.time.max())) if what == "update" else done
                given = evaluate.given(path, split)
                some = given.negatives_of(0, len(links))
                self.assertEqual((some[0].tolist(), np.diff(some[1]).tolist()), (flat, sizes))
                self.assertEqual(given.links.edge_index.tolist(), mine[:2].tolist())
                if of.others:
                    with self.assertRaisesRegex(ValueError, "found a set where each link ranks among about"):
                        given.negatives  # noqa: B018
                else:
                    assert given.negatives is not None and given.offsets is not None
                    self.assertEqual((given.negatives.tolist(), np.diff(given.offsets).tolist()), (flat, sizes))
            self.assertIsNone(evaluate.given(path, "train").negatives)

    def edges(self, path: pathlib.Path, name: str) -> tuple[Array, int]:
        """All links by TGB's numbers, [4, n] of sources, targets, times and relations, and the number of nodes."""
        of, out = _tgb.SETS[name], []
        ids: dict[str, int] = {}
        relations: dict[str, int] = {}
        for line in next(path.glob("*_edgelist*.csv")).read_text().splitlines()[1:]:
            row = line.split(",")
            if of.items:
                out.append([int(row[0]), int(row[1]), int(float(row[2])), 0])
                continue
            for x in row[1:3]:
                ids.setdefault(x, len(ids))
            relation = 0 if of.columns[3] is None else relations.setdefault(row[3], len(relations)) if of.named else int(row[3])
            out.append([ids[row[1]], ids[row[2]], int(row[0]), relation])
        links = np.array(out).T
        if of.items:
            links[1] += links[0].max() + 1
        if name.startswith("tkgl"):
            links = np.concatenate([links, np.stack([links[1], links[0], links[2], links[3] + len(set(links[3].tolist()))])], axis=1)
        return links, int(links[1].max()) + 1

    def test_names_of_nodes(self) -> None:
        path = tgb_folder(np.random.default_rng(1), self.folder, "tgbl-coin", 30)
        given = evaluate.given(path, "train")
        rows = [line.split(",") for line in (path / "tgbl-coin_edgelist.csv").read_text().splitlines()[1:]]
        assert given.names is not None
        self.assertEqual([[given.names[i] for i in column] for column in given.links.edge_index.T], [row[1:3] for row in rows[: len(given.links)]])

    def test_duplicates_and_versions(self) -> None:
        """Links that occur twice have one list. A newer version of the table comes with lists of the same version."""
        path = self.folder / "tgbl_coin"
        path.mkdir()
        (path / "tgbl-coin_edgelist.csv").write_text("old\n")
        (path / "tgbl-coin_edgelist_v2.csv").write_text("a,b,c,d\n" + "1,a,b,1\n" * 40 + "2,a,b,1\n" * 3 + "2,b,a,1\n2,a,b,1\n")
        (path / "tgbl-coin_test_ns_v2.pkl").write_bytes(pickle.dumps({(0, 1, 2): [5, 6, 7], (1, 0, 2): np.array([8])}))
        given = evaluate.given(path)
        assert given.negatives is not None and given.offsets is not None and given.links.time is not None
        self.assertEqual(given.links.edge_index.tolist(), [[0, 0, 0, 1, 0], [1, 1, 1, 0, 1]])
        self.assertEqual((given.negatives.tolist(), given.offsets.tolist()), ([5, 6, 7, 5, 6, 7, 5, 6, 7, 8, 5, 6, 7], [0, 3, 6, 9, 10, 13]))
        twice = b"\x80\x02}(K\x00K\x01K\x02\x87](K\x05eK\x01K\x00K\x02\x87](K\x08eK\x00K\x01K\x02\x87](K\x09eu."
        self.assertEqual(pickle.loads(twice), {(0, 1, 2): [9], (1, 0, 2): [8]})
        (path / "tgbl-coin_test_ns_v2.pkl").write_bytes(twice)  # of keys that occur twice, the last one counts, as in a dict
        given = evaluate.given(path)
        assert given.negatives is not None
        self.assertEqual(given.negatives.tolist(), [9, 9, 9, 8, 9])

    def test_errors(self) -> None:
        path, score = self.folder / "tgbl_wiki", model(np.random.default_rng(1))
        path.mkdir()
        table, lists = path / "tgbl-wiki_edgelist.csv", path / "tgbl-wiki_test_ns.pkl"
        head = "u,i,t,label,f\n"
        for text, rows, negatives in (
            ("PATH/tgbl-wiki_edgelist.csv:3: found the time 'x', expected an integer", "0,0,0,0,0\n0,0,x,0,0\n", {}),
            ("PATH/tgbl-wiki_edgelist.csv:2: found the item '-1', expected an integer of at least 0", "0,-1,0,0,0\n", {}),
            ("PATH/tgbl-wiki_edgelist.csv:2: found 2 columns, expected at least 3", "0,1\n", {}),
            ("found no links in the split test of tgbl-wiki, expected at least one", "", {}),
            ("found no links in the split test of tgbl-wiki, expected at least one", "0,0,1,0,0\n", {}),
            ("PATH/tgbl-wiki_test_ns.pkl: found no negatives of (source, target, time) = (0, 1, 9), expected those of each link; give the file that belongs to the table", "0,0,1,0,0\n0,0,9,0,0\n", {(0, 1, 1): [1]}),
        ):  # fmt: skip
            table.write_text(head + rows)
            lists.write_bytes(pickle.dumps(negatives))
            with self.assertRaises(ValueError) as caught:
                evaluate.tgbl(path, score)
            self.assertEqual(str(caught.exception).replace(str(path), "PATH"), text)
        with self.assertRaisesRegex(ValueError, "found the split train of tgbl-wiki, which has no negatives, expected valid or test"):
            evaluate.tgbl(path, score, "train")
        table.unlink()
        with self.assertRaisesRegex(ValueError, "found no tgbl-wiki_edgelist.csv, nor one of a version"):
            evaluate.tgbl(path, score)
        for x in (0, -1):
            with self.assertRaisesRegex(ValueError, f"found batch_size={x}, expected at least 1"):
                evaluate.tgbl(path, score, batch_size=x)

    def test_links_without_negatives(self) -> None:
        path = self.folder / "tgbl_coin"
        path.mkdir()
        (path / "tgbl-coin_edgelist.csv").write_text("a,b,c,d\n" + "1,a,b,1\n" * 8 + "2,a,b,1\n2,b,a,1\n")
        (path / "tgbl-coin_test_ns.pkl").write_bytes(pickle.dumps({(0, 1, 2): [], (1, 0, 2): np.array([])}))
        self.assertEqual(evaluate.tgbl(path, lambda of: np.zeros(len(of))).each["rank"].tolist(), [1, 1])
        with self.assertRaisesRegex(ValueError, "found no negative links, expected at least one"):
            evaluate.tgbl(path, lambda of: np.zeros(len(of)), metrics="auc")


# The libraries themselves.


@unittest.skipUnless(available("ogb"), "OGB is not installed")
class TestOGB(Folder, Close):
    def test_evaluator(self) -> None:
        """Files of torch.save in both forms, read by torch and scored by OGB's Evaluator."""
        import torch

        with unittest.mock.patch.dict(sys.modules, {"outdated": None}):  # by which OGB asks PyPI for a newer version of itself
            from ogb.linkproppred import Evaluator
        from ogb.utils.torch_util import replace_numpy_with_torchtensor

        for i, (name, archive) in enumerate(itertools.product(_ogb.SETS, (True, False))):
            r = np.random.default_rng(i)
            score, folder = model(r), self.folder / f"{i}" / name.replace("-", "_")
            path = folder / "split" / _ogb.SETS[name].folder / "test.pt"
            path.parent.mkdir(parents=True)
            data = ogb_split(r, name, 150, 120)
            torch.save(replace_numpy_with_torchtensor(data) if i % 3 == 0 else data, path, pickle_protocol=2 + i % 4, _use_new_zipfile_serialization=archive)
            data = {k: x.numpy() if torch.is_tensor(x) else x for k, x in torch.load(path).items()}
            evaluator, parts = Evaluator(name), []
            if "edge" in data:
                parts.append((score(Links(data["edge"].T)), score(Links(data["edge_neg"].T))))
            else:
                source, target = (data["source_node"], data["target_node"]) if "source_node" in data else (data["head"], data["tail"])
                relation = data.get("relation")
                types = [None if x is None else np.array(x, object) for x in (data.get("head_type"), data.get("tail_type"))]
                positive = score(Links(np.stack([source, target]), None, relation, *types))
                for key, end in (("target_node_neg", 1), ("tail_neg", 1), ("head_neg", 0)):
                    if key in data:
                        ends = np.stack([np.repeat(source, 120), np.repeat(target, 120)])
                        ends[end] = data[key].reshape(-1)
                        negative = score(Links(ends, None, *(None if x is None else np.repeat(x, 120) for x in (relation, *types))))
                        parts.append((positive, negative.reshape(150, 120)))
            found = [evaluator.eval({"y_pred_pos": torch.from_numpy(a), "y_pred_neg": torch.from_numpy(b)}) for a, b in parts]
            want = {}
            for key in found[0]:
                x = torch.cat([f[key].double() for f in found]).mean().item() if torch.is_tensor(found[0][key]) else found[0][key]
                want[{"rocauc": "auc"}.get(key, key.replace("_list", ""))] = x
            self.close(evaluate.ogbl(folder, score, metrics=list(want), block=int(r.integers(1, 9000))), want, 1e-6)
            self.close(evaluate.ogbl(folder, lambda of, score=score: torch.from_numpy(score(of)), metrics=list(want)), want, 1e-6)  # type: ignore[misc]


def tgbn_folder(r: np.random.Generator, folder: pathlib.Path, name: str, n: int) -> pathlib.Path:
    """Links and labels in the layout of a node set: two links at most of the times, and labels between."""
    path = folder / name.replace("-", "_")
    path.mkdir()
    time = np.sort(r.integers(0, n // 2 + 1, n)) * 10
    users, kinds = [f"u{i}" for i in range(9)], [f"k{i}" for i in range(14)]
    other = users if name == "tgbn-trade" else kinds
    source, target = r.integers(0, 9, n), r.integers(0, len(other), n)
    rows = [f"{t},{users[a]},{other[b]},{w},{w}" for t, a, b, w in zip(time.tolist(), source.tolist(), target.tolist(), r.integers(1, 9, n).tolist())]
    lines = ["ts,src,dst,w,more", *rows]
    (path / f"{name}_edgelist.csv").write_text("".join(f"{x}\n" for x in lines))
    there = sorted({users[a] for a in source}), sorted({other[b] for b in target} | ({users[a] for a in source} if name == "tgbn-trade" else set()))
    labels = ["ts,user,kind,weight"]
    for t in sorted({int(t) - 5 for t in r.choice(time, min(n, 12))} | {int(time[n * p // 100]) - 5 for p in (50, 77, 93)} | {int(time[-1]) + 7}):
        for _ in range(r.integers(1, 12)):
            labels.append(f"{t},{there[0][r.integers(len(there[0]))]},{there[1][r.integers(len(there[1]))]},{r.integers(0, 5) / 4}")
    (path / f"{name}_node_labels.csv").write_text("".join(f"{x}\n" for x in labels))
    return path


def node_model(r: np.random.Generator) -> Callable[[Asked], Array]:
    """Scores of classes that are often equal."""
    z = r.integers(0, 4, (1100, 40))
    return lambda of: (z[of.nodes, : of.classes] * (1 + of.time % 3)).astype("float32")


def loop_ndcg(labels: list[float], scores: list[float], k: int) -> float:
    """NDCG with the mean over all orders of equal scores, by the definition."""

    def gain(at: list[float]) -> float:
        return sum(y / math.log2(i + 2) for i, y in enumerate(at[:k]))

    best = gain(sorted(labels, reverse=True))
    shared: list[float] = []
    for x in sorted(set(scores), reverse=True):
        of = [y for y, s in zip(labels, scores) if s == x]
        shared += [sum(of) / len(of)] * len(of)
    return gain(shared) / best if best > 0 else 0.0


class TestTGBNodes(Folder, Close):
    def test_protocol(self) -> None:
        """Every link before a time of labels, and none after it, is seen when it is scored; the scores are the definition's."""
        for i, name in enumerate(_tgb_nodes.SETS):
            r = np.random.default_rng(i)
            path, score = tgbn_folder(r, self.folder, name, 60), node_model(r)
            given = {split: evaluate.given(path, split) for split in ("train", "valid", "test")}
            everything = np.concatenate([x.links.time for x in given.values()])
            names = given["test"].names
            assert names is not None
            number: dict[str, int] = {}
            for v, text in enumerate(names):
                number.setdefault(text, v)
            want: dict[int, dict[int, dict[int, float]]] = {}
            for line in (path / f"{name}_node_labels.csv").read_text().splitlines()[1:]:
                t, u, k, w = line.split(",")
                want.setdefault(int(t), {}).setdefault(number[u], {})[number[k]] = float(w)
            asked: list[int] = []
            for split, links in given.items():
                seen: list[int] = []
                each: list[float] = []

                def scores(of: Asked, seen: list[int] = seen, split: str = split) -> Array:
                    old = [t for t in given[split].links.time.tolist() if t < of.time]  # type: ignore[union-attr]
                    self.assertEqual(seen, old)
                    asked.append(of.time)
                    return score(of)

                def learn(of: Asked, labels: Array, each: list[float] = each) -> None:
                    self.assertEqual(
                        {v: {k: x for k, x in enumerate(row) if x} for v, row in zip(of.nodes.tolist(), labels.tolist())},
                        {v: {k: x for k, x in of_node.items() if x} for v, of_node in want[of.time].items()},
                    )
                    rows = zip(labels.tolist(), score(of).tolist())
                    each.append(math.fsum(loop_ndcg(y, x, 10) for y, x in rows) / len(of))

                def update(of: Links, seen: list[int] = seen) -> None:
                    assert of.time is not None and of.weight is not None and len(of) <= 4
                    seen += of.time.tolist()

                found = evaluate.tgbn(path, scores, split, update=update, learn=learn, batch_size=4)
                self.assertEqual(len(seen), len(links.links))
                self.close(found, {"ndcg@10": math.fsum(each) / len(each)})
                with unittest.mock.patch.object(_tgb_nodes, "_CELLS", 1):
                    both = evaluate.tgbn(path, score, split, ("ndcg@10", "ndcg@2"), bootstrap=20)
                self.assertEqual(both.each["ndcg@10"].tolist(), found.each["ndcg@10"].tolist())
                self.assertEqual(list(both.intervals), ["ndcg@10", "ndcg@2"])
            self.assertEqual(asked, sorted(t for t in want if t <= everything.max()))

    def test_bad_folders(self) -> None:
        r = np.random.default_rng(1)
        path, score = tgbn_folder(r, self.folder, "tgbn-genre", 40), node_model(r)
        links, labels = path / "tgbn-genre_edgelist.csv", path / "tgbn-genre_node_labels.csv"
        whole = {x: x.read_text() for x in (links, labels)}
        for file, line, text, want in (
            (links, 3, "1,u1,k1", r"edgelist.csv:4: found 3 columns, expected at least 4"),
            (links, 3, "x,u1,k1,2", r"edgelist.csv:4: found the time 'x', expected an integer"),
            (links, 3, "1,u1,k1,nan", r"edgelist.csv:4: found the weight 'nan', expected a number"),
            (labels, 2, "5,u1,k1", r"node_labels.csv:3: found 3 columns"),
            (labels, 2, "5,ux,k1,1", r"node_labels.csv:3: found the node 'ux', expected one of the links"),
            (labels, 2, "5,u1,kx,1", r"node_labels.csv:3: found the class 'kx'"),
            (labels, 2, "5,u1,k1,-1", r"node_labels.csv:3: found the weight '-1', expected a number of at least 0"),
        ):
            rows = whole[file].splitlines()
            rows[line] = text
            file.write_text("\n".join(rows) + "\n")
            with self.subTest(want), self.assertRaisesRegex(ValueError, want):
                evaluate.tgbn(path, score)
            file.write_text(whole[file])
        for bad, want in (
            (lambda of: score(of)[:, 1:], r"found scores of shape \[\d+, 13\], expected \[\d+, 14\]"),
            (lambda of: score(of)[:, 0], r"found scores of shape"),
            (lambda of: score(of) * np.nan, "found NaN in row 0 of scores"),
        ):
            with self.subTest(want), self.assertRaisesRegex(ValueError, want):
                evaluate.tgbn(path, bad)
        with self.assertRaisesRegex(ValueError, "found the metric 'mrr', expected one of ndcg@K"):
            evaluate.tgbn(path, score, metrics="mrr")
        with self.assertRaisesRegex(ValueError, "expected one with the name of a data set"):
            evaluate.tgbl(path, score)  # type: ignore[arg-type]
        labels.write_text("ts,user,kind,weight\n")
        with self.assertRaisesRegex(ValueError, "found no labels in the split test"):
            evaluate.tgbn(path, score)
        links.write_text("ts,src,dst,w,more\n" + "".join(f"1,u,k{i},1\n" for i in range(514)))
        with self.assertRaisesRegex(ValueError, "found 514 classes, expected at most 513"):
            evaluate.tgbn(path, score)
        labels.unlink()
        links.write_text(whole[links])
        with self.assertRaises(OSError):
            evaluate.tgbn(path, score)


@unittest.skipUnless(available("tgb"), "TGB is not installed")
class TestTGBPackage(Folder, Close):
    def test_data_sets_and_evaluator(self) -> None:
        """TGB reads the same folders: the same links, negatives and metrics."""
        from tgb.linkproppred import dataset
        from tgb.linkproppred.evaluate import Evaluator
        from tgb.utils.info import DATA_NS_STRATEGY_DICT, DATA_VERSION_DICT

        self.assertEqual({name: DATA_NS_STRATEGY_DICT[name] == "time-filtered" for name in _tgb.SETS}, {name: of.others for name, of in _tgb.SETS.items()})
        self.assertEqual(set(_tgb.SETS), set(DATA_NS_STRATEGY_DICT))
        for i, name in enumerate(_tgb.SETS):
            r = np.random.default_rng(i)
            score, version = model(r), DATA_VERSION_DICT[name]
            path = tgb_folder(r, self.folder, name, 80, version)
            (path / "airport_node_feat_v2.csv").write_text("names\n")
            (path / f"{name}_nodetype.csv").write_text("node_id,type\n" + "".join(f"{n},0\n" for n in self.numbers(path)))
            with unittest.mock.patch.object(dataset, "PROJ_DIR", ""), unittest.mock.patch.object(dataset, "process_node_feat", lambda *_: None):
                theirs = dataset.LinkPropPredDataset(name, str(self.folder), download=False)
            self.assertTrue(theirs.version_passed)
            for split, mask in (("val", theirs.val_mask), ("test", theirs.test_mask)):
                columns = [theirs.full_data[k][mask] for k in ("sources", "destinations", "timestamps")]
                relation = theirs.full_data["edge_type"][mask] if "edge_type" in theirs.full_data else None
                if not len(columns[0]):
                    continue
                links = Links(np.stack(columns[:2]), columns[2], relation)
                tgb_negatives(r, path, name, "valid" if split == "val" else split, links, 1, version)
                (theirs.load_val_ns if split == "val" else theirs.load_test_ns)()
                order = np.argsort(columns[2], kind="stable")
                given, evaluator = evaluate.given(path, split), Evaluator(name)
                self.assertEqual(given.links.edge_index.tolist(), links.edge_index[:, order].tolist())
                mrr, hits = [], []
                for row, j in enumerate(order):
                    link = links.rows(j, j + 1)
                    more = () if link.relation is None else (link.relation,)
                    (negative,) = theirs.negative_sampler.query_batch(*link.edge_index, link.time, *more, split_mode=split)
                    self.assertEqual(given.negatives_of(row, row + 1)[0].tolist(), [int(x) for x in negative])
                    among = np.array([int(x) for x in negative])
                    both = link.among(np.array([len(among)]), among, np.array([0]), 1)
                    x = score(both)
                    of = evaluator.eval({"y_pred_pos": x[:1], "y_pred_neg": x[None, 1:], "eval_metric": ["mrr"]})
                    mrr.append(float(of["mrr"]))
                    hits.append(float(of["hits@10"]))
                self.close(
                    evaluate.tgbl(path, score, split, ("mrr", "hits@10"), batch_size=9, block=50),
                    {"mrr": float(np.mean(mrr)), "hits@10": float(np.mean(hits))},
                    1e-6,
                )

    def test_node_sets(self) -> None:
        """TGB reads the same folders of node sets: the same links, nodes, labels and, by its loop over single links, the same NDCG."""
        from tgb.nodeproppred import dataset
        from tgb.nodeproppred.evaluate import Evaluator
        from tgb.utils.info import DATA_EVAL_METRIC_DICT, DATA_NUM_CLASSES

        self.assertEqual(set(_tgb_nodes.SETS), {x for x in DATA_EVAL_METRIC_DICT if x.startswith("tgbn")})
        for i, name in enumerate(_tgb_nodes.SETS):
            first = _tgb_nodes.SETS[name].first
            self.assertEqual(first or 255, DATA_NUM_CLASSES[name])
            r = np.random.default_rng(i)
            path, score, evaluator = tgbn_folder(r, self.folder, name, 90), node_model(r), Evaluator(name)
            with unittest.mock.patch.object(dataset, "PROJ_DIR", ""):
                theirs = dataset.NodePropPredDataset(name, str(self.folder), download=False)
            full = theirs.full_data
            for split, mask in (("train", theirs.train_mask), ("val", theirs.val_mask), ("test", theirs.test_mask)):
                links = evaluate.given(path, split).links
                assert links.weight is not None and links.time is not None
                for mine, key in (
                    (links.edge_index[0], "sources"),
                    (links.edge_index[1], "destinations"),
                    (links.time, "timestamps"),
                    (links.weight, "edge_feat"),
                ):
                    self.assertEqual(mine.tolist(), full[key][mask].reshape(len(links), -1)[:, 0].tolist())
                each = []
                for t in full["timestamps"][mask]:
                    while (found := theirs.find_next_labels_batch(t)) is not None:
                        times, nodes, labels = found
                        x = score(Asked(int(times[0]), nodes, labels.shape[1]))
                        each.append(evaluator.eval({"y_true": labels, "y_pred": x, "eval_metric": ["ndcg"]})["ndcg"])
                self.close(evaluate.tgbn(path, score, split), {"ndcg@10": float(np.mean(each))}, 1e-9)

    def numbers(self, path: pathlib.Path) -> list[str]:
        rows = [line.split(",") for line in next(path.glob("*_edgelist*.csv")).read_text().splitlines()[1:]]
        return sorted({x for row in rows for x in row[1:3]}) if "thgl" in path.name else []


if __name__ == "__main__":
    unittest.main()
