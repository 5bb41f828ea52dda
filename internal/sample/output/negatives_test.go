package output

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// negatives samples 50 links with two negatives each.
func negatives(t *testing.T, kind sample.SubgraphKind) (*sample.Sampler, sample.Job) {
	t.Helper()
	plan := &sample.Plan{SeedType: []string{"author", "paper"}, Scope: sample.ScopeBatch, Negatives: &sample.Negatives{Each: 2}, Kind: kind, Ops: []sample.Op{
		{From: []int{0}, Edges: "author:by:paper", Take: 2}}}
	s, err := sample.New(typed(100), plan, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var links []uint32
	for i := range uint32(50) {
		links = append(links, i*3%uint32(s.Graph().Nodes[s.Graph().NodeType("author")].Count), i*7%100)
	}
	return s, sample.Job{Seeds: links, BatchSize: 8, Seed: 4, Threads: 1}
}

// A collection has the negatives of each subgraph, the same for any number of threads, and a check finds those that are
// no nodes of their graph. Only directional subgraphs have hops of edges.
func TestCollectionOfNegatives(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []sample.SubgraphKind{sample.Directional, sample.Induced} {
		s, job := negatives(t, kind)
		dir := filepath.Join(t.TempDir(), "out")
		if err := writeCollection(ctx, vfs.OS, dir, s, false, job); err != nil {
			t.Fatal(err)
		}
		again := job
		again.Threads = 4
		other := filepath.Join(t.TempDir(), "out")
		if err := writeCollection(ctx, vfs.OS, other, s, false, again); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(files(t, dir), files(t, other)) {
			t.Errorf("4 threads give other bytes than 1")
		}
		st, err := store.Open(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.Check(ctx); err != nil {
			t.Error(err)
		}
		c := st.Collection
		if c.Negatives != 2 || (c.Edges[0].NumSampled != nil) != (kind == sample.Directional) {
			t.Errorf("%s: found %d negatives, hops %v", kind, c.Negatives, c.Edges[0].NumSampled)
		}
		i := 0
		subgraphs(t, s, job, func(_ *sample.Batch, sub *sample.Subgraph) {
			if got := slice(c.NegativeLocal, 4*c.SeedPtr.At(i), 4*c.SeedPtr.At(i+1)); !slices.Equal(got, sub.Negatives.Local) {
				t.Fatalf("graph %d: found negatives %v, expected %v", i, got, sub.Negatives.Local)
			}
			i++
		})
		c.NegativeLocal = graph.Index{U32: slices.Clone(c.NegativeLocal.U32)}
		c.NegativeLocal.U32[5] = 1000
		if err := st.Check(ctx); err == nil || !strings.Contains(err.Error(), "graph 0: found negative link with local id 1000, expected a node of type paper") {
			t.Errorf("found error %v", err)
		}
	}
}

// Labels of links count one more where the least is 0, and the last is the label of a negative.
func TestLabels(t *testing.T) {
	column := func(d graph.DType, values []byte, rows int, shape ...int) *graph.Column {
		return &graph.Column{Name: labelName, DType: d, Rows: rows, Shape: shape, Values: values}
	}
	for _, c := range []struct {
		name  string
		given *graph.Column
		ints  []int64
		float []float32
		err   string
	}{
		{name: "none", ints: []int64{0, 1}},
		{name: "from 0", given: column(graph.Int8, graph.Bytes([]int8{2, 0, 1}), 3), ints: []int64{3, 1, 2, 0}},
		{name: "from 1", given: column(graph.Uint16, graph.Bytes([]uint16{2, 1}), 2), ints: []int64{2, 1, 0}},
		{name: "below 0", given: column(graph.Int64, graph.Bytes([]int64{-1, 0}), 2), ints: []int64{-1, 0, 0}},
		{name: "bools", given: column(graph.Bool, []byte{1, 0}, 2), ints: []int64{2, 1, 0}},
		{name: "floats", given: column(graph.Float32, graph.Bytes([]float32{.5, 0}), 2), float: []float32{1.5, 1, 0}},
		{name: "no links", given: column(graph.Int32, nil, 0), ints: []int64{0}},
		{name: "vectors", given: column(graph.Int32, graph.Bytes([]int32{1, 2}), 1, 2), err: `column "label" of the links: found shape [2], expected one number per link`},
		{name: "texts", given: column(graph.String, nil, 0), err: "found dtype string, expected a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := labelColumn(c.given)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("found error %v, expected %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var d string
			if c.float != nil {
				d = cmp.Diff(c.float, graph.View[float32](got.Values))
			} else {
				d = cmp.Diff(c.ints, graph.View[int64](got.Values))
			}
			if d != "" || got.CheckOffsets() != nil {
				t.Error(d, got.CheckOffsets())
			}
		})
	}
}

// A label that the store holds in codes is refused beside negatives, whose label is 0, and is a feature of links alone.
func TestCodedLabel(t *testing.T) {
	made := features.NewFile(features.FitRows{})
	made.Edges["person:likes:person"] = &features.Type{Features: map[string]*features.Feature{labelName: {DType: "float32", Pieces: []features.Piece{{Column: "#label.0", Kind: features.PieceOneHot, Width: 40}}}}}
	opt := RecordsOptions{Features: widening.Of(made), SeedEdges: "person:likes:person", SeedColumns: []*graph.Column{{Name: "#label.0", DType: graph.Uint8, Rows: 2, Values: []byte{3, 7}}}}
	plan := everything("person", "person")
	n, err := newEncoding(friends(), plan, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if f := n.schema.NodeSets[tfgnn.ReadoutName].Features[labelName]; f.GetShape().GetDim()[0].GetSize() != 40 {
		t.Errorf("found the label %v, expected 40 numbers", f)
	}
	plan.Negatives = &sample.Negatives{Each: 1}
	if _, err := newEncoding(friends(), plan, &opt); err == nil || !strings.Contains(err.Error(), "found a feature that the store holds in codes, expected a number per link") {
		t.Errorf("found %v, expected an error of the label", err)
	}
}
