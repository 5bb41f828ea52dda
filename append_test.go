package graphmill_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	bounds "github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/storetest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// grownTable is a table of a graph that grows: its header, and rows by batch.
type grownTable struct {
	name, header string
	batches      [][]string
	gone         [][]string // pairs of ends that each batch drops first; of edges
	drops        string     // the line of a graph.yaml for them
	keys         int        // cells that name a row, the first ones
	change       string     // the line of a graph.yaml for changes, less its columns; "": there are none
	columns      []string   // NAME: DTYPE, of the columns of the store
	changes      []changes  // after each batch
}

// changes are new values of a table.
type changes struct {
	columns []string            // NAME: DTYPE
	rows    map[string][]string // by the cells that name a row: those of the columns
}

// apply is rows of the table with the new values.
func (x *grownTable) apply(c changes, rows []string) []string {
	header := strings.Split(x.header, ",")
	rows = slices.Clone(rows)
	for i, row := range rows {
		cells := strings.Split(row, ",")
		for k, v := range c.rows[strings.Join(cells[:x.keys], ",")] {
			name, _, _ := strings.Cut(c.columns[k], ":")
			cells[slices.Index(header, name)] = v
		}
		rows[i] = strings.Join(cells, ",")
	}
	return rows
}

// left is the rows of batches that none of them drops later, with their values after the changes of all batches but the last.
func (x *grownTable) left(from, to int) []string {
	var rows []string
	for b := from; b < to; b++ {
		if x.gone != nil {
			rows = slices.DeleteFunc(rows, func(row string) bool {
				return slices.ContainsFunc(x.gone[b], func(pair string) bool { return strings.HasPrefix(row, pair+",") })
			})
		}
		rows = append(rows, x.batches[b]...)
		if b < to-1 && x.changes != nil {
			rows = x.apply(x.changes[b], rows)
		}
	}
	return rows
}

// grownGraph is a random typed graph whose tables come in batches.
type grownGraph struct {
	tables  []*grownTable
	batches int
	yaml    string // of the types
	first   string // of the types that the first batch has
	drops   string // of the node types, without tables
	dropped bool   // some batch drops edges
}

