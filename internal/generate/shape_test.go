package generate_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// scanned is the bytes of each column of a table.
func scanned(t testing.TB, tab table.Table, columns []table.Column, threads int) [][]byte {
	t.Helper()
	type piece struct {
		first uint64
		data  [][]byte
	}
	var mu sync.Mutex
	var pieces []piece
	_, err := tab.Scan(context.Background(), columns, threads, func(_ int, c *table.Chunk) error {
		p := piece{first: c.First}
		for i := range c.Columns {
			p.data = append(p.data, bytes.Clone(c.Columns[i].Data))
		}
		mu.Lock()
		defer mu.Unlock()
		pieces = append(pieces, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(pieces, func(a, b piece) int { return int(a.first) - int(b.first) })
	out := make([][]byte, len(columns))
	for _, p := range pieces {
		for i := range out {
			out[i] = append(out[i], p.data[i]...)
		}
	}
	return out
}

// shapeOf is the shape of a name that there is.
func shapeOf(t testing.TB, name string) *generate.Shape {
	t.Helper()
	s, err := generate.ShapeOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each shape is whole: its edges have types of nodes, its parts fit their type, and the numbers that pages print for all types together are the sums.
func TestShapes(t *testing.T) {
	totals := map[string][2]uint64{
		"ogbn-products": {2_449_029, 61_859_140}, "ogbn-arxiv": {169_343, 1_166_243}, "ogbn-papers100M": {111_059_956, 1_615_685_872}, "ogbn-mag": {1_939_743, 21_111_007},
		"igb-small": {1_000_000, 12_070_502}, "igb-medium": {10_000_000, 120_077_694}, "igb-large": {100_000_000, 1_223_571_364}, "reddit": {232_965, 114_615_892 / 2},
		"igbh-small": {3_131_266, 25_488_616}, "igbh-medium": {25_982_964, 239_492_193}, "igbh-large": {217_636_127, 2_004_750_425}, "igbh-full": {547_306_935, 5_812_005_639},
	}
	for _, name := range generate.Shapes() {
		s := shapeOf(t, name)
		var nodes, edges uint64
		types := map[string]bool{}
		for _, n := range s.Nodes {
			nodes += n.Count
			types[n.Type] = true
			if n.Labelled() > n.Count || (n.Classes > 0) != (n.Train > 0) {
				t.Errorf("%s: found %d labelled nodes of %d of %s with %d classes", name, n.Labelled(), n.Count, n.Type, n.Classes)
			}
		}
		for _, e := range s.Edges {
			edges += e.Rows
			if !types[e.Type.Src] || !types[e.Type.Dst] || e.Undirected && e.Type.Src != e.Type.Dst {
				t.Errorf("%s: found the edge type %s, undirected %v", name, e.Type, e.Undirected)
			}
		}
		if totals[name] != [2]uint64{nodes, edges} {
			t.Errorf("%s: found %d nodes and %d edges, expected %v", name, nodes, edges, totals[name])
		}
	}
}

func TestShapeOf(t *testing.T) {
	for _, name := range []string{"ogbn-papers100M", "papers100M", "PAPERS100m", "papers100M/1"} {
		if s := shapeOf(t, name); s.Name != "ogbn-papers100M" || s.Nodes[0].Count != 111_059_956 {
			t.Errorf("%s: found %+v", name, s)
		}
	}
	s := shapeOf(t, "products/4")
	n, e := s.Nodes[0], s.Edges[0]
	if s.Name != "ogbn-products/4" || n.Count != 612_257 || n.Train != 49_153 || n.Valid != 9_830 || n.Test != 553_272 || n.Features != 100 || n.Classes != 47 || e.Rows != 15_464_785 {
		t.Errorf("found %+v", s)
	}
	if s := shapeOf(t, "igb-medium/16"); s.Edges[0].Largest != 22_315/8 {
		t.Errorf("found the largest degree %d, expected it to fall with the power 3/4", s.Edges[0].Largest)
	}
	if shapeOf(t, "products").Nodes[0].Count != 2_449_029 {
		t.Error("a division changed the table")
	}
	for name, text := range map[string]string{
		"cora": `found the name "cora", expected one of ogbn-products, `, "": "expected one of", "products/0": "expected a whole number from 1 to 39323", "products/39324": "from 1 to",
		"products/": "from 1 to", "products/2/2": "from 1 to", "products/-1": "from 1 to", "igbh-small/922": "from 1 to 921",
	} {
		if _, err := generate.ShapeOf(name); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: found %v, expected %q", name, err, text)
		}
	}
	mag := shapeOf(t, "mag")
	if err := mag.Symmetrise(); err != nil || !mag.Edges[2].Undirected || mag.Edges[0].Undirected {
		t.Errorf("found %v, %+v", err, mag.Edges)
	}
}

// Edges are as many as the shape has, in range, without loops within a type, and the same for any number of threads.
func TestSkewed(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{"arxiv/64", "products/3000", "igbh-small/900", "mag/500", "reddit/2000", "igb-small/60000", "products/39323"}).Draw(r, "shape")
		s, seed := shapeOf(t, name), rapid.Uint64().Draw(r, "seed")
		at := rapid.IntRange(0, len(s.Edges)-1).Draw(r, "type")
		e := s.Edges[at]
		law := generate.NewSkewed(seed, s, at)
		one := scanned(t, law, columns, 1)
		if two := scanned(t, generate.NewSkewed(seed, s, at), columns, 3); !slices.EqualFunc(one, two, bytes.Equal) {
			r.Fatalf("%s: found other edges with 3 threads", name)
		}
		src, dst := graph.View[uint64](one[0]), graph.View[uint64](one[1])
		if law.Rows() != e.Rows || uint64(len(src)) != e.Rows || law.Bytes() != int64(e.Rows)*16 {
			r.Fatalf("%s: found %d edges, expected %d", name, len(src), e.Rows)
		}
		for i := range src {
			if src[i] >= s.Node(e.Type.Src).Count || dst[i] >= s.Node(e.Type.Dst).Count || e.Type.Src == e.Type.Dst && src[i] == dst[i] {
				r.Fatalf("%s: found the edge %d, %d", name, src[i], dst[i])
			}
		}
	})
}

