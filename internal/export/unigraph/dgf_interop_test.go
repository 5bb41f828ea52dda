//go:build interop

package unigraph_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/proof"
)

// readDGF writes what DGF reads from folders, each into the file FOLDER.json: a line of each value, with the bits of floats. DGF lists
// files by TensorFlow, in whose place stands glob.
const readDGF = `
import glob, json, sys, types
import dgf, numpy as np
from dgf.src.util import shard
shard.tf = types.SimpleNamespace(io=types.SimpleNamespace(gfile=types.SimpleNamespace(glob=glob.glob)))

def plain(v):
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, np.ndarray):
        if v.dtype.kind == "f":
            v = v.view(f"i{v.dtype.itemsize}")
        return [plain(x) for x in (v if v.dtype == object else v.tolist())]
    if isinstance(v, list):
        return [plain(x) for x in v]
    return str(int(v))

for path in sys.argv[1:]:
    g, schema = dgf.io.read_graph(path)
    lines = []
    for of, sets in (("nodes", g.node_sets), ("edges", g.edge_sets)):
        for name, s in sets.items():
            if of == "nodes":
                lines.append([name, s.num_nodes])
            else:
                lines.append([name, np.asarray(s.adjacency).reshape(2, -1).tolist()])
            for feature, v in s.features.items():
                if len(v):
                    lines.append([name, feature, plain(v)])
    with open(path + ".json", "w") as f:
        json.dump(lines, f)
`

// Random graphs with columns of all dtypes and shapes are what DGF reads after an export, value by value.
func TestPeerDGFReads(t *testing.T) {
	var graphs []*graph.Graph
	var dirs []string
	for seed := range proof.Count(t, 30, 300) {
		g := rapid.Custom(drawDGFGraph).Example(seed)
		each(g, func(c *graph.Column) {
			if c.DType == graph.String && len(c.Values) == 0 { // DGF cannot read it
				c.DType, c.StringOffsets, c.Shape, c.Offsets, c.Values = graph.Bool, graph.Index{}, nil, nil, make([]byte, c.Rows)
			}
		})
		dir := filepath.Join(t.TempDir(), fmt.Sprint(seed))
		if err := writeDGF(g, dir, unigraph.Options{Shards: 1, Threads: 1 + seed%3}); err != nil {
			t.Fatal(err)
		}
		graphs, dirs = append(graphs, g), append(dirs, dir)
	}
	python(t, "frames", readDGF, dirs...)
	for i, g := range graphs {
		b, err := os.ReadFile(dirs[i] + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var lines []any
		if err := json.Unmarshal(b, &lines); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range lines {
			got = append(got, compact(line))
		}
		widenDGF(g)
		want := dgfLines(g)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("graph %d: %s", i, diff)
		}
	}
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// dgfLines are the lines that readDGF makes of a graph.
func dgfLines(g *graph.Graph) (out []string) {
	add := func(set string, columns []*graph.Column) {
		for _, c := range columns {
			if c.Rows > 0 {
				out = append(out, compact([]any{set, c.Name, bits(c)}))
			}
		}
	}
	for _, n := range g.Nodes {
		out = append(out, compact([]any{n.Type, n.Count}))
		var ids []string
		for i := range n.Count {
			id := fmt.Sprint(i)
			if n.IDs != nil {
				id = string(n.IDs.Text(i))
			}
			ids = append(ids, fmt.Sprintf("%x", id))
		}
		if n.Count > 0 {
			out = append(out, compact([]any{n.Type, "#id", ids}))
		}
		add(n.Type, n.Columns)
	}
	for _, e := range g.Edges {
		ends := [2][]int{{}, {}}
		a := e.Adj[graph.Out]
		for src := range a.Indptr.Len() - 1 {
			for k := a.Indptr.At(src); k < a.Indptr.At(src+1); k++ {
				ends[0], ends[1] = append(ends[0], src), append(ends[1], int(a.Far.At(int(k))))
			}
		}
		out = append(out, compact([]any{e.Type.Rel, ends}))
		add(e.Type.Rel, e.Columns)
	}
	return out
}

// bits are the values of a column in lists: integers, and floats as the integers of their bits, as texts, and texts in hexadecimal.
func bits(c *graph.Column) any {
	var counts [][]int
	n, variable := c.Rows, 0
	for _, d := range c.Shape {
		lengths := make([]int, n)
		next := 0
		for i := range lengths {
			if lengths[i] = d; d == -1 {
				lengths[i] = int(c.Offsets[variable].At(i+1) - c.Offsets[variable].At(i))
			}
			next += lengths[i]
		}
		if d == -1 {
			variable++
		}
		counts, n = append(counts, lengths), next
	}
	values := make([]any, n)
	for i := range values {
		switch {
		case c.DType == graph.String:
			values[i] = fmt.Sprintf("%x", strings.TrimRight(string(c.Values[c.StringOffsets.At(i):c.StringOffsets.At(i+1)]), "\x00"))
		case c.DType.Size() == 8:
			values[i] = fmt.Sprint(graph.View[int64](c.Values)[i])
		case c.DType.Size() == 4:
			values[i] = fmt.Sprint(graph.View[int32](c.Values)[i])
		default:
			values[i] = fmt.Sprint(c.Values[i])
		}
	}
	for _, lengths := range slices.Backward(counts) {
		lists, at := make([]any, len(lengths)), 0
		for i, n := range lengths {
			lists[i] = values[at : at+n : at+n]
			at += n
		}
		values = lists
	}
	return values
}
