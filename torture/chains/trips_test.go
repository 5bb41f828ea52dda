package chains

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
)

// trip is a way out of a store into another format and back, as a store.
type trip struct {
	name string
	// loses says what the way loses.
	loses func(c *chain, l *loss)
	// goes writes the files, and returns what Import reads, or the outcome of the step that failed.
	goes func(c *chain, in string) (source string, all outcome)
}

// big says whether a column has a number above the largest int64.
func big(c *column) bool {
	return c.dtype == graph.Uint64 && c.any(func(bits uint64) bool { return bits > 1<<63-1 })
}

var wide = map[graph.DType]graph.DType{graph.Bool: graph.Uint8, graph.Int16: graph.Int32, graph.Uint16: graph.Int32, graph.Uint32: graph.Int64, graph.Uint64: graph.Int64, graph.BFloat16: graph.Float32}

// widened is a column in a dtype that DGL's tools take.
func widened(c *column) *column {
	to, ok := wide[c.dtype]
	switch {
	case !ok:
		return c
	case c.dtype == graph.BFloat16:
		return c.each(to, func(bits uint64) uint64 { return bits << 16 })
	}
	return c.each(to, func(bits uint64) uint64 { return signed(c.dtype, bits) })
}

// dropIDs loses the original ids.
func dropIDs(l *loss) {
	for t, n := range l.m.nodes {
		if n.ids != nil {
			n.ids = nil
			l.announced = append(l.announced, "original ids of "+t)
		}
	}
}

// plainly loses units and the texts of categories, with a warning.
func plainly(l *loss, of, name string, x *column) *column {
	if x.unit != "" || x.categories != nil {
		what := "the unit of "
		if x.categories != nil {
			what = "the texts of "
		}
		l.announced = append(l.announced, what+of+"."+name)
	}
	return bare(x)
}

func noAdded(l *loss) {
	for _, n := range l.m.nodes {
		n.added = 0
	}
}

// dropContext loses the context.
func dropContext(l *loss) {
	for name := range l.m.context {
		l.announced = append(l.announced, name)
	}
	l.m.context = map[string]*column{}
}

// ranked numbers the positions of edges again, without the rows of the input that became no edges. Where edges share a
// position, as an edge and its reverse do, the law does not compare positions.
func ranked(l *loss) {
	for _, e := range l.m.edges {
		if e.position == nil {
			continue
		}
		var all []uint64
		e.position.any(func(bits uint64) bool {
			all = append(all, bits)
			return false
		})
		sorted := slices.Clone(all)
		slices.Sort(sorted)
		if len(slices.Compact(slices.Clone(sorted))) < len(all) {
			e.position = nil
			continue
		}
		e.position = e.position.each(e.position.dtype, func(bits uint64) uint64 {
			i, _ := slices.BinarySearch(sorted, bits)
			return uint64(i)
		})
	}
}

var dglChunksTrip = trip{
	name: "export --to chunked",
	loses: func(c *chain, l *loss) {
		dropContext(l)
		ranked(l)
		dropIDs(l)
		noAdded(l)
		l.columns(func(of, name string, x *column) *column {
			switch {
			case x.dtype == graph.String || x.ragged() || x.rows == 0:
				l.announced = append(l.announced, of+"."+name)
				return nil
			case big(x):
				l.refused = "above the largest int64"
				return x
			case wide[x.dtype] != 0:
				l.announced = append(l.announced, fmt.Sprintf("%s.%s: %s as %s", of, name, x.dtype, wide[x.dtype]))
			}
			return widened(plainly(l, of, name, x))
		})
	},
	goes: func(c *chain, in string) (string, outcome) {
		o := option.Export{To: option.FormatChunked, GraphName: "g", Chunks: rapid.IntRange(1, 5).Draw(c.t, "chunks"),
			Edges: rapid.SampledFrom([]string{"csv", "numpy", "parquet"}).Draw(c.t, "edges as"), Features: rapid.SampledFrom([]string{"numpy", "parquet"}).Draw(c.t, "features as")}
		o.Run = c.run()
		out := c.out("chunked")
		x := c.runs(exporting(in, out, o))
		if x.err == nil {
			c.again(out, func(out string, run option.Run) *call {
				o := o
				o.Run = run
				return exporting(in, out, o)
			})
			c.verifies(out, "")
		}
		return out, x
	},
}

