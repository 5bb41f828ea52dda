package chains

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// row is the values of row i of a column, as text.
func row(c *graph.Column, i int) string {
	from, to := c.Span(i, i+1)
	var b strings.Builder
	// The lengths of the variable dimensions, from the outermost.
	k, first, last := 0, i, i+1
	for _, d := range c.Shape {
		if d >= 0 {
			first, last = first*d, last*d
			continue
		}
		for j := first; j < last; j++ {
			fmt.Fprintf(&b, "%d ", c.Offsets[k].At(j+1)-c.Offsets[k].At(j))
		}
		first, last = int(c.Offsets[k].At(first)), int(c.Offsets[k].At(last))
		k++
	}
	if c.DType == graph.String {
		for v := from; v < to; v++ {
			fmt.Fprintf(&b, "%q ", c.Text(v))
		}
		return b.String()
	}
	size := c.DType.Size()
	fmt.Fprintf(&b, "%x", c.Values[from*size:to*size])
	return b.String()
}

// bounds is the rows of a type in a component or graph.
func bounds(graphs, components graph.Index, i int, byComponent bool) (from, to uint64) {
	if byComponent && components.Len() > 0 {
		return components.At(i), components.At(i + 1)
	}
	return graphs.At(i), graphs.At(i + 1)
}

// subgraphs describes each graph of a collection, or each component, by everything that it has: local structure, ids,
// seeds and columns. With seeds false it leaves out what only sampled graphs have.
func subgraphs(x *graph.Collection, byComponent, sampled bool) (out []string) {
	n := x.Graphs
	if byComponent {
		n = x.Components()
	}
	for i := range n {
		var b strings.Builder
		columns := func(list []*graph.Column, from, to uint64) {
			for _, c := range list {
				fmt.Fprintf(&b, "  %s %s%v:", c.Name, c.DType, c.Shape)
				for r := from; r < to; r++ {
					fmt.Fprintf(&b, " [%s]", row(c, int(r)))
				}
				b.WriteByte('\n')
			}
		}
		for _, t := range x.Nodes {
			from, to := bounds(t.GraphPtr, t.ComponentPtr, i, byComponent)
			fmt.Fprintf(&b, "%s: %d nodes\n", t.Type, to-from)
			for r := from; sampled && r < to && t.NodeID.Len() > 0; r++ {
				fmt.Fprintf(&b, " %d", t.NodeID.At(int(r)))
			}
			if sampled && t.NumSampled != nil {
				b.WriteString(" by hop " + row(t.NumSampled, i))
			}
			b.WriteByte('\n')
			columns(t.Columns, from, to)
		}
		for _, t := range x.Edges {
			from, to := bounds(t.GraphPtr, t.ComponentPtr, i, byComponent)
			fmt.Fprintf(&b, "%s: %d edges", t.Type, to-from)
			// Local ids count from the first node of the graph.
			var a, z uint64
			if byComponent {
				a, z = componentStart(x, t.Type.Src, i), componentStart(x, t.Type.Dst, i)
			}
			for r := from; r < to; r++ {
				fmt.Fprintf(&b, " %d>%d", t.Src.At(int(r))-a, t.Dst.At(int(r))-z)
				if sampled && t.EdgeID.Len() > 0 {
					fmt.Fprintf(&b, "#%d", t.EdgeID.At(int(r)))
				}
			}
			b.WriteByte('\n')
			columns(t.Columns, from, to)
		}
		var context []*graph.Column
		for _, c := range x.Context {
			if sampled || c.Name != "epoch" && c.Name != "batch" {
				context = append(context, c)
			}
		}
		columns(context, uint64(i), uint64(i+1))
		if sampled && x.SeedLocal.Len() > 0 && !byComponent {
			width := uint64(len(x.SeedType))
			for s := x.SeedPtr.At(i) * width; s < x.SeedPtr.At(i+1)*width; s++ {
				fmt.Fprintf(&b, "seed %d ", x.SeedLocal.At(int(s)))
			}
		}
		out = append(out, b.String())
	}
	return out
}

