"""Trains one network on features that pandas and scikit-learn make, and on those of an import, and prints the test results as JSON.

    python with_features.py sections|names|returns|clock|past|share|degree FOLDER SEEDS

FOLDER is an unpacked archive: debian_packages for sections and names, rails_git for the others. It runs in the environment of bench/peers.sh databases.
The contestants have the same store, the same batches, the same random start as far as their features have the same width, and the
same hyperparameters. Only the columns of the features differ:

    by hand             pandas and scikit-learn, fitted on the rows for training
    features            `features:` of an import, fitted on the rows for training
    fitted on all rows  the same with `fit: all`
    without             one constant column
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import graphmill
import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import torch.nn.functional as F
from graphmill import NodeLoader, Store
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from torch_geometric.nn import HeteroConv, SAGEConv

Array = npt.NDArray[Any]
WIDTH = 64
HAND, FEATURES, ALL, NONE = "by hand", "features", "fitted on all rows", "without"


class Net(torch.nn.Module):
    """Two layers of GraphSAGE over all edge types. A node type without features has one constant column."""

    def __init__(self, edge_types: Any, out: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(HeteroConv({e: SAGEConv((-1, -1), WIDTH) for e in edge_types}) for _ in range(2))
        self.out = torch.nn.Linear(WIDTH, out)

    def forward(self, batch: Any, x: Mapping[str, Any], seeds: str) -> Any:
        h = {t: x[t] if t in x else torch.ones(batch[t].num_nodes, 1) for t in batch.node_types}
        for layer in self.layers:
            h |= {t: v.relu() for t, v in layer(h, batch.edge_index_dict).items()}
        return self.out(h[seeds][: batch[seeds].batch_size])


def inputs(batch: Any, tables: Mapping[str, Any] | None) -> dict[str, Any]:
    """The columns of a batch by node type: those of tables with a row per node, or if there are none those that the loader yields."""
    if tables is None:
        return {t: batch[t].x for t in batch.node_types if "x" in batch[t]}
    return {t: table[batch[t].n_id] for t, table in tables.items()}


def trained(model: Net, loader: NodeLoader, tables: Mapping[str, Any] | None, loss: Callable[[Any, Any], Any], epochs: int, seeds: str) -> None:
    model(batch := next(iter(loader)), inputs(batch, tables), seeds)  # PyG finds the widths of its layers on first use
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(epochs):
        for batch in loader:
            optimiser.zero_grad()
            loss(model(batch, inputs(batch, tables), seeds), batch[seeds].y[: batch[seeds].batch_size]).backward()
            optimiser.step()


@torch.no_grad()
def tested(model: Net, loader: NodeLoader, tables: Mapping[str, Any] | None, seeds: str) -> tuple[Any, Any]:
    """The outputs for all seeds, and their labels."""
    found = [(model(b, inputs(b, tables), seeds), b[seeds].y[: b[seeds].batch_size]) for b in loader]
    return torch.cat([f for f, _ in found]), torch.cat([y for _, y in found])


def floats(*parts: Any) -> Any:
    """Parts side by side, as a tensor of float32 with a row per node."""
    return torch.from_numpy(np.concatenate([np.asarray(p, np.float64).reshape(len(p), -1) for p in parts], 1).astype(np.float32))


def normal(x: Any, fit: Array) -> Any:
    """Rank-gauss, fitted on some rows."""
    x = np.asarray(x, np.float64).reshape(-1, 1)
    return QuantileTransformer(n_quantiles=min(1000, int(fit.sum())), output_distribution="normal", subsample=None).fit(x[fit]).transform(x)


def standard(x: Any, fit: Array) -> Any:
    x = np.asarray(x, np.float64).reshape(len(x), -1)
    return StandardScaler().fit(x[fit]).transform(x)


def one_hot(x: Any, fit: Array, **options: Any) -> Any:
    x = np.asarray(x).reshape(-1, 1)
    return OneHotEncoder(**{"handle_unknown": "ignore", "sparse_output": False, **options}).fit(x[fit]).transform(x)


def cycle(x: Any, period: Any) -> Any:
    angle = 2 * np.pi * np.asarray(x, np.float64) / np.asarray(period)
    return np.stack([np.sin(angle), np.cos(angle)], 1)


def compare(store: Store, by_hand: Mapping[str, Any]) -> None:
    """Compares the values by hand with those of the import, which has columns for other and for missing texts besides."""
    for t, hand in by_hand.items():
        names = store.features(t)["x"].names
        assert names is not None
        ours = store.nodes[t]["x"][:, [i for i, name in enumerate(names) if not name.endswith((" other", " missing"))]]
        assert ours.shape == hand.shape, f"found {hand.shape[1]} columns by hand, expected {ours.shape[1]}: {names}"
        largest = np.abs(hand.numpy() - ours).max()
        print(f"{t}: {ours.shape[0]} x {ours.shape[1]} values, of which {(hand.numpy() != ours).sum()} differ, by at most {largest:.2g}", file=sys.stderr)
        assert largest < 1e-4, f"found a difference of {largest}, expected none"


# Sections of Debian's packages: a random tenth of them is for training.

SECTIONS = """\
fit: {fit}
dangling_edges: drop
nodes:
  package:
    table: packages.csv
    columns: {{section: int64, priority: int64, arch_all: int64, essential: int64, has_homepage: int64, size: int64, installed_size: int64, maintainer: category, description: string}}
    features:
      x:
        - {{from: priority, encode: one-hot}}
        - arch_all
        - essential
        - has_homepage
        - {{from: size, scale: normal-quantiles}}
        - {{from: installed_size, scale: log}}
        - {{from: description, encode: length, scale: standard}}
        - {{from: description, encode: hash, dim: 64}}{more}