var chunkTrip = trip{
	name: "chunk",
	loses: func(c *chain, l *loss) {
		dropContext(l)
		dropIDs(l)
		noAdded(l)
		for _, e := range l.m.edges {
			e.position = nil
		}
		l.columns(func(of, name string, x *column) *column {
			l.announced = append(l.announced, of+"."+name)
			return nil
		})
	},
	goes: func(c *chain, in string) (string, outcome) {
		o := option.Chunk{Run: c.run(), ChunkSize: rapid.SampledFrom([]int64{4096, 8192, 1 << 20}).Draw(c.t, "chunk size")}
		o.Memory = 0 // chunk has no bound
		out := c.out("chunks")
		x := c.runs(chunking(in, out, o))
		if x.err == nil {
			c.again(out, func(out string, run option.Run) *call {
				o := o
				o.Run = run
				o.Memory = 0
				return chunking(in, out, o)
			})
			c.verifies(out, "")
		}
		return out, x
	},
}

// renamed gives types the names that their sets have in a unigraph.
func renamed(l *loss) {
	set := func(t string) string {
		if t == graph.HomogeneousNode {
			return "node"
		}
		return t
	}
	count := map[string]int{}
	name := func(t graph.EdgeType) string {
		if t == graph.HomogeneousEdge {
			return "edge"
		}
		return t.Rel
	}
	types := map[string]graph.EdgeType{}
	for t := range l.m.edges {
		types[t], _ = graph.ParseEdgeType(t)
		count[name(types[t])]++
	}
	seen := map[string]bool{}
	edges := map[string]*edgesModel{}
	for t, e := range l.m.edges {
		x := types[t]
		rel := name(x)
		if count[rel] > 1 {
			rel = set(x.Src) + "_" + x.Rel + "_" + set(x.Dst)
			l.announced = append(l.announced, rel)
		}
		if seen[rel] {
			l.refused = "two types"
		}
		seen[rel] = true
		edges[set(x.Src)+":"+rel+":"+set(x.Dst)] = e
	}
	nodes := map[string]*nodesModel{}
	for t, n := range l.m.nodes {
		if nodes[set(t)] != nil {
			l.refused = "two types"
		}
		nodes[set(t)] = n
	}
	l.m.nodes, l.m.edges = nodes, edges
}

// unigraphTrip writes tables in a format, and possibly converts them to others on the way.
func unigraphTrip(formats ...string) trip {
	through := func(format string) bool { return slices.Contains(formats, format) }
	return trip{
		name: "tfgnn from-store (" + strings.Join(formats, ", tfgnn convert ") + ")",
		loses: func(c *chain, l *loss) {
			for _, e := range l.m.edges {
				e.position = nil // rows are in the order of edge ids
			}
			noAdded(l)
			for _, n := range l.m.nodes { // keys are strings
				if n.ids == nil {
					n.ids = &column{dtype: graph.String, rows: n.count}
					for i := range n.count {
						n.ids.texts = append(n.ids.texts, fmt.Sprint(i))
					}
				} else if n.ids.dtype != graph.String {
					numbers := n.ids
					n.ids = &column{dtype: graph.String, rows: n.count}
					numbers.any(func(bits uint64) bool {
						n.ids.texts = append(n.ids.texts, fmt.Sprint(bits))
						return false
					})
				}
			}
			var refused []string
			l.columns(func(of, name string, x *column) *column {
				if through("csv") {
					for _, text := range x.texts {
						switch {
						case !utf8.ValidString(text):
							refused = append(refused, "UTF-8")
						case len(x.shape) > 0 && strings.Contains(text, "'") && strings.Contains(text, `"`):
							refused = append(refused, "both kinds of quotes")
						}
					}
				}
				if through("tfrecord") && x.dtype == graph.Float64 && x.any(func(bits uint64) bool {
					f := math.Float64frombits(bits)
					return f == f && float64(float32(f)) != f
				}) {
					refused = append(refused, "float")
				}
				x = plainly(l, of, name, x)
				return x
			})
			// Text has one NaN, an Example only NaNs of float32, and a Parquet file none of bfloat16.
			l.oneNaN = func(d graph.DType) bool {
				return through("csv") || through("tfrecord") && d != graph.Float32 || d == graph.BFloat16
			}
			renamed(l)
			if len(refused) > 0 {
				l.refused = "found" // any of them
			}
		},
		goes: func(c *chain, in string) (string, outcome) {
			var all outcome
			source := in
			for i, format := range formats {
				o := option.UnigraphTables{To: format, Shards: rapid.IntRange(0, 3).Draw(c.t, "shards"), Gzip: format != "parquet" && rapid.Bool().Draw(c.t, "gzip")}
				out, from := c.out(format), source
				make := func(out string, run option.Run) *call {
					o := o
					o.Run = run
					o.Memory = 0 // tables have no bound
					if i == 0 {
						return fromStore(from, out, o)
					}
					return converting(filepath.Join(from, "schema.pbtxt"), out, o)
				}
				x := c.runs(make(out, c.run()))
				all.warnings, all.err = append(all.warnings, x.warnings...), x.err
				if x.err != nil {
					return source, all
				}
				c.again(out, make)
				c.verifies(out, "")
				source = out
			}
			return source, all
		},
	}
}