// writeDrops writes what a batch drops to a folder, and returns it; "" for nothing.
func (g *grownGraph) writeDrops(t *rapid.T, dir string, batch int) string {
	text := g.drops
	for _, x := range g.tables {
		if x.gone == nil || len(x.gone[batch]) == 0 {
			continue
		}
		text += x.drops
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, x.name), []byte(strings.Join(append([]string{"src,dst"}, x.gone[batch]...), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text == g.drops {
		return ""
	}
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// writeChanges writes what changes after a batch to a folder, and returns it; "" for nothing.
func (g *grownGraph) writeChanges(t *rapid.T, dir string, batch int) string {
	text := g.drops
	for _, x := range g.tables {
		if x.changes == nil || len(x.changes[batch].rows) == 0 {
			continue
		}
		c := x.changes[batch]
		line := x.change + "columns: {" + strings.Join(c.columns, ", ") + "}}\n"
		if empty := "  " + strings.TrimSuffix(x.name, ".csv") + ": {}\n"; strings.Contains(text, empty) {
			text = strings.Replace(text, empty, line, 1)
		} else {
			text += line
		}
		rows := []string{strings.Join(strings.Split(x.header, ",")[:x.keys], ",")}
		for _, column := range c.columns {
			name, _, _ := strings.Cut(column, ":")
			rows[0] += "," + name
		}
		for _, key := range slices.Sorted(maps.Keys(c.rows)) {
			rows = append(rows, key+","+strings.Join(c.rows[key], ","))
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, x.name), []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text == g.drops {
		return ""
	}
	text = strings.TrimSuffix(text, "edges:\n")
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// drawChanges draws changes of rows of a table as they are after a batch.
func (x *grownTable) drawChanges(t *rapid.T, batch int) {
	if x.changes == nil || !rapid.Bool().Draw(t, "changes") {
		return
	}
	c := changes{rows: map[string][]string{}}
	for _, column := range x.columns {
		if rapid.Bool().Draw(t, "changes "+column) {
			c.columns = append(c.columns, column)
		}
	}
	if len(c.columns) == 0 {
		return
	}
	for _, row := range x.left(0, batch+1) {
		if rapid.IntRange(0, 3).Draw(t, "change") > 0 {
			continue
		}
		var cells []string
		for _, column := range c.columns {
			_, dtype, _ := strings.Cut(column, ": ")
			cells = append(cells, map[string]string{"string": rapid.SampledFrom([]string{"", "y", "a new text"}).Draw(t, "new text"), "\"datetime[s]\"": fmt.Sprintf("2019-02-0%dT00:00:00Z", rapid.IntRange(1, 9).Draw(t, "new day")),
				"float32": fmt.Sprint(rapid.IntRange(10, 19).Draw(t, "new value")), "float64": fmt.Sprint(rapid.IntRange(10, 19).Draw(t, "new weight"))}[dtype])
		}
		c.rows[strings.Join(strings.Split(row, ",")[:x.keys], ",")] = cells
	}
	x.changes[batch] = c
}

// write writes the tables of some batches with their graph.yaml to a folder.
func (g *grownGraph) write(t *rapid.T, dir string, from, to int) string {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, x := range g.tables {
		left := x.left(from, to)
		if to == g.batches && from == 0 && x.changes != nil {
			left = x.apply(x.changes[to-1], left)
		}
		rows := append([]string{x.header}, left...)
		if err := os.WriteFile(filepath.Join(dir, x.name), []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := g.yaml
	if to == 1 {
		text = g.first
	}
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// drawGrown draws a graph: node types with ids that are strings, integers in no order or the numbers of rows, and types without a table; edge types with columns of all
// kinds or none. Batches may have no rows of a table.
func drawGrown(t *rapid.T) *grownGraph {
	g := &grownGraph{batches: rapid.IntRange(2, 4).Draw(t, "batches")}
	type nodes struct {
		name string
		ids  []string // known so far
		kind string
		free bool // edges make nodes
	}
	var types []*nodes
	var yaml, drops strings.Builder
	yaml.WriteString("nodes:\n")
	drops.WriteString("nodes:\n")
	kinds := []string{"string", "integer", "rows", "numbers", "free"}
	for i := range rapid.IntRange(1, 3).Draw(t, "node types") {
		n := &nodes{name: fmt.Sprintf("n%d", i), kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		types = append(types, n)
		fmt.Fprintf(&drops, "  %s: {}\n", n.name)
		if n.kind == "free" {
			n.free = true
			fmt.Fprintf(&yaml, "  %s: {}\n", n.name)
			continue
		}
		x := &grownTable{name: n.name + ".csv", header: "id,value,text", keys: 1, columns: []string{"value: float32", "text: string"}, changes: make([]changes, g.batches)}
		x.change = fmt.Sprintf("  %s: {table: %s, id: {column: id, dtype: integer}, ", n.name, x.name)
		if n.kind == "string" {
			x.change = strings.Replace(x.change, "integer", "string", 1)
		}
		id := map[string]string{"string": "{column: id, dtype: string}", "integer": "{column: id, dtype: integer}", "rows": "null", "numbers": "{column: id, dtype: integer}"}[n.kind]
		fmt.Fprintf(&yaml, "  %s: {table: %s, id: %s, columns: {value: float32, text: string}}\n", n.name, x.name, id)
		x.batches = make([][]string, g.batches)
		g.tables = append(g.tables, x)
	}
	yaml.WriteString("edges:\n")
	first := yaml.String()
	drops.WriteString("edges:\n")
	type edges struct {
		table    *grownTable
		src, dst *nodes
		columns  int
		late     bool // an append has the type first
	}
	var rels []edges
	free := 0
	for i := range rapid.IntRange(1, 3).Draw(t, "edge types") {
		e := edges{src: rapid.SampledFrom(types).Draw(t, "src"), dst: rapid.SampledFrom(types).Draw(t, "dst"), columns: rapid.IntRange(0, 3).Draw(t, "columns")}
		if e.src.free || e.dst.free {
			if free++; free > 1 { // several tables would number the nodes in another order
				continue
			}
		}
		e.table = &grownTable{name: fmt.Sprintf("e%d.csv", i), header: "src,dst,weight,at,note", batches: make([][]string, g.batches), keys: 2}
		e.table.columns = [][]string{nil, {"weight: float64"}, {"weight: float64", "at: \"datetime[s]\""}, {"note: string", "weight: float64"}}[e.columns]
		e.table.change = fmt.Sprintf("  %s:r%d:%s: {table: %s, ", e.src.name, i, e.dst.name, e.table.name)
		if e.columns > 0 {
			e.table.changes = make([]changes, g.batches)
		}
		line := e.table.change + "columns: {" + strings.Join(e.table.columns, ", ") + "}}\n"
		yaml.WriteString(line)
		if e.late = len(rels) > 0 && !e.src.free && !e.dst.free && rapid.Bool().Draw(t, "late"); !e.late {
			first += line
		}
		if !e.src.free && !e.dst.free {
			e.table.gone = make([][]string, g.batches)
			e.table.drops = fmt.Sprintf("  %s:r%d:%s: {table: %s}\n", e.src.name, i, e.dst.name, e.table.name)
		}
		rels = append(rels, e)
		g.tables = append(g.tables, e.table)
	}
	if len(rels) == 0 {
		return drawGrown(t)
	}
	g.yaml, g.first, g.drops = yaml.String(), first, drops.String()
	used := map[string]bool{}
	for b := range g.batches {
		for _, n := range types {
			if n.free {
				continue
			}
			i := slices.IndexFunc(g.tables, func(x *grownTable) bool { return x.name == n.name+".csv" })
			least := 0
			if b == 0 {
				least = 1
			}
			for range rapid.IntRange(least, 5).Draw(t, "new nodes") {
				id := fmt.Sprint(len(n.ids))
				switch n.kind {
				case "string":
					id = fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"a", "bb", "é"}).Draw(t, "name"), len(n.ids))
				case "integer":
					id = fmt.Sprint(rapid.IntRange(100, 150).Filter(func(v int) bool { return !used[fmt.Sprint(n.name, v)] }).Draw(t, "id"))
					used[n.name+id] = true
				}
				n.ids = append(n.ids, id)
				g.tables[i].batches[b] = append(g.tables[i].batches[b], fmt.Sprintf("%s,%d.5,%s", id, rapid.IntRange(0, 9).Draw(t, "value"), rapid.SampledFrom([]string{"", "x", "long text"}).Draw(t, "text")))
			}
		}
		for _, e := range rels {
			end := func(n *nodes) string {
				if n.free {
					return fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "free end"))
				}
				return rapid.SampledFrom(n.ids).Draw(t, "end")
			}
			if e.table.gone != nil && (b > 1 || !e.late) {
				for _, row := range e.table.left(0, b) {
					if rapid.IntRange(0, 4).Draw(t, "drop") == 0 {
						pair := strings.Join(strings.Split(row, ",")[:2], ",")
						e.table.gone[b], g.dropped = append(e.table.gone[b], pair), true
					}
				}
			}
			if b == 0 && e.late {
				continue
			}
			least := 0
			if b == 0 && (e.src.free || e.dst.free) {
				least = 1
			}
			for range rapid.IntRange(least, 8).Draw(t, "new edges") {
				e.table.batches[b] = append(e.table.batches[b], fmt.Sprintf("%s,%s,%d,2020-01-0%dT00:00:00Z,%s", end(e.src), end(e.dst), rapid.IntRange(0, 9).Draw(t, "weight"),
					rapid.IntRange(1, 9).Draw(t, "day"), rapid.SampledFrom([]string{"", "n", "two words"}).Draw(t, "note")))
			}
		}
		for _, x := range g.tables {
			x.drawChanges(t, b)
		}
	}
	return g
}

// sameIndex compares two lists.
func sameIndex(a, b graph.Index) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if a.At(i) != b.At(i) {
			return false
		}
	}
	return true
}

// sameColumns compares columns.
func sameColumns(t rapid.TB, what string, got, want []*graph.Column) {
	if len(got) != len(want) {
		t.Fatalf("%s: found %d columns, expected %d", what, len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Name != w.Name || g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) || g.Rows != w.Rows || g.Unit != w.Unit {
			t.Fatalf("%s: found the column %s of %s %v with %d rows, expected %s of %s %v with %d", what, g.Name, g.DType, g.Shape, g.Rows, w.Name, w.DType, w.Shape, w.Rows)
		}
		if !bytes.Equal(g.Values, w.Values) || !sameIndex(g.StringOffsets, w.StringOffsets) {
			t.Fatalf("%s: found other values in the column %s: %v, expected %v", what, g.Name, g.Values, w.Values)
		}
	}
}

// sameGraph compares two graphs.
func sameGraph(t rapid.TB, got, want *graph.Graph) {
	if len(got.Nodes) != len(want.Nodes) || len(got.Edges) != len(want.Edges) {
		t.Fatalf("found %d node types and %d edge types, expected %d and %d", len(got.Nodes), len(got.Edges), len(want.Nodes), len(want.Edges))
	}
	for i, g := range got.Nodes {
		w := want.Nodes[i]
		if g.Type != w.Type || g.Count != w.Count || (g.IDs == nil) != (w.IDs == nil) {
			t.Fatalf("found %d nodes of %s, expected %d of %s", g.Count, g.Type, w.Count, w.Type)
		}
		sameColumns(t, g.Type, g.Columns, w.Columns)
		if g.IDs != nil {
			sameColumns(t, g.Type, []*graph.Column{g.IDs}, []*graph.Column{w.IDs})
		}
	}
	for i, g := range got.Edges {
		w := want.Edges[i]
		if g.Type != w.Type || g.Count != w.Count || g.NoPositions != w.NoPositions || g.Primary != w.Primary {
			t.Fatalf("found %d edges of %s, expected %d of %s", g.Count, g.Type, w.Count, w.Type)
		}
		for d := range g.Adj {
			if (g.Adj[d] == nil) != (w.Adj[d] == nil) {
				t.Fatalf("%s: found the direction %d: %t, expected %t", g.Type, d, g.Adj[d] != nil, w.Adj[d] != nil)
			}
			if g.Adj[d] != nil && !(sameIndex(g.Adj[d].Indptr, w.Adj[d].Indptr) && sameIndex(g.Adj[d].Far, w.Adj[d].Far) && sameIndex(g.Adj[d].EdgeID, w.Adj[d].EdgeID)) {
				t.Fatalf("%s: found other lists in direction %d: %v, expected %v", g.Type, d, *g.Adj[d], *w.Adj[d])
			}
		}
		sameColumns(t, g.Type.String(), g.Columns, w.Columns)
	}
}

// withoutPositions takes the positions of edges out of a graph.
func withoutPositions(g *graph.Graph) {
	for _, e := range g.Edges {
		e.Columns = slices.DeleteFunc(e.Columns, func(c *graph.Column) bool { return c.Name == graph.PositionColumn })
	}
}

// A store that grew by appends is the store of all tables at once, and after a compaction it has its files. A server that takes each version over gives the answers of one that opens it alone.
func TestAppend(t *testing.T) {
	defer func(align int64) { bounds.ShardAlign = align }(bounds.ShardAlign)
	bounds.ShardAlign = int64(os.Getpagesize())
	dir := t.TempDir()
	n, most := 0, proof.Count(t, 20, 1000) // an import, and three operations that sync each file
	apart := 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > most {
			return
		}
		dir := filepath.Join(dir, fmt.Sprint(n))
		g := drawGrown(t)
		build := option.Build{Run: option.Run{NoReport: true}, Both: rapid.Bool().Draw(t, "both")}
		ctx := context.Background()
		importFrom := func(from string, out string) {
			s, err := graphmill.Import(ctx, from, out, option.Import{Build: build})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		whole, grown := filepath.Join(dir, "whole.store"), filepath.Join(dir, "grown.store")
		importFrom(g.write(t, filepath.Join(dir, "all"), 0, g.batches), whole)
		importFrom(g.write(t, filepath.Join(dir, "0"), 0, 1), grown)
		x := &takeover{dir: grown, apart: &apart}
		x.next(t)
		kept := map[string]string{} // digests of versions by the folders of their snapshots
		keep := func() {
			if rapid.IntRange(0, 3).Draw(t, "compaction") == 0 {
				if _, err := graphmill.Compact(ctx, grown, option.Run{NoReport: true}); err != nil {
					t.Fatal(err)
				}
				x.next(t)
			}
			if rapid.IntRange(0, 2).Draw(t, "snapshot") > 0 {
				return
			}
			out := filepath.Join(dir, fmt.Sprint("snapshot-", len(kept)))
			sum, err := store.Sum(vfs.OS, grown)
			if err == nil {
				_, err = graphmill.Snapshot(ctx, grown, out, option.Snapshot{Run: option.Run{NoReport: true}, AsOf: sum})
			}
			if err != nil {
				t.Fatal(err)
			}
			kept[out] = digestOf(t, out)
		}
		change := func(b int) {
			from := g.writeChanges(t, filepath.Join(dir, fmt.Sprint(b, "-changes")), b)
			if from == "" {
				return
			}
			if _, err := graphmill.Append(ctx, grown, "", option.Append{Run: option.Run{NoReport: true}, Change: from}); err != nil {
				t.Fatal(err)
			}
			x.next(t)
		}
		change(0)
		for b := 1; b < g.batches; b++ {
			o := option.Append{Run: option.Run{NoReport: true}, Drop: g.writeDrops(t, filepath.Join(dir, fmt.Sprint(b, "-drops")), b)}
			if _, err := graphmill.Append(ctx, grown, g.write(t, filepath.Join(dir, fmt.Sprint(b)), b, b+1), o); err != nil {
				t.Fatal(err)
			}
			x.next(t)
			change(b)
			keep()
		}
		x.close(t)
		for out, want := range kept {
			if got := digestOf(t, out); got != want {
				t.Fatalf("%s: found %s after more appends, expected %s as before", out, got, want)
			}
		}
		w, err := store.Open(vfs.OS, whole)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		s, err := store.OpenMerged(vfs.OS, grown, -1)
		if err != nil {
			t.Fatal(err)
		}
		if g.dropped { // the rows of dropped edges keep their positions
			for _, graph := range []*graph.Graph{s.Graph, w.Graph} {
				withoutPositions(graph)
			}
		}
		sameGraph(t, s.Graph, w.Graph)
		for i, n := range w.Graph.Nodes {
			ids, err := s.IDs(i)
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.IDs(i)
			if err != nil {
				t.Fatal(err)
			}
			for v := range n.Count {
				if found, ok := ids.Find([]byte(want.Text(uint64(v)))); !ok || found != uint64(v) {
					t.Fatalf("%s: found node %d, %t by the id %s, expected %d", n.Type, found, ok, want.Text(uint64(v)), v)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		seeds := rapid.SampledFrom(w.Graph.Nodes).Draw(t, "seeds")
		if seeds.Count > 0 {
			want := sampled(t, whole, filepath.Join(dir, "of.whole"), option.ExecutorMemory, seeds.Type, g.dropped)
			for _, x := range []option.Executor{option.ExecutorMemory, option.ExecutorStream} {
				if got := sampled(t, grown, filepath.Join(dir, "of.grown"), x, seeds.Type, g.dropped); !maps.Equal(got, want) {
					t.Fatalf("found the files %v of a sample by the executor %s, expected %v", got, x, want)
				}
			}
			noneLeft(t, dir)
		}
		for _, time := range []string{"at", "weight"} {
			if got, want := eventBatches(t, grown, time, g.dropped), eventBatches(t, whole, time, g.dropped); got != want {
				t.Fatalf("found the batches of events by %s\n%s\nexpected\n%s", time, got, want)
			}
		}
		if _, err := graphmill.Compact(ctx, grown, option.Run{NoReport: true}); err != nil {
			t.Fatal(err)
		}
		got, err := store.ReadManifest(vfs.OS, grown)
		if err != nil {
			t.Fatal(err)
		}
		want, err := store.ReadManifest(vfs.OS, whole)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*store.Manifest{got, want} {
			maps.DeleteFunc(m.Files, func(name string, _ store.ManifestFor) bool {
				return name == store.MetaFile || g.dropped && strings.HasSuffix(name, "/"+graph.PositionColumn+".npy")
			})
		}
		if !maps.Equal(got.Files, want.Files) {
			t.Fatalf("found the files %v after a compaction, expected %v", got.Files, want.Files)
		}
	})
	if apart == 0 {
		t.Error("found no version that shares edges with the one before, expected some")
	}
}

// digestOf is a digest of a graph with all its columns.
func digestOf(t *rapid.T, dir string) string {
	s, err := store.OpenMerged(vfs.OS, dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, n := range s.Graph.Nodes {
		fmt.Fprintln(h, n.Type, n.Count, n.IDs)
		for _, c := range n.Columns {
			fmt.Fprintln(h, *c)
		}
	}
	for _, e := range s.Graph.Edges {
		fmt.Fprintln(h, e.Type, e.Count, e.Adj[e.Primary], e.Adj[1-e.Primary])
		for _, c := range e.Columns {
			fmt.Fprintln(h, *c)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// sampled samples a store by an executor, and returns the files of the output.
func sampled(t *rapid.T, in, out string, x option.Executor, seeds string, dropped bool) map[string]store.ManifestFor {
	o := option.Sample{Draw: option.Draw{Fanout: []int{2, 2}, Executor: x, NoEdgeIDs: dropped}, Batching: option.Batching{Seeds: seeds, BatchSize: 3, Seed: 5}}
	o.NoReport, o.Overwrite = true, true
	s, err := graphmill.OpenStreamed(in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = graphmill.Sample(context.Background(), s, out, o)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	m, err := store.ReadManifest(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	delete(m.Files, store.MetaFile)
	return m.Files
}

// eventBatches is all batches of the events of a store by a column of times, as text; the error of a store without them.
func eventBatches(t *rapid.T, in, time string, dropped bool) string {
	s, err := graphmill.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	l, err := graphmill.NewEventLoader(context.Background(), s, option.Events{Time: time, BatchSize: 3, Neighbors: 2, Negatives: 1, Seed: 5, NoEdgeIDs: dropped, Columns: option.Columns{EdgeFeatures: []string{"all"}}})
	if err != nil {
		return err.Error()
	}
	defer l.Close()
	var out strings.Builder
	for b, err := range l.Batches(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, b.Number)
		for _, c := range b.Columns() {
			fmt.Fprintln(&out, c.Name, c.Rows, c.Values)
		}
	}
	return out.String()
}

// noneLeft fails where a run has left a folder of its own beside its outputs.
func noneLeft(t *rapid.T, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Fatalf("found %s, expected no folder of a run that has ended", e.Name())
		}
	}
}

// Tables that do not fit a store are errors that say what to do, and the store stays as it was.
func TestAppendRefuses(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, texts ...string) string {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(texts); i += 2 {
			if err := os.WriteFile(filepath.Join(folder, texts[i]), []byte(texts[i+1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	const people = "nodes:\n  p: {table: p.csv, id: {column: id, dtype: string}, columns: {kind: category, age: int64}}\nedges:\n  p:calls:p: {table: e.csv, columns: {w: float32}}\n"
	base := put("base", "graph.yaml", people, "p.csv", "id,kind,age\na,x,1\nb,y,2\n", "e.csv", "src,dst,w\na,b,1\n")
	in := filepath.Join(dir, "g.store")
	s, err := graphmill.Import(t.Context(), base, in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := store.Sum(vfs.OS, in)
	if err != nil {
		t.Fatal(err)
	}
	edges := put("drops", "other.csv", "src,dst\nb,a\n", "loop.csv", "src,dst\nc,a\n")
	yaml := func(columns string) string {
		return strings.Replace(people, "{kind: category, age: int64}", columns, 1)
	}
	for name, x := range map[string]struct {
		source string
		o      option.Append
		want   string
	}{
		"edge to a node that nobody has": {source: put("unknown", "graph.yaml", people, "p.csv", "id,kind,age\nc,x,1\n", "e.csv", "src,dst,w\nc,d,1\n"), want: `e.csv:2.*found the id "d", which none of the nodes of type p has`},
		"id that the store has":          {source: put("again", "graph.yaml", people, "p.csv", "id,kind,age\nb,x,1\n", "e.csv", "src,dst,w\n"), want: `p.csv:2.*found the id "b", which a node of type p in the store has`},
		"id twice":                       {source: put("twice", "graph.yaml", people, "p.csv", "id,kind,age\nc,x,1\nc,x,2\n", "e.csv", "src,dst,w\n"), want: `p.csv:3.*"c"`},
		"column that is missing":         {source: put("fewer", "graph.yaml", yaml("{kind: category}"), "p.csv", "id,kind\nc,x\n", "e.csv", "src,dst,w\n"), want: `found no column "age", expected it, because the store has it`},
		"column that is new":             {source: put("more", "graph.yaml", yaml("{kind: category, age: int64, z: int64}"), "p.csv", "id,kind,age,z\nc,x,1,1\n", "e.csv", "src,dst,w\n"), want: `found the column "z", expected the columns of the store`},
		"text that is no number":         {source: put("text", "graph.yaml", people, "p.csv", "id,kind,age\nc,x,old\n", "e.csv", "src,dst,w\n"), want: `p.csv:2.*"old"`},
		"edge list without types":        {source: filepath.Join(edges, "other.csv"), want: `found edges of type _N:_E:_N, expected one of the store: p:calls:p`},
		"split":                          {source: put("split", "graph.yaml", people+"transforms: {split: {p: [0.5, 0.5]}}\n", "p.csv", "id,kind,age\nc,x,1\n", "e.csv", "src,dst,w\n"), want: "transforms"},
		"nothing":                        {want: "found no source and no `Drop`"},
		"drop of another edge":           {o: option.Append{Drop: put("other", "graph.yaml", "nodes: {p: {}}\nedges: {'p:calls:p': {table: e.csv}}\n", "e.csv", "src,dst\nb,a\n")}, want: "e.csv:2.*found an edge of type p:calls:p to drop that the store does not have"},
		"drop of an edge of no node":     {o: option.Append{Drop: put("nobody", "graph.yaml", "nodes: {p: {}}\nedges: {'p:calls:p': {table: e.csv}}\n", "e.csv", "src,dst\nzz,a\n")}, want: `e.csv:2.*found the id "zz"`},
		"overwrite":                      {source: base, o: option.Append{Run: option.Run{Overwrite: true}}, want: "`Overwrite`"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := graphmill.Append(t.Context(), in, x.source, x.o)
			if err == nil || !regexp.MustCompile(x.want).MatchString(err.Error()) {
				t.Fatalf("found %v, expected an error with %s", err, x.want)
			}
			after, err := store.Sum(vfs.OS, in)
			if err != nil || after != before {
				t.Fatalf("found another store after the error: %s, %v, expected %s", after, err, before)
			}
		})
	}
	t.Run("two at a time", func(t *testing.T) {
		w, _, err := store.Amend(t.Context(), vfs.OS, in, before, func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		_, err = graphmill.Append(t.Context(), in, put("second", "graph.yaml", people, "p.csv", "id,kind,age\nc,x,1\n", "e.csv", "src,dst,w\n"), option.Append{})
		if err == nil || !strings.Contains(err.Error(), "another run is writing it") {
			t.Errorf("found %v, expected an error of a store that is being written", err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
	})
	for name, o := range map[string]option.Import{
		"largest component": {Build: option.Build{Transforms: option.Transforms{LargestComponent: true}}},
		"duplicates":        {Build: option.Build{DuplicateEdges: option.PolicyDrop}},
		"homogeneous":       {Homogeneous: true},
		"added nodes":       {DanglingEdges: option.PolicyZeros},
	} {
		t.Run("store of "+name, func(t *testing.T) {
			of := filepath.Join(t.TempDir(), "g.store")
			s, err := graphmill.Import(t.Context(), base, of, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := graphmill.Append(t.Context(), of, base, option.Append{}); err == nil || !strings.Contains(err.Error(), "import all tables again") {
				t.Errorf("found %v, expected an error that says to import all tables again", err)
			}
		})
	}
}

// Sources in a folder are appended once each, in the order of their names, and the command goes on where another one ended.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	incoming := filepath.Join(dir, "incoming")
	put := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(incoming, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(incoming, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("0.csv", "src,dst\n0,1\n")
	in := filepath.Join(dir, "g.store")
	s, err := graphmill.Import(t.Context(), filepath.Join(incoming, "0.csv"), in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	edges := func() (counts []int) {
		s, err := graphmill.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Describe()
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		for _, x := range d.Segments {
			counts = append(counts, x.Edges)
		}
		return counts
	}
	follow := func(want ...int) {
		t.Helper()
		if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming}); err != nil {
			t.Fatal(err)
		}
		if got := edges(); !slices.Equal(got, want) {
			t.Fatalf("found segments of %v edges, expected %v", got, want)
		}
	}
	follow() // 0.csv was imported
	put("1.csv", "src,dst\n1,2\n")
	put("2.csv", "src,dst\n2,3\n3,0\n")
	put("_3.csv", "src,dst\n3,3\n")
	put("4.csv.tmp", "src,d")
	follow(3)
	follow(3)
	put("5/edges.csv", "src,dst\n3,1\n")
	follow(3) // without its graph.yaml
	put("5/graph.yaml", "nodes: {_N: {}}\nedges: {'_N:_E:_N': {table: edges.csv}}\n")
	put("6.csv", "src,dst\n4,4\n5,5\n")
	follow(3, 1, 2)
	put("6a.csv", "src,dst\n")
	follow(3, 1, 2)
	if err := os.Remove(filepath.Join(incoming, "6a.csv")); err != nil {
		t.Fatal(err)
	}
	put("7.csv", "src,dst\n1,x\n")
	if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming}); err == nil || !strings.Contains(err.Error(), "7.csv:2") {
		t.Fatalf("found %v, expected an error in 7.csv", err)
	}
	if err := os.Remove(filepath.Join(incoming, "7.csv")); err != nil {
		t.Fatal(err)
	}
	put("7.csv", "src,dst\n0,4000000000\n")
	if _, err := graphmill.Append(t.Context(), in, filepath.Join(incoming, "7.csv"), option.Append{}); err == nil || !strings.Contains(err.Error(), "found 4000000000 as an id") {
		t.Fatalf("found %v, expected an error about an id that is far beyond the others", err)
	}
	if err := os.Remove(filepath.Join(incoming, "7.csv")); err != nil {
		t.Fatal(err)
	}
	put("2.csv", "src,dst\n2,3\n")
	if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming}); err == nil || !strings.Contains(err.Error(), "2.csv: found other bytes than those that the store took") {
		t.Fatalf("found %v, expected an error about a file that changed", err)
	}
	put("2.csv", "src,dst\n2,3\n3,0\n")
	put("8.csv", "src,dst\n5,0\n")
	ctx, cancel := context.WithCancel(t.Context())
	o := option.Append{Follow: incoming, Every: time.Millisecond}
	o.Note = func(string) { cancel() } // of what was appended
	if _, err := graphmill.Append(ctx, in, "", o); !errors.Is(err, context.Canceled) {
		t.Fatalf("found %v, expected that it goes on until it is cancelled", err)
	}
	if got := edges(); !slices.Equal(got, []int{3, 1, 2, 1}) {
		t.Fatalf("found segments of %v edges", got)
	}
	if _, err := graphmill.Compact(t.Context(), in, option.Run{}); err != nil {
		t.Fatal(err)
	}
	follow() // a compaction forgets nothing that was taken
	var want []int
	for i := range 63 {
		if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming, Compact: true}); err != nil {
			t.Fatal(err)
		}
		if got := edges(); len(got) != i {
			t.Fatalf("found segments of %v edges, expected %d of them", got, i)
		}
		put(fmt.Sprintf("9%02d.csv", i), "src,dst\n"+strings.Repeat("0,2\n", i+1))
		want = append(want, i+1)
	}
	follow(want...)
	put("9z.csv", "src,dst\n3,2\n")
	if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming, Compact: true}); err != nil {
		t.Fatal(err)
	}
	if got := edges(); len(got) > 0 {
		t.Fatalf("found segments of %v edges, expected one piece after 64 of them", got)
	}
	follow()
}

// A store in shards, as a cluster writes it, grows as one in whole files does: what goes on with its arrays begins in the last shard.
func TestAppendToShards(t *testing.T) {
	dir := t.TempDir()
	const yaml = "nodes:\n  p: {table: p.csv, id: {column: id, dtype: string}, columns: {x: float64, s: string}}\nedges:\n  p:r:p: {table: e.csv, columns: {w: int64}}\n" +
		"  p:knows:p: {table: p.csv, dst: friend}\n  p:some:p: {table: e.csv, where: {kind: 1}}\n"
	const nodesHead, edgesHead = "id,x,s,friend\n", "src,dst,w,kind\n"
	var allNodes, allEdges strings.Builder
	put := func(name, nodes, edges string) string {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"graph.yaml": yaml, "p.csv": nodesHead + nodes, "e.csv": edgesHead + edges} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	write := func(name string, from, to, edges int) string {
		var nodes, rows strings.Builder
		for i := from; i < to; i++ {
			friend := fmt.Sprintf("node-%d", i*7%to)
			if i%5 == 0 && i < to-1 { // the last row of the import is an edge: positions count from it
				friend = "" // no edge
			}
			fmt.Fprintf(&nodes, "node-%d,%d.5,%s,%s\n", i, i, strings.Repeat("t", i%9), friend)
		}
		for i := range edges {
			fmt.Fprintf(&rows, "node-%d,node-%d,%d,%d\n", (7*i+from)%to, (13*i+5)%to, i, (edges-i)%3)
		}
		allNodes.WriteString(nodes.String())
		allEdges.WriteString(rows.String())
		return put(name, nodes.String(), rows.String())
	}
	imported := func(from, out string) {
		s, err := graphmill.Import(t.Context(), from, out, option.Import{Build: option.Build{Both: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	plain, sharded := filepath.Join(dir, "plain.store"), filepath.Join(dir, "sharded.store")
	imported(write("first", 0, 30_000, 40_000), plain)
	if err := storetest.Divide(plain, sharded, 3, int(bounds.ShardAlign)); err != nil {
		t.Fatal(err)
	}
	for i, more := range []string{write("second", 30_000, 30_003, 11), write("third", 30_003, 52_000, 20_000), write("fourth", 52_000, 52_000, 5)} {
		for _, in := range []string{plain, sharded} {
			if _, err := graphmill.Append(t.Context(), in, more, option.Append{}); err != nil {
				t.Fatal(i, err)
			}
		}
	}
	whole := filepath.Join(dir, "whole.store")
	imported(put("all", allNodes.String(), allEdges.String()), whole)
	w, err := store.Open(vfs.OS, whole)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	a, err := store.OpenMerged(vfs.OS, plain, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	b, err := store.OpenMerged(vfs.OS, sharded, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	sameGraph(t, a.Graph, w.Graph)
	sameGraph(t, b.Graph, w.Graph)
	if v, err := store.Verify(t.Context(), vfs.OS, sharded, 1, nil); err != nil || len(v.Damage) > 0 {
		t.Fatalf("found %v, %v, expected no damage", v, err)
	}
}

// A folder can tell all that happens to a graph, in the order of the names, each once: what is added, dropped and changed.
func TestFollowAll(t *testing.T) {
	dir := t.TempDir()
	incoming, in := filepath.Join(dir, "incoming"), filepath.Join(dir, "g.store")
	put := func(name, text string) {
		at := filepath.Join(incoming, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("0.csv", "src,dst,w\n0,1,1\n1,2,2\n")
	s, err := graphmill.Import(t.Context(), filepath.Join(incoming, "0.csv"), in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	follow := func(segments int, want ...int64) {
		t.Helper()
		for range 2 { // the second time nothing is new
			if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming}); err != nil {
				t.Fatal(err)
			}
			s, err := store.OpenMerged(vfs.OS, in, -1)
			if err != nil {
				t.Fatal(err)
			}
			w := graph.View[int64](graph.FindColumn(s.Graph.Edges[0].Columns, "w").Values)
			if !slices.Equal(w, want) || s.Segments() != segments {
				t.Fatalf("found the values %v in %d segments, expected %v in %d", w, s.Segments(), want, segments)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("1.csv", "src,dst,w\n3,1,3\n")
	put("2.drop.csv", "src,dst\n0,1\n")
	put("3.change/w.csv", "src,dst,w\n3,1,9\n")
	put("3.change/graph.yaml", "nodes: {_N: {}}\nedges: {'_N:_E:_N': {table: w.csv, columns: {w: int64}}}\n")
	put("4.change.csv", "src,dst,w\n1,2,8\n")
	put("5.csv", "src,dst,w\n0,1,4\n")
	put("6.csv", "src,dst,w\n0,2,5\n")
	follow(5, 9, 4, 8, 5)
	put("7.drop/e.csv", "src,dst\n3,1\n")
	put("7.drop/graph.yaml", "nodes: {_N: {}}\nedges: {'_N:_E:_N': {table: e.csv}}\n")
	put("8.csv", "src,dst,w\n3,1,7\n")
	follow(7, 4, 7, 8, 5)
	put("9.change.csv", "src,dst,w\n0,3,1\n")
	if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming}); err == nil || !strings.Contains(err.Error(), "9.change.csv:2:1: found an edge of type _N:_E:_N to change that the store does not have") {
		t.Fatalf("found %v, expected an error in 9.change.csv", err)
	}
	put("4.change.csv", "src,dst,w\n1,2,3\n")
	if _, err := graphmill.Append(t.Context(), in, "", option.Append{Follow: incoming}); err == nil || !strings.Contains(err.Error(), "4.change.csv: found other bytes than those that the store took") {
		t.Fatalf("found %v, expected an error about 4.change.csv", err)
	}
}
