#!/usr/bin/env python3
"""Makes the golden files of testdata/golden/tfgnn with the real TF-GNN.

usage: TFGNN_PYTHON goldens_tfgnn.py GOLDEN OUT      (TFGNN_PYTHON is what `bench/peers.sh tfgnn` prints)

GOLDEN is testdata/golden/tfgnn, from which the inputs are read. OUT gets the inputs and the outputs of TF-GNN.

encoding/CASE: inputs schema.pbtxt and examples.json: each Example as key -> kind and values. TF-GNN gives
  schema.pbtxt      printed by text_format
  examples.tfrecord the Examples, every second one with its keys in reverse order. TF-GNN must write each of them again
                    from what it parses, except in the case "omitted", where keys are absent
  parsed.json       what parse_single_example makes of each: dtype, shape, ragged rank, values
  io_spec.json      get_io_spec
encoding/verdicts: inputs schema.pbtxt and the names and Examples of verdicts.json, sound and unsound. TF-GNN gives its
  verdicts: whether it parses each with validate=True.
encoding/fixed_before_ragged.json: inputs are the shapes and Examples; TF-GNN says whether it parses each, and to what.
  In JSON bytes are written as latin-1, and NaN and the infinities as strings.
sampler/CASE: a unigraph, spec.pbtxt and perhaps seeds.csv; tfgnn_sampler gives beam.tfrecord and the older sampler
  old_*.tfrecord with their schema. Sample sizes are above all degrees, so that the subgraphs are determined. Beam's
  workers finish in any order, and protobuf writes keys in any order: the Examples are sorted, and their keys too.
  typed, homogeneous and diamond are made here; the others have their tables in GOLDEN.
"""

from __future__ import annotations

import csv
import glob
import importlib.util
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf
import tensorflow_gnn as tfgnn
from google.protobuf import text_format

KINDS: dict[str | None, Callable[[Any], Any]] = {
    "int64_list": lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v)),
    "float_list": lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=map(float, v))),
    "bytes_list": lambda v: tf.train.Feature(bytes_list=tf.train.BytesList(value=[x.encode("latin-1") for x in v])),
    None: lambda v: tf.train.Feature(),
}


def views() -> Any:
    """The functions of format/example/testdata/peer.py that show a GraphTensor as JSON. The script itself answers stdin."""
    path = pathlib.Path(__file__).resolve().parents[2] / "format" / "example" / "testdata" / "peer.py"
    spec = importlib.util.spec_from_file_location("peer", path)
    assert spec and spec.loader  # of a file
    module = importlib.util.module_from_spec(spec)
    stdin, sys.stdin = sys.stdin, open(os.devnull)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.stdin = stdin
    return module


PEER = views()


def example_of(features: dict[str, Any]) -> Any:
    return tf.train.Example(features=tf.train.Features(feature={k: KINDS[f.get("kind")](f.get("values", [])) for k, f in features.items()}))


def ordered(example: Any) -> bytes:
    return bytes(example.SerializeToString(deterministic=True))


def reversed_keys(example: Any) -> bytes:
    """The same Example with its keys in reverse order, which protobuf may write as well."""
    entries = example.features.feature
    body = b"".join(tf.train.Features(feature={k: entries[k]}).SerializeToString() for k in sorted(entries, reverse=True))
    if not body:
        return ordered(example)
    # Field 1 of Example, as bytes with their length: the wire form of a BytesList with one value is the same.
    return bytes(tf.train.BytesList(value=[body]).SerializeToString())


def dump(path: pathlib.Path, value: Any) -> None:
    path.write_text(json.dumps(value, separators=(",", ":"), sort_keys=True) + "\n")


def write_records(path: pathlib.Path, records: Iterable[bytes]) -> None:
    with tf.io.TFRecordWriter(str(path)) as out:
        for record in records:
            out.write(record)