// partsTrip divides a store into parts with original ids.
var partsTrip = trip{
	name: "partition, dispatch",
	loses: func(c *chain, l *loss) {
		dropContext(l)
		ranked(l)
		dropIDs(l)
		noAdded(l)
		for t := range l.m.nodes {
			if strings.Contains(t, "/") {
				l.refused = "without '/'"
			}
		}
		for t := range l.m.edges {
			if e, _ := graph.ParseEdgeType(t); strings.Contains(e.Rel, "/") {
				l.refused = "without '/'"
			}
		}
		l.columns(func(of, name string, x *column) *column {
			switch {
			case x.dtype == graph.String || x.ragged() || x.rows == 0 || strings.Contains(name, "/"):
				l.announced = append(l.announced, of+"."+name)
				return nil
			case big(x):
				if l.refused == "" {
					l.refused = "int64"
				}
			}
			x = plainly(l, of, name, x)
			if x.dtype == graph.Uint16 || x.dtype == graph.Uint32 || x.dtype == graph.Uint64 {
				return widened(x)
			}
			return x
		})
	},
	goes: func(c *chain, in string) (string, outcome) {
		p := option.Partition{Parts: rapid.IntRange(1, 4).Draw(c.t, "parts"), Seed: uint64(rapid.IntRange(0, 3).Draw(c.t, "seed")),
			Method: rapid.SampledFrom([]option.Method{"multilevel", "fennel", "ranges", "random", "hash"}).Draw(c.t, "method"), TypesTogether: rapid.Bool().Draw(c.t, "types together")}
		p.Run = c.run()
		cut := c.out("assignment")
		x := c.runs(partitioning(in, cut, p))
		if x.err != nil {
			return "", x
		}
		c.again(cut, func(out string, run option.Run) *call {
			p := p
			p.Run = run
			return partitioning(in, out, p)
		})
		o := option.Dispatch{OutEdges: rapid.Bool().Draw(c.t, "out-edges")}
		o.GraphName, o.SaveOrigNids, o.SaveOrigEids = "g", true, true
		o.NumHops = rapid.IntRange(1, 3).Draw(c.t, "hops")
		o.GraphFormats = rapid.SampledFrom([]string{"", "coo", "coo,csc,csr", "csc"}).Draw(c.t, "formats")
		o.Run = c.run()
		out := c.out("parts")
		make := func(out string, run option.Run) *call {
			o := o
			o.Run = run
			return dispatching(in, cut, out, o)
		}
		x = c.runs(make(out, c.run()))
		if x.err != nil {
			return "", x
		}
		c.again(out, make)
		c.verifies(out, in)
		return out, x
	},
}

