package chains

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
)

// assignmentOf is the parts of all nodes in an assignment: its files but the one that names the method.
func (c *chain) assignmentOf(dir string) map[string]string {
	m := c.content(dir)
	delete(m, "partition_meta.json")
	return m
}

// TestParts walks from a random graph to parts, in all ways that must give the same parts.
func TestParts(t *testing.T) {
	t.Parallel()
	check(t, "parts", func(c *chain) {
		in, _ := c.begin()
		m := c.load(in)
		p := option.Partition{Parts: rapid.IntRange(1, 4).Draw(c.t, "parts"), Seed: uint64(rapid.IntRange(0, 3).Draw(c.t, "seed")),
			Method: rapid.SampledFrom([]option.Method{"hash", "random", "fennel", "ranges", "multilevel"}).Draw(c.t, "method"), TypesTogether: rapid.Bool().Draw(c.t, "types together")}
		if p.Method == option.MethodHash || p.Method == option.MethodRandom {
			p.TypesTogether = false
		}
		cutting := func(in string) func(string, option.Run) *call {
			return func(out string, run option.Run) *call {
				p := p
				p.Run = run
				return partitioning(in, out, p)
			}
		}
		cut := c.out("assignment")
		c.must("partition", cutting(in)(cut, c.run()))
		c.again(cut, cutting(in))
		c.verifies(cut, "")

		read := c.out("assignment-read")
		c.must("partition --method import", partitioning(in, read, option.Partition{Run: c.run(), Method: option.MethodImport, Import: cut}))
		c.holds("partition, partition --method import: the same assignment", different(c.assignmentOf(cut), c.assignmentOf(read)))

		l := &loss{m: m.copied()}
		dglChunksTrip.loses(c, l)
		chunked := ""
		if l.refused == "" {
			chunked = c.out("chunked")
			c.must("export --to chunked", exporting(in, chunked, option.Export{Run: c.run(), To: option.FormatChunked, GraphName: "g", Chunks: 3}))
			other := c.out("assignment-of-chunked")
			c.must("partition of a chunked graph", cutting(chunked)(other, c.run()))
			c.holds("export --to chunked, partition: the same assignment", different(c.assignmentOf(cut), c.assignmentOf(other)))
		}

		l = &loss{m: m.copied()}
		partsTrip.loses(c, l)
		if l.refused != "" {
			return // the trip has the law
		}
		o := option.Dispatch{OutEdges: rapid.Bool().Draw(c.t, "out-edges")}
		o.GraphName = "g"
		o.NumHops = rapid.IntRange(1, 3).Draw(c.t, "hops")
		o.SaveOrigNids, o.SaveOrigEids = rapid.Bool().Draw(c.t, "nids"), rapid.Bool().Draw(c.t, "eids")
		dispatch := func(in, cut string, change func(o *option.Dispatch)) string {
			o := o
			o.Run = c.run()
			change(&o)
			out := c.out("parts")
			c.must("dispatch", dispatching(in, cut, out, o))
			c.verifies(out, "")
			return out
		}
		parts := dispatch(in, cut, func(*option.Dispatch) {})
		if p.Method == option.MethodHash || p.Method == option.MethodRandom {
			dealt := dispatch(in, "", func(o *option.Dispatch) { o.Parts, o.PartsBy, o.Seed = p.Parts, p.Method, p.Seed })
			c.equalOutputs("dispatch --parts: the parts of partition by the same method", parts, dealt)
		}
		if chunked != "" && plain(m) {
			other := dispatch(chunked, cut, func(*option.Dispatch) {})
			c.equalOutputs("export --to chunked, dispatch: the same parts", parts, other)
		}
		c.mapped(in, m, p)
	})
}

// plain says whether parts of a chunked graph equal parts of the store: edges are numbered by destination, and no dtype is
// widened.
func plain(m *model) bool {
	ok := true
	for _, e := range m.edges {
		ok = ok && e.primary == graph.In // as edges of a chunked graph are numbered
	}
	(&loss{m: m.copied()}).columns(func(_, _ string, x *column) *column {
		ok = ok && wide[x.dtype] == 0
		return x
	})
	return ok
}

// mapped is the law that partition-graph relabels the nodes as the mapping says that it writes.
func (c *chain) mapped(in string, m *model, p option.Partition) {
	const law = "partition-graph, import: the edges of the store, relabelled by the mapping"
	var o option.PartitionGraph
	o.Partition, o.GraphName = p, "g"
	o.Run = c.run()
	labelled, bare, back := c.out("mapped"), c.out("unmapped"), c.out("store")
	c.must(law, partitioningGraph(in, bare, o))
	o.Run = c.run()
	o.ReturnMapping = true
	c.must(law, partitioningGraph(in, labelled, o))
	c.verifies(labelled, in)
	c.must(law, importing(bare, back, option.Import{Build: option.Build{Run: c.run()}}))
	got := c.load(back)
	mapping := map[string][]uint64{}
	for t, n := range m.nodes {
		list := c.words(filepath.Join(labelled, "orig_nids", store.FileName(t)+".npy"))
		mapping[t] = list
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		for i, v := range sorted {
			if len(list) != n.count || v != uint64(i) {
				c.fail(law, "%s: found mapping %v, expected each of %d nodes once", t, list, n.count)
			}
		}
		for name, x := range n.columns {
			y := got.nodes[t].columns[name]
			if x.dtype == graph.String || x.ragged() || x.rows == 0 || strings.Contains(name, "/") {
				continue
			}
			if y == nil {
				c.fail(law, "found no column %s.%s", t, name)
			}
			x, width := narrow(x), len(y.values)/y.rows
			for i, v := range list {
				if string(y.values[i*width:(i+1)*width]) != string(x.values[int(v)*width:(int(v)+1)*width]) {
					c.fail(law, "%s.%s: row %d: found %x, expected row %d of the store", t, name, i, y.values[i*width:(i+1)*width], v)
				}
			}
		}
	}
	problem := ""
	for t, e := range m.edges {
		of, _ := graph.ParseEdgeType(t)
		ends := func(src, dst []uint64, a, b []uint64) (list [][2]uint64) {
			for i := range src {
				pair := [2]uint64{src[i], dst[i]}
				if a != nil {
					pair = [2]uint64{a[src[i]], b[dst[i]]}
				}
				list = append(list, pair)
			}
			slices.SortFunc(list, func(x, y [2]uint64) int { return slices.Compare(x[:], y[:]) })
			return list
		}
		found, want := ends(got.edges[t].src, got.edges[t].dst, mapping[of.Src], mapping[of.Dst]), ends(e.src, e.dst, nil, nil)
		if !slices.Equal(found, want) {
			problem += fmt.Sprintf("%s: found %v, expected %v\n", t, found, want)
		}
	}
	c.holds(law, problem)
}

// narrow is a column as parts hold it.
func narrow(c *column) *column {
	if c.dtype == graph.Uint16 || c.dtype == graph.Uint32 || c.dtype == graph.Uint64 {
		return widened(c)
	}
	return c
}
