"""Makes model input of the columns of a table by other programs, and makes the table.

usage: peer_features.py make FOLDER --rows N       rows.parquet, and the graph.yaml that graphmill imports
       peer_features.py run FOLDER --peer polars|sklearn|dgf|frame --threads T --out FILE

The table has 20 columns to standardise, 5 for normal quantiles, 5 of 1,000 different texts for codes (one-hot vectors would take 20 kB per row), and 2 of times for a
cycle of months. Statistics come from the rows where `train` is true. `run` does what a user would write by the documentation of each program:

polars   streams, and writes Parquet.
sklearn  works in memory, and writes NumPy.
dgf      Google's DGF works in memory, and writes NumPy, with the defaults of auto_normalize and months besides. It has no standardisation: all 25 columns of numbers
         become places between their quantiles, on lines from -0.5 to 0.5 and not normal. The 100 quantiles are of 10,000 rows that are drawn without a seed, so two
         runs differ. Months are on a line, too, not on a cycle. A missing number is an error, so gaps must be filled before; this table has none.
frame    PyTorch Frame works in memory, and writes tensors. It fits means, deviations, 5 quantiles and counts of texts, and turns texts into codes and times into 7
         integers. It scales nothing: tensors have the numbers of the table, and the encoders in a model apply the statistics to each batch.

Prints one JSON. Its seconds, of the clock and of the processors, begin after Python's imports.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import time
from typing import Any

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["make", "run"])
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--rows", type=int, default=10_000_000)
parser.add_argument("--peer", choices=["polars", "sklearn", "dgf", "frame"])
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=pathlib.Path)
args = parser.parse_args()
os.environ["POLARS_MAX_THREADS"] = str(args.threads)  # read when polars is loaded
os.environ["OMP_NUM_THREADS"] = str(args.threads)

import numpy as np  # noqa: E402

STANDARD, NORMAL, TEXTS, TIMES = [f"n{i}" for i in range(20)], [f"q{i}" for i in range(5)], [f"c{i}" for i in range(5)], [f"t{i}" for i in range(2)]
TABLE = args.folder / "rows.parquet"
QUANTILES = 1000
IMPORTS = {
    "polars": ["polars", "scipy.special"],
    "sklearn": ["polars", "sklearn.compose", "sklearn.preprocessing"],
    "dgf": ["dgf", "pyarrow.parquet"],
    "frame": ["pandas", "torch_frame", "torch_frame.data"],
}


def make() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    args.folder.mkdir(parents=True, exist_ok=True)
    r = np.random.default_rng(0)
    words = {c: pa.array([f"{c}-{i:04d}" for i in range(1000)]) for c in TEXTS}
    writer = None
    for first in range(0, args.rows, 1_000_000):
        n = min(1_000_000, args.rows - first)
        columns: dict[str, Any] = {c: pa.array((r.normal(size=n) * 10 ** (k % 5) + k).astype(np.float32)) for k, c in enumerate(STANDARD)}
        columns |= {c: pa.array(r.lognormal(size=n).astype(np.float32)) for c in NORMAL}
        columns |= {c: words[c].take(pa.array(r.zipf(1.3, size=n) % 1000)) for c in TEXTS}
        columns |= {c: pa.array((np.int64(1262304000) + r.integers(0, 400_000_000, n)).astype("datetime64[s]").astype("datetime64[ms]")) for c in TIMES}
        columns["train"] = pa.array(r.random(n) < 0.7)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(TABLE, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    parts = [f"{{from: {c}, scale: standard}}" for c in STANDARD] + [f"{{from: {c}, scale: normal-quantiles}}" for c in NORMAL]
    parts += [f"{{from: {c}, encode: one-hot}}" for c in TEXTS] + [f"{{from: {c}, encode: calendar, parts: [month-cycle]}}" for c in TIMES]
    listed = "\n".join(f"        - {p}" for p in parts)
    (args.folder / "edges.csv").write_text("src,dst\n0,1\n")
    (args.folder / "graph.yaml").write_text(
        f"nodes:\n  row:\n    table: rows.parquet\n    id: null\n    features:\n      x:\n{listed}\nedges:\n  row:e:row: {{table: edges.csv}}\n"
        "transforms:\n  split: {row: {by: train, train: ['true'], valid: ['false']}}\n"
    )


def polars() -> int:
    """Statistics in a few scans, then one that transforms and writes, all streamed."""
    import polars as pl

    scan = pl.scan_parquet(TABLE)
    train = scan.filter(pl.col("train"))
    moments = train.select([f(pl.col(c)).alias(f"{c}{s}") for c in STANDARD for f, s in ((pl.Expr.mean, "m"), (lambda e: e.std(ddof=0), "s"))]).collect(
        engine="streaming"
    )
    steps = [((pl.col(c) - moments[f"{c}m"][0]) / moments[f"{c}s"][0]).cast(pl.Float32) for c in STANDARD]
    at = np.linspace(0, 1, QUANTILES)
    normal = _inverse_normal(np.clip(at, 1e-7, 1 - 1e-7))
    for c in NORMAL:
        q = np.quantile(train.select(c).collect(engine="streaming")[c].to_numpy(), at)
        steps.append(pl.col(c).map_batches(lambda s, q=q: pl.Series(np.interp(s.to_numpy(), q, normal).astype(np.float32)), return_dtype=pl.Float32))
    for c in TEXTS:
        codes = {t: i + 1 for i, t in enumerate(sorted(train.select(pl.col(c).unique()).collect(engine="streaming")[c].to_list()))}
        steps.append(pl.col(c).replace_strict(codes, default=0, return_dtype=pl.Int32))
    for c in TIMES:
        month = (pl.col(c).dt.month() - 1) * (2 * np.pi / 12)
        steps += [month.sin().cast(pl.Float32).alias(c + "s"), month.cos().cast(pl.Float32).alias(c + "c")]
    scan.select(steps).sink_parquet(args.out)
    return int(scan.select(pl.len()).collect().item())


def _inverse_normal(p: Any) -> Any:
    from scipy.special import ndtri

    return ndtri(p)


def save(x: Any) -> None:
    """Writes an array to the output, whose name np.save would change."""
    with args.out.open("wb") as f:
        np.save(f, x)


def sklearn() -> int:
    """ColumnTransformer, with codes in place of one-hot vectors, in memory."""
    import polars as pl
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, QuantileTransformer, StandardScaler

    frame = pl.read_parquet(TABLE)
    for c in TIMES:
        month = (pl.col(c).dt.month() - 1) * (2 * np.pi / 12)
        frame = frame.with_columns(month.sin().cast(pl.Float32).alias(c + "s"), month.cos().cast(pl.Float32).alias(c + "c"))
    made = ColumnTransformer(
        [
            ("standard", StandardScaler(), STANDARD),
            ("normal", QuantileTransformer(n_quantiles=QUANTILES, subsample=None, output_distribution="normal"), NORMAL),
            ("codes", OrdinalEncoder(dtype=np.float32, handle_unknown="use_encoded_value", unknown_value=-1), TEXTS),
            ("times", FunctionTransformer(), [c + s for c in TIMES for s in "sc"]),
        ]
    )
    made.set_output(transform="default")
    pandas_free = frame.drop("train")
    made.fit(pandas_free.filter(frame["train"]))
    save(np.asarray(made.transform(pandas_free), np.float32))
    return int(frame.height)


def dgf() -> int:
    """A graph of the rows without edges, its statistics, and the normalizer that DGF makes of them, in memory."""
    import dgf
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(args.threads)
    table = pq.read_table(TABLE)
    train = table["train"].to_numpy()
    columns = {c: table[c].to_numpy() for c in STANDARD + NORMAL}
    columns |= {c: table[c].to_numpy().astype(np.bytes_) for c in TEXTS}  # DGF has dictionaries of bytes alone
    columns |= {c: table[c].to_numpy().astype("datetime64[s]").astype(np.int64) for c in TIMES}
    fitted, schema = dgf.transform.table2graph({c: values[train] for c, values in columns.items()}, "row")
    graph, _ = dgf.transform.table2graph(columns, "row")
    for c in TIMES:
        schema.node_sets["row"].features[c].semantic = dgf.data.FeatureSemantic.TIMESTAMP
    config = dgf.transform.AutoNormalizeConfig(calendar_normalize=True, calendar_features=(dgf.transform.CalendarFeature.MONTH,))
    normalizer = dgf.transform.auto_normalize(schema, dgf.analyse.feature_statistics(fitted, schema), config)
    made = normalizer.normalize_numpy(graph).node_sets["row"]
    save(np.stack([v.astype(np.float32) for v in made.features.values()], axis=1))
    return len(train)


def frame() -> int:
    """A Dataset of the rows of train, whose statistics a Dataset of all rows takes, in memory."""
    import pandas as pd
    import torch
    import torch_frame
    from torch_frame.data import Dataset

    torch.set_num_threads(args.threads)
    rows = pd.read_parquet(TABLE)
    kinds = (
        dict.fromkeys(STANDARD + NORMAL, torch_frame.numerical) | dict.fromkeys(TEXTS, torch_frame.categorical) | dict.fromkeys(TIMES, torch_frame.timestamp)
    )
    fitted = Dataset(rows[rows["train"]], kinds).materialize()
    Dataset(rows, kinds).materialize(path=str(args.out), col_stats=fitted.col_stats)
    return len(rows)


if args.command == "make":
    make()
else:
    for module in IMPORTS[args.peer]:
        importlib.import_module(module)
    start, cpu = time.perf_counter(), time.process_time()
    rows = {"polars": polars, "sklearn": sklearn, "dgf": dgf, "frame": frame}[args.peer]()
    print(json.dumps({"rows": rows, "rows_per_second": rows / (time.perf_counter() - start), "cpu_seconds": time.process_time() - cpu}))
