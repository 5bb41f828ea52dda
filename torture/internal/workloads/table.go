package workloads

import "strings"

// All are the workloads, in the order of the commands in graphmill help.
func All() []Workload {
	var all []Workload
	add := func(name, args string, out ...string) *Workload {
		all = append(all, Workload{Name: name, Args: strings.Fields(args), Out: out})
		return &all[len(all)-1]
	}
	out := func(name, args string) *Workload { return add(name, args+" --out out", "out") }

	add("append", "append growing.store @tuesday", "growing.store").Copy = []string{"growing.store"}
	add("append-again", "append grown.store @wednesday --memory 64MiB", "grown.store").Copy = []string{"grown.store"}
	out("snapshot", "snapshot grown.store --segments 0").Copy = []string{"grown.store"}
	add("append-drop", "append growing.store --drop @gone", "growing.store").Copy = []string{"growing.store"}
	follow := add("append-follow", "append growing.store --follow @incoming", "growing.store")
	follow.Copy, follow.Steps = []string{"growing.store"}, true
	lines := add("append-lines", "append growing.store @lines/graph.yaml --follow -", "growing.store")
	lines.Copy, lines.Stdin = []string{"growing.store"}, "lines.jsonl"
	add("append-change", "append grown.store --change @changed", "grown.store").Copy = []string{"grown.store"}
	add("compact", "compact grown.store", "grown.store").Copy = []string{"grown.store"}

	add("bench-sample", "bench sample @rmat.store --fanout 3,2 --batch-size 16 --batches 3")
	add("bench-batches", "bench batches --rows 2000 --width 4 --repeat 1")

	out("chunk", "chunk @rmat.store --chunk-size 4KiB --direction out")
	add("chunk-info", "chunk info @rmat.chunks")

	for _, c := range []struct{ name, args string }{
		{"add", "add features.store a pair @values.npy"}, {"add-by-ids", "add features.store a word @words.csv --unknown-ids drop --missing none"},
		{"replace", "replace features.store a x @values.npy"}, {"drop", "drop features.store a x"},
	} {
		add("column-"+c.name, "column "+c.args, "features.store").Copy = []string{"features.store"}
	}

	const dispatch = "dispatch @rmat.store --assignment @rmat.parts --save-orig-nids --save-orig-eids"
	out("dispatch", dispatch+" --graph-formats coo,csc,csr")
	out("dispatch-memory", "dispatch @large.store --parts 4 --parts-by random --memory 48MiB --num-hops 2 --out-edges --parts-at-once 1")
	out("dispatch-resume", dispatch+" --resume --parts-at-once 1").Resumes = true
	out("dispatch-chunked", "dispatch @features.chunked --assignment @features.parts --save-orig-nids")
	out("dispatch-force", dispatch+" --force")
	w := out("dispatch-send", dispatch)
	w.Sends = true
	add("dispatch-dry-run", dispatch+" --dry-run")

	add("draft", "draft @rated")
	add("draft-memory", "draft @rated --memory 72MiB --threads 2")

	out("export-tfrecord", "export @rmat.coll --to tfrecord --shards 2")
	out("export-tfrecord-gzip", "export @rmat.coll --to tfrecord --gzip")
	out("export-tfrecord-store", "export @uni.coll --to tfrecord --store @uni.store")
	out("export-chunked", "export @features.store --to chunked --chunks 2")
	out("export-chunked-parquet", "export @features.store --to chunked --chunks 2 --edges parquet --features parquet")
	out("export-parquet", "export @features.store --to parquet --shards 2")
	out("export-parquet-memory", "export @large.store --to parquet --memory 128MiB --threads 2")
	add("export-graphml", "export @typed.store --to graphml --out out.graphml", "out.graphml")
	add("export-node-link", "export @rmat.coll --to node-link --subgraphs 0,1 --store @rmat.store --out out.json", "out.json")
	add("draw", "draw @typed.store --out out.svg", "out.svg")
	add("draw-subgraph", "draw @rmat.coll --out out.html", "out.html")
	out("export-metis", "export @rmat.store --to metis")
	out("export-dgf", "export @features.store --to dgf --shards 2")
	const predictions = "export predictions @features.store --type a --column v=@values.npy --out "
	add("export-predictions", predictions+"out.parquet", "out.parquet")
	add("export-predictions-arrow", predictions+"out.arrow", "out.arrow")
	add("export-predictions-csv", predictions+"out.csv", "out.csv")
	add("export-predictions-top", "export predictions @features.store --type a:a --top 2 --source-embeddings @values.npy --target-embeddings @values.npy --out out.csv", "out.csv")

	w = add("feed", "")
	w.Python = feedScript
	w = add("events", "")
	w.Python = eventsScript
	w = add("serve", "")
	w.Python = serveScript
	w = add("host", "")
	w.Python = hostScript

	add("forecast", "forecast @rmat.store --fanout 3,2 --batch-size 16 --memory 64MiB")
	out("generate-rmat", "generate rmat --scale 9 --edge-factor 6 --seed 3")
	out("generate-rmat-memory", "generate rmat --scale 10 --edge-factor 8 --seed 3 --memory 40MiB --duplicate-edges count --largest-component")
	out("generate-community", "generate community --nodes 500 --seed 3")
	out("generate-like", "generate like:igbh-small/800 --feature-dtype float16 --memory 40MiB --both")

	for _, source := range []struct{ name, args string }{
		{"csv", "@edges.csv"}, {"csv-memory", "@edges.csv --memory 40MiB"}, {"csv-transforms", "@edges.csv --self-loops add --duplicate-edges sum --split 0.5,0.25,0.25 --both"},
		{"tsv", "@names.tsv"}, {"jsonl", "@rows.jsonl"}, {"folders", "@hive"}, {"parquet", "@rmat.parquet/edges-edge.parquet"},
		{"graph-yaml", "@typed"}, {"graph-yaml-features", "@features --normalise x --split a=0.5,0.25,0.25"}, {"homogeneous", "@typed --homogeneous"},
		{"npy", "@pairs.npy"}, {"sparse", "--indptr=@indptr.npy --indices=@indices.npy"}, {"chunk", "@rmat.chunks"},
		{"unigraph", "@debian"}, {"unigraph-ragged", "@ragged --dangling-edges zeros"}, {"unigraph-tfrecord", "@uni.tfrecords/schema.pbtxt"}, {"unigraph-parquet", "@uni.parquet"}, {"dgf", "@features.dgf"},
		{"dgl", "@one.bin"}, {"dgl-many", "@many.bin"}, {"dgl-parts", "@rmat.dgl"}, {"chunked", "@chunkedcsv"}, {"chunked-parquet", "@features.parquets"},
		{"ogb", "@ogb --symmetrise"}, {"ogb-nodes", "@ogbnodes"}, {"tu", "@tu"}, {"collection", "@arrays"},
		{"tfrecords", "@uni.records/samples.tfrecord@2 --schema @uni.records"}, {"tfrecords-gzip", "@uni.zipped/samples.tfrecord.gz-00000-of-00001 --schema @uni.zipped"},
		{"snap", "@snap.txt"}, {"konect", "@out.films"}, {"metis", "@rmat.graph"}, {"ntriples", "@facts.nt"}, {"triples", "@kg"}, {"graphml", "@g.graphml"},
		{"node-link", "@g.json"}, {"adjlist", "@g.adjlist --symmetrise"}, {"matrix-market", "@matrix.mtx"},
		{"delta", "@delta --columns src,dst"}, {"iceberg", "@iceberg --columns src,dst"}, {"iceberg-keys", "@keys --src id --dst id --src-type n --dst-type n --threads 2"}, {"force", "@edges.csv --force"},
	} {
		out("import-"+source.name, "import "+source.args)
	}
	out("import-stdin", "import - --format csv").Stdin = "edges.csv"
	add("import-list-formats", "import --list-formats")

	add("info", "info @typed.store")
	add("info-collection", "info @rmat.coll --json")
	add("info-layout", "info @plan")

	const limits = " --limit num_nodes=32 --limit num_edges=40"
	add("pack-histogram", "pack @h.csv --limit num_nodes=10 --limit num_edges=12 --effort 0.01")
	out("pack", "pack @rmat.coll --effort 0.01 --reserve"+limits)
	out("pack-alone", "pack @rmat.coll --limit num_nodes=8 --limit num_edges=40 --oversize alone --effort 0.01")
	out("pack-stream", "pack @sizes.csv --stream --limit num_nodes=8 --oversize alone")
	out("pack-stream-collection", "pack @rmat.coll --stream --buffer 8"+limits)
	add("pack-stream-stdin", "pack - --stream --buffer 3 --limit num_nodes=10").Stdin = "sizes.csv"
	out("pack-fill", "pack fill @plan @rmat.coll --seed 1 --epochs 3")
	out("pack-fill-alone", "pack fill @alone @rmat.coll")
	add("pack-hist", "pack hist @rmat.coll")
	out("pack-materialise", "pack materialise @plan @rmat.coll --seed 1")
	add("pack-tables", "pack tables @h.csv --effort 0.01")
	out("pack-tune", "pack tune @h.csv --tries 20")

	out("partition", "partition @community.store --parts 3 --seed 1")
	out("partition-trainers", "partition @rmat.store --parts 2 --balance-edges --trainers-per-machine 2 --imbalance 1.2")
	out("partition-fennel", "partition @rmat.store --parts 3 --method fennel --passes 2")
	out("partition-hash", "partition @typed.store --parts 2 --method hash")
	out("partition-chunked", "partition @features.chunked --parts 2 --method random")
	out("partition-import", "partition @rmat.store --import @rmat.parts")
	add("partition-metis", "partition rmat.graph --parts 2", "rmat.graph.part.2").Copy = []string{"rmat.graph"}
	out("partition-graph", "partition-graph @rmat.store --parts 3 --seed 1 --num-hops 2 --return-mapping --graph-name g")
	out("partition-graph-resume", "partition-graph @rmat.store --parts 3 --seed 1 --resume --parts-at-once 1 --graph-name g").Resumes = true

	add("quickstart", "quickstart --out out", "out/tables", "out/debian.store", "out/samples")
	add("report", "report rmat.coll").Copy = []string{"rmat.coll"}
	add("report-lineage", "report rmat.coll --lineage --out lineage.html", "lineage.html").Copy = []string{"rmat.coll"}
	add("version", "version --json")

	const sample = "sample @rmat.store --fanout 3,2 "
	out("sample", sample+"--batch-size 16")
	out("sample-ops", sample+"--batch-size 16 --ops --epochs 2 --shuffle --replace")
	out("sample-seed", sample+"--scope seed --batch-size 4 --seeds @seeds.txt --checkpoint-every 0")
	out("sample-checkpoints", sample+"--batch-size 16 --checkpoint-every 1ns")
	out("sample-resume", sample+"--batch-size 16 --checkpoint-every 1ns --resume").Resumes = true
	out("sample-tfrecord", sample+"--scope seed --format tfrecord --shards 3")
	out("sample-tfrecord-gzip-resume", sample+"--scope seed --format tfrecord --gzip --checkpoint-every 1ns --resume").Resumes = true
	out("sample-labor", sample+"--batch-size 16 --sampler labor")
	out("sample-labor-importance", sample+"--batch-size 16 --sampler labor --importance 2")
	out("sample-fastgcn", sample+"--batch-size 16 --sampler fastgcn")
	out("sample-hgt", sample+"--batch-size 16 --sampler hgt")
	out("sample-walk", "sample @rmat.store --fanout 5 --batch-size 16 --sampler walk --walk-length 4")
	out("sample-saint-walk", "sample @rmat.store --batch-size 16 --sampler saint-walk --walk-length 3")
	out("sample-ppr", "sample @rmat.store --fanout 5 --batch-size 16 --sampler ppr --eps 0.001")
	out("sample-induced", sample+"--batch-size 16 --subgraph induced")
	out("sample-links", "sample @rated.store --seeds user:rates:movie --negatives 2 --fanout 2,2 --batch-size 3 --exclude reverse:rated_by")
	out("sample-messages", "sample @rated.store --seeds user:rates:movie --messages rates:split=train --fanout 2,2 --batch-size 3")
	out("sample-messages-stream", "sample @rated.store --seeds user:rates:movie --messages rates:split=train --fanout 2,2 --batch-size 3 --executor stream")
	out("sample-negatives-from", "sample @rated.store --seeds user:rates:movie --limit-seeds 4 --negatives-from @values.npy --fanout 2,2 --batch-size 3")
	out("sample-positives", "sample @rated.store --seeds user --positives rates --negatives 1.5 --fanout 2,2 --batch-size 3 --epochs 2 --format tfrecord")
	out("sample-times", "sample @edges.store --fanout 3,2 --before at --temporal-strategy last --scope seed --batch-size 8 --seeds _N:_E:_N --limit-seeds 50")
	out("sample-weights", "sample @edges.store --fanout 3,2 --weight weight --batch-size 8")
	out("sample-stream", "sample @large.store --fanout 4,3 --batch-size 64 --executor stream --memory 40MiB")
	out("sample-stream-resume", "sample @large.store --fanout 4,3 --batch-size 64 --limit-seeds 300 --executor stream --memory 40MiB --checkpoint-every 1ns --resume").Resumes = true
	out("sample-stream-epochs", "sample @large.store --fanout 4,3 --batch-size 64 --limit-seeds 300 --epochs 2 --shuffle --executor stream")
	out("sample-stream-tfrecord", "sample @large.store --fanout 3,2 --scope seed --limit-seeds 100 --format tfrecord --executor stream --memory 40MiB")
	out("sample-unigraph", "sample --graph_schema @uni --sampling_spec @uni/spec.pbtxt --output_samples out/s.tfrecord@2")
	all[len(all)-1].Args = strings.Fields("sample --graph_schema @uni --sampling_spec @uni/spec.pbtxt --output_samples out/s.tfrecord@2")
	out("sample-force", sample+"--batch-size 16 --force")

	out("tfgnn-convert-csv", "tfgnn convert @uni.parquet --to csv --shards 2 --gzip")
	out("tfgnn-convert-tfrecord", "tfgnn convert @uni --to tfrecord --shards 2")
	out("tfgnn-convert-parquet", "tfgnn convert @uni --to parquet")
	out("tfgnn-from-store", "tfgnn from-store @rmat.store")
	out("tfgnn-from-store-tfrecord", "tfgnn from-store @uni.store --format tfrecord --shards 2")
	add("tfgnn-io-spec", "tfgnn io-spec @uni/schema.pbtxt")
	add("tfgnn-print", "tfgnn print @golden.tfrecord")
	add("tfgnn-print-gzip", "tfgnn print @uni.zipped/samples.tfrecord.gz-00000-of-00001 --json")
	out("tfgnn-random", "tfgnn random @golden.pbtxt --count 50 --shards 2 --seed 3")
	add("tfgnn-random-print", "tfgnn random @golden.pbtxt --count 3")
	out("tfgnn-stats", "tfgnn stats @uni.records/schema.pbtxt @uni.records/samples.tfrecord@2")
	add("tfgnn-validate", "tfgnn validate @uni.records/schema.pbtxt @uni.records/samples.tfrecord@2")
	add("tfgnn-validate-tables", "tfgnn validate @uni --tables --spec @uni/spec.pbtxt")

	add("verify", "verify @rmat.store")
	add("verify-collection", "verify @rmat.coll --json")
	add("verify-against-collection", "verify @rmat.coll --against @rmat.store")
	add("verify-against-records", "verify @rmat.records --against @rmat.store")
	add("verify-parts", "verify @rmat.dgl --against @rmat.store")

	out("join", "join @divided.store")
	out("sample-divided", "sample @divided.store --fanout 3,2 --batch-size 16 --executor stream --memory 64MiB")
	add("verify-divided", "verify @divided.store")

	out("walk", "walk @rmat.store --length 6 --walks 2 --p 0.5 --q 2 --edge-ids")
	out("walk-metapath", "walk @rated.store --metapath rates,rated_by --length 5 --stop 0.1")
	return all
}

