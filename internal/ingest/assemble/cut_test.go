package assemble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// relations returns the edge types of a table with the columns head, relation, tail and w, and the same edge types with
// a table each.
func relations(r *rand.Rand, rows, kinds, chunk int, shuffle uint64) (cut, apart Input, whole *memTable) {
	head, tail := table.Column{Name: "head", DType: graph.String, ID: true}, table.Column{Name: "tail", DType: graph.String, ID: true}
	weight := table.Column{Name: "w", DType: graph.Float32}
	text := func(s string) cell { return cell{texts: []string{s}} }
	columns := []table.Column{head, {Name: "relation", DType: graph.String}, tail, weight}
	whole = &memTable{name: "t", chunk: chunk, shuffle: shuffle}
	all := make([][]cell, len(columns))
	each := make([][][]cell, kinds)
	for i := range each {
		each[i] = make([][]cell, len(columns))
	}
	for i := range rows {
		k := r.IntN(kinds + 1) // the last one has no edge type
		row := []cell{text(fmt.Sprint("n", r.IntN(rows))), text(fmt.Sprint("r", k)), text(strings.Repeat("x", r.IntN(9)+1)), {data: binary.LittleEndian.AppendUint32(nil, uint32(i))}}
		for c, x := range row {
			all[c] = append(all[c], x)
			if k < kinds {
				each[k][c] = append(each[k][c], x)
			}
		}
	}
	for c, column := range columns {
		whole.add(column, all[c])
	}
	cut.Nodes = []Nodes{{Type: "a", ID: table.Column{DType: graph.String}}}
	apart.Nodes = cut.Nodes
	for k := range kinds {
		part := &memTable{name: "t", chunk: chunk}
		for c, column := range columns {
			part.add(column, each[k][c])
		}
		e := Edges{Type: graph.EdgeType{Src: "a", Rel: fmt.Sprint("r", k), Dst: "a"}, Table: part, Src: head, Dst: tail, Columns: []table.Column{weight}}
		apart.Edges = append(apart.Edges, e)
		e.Table, e.Where = whole, &Filter{Column: "relation", Value: fmt.Sprint("r", k), Own: true}
		cut.Edges = append(cut.Edges, e)
	}
	return cut, apart, whole
}

// Edge types that are cut from a table equal edge types from tables of their own, at any number of threads, order of chunks and
// memory, and the table is read once.
func TestCut(t *testing.T) {
	tmp := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "random"), 0))
		cut, apart, whole := relations(r, rapid.IntRange(0, 300).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "kinds"), rapid.IntRange(1, 40).Draw(t, "chunk"), rapid.Uint64Range(0, 3).Draw(t, "shuffle"))
		opt := Options{Threads: rapid.IntRange(1, 4).Draw(t, "threads"), DuplicateEdges: Keep, SelfLoops: Keep}
		want, _, err := build(t, vfs.OS, tmp, apart, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, res, err := build(t, vfs.OS, tmp, cut, opt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if n := whole.scans.Load(); n != 1 {
			t.Errorf("found %d scans of the table, expected 1", n)
		}
		if res.Edges[0].Filtered != 0 || cut.Edges[0].Where == nil {
			t.Errorf("found %+v, expected no filtered rows, and the input as it was", res.Edges[0])
		}
	})
}

// Pieces of small tables go to the file and come back, and rows keep their places.
func TestCutPieces(t *testing.T) {
	cut, apart, _ := relations(rand.New(rand.NewPCG(1, 2)), 100_000, 3, 5000, 7)
	for i := range cut.Edges { // wide rows
		cut.Edges[i].Src.Name, apart.Edges[i].Src.Name = "tail", "tail"
	}
	opt := Options{Threads: 3, DuplicateEdges: Keep, SelfLoops: Keep, work: 16 << 20}
	want, _, err := build(t, vfs.OS, t.TempDir(), apart, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := build(t, vfs.OS, t.TempDir(), cut, opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("found another store than of tables of their own")
	}
}

// An error of a later step names the row in the table that was cut.
func TestCutPlace(t *testing.T) {
	text := func(list ...string) (cells []cell) {
		for _, s := range list {
			cells = append(cells, cell{texts: []string{s}})
		}
		return cells
	}
	id := func(name string) table.Column { return table.Column{Name: name, DType: graph.String, ID: true} }
	whole := &memTable{name: "t", chunk: 2}
	whole.add(id("head"), text("a", "b", "a", "c"))
	whole.add(table.Column{Name: "relation", DType: graph.String}, text("r", "s", "r", "s"))
	whole.add(id("tail"), text("b", "a", "c", "c"))
	in := Input{Nodes: []Nodes{{Type: "n", ID: table.Column{DType: graph.String}}}}
	for _, rel := range []string{"r", "s"} {
		in.Edges = append(in.Edges, Edges{Type: graph.EdgeType{Src: "n", Rel: rel, Dst: "n"}, Table: whole, Src: id("head"), Dst: id("tail"), Where: &Filter{Column: "relation", Value: rel, Own: true}})
	}
	_, _, err := build(t, vfs.OS, t.TempDir(), in, Options{DuplicateEdges: Keep, SelfLoops: Error})
	if err == nil || !strings.HasPrefix(err.Error(), "t:5: found an edge from a node to itself") {
		t.Errorf("found %v, expected an error about t:5", err)
	}
	whole.failAt = 2
	if _, _, err = build(t, vfs.OS, t.TempDir(), in, Options{}); err == nil || !strings.Contains(err.Error(), "t: failed") {
		t.Errorf("found %v, expected the error of the table", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b := &builder{fs: vfs.OS, opt: &Options{}, tmp: t.TempDir(), res: &Result{}, in: &in, budget: budget{threads: 2, work: 16 << 20}}
	whole.failAt = 0
	if err := b.cut(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that the context ended it", err)
	}
	if err := b.end(nil); err != nil {
		t.Error(err)
	}
}