// componentStart is the number of nodes of a type in the graph of component i before the component.
func componentStart(x *graph.Collection, typ string, i int) uint64 {
	if x.ComponentPtr.Len() == 0 {
		return 0
	}
	g := 0
	for x.ComponentPtr.At(g+1) <= uint64(i) {
		g++
	}
	for _, t := range x.Nodes {
		if t.Type == typ {
			return t.ComponentPtr.At(i) - t.GraphPtr.At(g)
		}
	}
	return 0
}

// graphs describes the graphs of a collection in a folder.
func (c *chain) graphs(dir string, byComponent, sampled bool) []string {
	s, err := graphmill.Open(dir)
	if err != nil {
		c.fail("open", "%v", err)
	}
	defer s.Close()
	if s.Collection() == nil {
		c.fail("open", "%s: found no collection", dir)
	}
	return subgraphs(s.Collection(), byComponent, sampled)
}

// same compares two lists of graphs.
func (c *chain) same(law string, found, expected []string) {
	problem := ""
	if len(found) != len(expected) {
		problem = fmt.Sprintf("found %d graphs, expected %d", len(found), len(expected))
	}
	for i := 0; i < len(found) && problem == ""; i++ {
		if found[i] != expected[i] {
			problem = fmt.Sprintf("graph %d: found\n%s\nexpected\n%s", i, cut(found[i]), cut(expected[i]))
		}
	}
	c.holds(law, problem)
}

// drawPlan draws what to sample from a store; ok is false where it has no seeds.
func (c *chain) drawPlan(m *model) (o option.Sample, ok bool) {
	var types, links []string
	for t, n := range m.nodes {
		if n.count > 0 {
			types = append(types, t)
		}
	}
	for t, e := range m.edges {
		if len(e.src) > 0 {
			links = append(links, t)
		}
	}
	if len(types) == 0 || len(m.edges) == 0 {
		return o, false
	}
	slices.Sort(types)
	slices.Sort(links)
	o.Fanout = rapid.SliceOfN(rapid.SampledFrom([]int{2, 1, 3, -1}), 1, 3).Draw(c.t, "fanout")
	o.Direction = rapid.SampledFrom([]option.Direction{"", "out"}).Draw(c.t, "direction")
	o.Expand = rapid.SampledFrom([]option.Expand{"", "all"}).Draw(c.t, "expand")
	o.Scope = rapid.SampledFrom([]option.Scope{"", "seed", "epoch"}).Draw(c.t, "scope")
	o.Replace = sometimes(c.t, 4, "replace")
	o.BatchSize = rapid.IntRange(1, 5).Draw(c.t, "batch size")
	o.Epochs = rapid.IntRange(1, 2).Draw(c.t, "epochs")
	o.Shuffle = rapid.Bool().Draw(c.t, "shuffle")
	o.Seed = uint64(rapid.IntRange(0, 5).Draw(c.t, "seed"))
	o.Subgraph = rapid.SampledFrom([]string{"", "", "bidirectional", "induced"}).Draw(c.t, "subgraph")
	if o.Seeds = rapid.SampledFrom(types).Draw(c.t, "seeds"); len(links) > 0 && sometimes(c.t, 4, "links") {
		o.Seeds = rapid.SampledFrom(links).Draw(c.t, "links")
		if rapid.Bool().Draw(c.t, "with negatives") {
			o.Negatives = float64(rapid.IntRange(1, 2).Draw(c.t, "negatives"))
			o.NegativesHow = rapid.SampledFrom([]string{"binary", "triplet"}).Draw(c.t, "how")
		}
	}
	o.LimitSeeds = rapid.IntRange(0, 8).Draw(c.t, "limit")
	return o, true
}