edges:
  package:depends:package: {{table: package_package.csv.gz, where: {{rel: 0}}, columns: {{}}, reverse: needed_by}}
"""


NAMES = "\n        - {from: maintainer, encode: one-hot, most: 200}"


def packages(folder: pathlib.Path) -> pd.DataFrame:
    """The packages with their maintainers, as texts."""
    p = pd.read_csv(folder / "nodes_package.csv.gz", keep_default_na=False)
    p["maintainer"] = (
        "m" + pd.read_csv(folder / "package_maintainer.csv.gz").set_index("package").maintainer.reindex(p.id).astype("int64").astype("str").to_numpy()
    )
    return p


def packages_by_hand(p: pd.DataFrame, fit: Array, names: bool) -> dict[str, Any]:
    words = HashingVectorizer(n_features=64, norm=None).transform(p.description).toarray()
    parts = [
        one_hot(p.priority, fit),
        p[["arch_all", "essential", "has_homepage"]],
        normal(p["size"], fit),
        np.log1p(p.installed_size),
        standard(p.description.str.len(), fit),
        words,
    ]
    if names:
        parts.append(one_hot(p.maintainer, fit, max_categories=200)[:, :-1])  # the last one is for all others
    return {"package": floats(*parts)}


def of_packages(names: bool) -> Callable[[pathlib.Path, pathlib.Path, str, int], float]:
    def run(folder: pathlib.Path, work: pathlib.Path, who: str, seed: int) -> float:
        """Test accuracy on 4,000 packages."""
        path = work / f"{seed}-{who == ALL}.store"
        if not path.exists():
            tables = work / "tables"
            tables.mkdir(exist_ok=True)
            (tables / "package_package.csv.gz").write_bytes((folder / "package_package.csv.gz").read_bytes())
            packages(folder).to_csv(tables / "packages.csv", index=False)
            (tables / "graph.yaml").write_text(SECTIONS.format(fit="all" if who == ALL else "{split: train}", more=NAMES if names else ""))
            graphmill.run("import", tables, out=path, split="package=0.1,0.1,0.8", split_seed=seed, quiet=True)
        store = Store(path)
        package = store.nodes["package"]
        by_hand = None
        if who == HAND:
            by_hand = packages_by_hand(packages(folder), np.asarray(package["split"] == 0), names)
            compare(store, by_hand)
        elif who == NONE:
            by_hand = {"package": torch.ones(len(package["split"]), 1)}
        options: dict[str, Any] = dict(fanout=[8, 4], batch_size=256, as_="pyg", x={"package": ["x"]}, label="section", threads=1, seed=seed)
        model = Net(store.edge_types, 58)
        with NodeLoader(path, seeds="package:split=train", shuffle=True, **options) as train:
            trained(model, train, by_hand, F.cross_entropy, 10, "package")
        with NodeLoader(path, seeds="package:split=test", limit_seeds=4000, **options) as test:
            score, y = tested(model, test, by_hand, "package")
        return float((score.argmax(1) == y).float().mean())

    return run


# Newcomers of Rails: will the author of a commit commit again within 30 days?

CUT = pd.Timestamp("2015-01-01")
DAY = 86400
COMMIT = [
    {"from": "parents", "encode": "one-hot"},
    {"from": "files", "scale": "normal-quantiles"},
    {"from": "delay", "scale": "log"},
    {"from": "time", "encode": "calendar", "parts": ["year"], "scale": "standard"},
    {"from": "time", "encode": "calendar", "parts": ["month-cycle", "weekday-cycle", "hour-cycle"]},
]
MORE: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "returns": {},
    "clock": {"commit": [{"from": "number", "scale": "normal-quantiles"}]},
    "past": {"commit": [{"from": "before", "scale": "normal-quantiles"}]},
    "share": {"commit": [{"from": "author", "encode": "frequency", "scale": "normal-quantiles"}]},
    "degree": {"person": [{"structure": "log-degree", "edges": ["wrote"], "direction": "out", "scale": "standard"}]},
}


def commits(folder: pathlib.Path) -> pd.DataFrame:
    """The commits in the order of their times, with the number of commits that their author had before, and the label."""
    c = pd.read_csv(folder / "nodes_commit.csv.gz")
    files = pd.read_csv(folder / "commit_file.csv.gz").groupby("commit").size()
    c["files"] = c.id.map(files).fillna(0).astype(np.int64)
    c = c.sort_values(["commit_time", "id"], kind="stable").reset_index(drop=True)
    c["before"] = c.groupby("author").cumcount()
    # The next time of the author: commits of one second count as one.
    times = c[["author", "commit_time"]].drop_duplicates()
    times["next"] = times.groupby("author").commit_time.shift(-1)
    c = c.merge(times, on=["author", "commit_time"], how="left", validate="many_to_one")
    c["y"] = (c.next - c.commit_time <= 30 * DAY).astype(np.int64)
    c["delay"] = (c.commit_time - c.author_time).clip(lower=0)
    c["time"] = pd.to_datetime(c.commit_time, unit="s").astype("datetime64[s]")
    c["author"] = np.unique(c.author, return_inverse=True)[1]
    c["number"] = np.arange(len(c))
    return c


def commits_by_hand(c: pd.DataFrame, what: str) -> dict[str, Any]:
    fit, t = (c.time < CUT).to_numpy(), c.time.dt
    parts = [
        one_hot(c.num_parents, fit),
        normal(c.files, fit),
        np.log1p(c.delay),
        standard(t.year, fit),
        cycle(t.month - 1, 12),
        cycle(t.weekday, 7),
        cycle(t.hour, 24),
    ]
    tables = {}
    if what == "clock":
        parts.append(normal(c.number, fit))
    if what == "past":
        parts.append(normal(c.before, fit))
    if what == "share":
        parts.append(normal(c.author.map(c.author[fit].value_counts(normalize=True)).fillna(0), fit))
    if what == "degree":
        degree = np.log1p(np.bincount(c.author[fit], minlength=c.author.max() + 1))
        tables["person"] = floats(standard(degree, degree >= 0))
    return {**tables, "commit": floats(*parts)}


def newcomers(what: str) -> Callable[[pathlib.Path, pathlib.Path, str, int], float]:
    def run(folder: pathlib.Path, work: pathlib.Path, who: str, seed: int) -> float:
        """AUROC of 4,000 commits after 2014 whose authors had fewer than 20 before; training ends 30 days before 2015."""
        c = commits(folder)
        path = work / f"{who == ALL}.store"
        if not path.exists():
            nodes = {
                "commit": pd.DataFrame({"parents": c.num_parents, **{k: c[k] for k in ("files", "delay", "time", "author", "number", "before", "y")}}),
                "person": int(c.author.max()) + 1,
            }
            ends = {("person", "wrote", "commit"): ("author", "number"), ("commit", "by", "person"): ("number", "author")}
            edges = {e: pd.DataFrame({"src": c[a], "dst": c[b], "time": c.time}) for e, (a, b) in ends.items()}
            more = MORE[what]
            features: dict[str, Any] = {"commit": {"x": [*COMMIT, *more.get("commit", [])]}}
            if "person" in more:
                features["person"] = {"x": more["person"]}
            fit = "all" if who == ALL else {"before": str(CUT.date()), "by": "time"}
            graphmill.from_tables(nodes, edges, path, features=features, fit=fit)
        store = Store(path)
        by_hand = None
        if who == HAND:
            by_hand = commits_by_hand(c, what)
            compare(store, by_hand)
        elif who == NONE:
            by_hand = {"commit": torch.ones(len(c), 1)}
        new = (c.before < 20).to_numpy()
        r = np.random.default_rng(seed)
        fit_rows = r.permutation(np.flatnonzero(new & (c.time < CUT - pd.Timedelta(days=30)).to_numpy()))[:6000]
        test_rows = np.random.default_rng(0).permutation(
            np.flatnonzero(new & (c.time >= CUT).to_numpy() & (c.commit_time < c.commit_time.max() - 30 * DAY).to_numpy())
        )[:4000]
        x = {t: ["x"] for t in ("commit", "person") if t in store.nodes and "x" in store.nodes[t].columns}
        options: dict[str, Any] = dict(
            fanout=[10, 10],
            batch_size=256,
            seed_type="commit",
            as_="pyg",
            x=x,
            label="y",
            threads=1,
            seed=seed,
            scope="seed",
            before="time<=",
            seed_time="time",
        )
        model = Net(store.edge_types, 1)
        with NodeLoader(path, seeds=fit_rows, shuffle=True, **options) as train:
            trained(model, train, by_hand, lambda score, y: F.binary_cross_entropy_with_logits(score[:, 0], y.float()), 10, "commit")
        with NodeLoader(path, seeds=test_rows, **options) as test:
            score, y = tested(model, test, by_hand, "commit")
        return float(roc_auc_score(y.numpy(), score[:, 0].numpy()))

    return run


TRAININGS = {"sections": of_packages(False), "names": of_packages(True), **{what: newcomers(what) for what in MORE}}


def main(what: str, folder: str, seeds: str) -> None:
    torch.set_num_threads(1)
    results: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="features-") as work:
        for who in (HAND, FEATURES, ALL, NONE):
            results[who] = []
            for seed in range(int(seeds)):
                torch.manual_seed(seed)
                results[who].append(TRAININGS[what](pathlib.Path(folder), pathlib.Path(work), who, seed))
                print(f"{what}, {who}, {seed}: {results[who][-1]:.4f}", file=sys.stderr, flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