// digestScript prints a digest of something with arrays.
const digestScript = `
import hashlib, sys
import numpy as np
import graphmill

def digest(h, x):
    if isinstance(x, dict):
        for k in sorted(x, key=str):
            h.update(str(k).encode()); digest(h, x[k])
    elif isinstance(x, np.ndarray):
        h.update(str((x.dtype, x.shape)).encode()); h.update(np.ascontiguousarray(x).tobytes())
    elif isinstance(x, (list, tuple)):
        for y in x: digest(h, y)
    elif hasattr(x, "__dict__"):
        digest(h, vars(x))
    else:
        h.update(repr(x).encode())

def show(x):
    h = hashlib.sha256(); digest(h, x)
    print(h.hexdigest()[:16], flush=True)
`

// feedScript reads two epochs of batches, and prints a digest of them. What the loader raises is printed as graphmill prints an error.
const feedScript = digestScript + `
try:
    with graphmill.NodeLoader("` + inputsFolder + `features.store", fanout=[2, 2], batch_size=1, shuffle=True, seed=1) as loader:
        for _ in range(2):
            for batch in loader:
                show(batch.to_arrays() if hasattr(batch, "to_arrays") else batch)
except graphmill.GraphmillError as e:
    sys.exit("graphmill: %s" % e)
`