// trips are all ways out of a store and back.
var trips = []trip{dglChunksTrip, chunkTrip, unigraphTrip("csv"), unigraphTrip("parquet"), unigraphTrip("tfrecord"), unigraphTrip("csv", "parquet"),
	unigraphTrip("parquet", "tfrecord", "parquet"), unigraphTrip("tfrecord", "csv"), partsTrip}

// goesBack takes a trip, and checks its law: the store is the one before, but for what the way loses and says that it loses.
func (c *chain) goesBack(x trip, in string, both bool) string {
	l := &loss{m: c.load(in).copied()}
	x.loses(c, l)
	source, out := x.goes(c, in)
	law := x.name + ", import: equal but for named losses"
	if l.refused != "" {
		problem := ""
		if out.err == nil {
			problem = "found no error, expected one with " + l.refused
		} else if !strings.Contains(out.err.Error(), l.refused) {
			problem = fmt.Sprintf("found %v, expected an error with %s", out.err, l.refused)
		}
		c.holds(x.name+": what the format cannot hold is refused", problem)
		return in
	}
	if out.err != nil {
		c.fail(law, "found %v, expected no error", out.err)
	}
	for _, text := range l.announced {
		if !out.warned(text) {
			c.fail("a loss is announced", "%s: found warnings %q, expected one with %q", x.name, out.warnings, text)
		}
	}
	c.laws["a loss is announced"] += len(l.announced)
	primary := option.Direction("in")
	for _, e := range l.m.edges {
		primary = option.Direction(e.primary.String())
	}
	o := option.Import{Primary: primary}
	o.Both, o.Run = both, c.run()
	back := c.out("store")
	c.must(law, importing(source, back, o))
	found := c.load(back)
	for t, e := range found.edges {
		if x := l.m.edges[t]; x != nil && x.position == nil {
			e.position = nil
		}
	}
	if l.oneNaN != nil {
		for _, m := range []*model{found, l.m} {
			(&loss{m: m}).columns(func(_, _ string, x *column) *column {
				if l.oneNaN(x.dtype) {
					return oneNaN(x)
				}
				return x
			})
		}
	}
	c.holds(law, difference(found, l.m))
	before := c.load(in)
	var but []string
	for t, e := range l.m.edges {
		if x := before.edges[t]; x != nil && e.position == nil {
			x.position = nil
			of, _ := graph.ParseEdgeType(t)
			but = append(but, store.EdgesDir(of)+"/"+graph.PositionColumn+".npy", store.MetaFile)
		}
	}
	if difference(before, l.m) == "" {
		c.equalOutputs(x.name+", import: same bytes where nothing is lost", in, back, but...)
	}
	return back
}

// begin writes a random graph, and imports it.
func (c *chain) begin() (_ string, both bool) {
	s := drawSource(c.t)
	kind := rapid.SampledFrom(tableKinds).Draw(c.t, "tables")
	in := filepath.Join(c.dir, "in-"+kind)
	if err := s.write(in, kind); err != nil {
		c.t.Fatal(err)
	}
	o := option.Import{Primary: rapid.SampledFrom([]option.Direction{"in", "out"}).Draw(c.t, "primary")}
	o.Both, o.Run = rapid.Bool().Draw(c.t, "both"), c.run()
	out := c.out("store")
	c.must("import", importing(in, out, o))
	c.again(out, func(out string, run option.Run) *call {
		o := o
		o.Run = run
		return importing(in, out, o)
	})
	c.verifies(out, "")
	c.holds("import: the graph is the tables", s.differs(c.load(out)))
	if other := rapid.SampledFrom(tableKinds).Draw(c.t, "other tables"); other != kind {
		in := filepath.Join(c.dir, "in-"+other)
		if err := s.write(in, other); err != nil {
			c.t.Fatal(err)
		}
		again := c.out("store")
		c.must("import", importing(in, again, o))
		c.equalOutputs("import: same bytes from csv, tsv and jsonl", out, again)
	}
	return out, o.Both
}