def encoding(source: pathlib.Path, out: pathlib.Path) -> None:
    out.mkdir(parents=True)
    shutil.copy(source / "examples.json", out)
    schema = tfgnn.read_schema(str(source / "schema.pbtxt"))
    (out / "schema.pbtxt").write_text(text_format.MessageToString(schema))
    spec = tfgnn.create_graph_spec_from_schema_pb(schema)
    if source.name == "components":  # the schema alone means one component
        spec = spec.relax(num_components=True)
    records, parsed = [], []
    for i, features in enumerate(json.loads((source / "examples.json").read_text())):
        example = example_of(features)
        graph = tfgnn.parse_single_example(spec, tf.constant(ordered(example)), validate=True)
        parsed.append(PEER.view(graph))
        again = ordered(tfgnn.write_example(graph))
        if source.name != "omitted" and again != ordered(example):
            sys.exit(f"{source}: Example {i}: TF-GNN writes it otherwise than it is")
        records.append(reversed_keys(example) if i % 2 else ordered(example))
    write_records(out / "examples.tfrecord", records)
    dump(out / "parsed.json", parsed)
    dump(out / "io_spec.json", {k: repr(v) for k, v in tfgnn.get_io_spec(spec).items()})


def parse(spec: Any, example: Any) -> tuple[bool, Any]:
    """Whether TF-GNN parses an Example, and the result."""
    try:
        return True, PEER.view(tfgnn.parse_single_example(spec, tf.constant(ordered(example)), validate=True))
    except Exception:  # tfgnn raises several kinds
        return False, None


def verdicts(source: pathlib.Path, out: pathlib.Path) -> None:
    out.mkdir(parents=True)
    schema = tfgnn.read_schema(str(source / "schema.pbtxt"))
    (out / "schema.pbtxt").write_text(text_format.MessageToString(schema))
    spec = tfgnn.create_graph_spec_from_schema_pb(schema)
    cases = json.loads((source / "verdicts.json").read_text())
    examples = [example_of(c["example"]) for c in cases]
    write_records(out / "examples.tfrecord", map(ordered, examples))
    dump(out / "verdicts.json", [{"name": c["name"], "example": c["example"], "validate": {"ok": parse(spec, e)[0]}} for c, e in zip(cases, examples)])


def fixed_before_ragged(source: pathlib.Path, out: pathlib.Path) -> None:
    cases = []
    for c in json.loads(source.read_text()):
        dims = " ".join(f"dim {{ size: {d} }}" for d in c["shape"])
        schema = text_format.Parse(
            f'node_sets {{ key: "n" value {{ features {{ key: "f" value {{ dtype: DT_INT64 shape {{ {dims} }} }} }} }} }}', tfgnn.GraphSchema()
        )
        ok, graph = parse(tfgnn.create_graph_spec_from_schema_pb(schema), example_of(c["example"]))
        case = {"shape": c["shape"], "partition_keys": c["partition_keys"], "example": c["example"], "ok": ok}
        cases.append(case | ({"parsed": graph} if ok else {}))
    dump(out, cases)


