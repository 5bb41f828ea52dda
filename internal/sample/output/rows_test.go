package output

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// columnTable is columns in memory as the table of a type.
type columnTable struct {
	rows    int
	columns []*graph.Column
}

func (c *columnTable) Fields() (fields []table.Field) {
	for _, col := range c.columns {
		fields = append(fields, table.Field{Name: col.Name, DType: col.DType, Shape: col.Shape})
	}
	return fields
}
func (c *columnTable) Files() []string                   { return nil }
func (c *columnTable) Bytes() int64                      { return 1 }
func (c *columnTable) Where(row uint64, _ string) string { return fmt.Sprint("row ", row) }

func (c *columnTable) Scan(_ context.Context, columns []table.Column, _ int, fn func(int, *table.Chunk) error) (uint64, error) {
	chunk := table.Chunk{Rows: c.rows}
	for _, asked := range columns {
		col := graph.FindColumn(c.columns, asked.Name)
		v := table.Vector{Data: col.Values}
		for _, x := range col.Offsets {
			var lengths []uint32
			for i := range x.Len() - 1 {
				lengths = append(lengths, uint32(x.At(i+1)-x.At(i)))
			}
			v.Lengths = append(v.Lengths, lengths)
		}
		for i := range max(col.StringOffsets.Len()-1, 0) {
			v.Ends = append(v.Ends, uint32(col.StringOffsets.At(i+1)))
		}
		chunk.Columns = append(chunk.Columns, v)
	}
	return uint64(c.rows), fn(0, &chunk)
}

func tableColumns(columns []*graph.Column) (all []table.Column) {
	for _, c := range columns {
		if !strings.HasPrefix(c.Name, "#") {
			all = append(all, table.Column{Name: c.Name, DType: c.DType, Shape: c.Shape})
		}
	}
	return all
}

// savedStore is a graph as a store.
func savedStore(t testing.TB, g *graph.Graph) *store.Store {
	t.Helper()
	in := assemble.Input{}
	for _, n := range g.Nodes {
		nodes := assemble.Nodes{Type: n.Type, Count: uint64(n.Count)}
		if len(n.Columns) > 0 {
			nodes = assemble.Nodes{Type: n.Type, Table: &columnTable{n.Count, n.Columns}, Columns: tableColumns(n.Columns)}
		}
		in.Nodes = append(in.Nodes, nodes)
	}
	for _, e := range g.Edges {
		adj := e.Adj[graph.In]
		src, dst := make([]uint64, e.Count), make([]uint64, e.Count)
		for v := range adj.Indptr.Len() - 1 {
			for i := adj.Indptr.At(v); i < adj.Indptr.At(v+1); i++ {
				src[i], dst[i] = adj.Far.At(int(i)), uint64(v)
			}
		}
		ends := []*graph.Column{
			numbers("#src", graph.Uint64, e.Count, nil, func(i int) uint64 { return src[i] }),
			numbers("#dst", graph.Uint64, e.Count, nil, func(i int) uint64 { return dst[i] }),
		}
		in.Edges = append(in.Edges, assemble.Edges{Type: e.Type, Table: &columnTable{e.Count, append(ends, e.Columns...)}, Columns: tableColumns(e.Columns),
			Src: table.Column{Name: "#src", DType: graph.Uint64, ID: true}, Dst: table.Column{Name: "#dst", DType: graph.Uint64, ID: true}})
	}
	out := filepath.Join(t.TempDir(), "g.store")
	w := create(t, vfs.OS, out)
	result, err := assemble.Build(t.Context(), vfs.OS, w, in, assemble.Options{DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Both: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(t.Context(), result.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The TFRecords of the stream executor equal the memory executor's byte for byte, for any number of batches per
// window and rows per table.
func TestRowsAreThoseOfTheStore(t *testing.T) {
	stores := []*store.Store{savedStore(t, typed(1000)), savedStore(t, homogeneous(1000))}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 27 {
		scope, compat := sample.Scope(i%3), Compat(i/3%3)
		s, dir := stores[i/9%2], graph.Direction(r.IntN(2))
		types := []string{s.Graph.Nodes[r.IntN(2)%len(s.Graph.Nodes)].Type}
		links := compat == Own && i%2 == 0
		if links {
			types = append(types, types[0])
		}
		plan, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{4, 3}[:min(r.IntN(5), 2)]},
			sample.FanoutOptions{SeedType: types, Scope: scope, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if links {
			plan.Negatives, plan.Kind = &sample.Negatives{How: sample.Binary, Each: 2}, sample.Bidirectional
		}
		job := sample.Job{Seeds: seeds(100), BatchSize: 6 * (1 + r.IntN(2)), Seed: 3, Epochs: 1 + r.IntN(2), Shuffle: r.IntN(2) == 0, Threads: 2, Ranks: 1 + r.IntN(2)}
		opt := RecordsOptions{Shards: 2, Compat: compat, Components: 1}
		if scope == sample.ScopeSeed {
			opt.Components += r.IntN(3)
		}
		// This holds the rows of any batch, but of few batches together. A rank that is alone makes all seeds one
		// batch.
		stream := outofcore.Options{Threads: 1 + r.IntN(3), Window: 1 + r.IntN(9), Rows: 20_000}
		if scope == sample.ScopeSeed && job.Ranks == 1 {
			stream.Rows = 0
		}
		name := fmt.Sprintf("%s seeds, scope %s, direction %d, %d ops, compat %s, %+v, %+v", types, scope, dir, len(plan.Ops), compat, job, stream)
		want := recordsOf(t, s, plan, opt, job, nil)
		if got := recordsOf(t, s, plan, opt, job, &stream); !maps.Equal(got, want) {
			t.Errorf("%s: found other bytes than the memory executor's", name)
		}
		func() { // edges whose ids take 64 bits
			defer func(before int64) { limits.Positions = before }(limits.Positions)
			limits.Positions = 0
			for _, stream := range []*outofcore.Options{nil, &stream} {
				if got := recordsOf(t, s, plan, opt, job, stream); !maps.Equal(got, want) {
					t.Errorf("%s: found other bytes with wide edges, stream %t", name, stream != nil)
				}
			}
		}()
	}
}

// recordsOf is the files of a job, by the memory executor or, with stream, by the stream executor.
func recordsOf(t *testing.T, s *store.Store, plan *sample.Plan, opt RecordsOptions, job sample.Job, stream *outofcore.Options) map[string]string {
	t.Helper()
	var sampler *sample.Sampler
	if stream != nil {
		x, err := outofcore.Open(t.Context(), vfs.OS, s, plan, *stream)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}()
		opt.Stream, sampler = x, x.Sampler()
	} else {
		var err error
		if sampler, err = sample.New(s.Graph, plan, sample.Options{}); err != nil {
			t.Fatal(err)
		}
		defer sampler.Close()
	}
	opt.Examples = Examples(sampler, job, opt.Components) * uint64(job.Epochs-1)
	out := filepath.Join(t.TempDir(), "out")
	if err := writeRecords(t.Context(), vfs.OS, out, sampler, opt, job); err != nil {
		t.Fatal(err)
	}
	return files(t, out)
}