// samples draws subgraphs of a store, and checks the laws of sampling. It returns the collection.
func (c *chain) samples(in string) (collection string, o option.Sample, ok bool) {
	o, ok = c.drawPlan(c.load(in))
	if !ok {
		return "", o, false
	}
	make := func(change func(o *option.Sample)) func(string, option.Run) *call {
		return func(out string, run option.Run) *call {
			o := o
			o.Run = run
			o.Executor = option.ExecutorMemory
			change(&o)
			return sampling(in, out, o)
		}
	}
	plain := func(*option.Sample) {}
	out := c.out("samples")
	c.must("sample", make(plain)(out, c.run()))
	c.again(out, make(plain))
	c.verifies(out, in)
	want := c.graphs(out, false, true)

	const executors = "sample: same bytes by the executors memory and stream"
	streamed := c.out("streamed")
	x := c.runs(make(func(o *option.Sample) { o.Executor = option.ExecutorStream })(streamed, c.run()))
	switch {
	case x.err == nil:
		problem := ""
		if c.whole(streamed) != c.whole(out) {
			problem = different(c.content(out), c.content(streamed)) + " (or how they were made)"
		}
		c.holds(executors, problem)
	case !slices.ContainsFunc([]string{"import with", "take the memory executor", "--executor memory"}, func(s string) bool { return strings.Contains(x.err.Error(), s) }):
		c.fail(executors, "%v", x.err)
	}

	if ranks := rapid.IntRange(1, 3).Draw(c.t, "ranks"); ranks > 1 {
		merged := map[string]int{}
		for rank := range ranks {
			part := c.out("rank")
			c.must("sample: ranks divide the batches", make(func(o *option.Sample) { o.Rank, o.Ranks = rank, ranks })(part, c.run()))
			for _, g := range c.graphs(part, false, true) {
				merged[g]++
			}
		}
		for _, g := range want {
			merged[g]--
		}
		problem := ""
		for g, n := range merged {
			if n < 0 { // ranks may repeat batches to have equally many
				problem = "found no rank with\n" + cut(g)
			}
		}
		c.holds("sample: ranks divide the batches", problem)
	}
	if o.Epochs > 1 {
		var all []string
		for e := range uint64(o.Epochs) {
			part := c.out("epoch")
			c.must("sample: epochs follow one another", make(func(o *option.Sample) { o.Epochs, o.Epoch = 1, e })(part, c.run()))
			all = append(all, c.graphs(part, false, true)...)
		}
		c.same("sample: epochs follow one another", all, want)
	}
	if o.Scope == option.ScopeSeed && !o.Shuffle && o.Epochs == 1 && !strings.Contains(o.Seeds, ":") {
		c.sampleFew(in, o, out)
	}
	c.sampleBatches(in, o, out)
	return out, o, true
}

// sampleFew is the law that the subgraph of a seed does not depend on the other seeds, under scope seed.
func (c *chain) sampleFew(in string, o option.Sample, all string) {
	const law = "sample, scope seed: a subgraph does not depend on the other seeds"
	s, err := graphmill.Open(all)
	if err != nil {
		c.fail(law, "%v", err)
	}
	defer s.Close()
	x := s.Collection()
	var ids []int64
	var want []string
	list := subgraphs(x, false, true)
	for i := x.Graphs - 1; i >= 0; i -= 2 { // every second seed, from the last
		for _, t := range x.Nodes {
			if t.Type == x.SeedType[0] {
				ids = append(ids, int64(t.NodeID.At(int(t.GraphPtr.At(i)+x.SeedLocal.At(int(x.SeedPtr.At(i)))))))
			}
		}
		want = append(want, list[i])
	}
	file := filepath.Join(c.dir, "in-seeds", "seeds.npy")
	b, err := npy.AppendHeader(nil, "i8", []int{len(ids)})
	err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, append(b, graph.Bytes(ids)...), 0o644))
	if err != nil {
		c.fail(law, "%v", err)
	}
	few := c.out("few")
	o.SeedType, o.Seeds, o.LimitSeeds = []string{x.SeedType[0]}, file, 0
	o.Run = c.run()
	c.must(law, sampling(in, few, o))
	for i := range want {
		want[i] = withoutContext(want[i])
	}
	got := c.graphs(few, false, true)
	for i := range got {
		got[i] = withoutContext(got[i])
	}
	c.same(law, got, want)
}