// The largest degree is near the one of the shape, few nodes have none, and two thirds of the edges stay in a class, or a few more by chance.
func TestSkewedDegrees(t *testing.T) {
	for name, largest := range map[string]float64{"igb-small/4": 4_292 / 2.83, "igb-medium/64": 22_315 / 22.6} {
		s := shapeOf(t, name)
		ends := scanned(t, generate.NewSkewed(3, s, 0), columns, 2)
		src, dst := graph.View[uint64](ends[0]), graph.View[uint64](ends[1])
		in, same := make([]float64, s.Nodes[0].Count), 0
		for i := range dst {
			in[dst[i]]++
			if src[i]%19 == dst[i]%19 {
				same++
			}
		}
		none := 0
		for _, d := range in {
			if d == 0 {
				none++
			}
		}
		if most := slices.Max(in); most < 0.85*largest || most > 1.15*largest {
			t.Errorf("%s: found the largest in-degree %v, expected about %v", name, most, largest)
		}
		if share := float64(none) / float64(len(in)); share > 0.03 {
			t.Errorf("%s: found %v of the nodes without in-edges", name, share)
		}
		if share := float64(same) / float64(len(src)); share < 0.66 || share > 0.71 {
			t.Errorf("%s: found %v of the edges in a class", name, share)
		}
	}
}

// A change of the rows of a seed would make two races of one name differ.
func TestSkewedStays(t *testing.T) {
	s := shapeOf(t, "ogbn-products/100")
	ends := scanned(t, generate.NewSkewed(1, s, 0), columns, 1)
	src, dst := graph.View[uint64](ends[0]), graph.View[uint64](ends[1])
	if want := []uint64{24401, 56, 13239, 22056, 6635, 12887, 17372, 201}; !slices.Equal(slices.Concat(src[:4], dst[:4]), want) {
		t.Errorf("found %v, expected %v", slices.Concat(src[:4], dst[:4]), want)
	}
}