// eventsScript is feedScript for batches of events.
const eventsScript = digestScript + `
try:
    with graphmill.EventLoader("` + inputsFolder + `rated.store", batch_size=2, neighbors=2, negatives=1, seed=1) as loader:
        for _ in range(2):
            for b in loader:
                show([b.n_id, b.src, b.dst, b.t, b.neg_dst, b.edge_index, b.neighbor_event, b.edge_attr, b.neighbor_attr, b.e_id])
except graphmill.GraphmillError as e:
    sys.exit("graphmill: %s" % e)
`

// serveScript asks a server for each node, twice, and prints a digest of the answers. The server ends with the script, whatever ends that.
const serveScript = digestScript + `
import ctypes, json, os, signal, subprocess, tempfile

with tempfile.TemporaryDirectory(dir="/tmp") as folder:
    path = os.path.join(folder, "s")
    server = subprocess.Popen(
        [os.environ["GRAPHMILL_COMMAND"], "serve", "` + inputsFolder + `features.store", "--seed-type", "a", "--fanout", "2,2", "--texts", "#id", "--socket", path],
        stdout=subprocess.PIPE, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))
    if not server.stdout.readline():
        sys.exit(server.wait())
    try:
        with graphmill.Client(path) as client:
            for _ in range(2):
                for v in range(2):
                    show(client.ask(seeds=v))
    except graphmill.GraphmillError as e:
        sys.exit("graphmill: %s" % e)
    finally:
        server.terminate()
    sys.exit(server.wait())
`

// hostScript starts two hosts, reads two epochs of batches through them, and prints a digest of them. The hosts end with the script.
const hostScript = digestScript + `
import ctypes, json, os, signal, subprocess

hosts, addresses = [], []
try:
    for part in ("0/2", "1/2"):
        hosts.append(subprocess.Popen([os.environ["GRAPHMILL_COMMAND"], "host", "` + inputsFolder + `features.store", "--part", part],
            stdout=subprocess.PIPE, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL)))
        line = hosts[-1].stdout.readline()
        if not line:
            sys.exit(hosts[-1].wait())
        addresses.append(json.loads(line)["addr"])
    with graphmill.NodeLoader("` + inputsFolder + `features.store", fanout=[2, 2], batch_size=1, shuffle=True, seed=1, threads=2, hosts=addresses) as loader:
        for _ in range(2):
            for batch in loader:
                show(batch.to_arrays() if hasattr(batch, "to_arrays") else batch)
except graphmill.GraphmillError as e:
    sys.exit("graphmill: %s" % e)
finally:
    for host in hosts:
        host.terminate()
sys.exit(max(host.wait() for host in hosts))
`