// withoutContext leaves the numbers of epoch and batch out of the description of a graph.
func withoutContext(g string) string {
	var b strings.Builder
	for line := range strings.Lines(g) {
		if !strings.HasPrefix(line, "  epoch ") && !strings.HasPrefix(line, "  batch ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// sampleBatches is the law that batches in memory are the graphs of the collection.
func (c *chain) sampleBatches(in string, o option.Sample, out string) {
	if o.Scope == option.ScopeSeed {
		return
	}
	const law = "sample: batches in memory are the graphs of the collection"
	s, err := graphmill.Open(in)
	if err != nil {
		c.fail(law, "%v", err)
	}
	defer s.Close()
	all, err := graphmill.Open(out)
	if err != nil {
		c.fail(law, "%v", err)
	}
	defer all.Close()
	x, i := all.Collection(), 0
	batches := option.Batches{Run: option.Run{Threads: 2}, Draw: o.Draw, Batching: o.Batching, Columns: option.Columns{Features: []string{}}}
	for b, err := range graphmill.Batches(context.Background(), s, batches) {
		if err != nil {
			c.fail(law, "%v", err)
		}
		for _, t := range x.Nodes {
			var ids []int64
			for r := t.GraphPtr.At(i); r < t.GraphPtr.At(i+1); r++ {
				ids = append(ids, int64(t.NodeID.At(int(r))))
			}
			if got := b.Nodes(t.Type); !slices.Equal(got, ids) {
				c.fail(law, "batch %d: %s: found nodes %v, expected %v", i, t.Type, got, ids)
			}
		}
		for _, t := range x.Edges {
			src, dst := b.Edges(t.Type.String())
			for k, r := 0, t.GraphPtr.At(i); r < t.GraphPtr.At(i+1); k, r = k+1, r+1 {
				if k >= len(src) || uint64(src[k]) != t.Src.At(int(r)) || uint64(dst[k]) != t.Dst.At(int(r)) {
					c.fail(law, "batch %d: %s: found edges %v %v, expected others from edge %d on", i, t.Type, src, dst, k)
				}
			}
		}
		i++
	}
	problem := ""
	if i != x.Graphs {
		problem = fmt.Sprintf("found %d batches, expected %d", i, x.Graphs)
	}
	c.holds(law, problem)
}

// records writes a sampled collection as TFRecords, both ways, and imports them. ok is false where Examples cannot hold the
// columns of the store.
func (c *chain) records(in, collection string, o option.Sample) (imported string, ok bool) {
	const law = "sample --format tfrecord and export --to tfrecord --store write the same records"
	shards, gzip := rapid.IntRange(1, 3).Draw(c.t, "record shards"), rapid.Bool().Draw(c.t, "gzip records")
	out := c.out("records")
	make := func(out string, run option.Run) *call {
		return exporting(collection, out, option.Export{Run: run, To: option.FormatTFRecord, Store: in, Shards: shards, Gzip: gzip})
	}
	x := c.runs(make(out, c.run()))
	direct := o
	direct.Format, direct.Shards, direct.Gzip, direct.Run = option.FormatTFRecord, shards, gzip, c.run()
	sampled := c.out("sampled-records")
	y := c.runs(sampling(in, sampled, direct))
	if strings.Contains(o.Seeds, ":") && x.err != nil && strings.Contains(x.err.Error(), "link seeds") && y.err == nil {
		c.holds("export refuses subgraphs of links, whose columns are not in the collection", "")
		return "", false
	}
	if x.err != nil || y.err != nil {
		problem := ""
		if (x.err == nil) != (y.err == nil) {
			problem = fmt.Sprintf("found %v by export and %v by sample", x.err, y.err)
		}
		c.holds("sample --format tfrecord and export refuse the same", problem)
		return "", false
	}
	c.again(out, make)
	c.verifies(out, "")
	c.verifies(sampled, in)
	problem := ""
	if a, b := c.frames(out), c.frames(sampled); a != b {
		problem = fmt.Sprintf("found %d bytes of records and %d others", len(a), len(b))
	}
	c.holds(law, problem)
	c.equalOutputs("sample --format tfrecord and export --to tfrecord --store write the same schema", out, sampled, slices.Collect(maps.Keys(c.shards(out)))...)
	imported = c.out("collection")
	c.must("import of records", importing(filepath.Join(out, "samples.tfrecord*"), imported, option.Import{Build: option.Build{Run: c.run()}, Schema: filepath.Join(out, "schema.pbtxt")}))
	c.verifies(imported, "")
	found, expected := c.graphs(imported, false, false), c.graphs(collection, false, false)
	for _, list := range [][]string{found, expected} {
		for i := range list {
			list[i] = structure(list[i])
		}
	}
	c.same("export to TFRecords, import: the same graphs", found, expected)
	again := c.out("records-again")
	c.must("export of imported records", exporting(imported, again, option.Export{Run: c.run(), To: option.FormatTFRecord, Shards: shards, Gzip: gzip}))
	problem = ""
	if c.frames(out) != c.frames(again) {
		problem = "found other records"
	}
	if !narrowNaNs(c.load(in)) {
		c.holds("import of TFRecords, export: the same records", problem)
	}
	return imported, true
}

// narrowNaNs says whether a graph has a NaN of 16 bits: an Example holds it as float32, and its payload changes on the way back.
func narrowNaNs(m *model) (found bool) {
	(&loss{m: m}).columns(func(_, _ string, x *column) *column {
		if x.dtype == graph.Float16 || x.dtype == graph.BFloat16 {
			found = found || x.any(func(bits uint64) bool {
				f := asFloat(x.dtype, bits)
				return f != f
			})
		}
		return x
	})
	return found
}

// shards is the contents of the files of records in a folder, by name, decompressed.
func (c *chain) shards(dir string) map[string]string {
	files, err := filepath.Glob(filepath.Join(dir, "samples.tfrecord*"))
	if err != nil {
		c.fail("read", "%v", err)
	}
	out := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil && strings.Contains(filepath.Base(file), ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(z)
			}
		}
		if err != nil {
			c.fail("read", "%s: %v", file, err)
		}
		out[filepath.Base(file)] = string(b)
	}
	return out
}

// frames is the records of all files in order. How records are grouped for compression is no part of them.
func (c *chain) frames(dir string) string {
	var b strings.Builder
	shards := c.shards(dir)
	for _, name := range slices.Sorted(maps.Keys(shards)) {
		b.WriteString(name + "\n" + shards[name])
	}
	return b.String()
}

// structure leaves the columns, and the names and order of types, out of the description of a graph.
func structure(g string) string {
	var lines []string
	for line := range strings.Lines(g) {
		if !strings.HasPrefix(line, "  ") {
			lines = append(lines, line[strings.LastIndex(line, ":")+1:])
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestSamples walks from a random graph, perhaps through another format, to subgraphs, records and packs.
func TestSamples(t *testing.T) {
	t.Parallel()
	check(t, "samples", func(c *chain) {
		in, both := c.begin()
		collection, o, ok := c.samples(in)
		if !ok {
			return
		}
		if rapid.Bool().Draw(c.t, "a trip") {
			before := c.load(in)
			other := c.goesBack(trips[rapid.IntRange(0, len(trips)-1).Draw(c.t, "trip")], in, both)
			if sameStructure(before, c.load(other)) {
				o := o
				o.Run = c.run()
				again := c.out("samples")
				c.must("sample after a trip", sampling(other, again, o))
				c.equalOutputs("sample: a trip that keeps the edges keeps the subgraphs", collection, again, "graph.json")
			}
		}
		imported, ok := c.records(in, collection, o)
		if ok {
			c.packs(imported)
		}
	})
}