// The columns of a node type have the dtype, the width and the parts of the shape, and are the same for any number of threads.
func TestNodeColumns(t *testing.T) {
	for _, c := range []struct {
		name  string
		node  int
		dtype graph.DType
	}{{"papers100M/2000", 0, graph.Float16}, {"papers100M/2000", 0, graph.Invalid}, {"products/500", 0, graph.Float32}, {"arxiv", 0, graph.Float16}, {"igbh-small/500", 0, graph.Float32}, {"mag/100", 3, graph.Float32}} {
		s := shapeOf(t, c.name)
		n := s.Nodes[c.node]
		tab := generate.NewNodeColumns(7, s, c.node, c.dtype)
		asked := tab.Columns()
		one := scanned(t, tab, asked, 1)
		if two := scanned(t, generate.NewNodeColumns(7, s, c.node, c.dtype), asked, 3); !slices.EqualFunc(one, two, bytes.Equal) {
			t.Errorf("%s: found other values with 3 threads", c.name)
		}
		size := 0
		for i, column := range asked {
			size += len(one[i])
			switch column.Name {
			case "feat":
				checkFeatures(t, c.name, one[i], c.dtype, int(n.Count)*n.Features)
			case "label":
				checkLabels(t, &n, graph.View[int64](one[i]), graph.View[int32](one[i+1]))
			}
		}
		if int64(size) != tab.Bytes() || (n.Classes == 0) != (len(asked) == 1) {
			t.Errorf("%s: found %d bytes of %d columns, Bytes says %d", c.name, size, len(asked), tab.Bytes())
		}
	}
	mag := shapeOf(t, "mag/100")
	if generate.NewNodeColumns(7, mag, 0, graph.Float32) != nil || generate.NewNodeColumns(7, shapeOf(t, "igbh-small"), 0, graph.Invalid) != nil {
		t.Error("found columns of a type that has none")
	}
	if _, err := generate.NewNodeColumns(7, mag, 3, graph.Float32).Scan(t.Context(), []table.Column{{Name: "year", DType: graph.Int32}}, 1, nil); err == nil {
		t.Error("a column that there is not was taken")
	}
}

// checkFeatures wants uniform values in [-1, 1).
func checkFeatures(t *testing.T, name string, data []byte, dtype graph.DType, count int) {
	t.Helper()
	values := graph.View[float32](data)
	if dtype == graph.Float16 {
		values = nil
		for _, x := range graph.View[uint16](data) {
			values = append(values, example.Float16(x))
		}
	}
	if len(values) != count {
		t.Fatalf("%s: found %d values, expected %d", name, len(values), count)
	}
	sum, squares := 0.0, 0.0
	for _, x := range values {
		if x < -1 || x >= 1 {
			t.Fatalf("%s: found the feature %v", name, x)
		}
		sum, squares = sum+float64(x), squares+float64(x)*float64(x)
	}
	if mean, square := sum/float64(count), squares/float64(count); mean < -0.01 || mean > 0.01 || square < 0.32 || square > 0.345 {
		t.Errorf("%s: found the mean %v and the mean square %v, expected 0 and 1/3", name, mean, square)
	}
}

// checkLabels wants the parts of the shape, and a label of each class in them alone.
func checkLabels(t *testing.T, n *generate.NodeShape, labels []int64, parts []int32) {
	t.Helper()
	var sizes [3]uint64
	for v, p := range parts {
		if p >= 0 {
			sizes[p]++
		}
		if (labels[v] < 0) != (p < 0) || labels[v] >= int64(n.Classes) {
			t.Fatalf("node %d: found the label %d in part %d", v, labels[v], p)
		}
	}
	if want := [3]uint64{n.Train, n.Valid, n.Test}; sizes != want || uint64(len(parts)) != n.Count {
		t.Errorf("found %d nodes with parts of %v, expected %d and %v", len(parts), sizes, n.Count, want)
	}
}
