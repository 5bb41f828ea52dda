package chains

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// words reads the array of a fill as integers of 32 or 64 bits.
func (c *chain) words(file string) (out []uint64) {
	b, err := os.ReadFile(file)
	if err != nil {
		c.fail("read", "%v", err)
	}
	header, data := string(b[:128]), b[128:]
	for len(data) > 0 {
		if bytes.Contains([]byte(header), []byte("<u4")) {
			out, data = append(out, uint64(binary.LittleEndian.Uint32(data))), data[4:]
			continue
		}
		out, data = append(out, binary.LittleEndian.Uint64(data)), data[8:]
	}
	return out
}

// packs packs a collection, fills the packs and writes them, and checks that the graphs are the graphs of the collection.
func (c *chain) packs(collection string) {
	graphs := c.graphs(collection, false, false)
	if len(graphs) == 0 {
		return
	}
	// Limits that hold the largest graph, from the histogram.
	var hist bytes.Buffer
	if err := graphmill.PackHistogram(collection, &hist, option.PackHistogram{}); err != nil {
		c.fail("pack hist", "%v", err)
	}
	nodes, edges := 1, 1
	for i, line := range bytes.Split(bytes.TrimSpace(hist.Bytes()), []byte("\n")) {
		var n, e, count int
		if i > 0 {
			if _, err := fmt.Sscanf(string(line), "%d,%d,%d", &n, &e, &count); err != nil {
				c.fail("pack hist", "%v", err)
			}
			nodes, edges = max(nodes, n), max(edges, e)
		}
	}
	times := rapid.IntRange(1, 3).Draw(c.t, "times")
	o := option.Pack{Limits: []option.PackLimit{{Component: "num_nodes", Max: nodes*times + 1}, {Component: "num_edges", Max: edges*times + 1}},
		Method: rapid.SampledFrom([]option.PackMethod{"best-fit", "first-fit", "next-fit", "dlpfhp", "none", "auto"}).Draw(c.t, "method")}
	if o.Method == option.PackAuto {
		o.Effort = 0.01
	}
	o.MaxGraphs = rapid.IntRange(0, 3).Draw(c.t, "graphs per pack")
	plan := c.out("plan")
	make := func(in string) func(string, option.Run) *call {
		return func(out string, run option.Run) *call {
			o := o
			o.Run = run
			o.Memory = 0 // pack has no bound
			return packing(in, out, o)
		}
	}
	c.must("pack", make(collection)(plan, c.run()))
	c.again(plan, make(collection))
	c.verifies(plan, "")
	file := filepath.Join(c.dir, "in-hist", "hist.csv")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		c.fail("pack hist", "%v", err)
	}
	if err := os.WriteFile(file, hist.Bytes(), 0o644); err != nil {
		c.fail("pack hist", "%v", err)
	}
	other := c.out("plan-of-histogram")
	c.must("pack of a histogram", make(file)(other, c.run()))
	c.equalOutputs("pack: a collection and its histogram give the same layout", plan, other)

	seed, epoch := uint64(rapid.IntRange(0, 3).Draw(c.t, "fill seed")), uint64(rapid.IntRange(0, 3).Draw(c.t, "fill epoch"))
	fill := func(epoch uint64, epochs int) (string, func(string, option.Run) *call) {
		out := c.out("fill")
		f := func(out string, run option.Run) *call {
			run.Memory = 0
			return filling(plan, collection, out, option.Fill{Run: run, Seed: seed, Epoch: epoch, Epochs: epochs})
		}
		c.must("pack fill", f(out, c.run()))
		return out, f
	}
	both, again := fill(epoch, 2)
	c.again(both, again)
	var ids []uint64
	for e := range uint64(2) {
		one, _ := fill(epoch+e, 1)
		ids = append(ids, c.words(filepath.Join(one, "graph_id.npy"))...)
	}
	problem := ""
	all := c.words(filepath.Join(both, "graph_id.npy"))
	if !slices.Equal(all, ids) {
		problem = fmt.Sprintf("found %v, expected %v", all, ids)
	}
	c.holds("pack fill: epochs follow one another", problem)
	first := slices.Clone(all[:len(all)/2])
	slices.Sort(first)
	problem = ""
	for i, id := range first {
		if len(first) != len(graphs) || id != uint64(i) {
			problem = fmt.Sprintf("found %v, expected each of %d graphs once", first, len(graphs))
			break
		}
	}
	c.holds("pack fill: each graph once per epoch", problem)

	packed := c.out("packed")
	materialise := func(out string, format option.Format) *call {
		run := c.run()
		run.Memory = 0
		return materialising(plan, collection, out, option.Materialise{Run: run, Seed: seed, Epoch: epoch, Format: format})
	}
	c.must("pack materialise", materialise(packed, option.FormatCollection))
	c.verifies(packed, "")
	var want []string
	for _, id := range all[:len(all)/2] {
		want = append(want, graphs[id])
	}
	c.same("pack materialise, unpack: component i is graph graph_id[i]", c.graphs(packed, true, false), want)
	records, exported := c.out("packed-records"), c.out("exported-packs")
	x := c.runs(materialise(records, option.FormatTFRecord))
	y := c.runs(exporting(packed, exported, option.Export{Run: c.run(), To: option.FormatTFRecord}))
	const law = "pack materialise --format tfrecord is the export of --format collection"
	if x.err != nil || y.err != nil {
		c.fail(law, "found %v and %v", x.err, y.err)
	}
	a, b := c.content(records), c.content(exported)
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			if name != "schema.pbtxt" && !bytes.HasPrefix([]byte(name), []byte("samples.tfrecord")) {
				delete(m, name)
			}
		}
	}
	c.holds(law, different(a, b))
}