def table(path: pathlib.Path, header: list[str], rows: Iterable[Sequence[object]]) -> None:
    with open(path, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(header)
        w.writerows(rows)


def set_text(kind: str, name: str, filename: str, features: dict[str, str] | None = None, ends: tuple[str, str] | None = None, extra: str = "") -> str:
    text = f'{kind} {{\n  key: "{name}"\n  value {{\n'
    text += "".join(f'    features {{ key: "{f}" value {{ dtype: DT_{t} }} }}\n' for f, t in (features or {}).items())
    if ends:
        text += f'    source: "{ends[0]}"\n    target: "{ends[1]}"\n'
    return text + f'    metadata {{ filename: "{filename}"{extra} }}\n  }}\n}}\n'


def op(name: str, inputs: list[str], edge_set: str, size: int = 100, strategy: str = "RANDOM_UNIFORM") -> str:
    joined = ", ".join(f'"{i}"' for i in inputs)
    return f'sampling_ops {{ op_name: "{name}" input_op_names: [{joined}] edge_set_name: "{edge_set}" sample_size: {size} strategy: {strategy} }}\n'


def seed_op(node_set: str) -> str:
    return f'seed_op {{ op_name: "seed" node_set_name: "{node_set}" }}\n'


def homogeneous(out: pathlib.Path) -> None:
    """Towns and the roads between them, whose weights all differ: TOP_K is determined."""
    draw = random.Random(1)
    towns = [f"town {i:02}" for i in range(14)]
    table(out / "town.csv", ["#id", "label", "people"], [(t, t.upper(), draw.randrange(10**6)) for t in towns])
    pairs = draw.sample([(a, b) for a in towns for b in towns if a != b], 30)
    table(
        out / "road.csv",
        ["#source", "#target", "#weight", "lanes"],
        [(a, b, w / 64, draw.randrange(1, 5)) for (a, b), w in zip(pairs, draw.sample(range(1, 400), 30))],
    )
    (out / "schema.pbtxt").write_text(
        set_text("node_sets", "town", "town.csv", {"label": "STRING", "people": "INT64"})
        + set_text("edge_sets", "road", "road.csv", {"#weight": "FLOAT", "lanes": "INT64"}, ("town", "town"))
    )
    (out / "spec.pbtxt").write_text(seed_op("town") + op("hop1", ["seed"], "road") + op("hop2", ["hop1"], "road"))
    (out / "spec_topk.pbtxt").write_text(seed_op("town") + op("hop1", ["seed"], "road", 100, "TOP_K") + op("hop2", ["hop1"], "road", 100, "TOP_K"))


def diamond(out: pathlib.Path) -> None:
    """Two corners that a seed reaches, with edges between them that no op draws."""
    table(out / "corner.csv", ["#id", "name"], [("left", "L"), ("right", "R")])
    table(out / "side.csv", ["#id", "name"], [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")])
    table(out / "to_side.csv", ["#source", "#target", "#weight"], [("left", "a", 1), ("left", "b", 2), ("right", "b", 3), ("right", "c", 4)])
    table(out / "along.csv", ["#source", "#target", "#weight"], [("a", "b", 1), ("b", "c", 2), ("c", "d", 3)])
    weight = {"#weight": "FLOAT"}
    (out / "schema.pbtxt").write_text(
        set_text("node_sets", "corner", "corner.csv", {"#id": "STRING", "name": "STRING"})
        + set_text("node_sets", "side", "side.csv", {"#id": "STRING"})
        + set_text("edge_sets", "to_side", "to_side.csv", weight, ("corner", "side"))
        + set_text("edge_sets", "along", "along.csv", weight, ("side", "side"))
    )
    (out / "spec.pbtxt").write_text(seed_op("corner") + op("hop1", ["seed"], "to_side", 100, "TOP_K"))


def typed(out: pathlib.Path) -> None:
    """A random graph of four node sets and six edge sets; two of these are the reverse of others. Some nodes have no edges."""
    draw = random.Random(2)
    count = {"red": 60, "green": 50, "blue": 40, "grey": 8}
    schema = ""
    for name, n in count.items():
        table(
            out / f"{name}.csv",
            ["id", "size", "ratio", "text"],
            [
                (f"{name}{i}", draw.randrange(-(10**9), 10**9), draw.randrange(-999, 999) / 32, "".join(draw.choices('abc ,é"', k=draw.randrange(6))))
                for i in range(n)
            ],
        )
        schema += set_text("node_sets", name, f"{name}.csv", {"#id": "STRING", "size": "INT64", "ratio": "FLOAT", "text": "STRING"})
    edges = {"likes": ("red", "red", 90), "owns": ("red", "green", 80), "near": ("green", "blue", 70), "of": ("blue", "grey", 50)}
    for name, (source, target, n) in edges.items():
        ends: Callable[[], tuple[str, str]] = lambda: (f"{source}{int(count[source] * draw.random() ** 2)}", f"{target}{draw.randrange(count[target])}")
        rows = {ends() for _ in range(n)}
        features = {"order": "INT64"} if name in ("likes", "near") else {}
        table(out / f"{name}.csv", ["source", "target", *features], [(a, b, i)[: 2 + len(features)] for i, (a, b) in enumerate(sorted(rows))])
        schema += set_text("edge_sets", name, f"{name}.csv", features, (source, target))
        if name in ("owns", "near"):
            schema += set_text("edge_sets", "rev_" + name, f"{name}.csv", features, (target, source), ' extra { key: "edge_type" value: "reversed" }')
    (out / "schema.pbtxt").write_text(schema)

    def spec(size: int) -> str:
        return (
            seed_op("red")
            + op("likes", ["seed"], "likes", size)
            + op("owns", ["seed", "likes"], "owns", size)
            + op("near", ["owns"], "near", size)
            + op("back", ["near"], "rev_near", size)
            + op("owners", ["back", "owns"], "rev_owns", size)
            + op("of", ["near"], "of", size)
        )

    (out / "spec.pbtxt").write_text(spec(1000))
    (out / "spec_small.pbtxt").write_text(spec(2))
    table(out / "seeds.csv", ["id"], [(f"red{i}",) for i in draw.sample(range(60), 20)])


def run(command: list[str], *args: object) -> None:
    with tempfile.TemporaryFile("w+") as log:
        if subprocess.run([*command, *map(str, args)], stdout=log, stderr=log).returncode:
            log.seek(0)
            sys.exit(f"{command} {args}: {log.read()[-4000:]}")


def sampled(command: list[str], case: pathlib.Path, spec: str, out: pathlib.Path, *more: object) -> None:
    """Runs a sampler and writes its Examples, sorted."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "samples.tfrecord")
        run(command, "--graph_schema", case / "schema.pbtxt", "--sampling_spec", case / spec, "--output_samples", path, *more)
        files = [f for f in glob.glob(work + "/**/*tfrecord*", recursive=True) if os.path.isfile(f)]
        records = sorted(ordered(tf.train.Example.FromString(r)) for r in tf.data.TFRecordDataset(files).as_numpy_iterator())
        schemas = glob.glob(work + "/**/schema.pbtxt", recursive=True) + glob.glob(work + "/**/*_schema.pbtxt", recursive=True)
        if out.name.startswith("old_"):
            shutil.copy(schemas[0], str(out).removesuffix(".tfrecord") + "_schema.pbtxt")
    write_records(out, records)


def sampler(source: pathlib.Path, out: pathlib.Path) -> None:
    made = {"homogeneous": homogeneous, "diamond": diamond, "typed": typed}
    given = [d.name for d in source.iterdir() if d.name not in made]
    beam = [str(pathlib.Path(sys.executable).parent / "tfgnn_sampler")]
    old = [sys.executable, "-m", "tensorflow_gnn.sampler.unsupported.graph_sampler"]
    for name in sorted([*made, *given]):
        case = out / name
        if name in made:
            case.mkdir(parents=True)
            made[name](case)
        else:
            shutil.copytree(source / name, case, ignore=shutil.ignore_patterns("beam.tfrecord"))
        seeds = ["--input_seeds", case / "seeds.csv"] if (case / "seeds.csv").exists() else []
        sampled(beam, case, "spec.pbtxt", case / "beam.tfrecord", *seeds)
        if name == "homogeneous":
            sampled(old, case, "spec_topk.pbtxt", case / "old_topk.tfrecord")
        if name == "diamond":
            for method in ("edge", "node"):
                sampled(old, case, "spec.pbtxt", case / f"old_{method}.tfrecord", "--edge_aggregation_method", method)


def main(golden: str, folder: str) -> None:
    source, out = pathlib.Path(golden), pathlib.Path(folder)
    for case in sorted(source.glob("encoding/*/schema.pbtxt")):
        name = case.parent.name
        (verdicts if name == "verdicts" else encoding)(case.parent, out / "encoding" / name)
    fixed_before_ragged(source / "encoding" / "fixed_before_ragged.json", out / "encoding" / "fixed_before_ragged.json")
    sampler(source / "sampler", out / "sampler")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