// differs compares a store with the tables that it was made from: counts, ids, ends and the columns of arrays.
func (s *source) differs(m *model) string {
	var b strings.Builder
	columns := func(of string, files []fileColumn, got map[string]*column, order []int) {
		for _, f := range files {
			x := got[f.name]
			if x == nil {
				fmt.Fprintf(&b, "%s: found no column %q\n", of, f.name)
			} else if order == nil && !x.equal(f.col) {
				fmt.Fprintf(&b, "%s.%s:\n  found    %s\n  expected %s\n", of, f.name, x, f.col)
			}
		}
	}
	for _, n := range s.nodes {
		x := m.nodes[n.name]
		if x == nil || x.count != n.count {
			fmt.Fprintf(&b, "%s: found %v, expected %d nodes\n", n.name, x, n.count)
			continue
		}
		if (n.ids != nil) != (x.ids != nil) || n.ids != nil && !slices.Equal(n.ids, x.ids.texts) {
			fmt.Fprintf(&b, "%s: found ids %v, expected %q\n", n.name, x.ids, n.ids)
		}
		columns(n.name, n.files, x.columns, nil)
	}
	for _, e := range s.edges {
		name := s.nodes[e.src].name + ":" + e.name + ":" + s.nodes[e.dst].name
		x := m.edges[name]
		if x == nil || len(x.src) != len(e.ends) {
			fmt.Fprintf(&b, "%s: found %v, expected %d edges\n", name, x, len(e.ends))
			continue
		}
		for i, row := range edgeOrder(e.ends, x.primary) {
			if x.src[i] != uint64(e.ends[row][0]) || x.dst[i] != uint64(e.ends[row][1]) {
				fmt.Fprintf(&b, "%s: edge %d: found %d -> %d, expected %v\n", name, i, x.src[i], x.dst[i], e.ends[row])
				break
			}
		}
		columns(name, e.files, x.columns, []int{})
	}
	return b.String()
}

// edgeOrder is the rows of a table of edges in the order of the edge ids: by primary end, then by row.
func edgeOrder(ends [][2]int, primary graph.Direction) []int {
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	k := 1
	if primary == graph.Out {
		k = 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return ends[a][k] - ends[b][k] })
	return order
}

// withContext is a store with a context: a unigraph of the store, with another table.
func (c *chain) withContext(in string, both bool) string {
	out := c.out("unigraph")
	if x := c.runs(fromStore(in, out, option.UnigraphTables{To: "parquet"})); x.err != nil {
		return in // two types with the name of one set
	}
	dir := filepath.Join(c.dir, "in-context")
	err := os.CopyFS(dir, os.DirFS(out))
	for _, name := range []string{store.ManifestFile, store.ManifestFile + ".xxh3", "made.json", "report.json", "report.html", "report.xxh3"} {
		if e := os.Remove(filepath.Join(dir, name)); err == nil {
			err = e
		}
	}
	if err == nil {
		var schema []byte
		schema, err = os.ReadFile(filepath.Join(dir, "schema.pbtxt"))
		w := &sourceWriter{dir: dir, err: err}
		w.file("schema.pbtxt", append(schema, `
context {
  features { key: "label" value { dtype: DT_INT64 } }
  features { key: "title" value { dtype: DT_STRING } }
  metadata { filename: "context.csv" }
}
`...))
		w.file("context.csv", []byte("label,title\n7,\"the title\"\n"))
		err = w.err
	}
	if err != nil {
		c.t.Fatal(err)
	}
	back := c.out("store")
	o := option.Import{Primary: "in"}
	o.Both, o.Run = both, c.run()
	c.must("import of a unigraph with a context", importing(dir, back, o))
	if m := c.load(back); len(m.context) != 2 {
		c.fail("import of a unigraph with a context", "found the context %v, expected label and title", m.context)
	}
	return back
}

// TestStores walks from a random graph through random formats and back.
func TestStores(t *testing.T) {
	t.Parallel()
	check(t, "stores", func(c *chain) {
		at, both := c.begin()
		if sometimes(c.t, 3, "context") {
			at = c.withContext(at, both)
		}
		for range rapid.IntRange(0, 4).Draw(c.t, "trips") {
			x := trips[rapid.IntRange(0, len(trips)-1).Draw(c.t, "trip")]
			at = c.goesBack(x, at, both)
		}
	})
}
