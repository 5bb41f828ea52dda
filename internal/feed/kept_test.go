//go:build unix

package feed

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ids are the kept nodes, ascending.
func (k *Kept) ids() (ids []uint32) {
	for i := range uint32(64 * len(k.words)) {
		if k.words[i/64]>>(i%64)&1 != 0 {
			ids = append(ids, i)
		}
	}
	return ids
}

// columnsByName are the columns of a batch that a maker has sampled.
func columnsByName(m *Maker) map[string][]byte {
	out := map[string][]byte{}
	for i, c := range m.columns {
		n := m.Rows(i) * m.RowBytes(i)
		out[c.info.Name] = graph.Bytes(make([]uint64, (n+7)/8))[:n]
		m.Fill(i, out[c.info.Name])
	}
	return out
}

// The kept rows and those of a batch, put together as place says, are the rows of the batch that leaves none out; all other columns are equal.
func TestKeptRows(t *testing.T) {
	s, narrowed := rowStore(t), map[string]bool{}
	rapid.Check(t, func(r *rapid.T) {
		p := sampletest.Plan(r, s.Graph)
		job := sampletest.Job(r, s.Graph, p)
		job.Rank, job.Ranks = 0, 0
		f := Features{Nodes: map[string][]string{"a": {"x"}, "b": {"x", "k"}}, Joined: []Joined{{Type: "a", Name: "both", Columns: partsOf([]string{"k", "x"})}}}
		m, err := sample.New(s.Graph, p, sample.Options{})
		if err != nil {
			r.Fatal(err)
		}
		defer m.Close()
		whole, err := NewSource(m, job, f, false)
		if err != nil {
			r.Fatal(err)
		}
		f.Kept, f.NarrowIDs = someKept(r, s.Graph), rapid.Bool().Draw(r, "narrow")
		less, err := NewSource(m, job, f, false)
		if err != nil {
			r.Fatal(err)
		}
		a, b := whole.Maker(), less.Maker()
		for number := range min(whole.Batches(), 3) {
			for _, maker := range []*Maker{a, b} {
				if _, err := maker.Batch(whole.Epoch(1), 1, number); err != nil {
					r.Fatal(err)
				}
			}
			want, got := columnsByName(a), columnsByName(b)
			for _, c := range b.columns {
				if name := c.info.Name; f.NarrowIDs && !strings.Contains(name, "/x/") && c.info.DType == "int32" {
					got[name] = graph.Bytes(wideIDs(got[name]))
					narrowed[name[strings.LastIndex(name, "/")+1:]] = true
				}
			}
			for i, c := range a.columns {
				name := c.info.Name
				if typ, of, is := strings.Cut(strings.TrimPrefix(name, "nodes/"), "/x/"); is && f.Kept[typ] != nil && strings.HasPrefix(name, "nodes/") {
					got[name] = together(r, f.Kept[typ], got, typ, of, a.RowBytes(i), rowsOfNodes(r, s.Graph, f, typ, of))
				}
				if !bytes.Equal(got[name], want[name]) {
					r.Fatalf("batch %d, column %s: found other bytes than without kept rows", number, name)
				}
			}
			if n := len(b.columns) - len(a.columns); n != 2*len(f.Kept) {
				r.Fatalf("found %d more columns, expected place and sent of %d types", n, len(f.Kept))
			}
		}
	})
	for _, name := range []string{"n_id", "batch", "place", "sent", "edge_index", "e_id"} {
		if !narrowed[name] {
			t.Errorf("found no column %s of int32 in any batch, expected some", name)
		}
	}
}

// wideIDs are ids of int32 as int64.
func wideIDs(b []byte) []int64 {
	var out []int64
	for _, x := range graph.View[int32](b) {
		out = append(out, int64(x))
	}
	return out
}

// together is the rows of a batch of which some are kept.
func together(r *rapid.T, k *Kept, got map[string][]byte, typ, of string, width int, all []byte) (rows []byte) {
	at := "nodes/" + typ + "/"
	place, sent, ids := int64s(got[at+"place"]), int64s(got[at+"sent"]), k.ids()
	n := 0
	for i, p := range place {
		if p < int64(len(ids)) {
			rows = append(rows, all[int(ids[p])*width:][:width]...)
			continue
		}
		if p != int64(len(ids)+n) || sent[n] != int64(i) {
			r.Fatalf("%s: found place %d and node %d for row %d of the batch, expected %d and %d", typ, p, sent[n], n, len(ids)+n, i)
		}
		rows = append(rows, got[at+"x/"+of][n*width:][:width]...)
		n++
	}
	if n != len(sent) {
		r.Fatalf("%s: found %d nodes whose rows are sent, expected %d", typ, len(sent), n)
	}
	return rows
}

// rowsOfNodes are all rows of a column of nodes.
func rowsOfNodes(r *rapid.T, g *graph.Graph, f Features, typ, of string) []byte {
	n := g.Nodes[g.NodeType(typ)]
	if c := graph.FindColumn(n.Columns, of); c != nil {
		return c.Values
	}
	ids := make([]uint32, n.Count)
	for v := range ids {
		ids[v] = uint32(v)
	}
	c, err := joinedOf(&tables{}, "", f.Joined[0], n.Columns, n.Count, func(*made) graph.Index { return graph.Index{U32: ids} }, nil)
	if err != nil {
		r.Fatal(err)
	}
	all := graph.Bytes(make([]uint64, (n.Count*c.width+7)/8))[:n.Count*c.width]
	c.write(all, &made{})
	return all
}

// A part of a large graph has few edges and positions of 2^31 and more in the whole input: e_id is int64 then, with the same numbers.
func TestNarrowPositions(t *testing.T) {
	for _, c := range []struct {
		largest uint32
		dtype   string
	}{{1<<31 - 1, "int32"}, {1 << 31, "int64"}, {1<<32 - 1, "int64"}} {
		e := &graph.Edges{Type: graph.EdgeType{Src: "n", Rel: "r", Dst: "n"}, Count: 2, Primary: graph.In,
			Columns: []*graph.Column{{Name: graph.PositionColumn, DType: graph.Uint32, Rows: 2, Values: graph.Bytes([]uint32{7, c.largest})}}}
		e.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: []uint32{0, 2, 2, 2}}, Far: graph.Index{U32: []uint32{1, 2}}}
		g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "n", Count: 3}}, Edges: []*graph.Edges{e}}
		p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{2}}, sample.FanoutOptions{SeedType: []string{"n"}, Scope: sample.ScopeBatch})
		if err != nil {
			t.Fatal(err)
		}
		m, err := sample.New(g, p, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		s, err := NewSource(m, sample.Job{BatchSize: 1, Seeds: []uint32{0}}, Features{NarrowIDs: true}, false)
		if err != nil {
			t.Fatal(err)
		}
		maker := s.Maker()
		if _, err := maker.Batch(s.Epoch(0), 0, 0); err != nil {
			t.Fatal(err)
		}
		ids := columnsByName(maker)["edges/n:r:n/e_id"]
		if i := slices.IndexFunc(s.Columns(), func(i ColumnInfo) bool { return i.Name == "edges/n:r:n/e_id" && i.DType == c.dtype }); i < 0 {
			t.Errorf("found no column e_id of %s in %v", c.dtype, s.Columns())
		}
		if c.dtype == "int32" {
			ids = graph.Bytes(wideIDs(ids))
		}
		if got := int64s(ids); len(got) != 2 || max(got[0], got[1]) != int64(c.largest) || min(got[0], got[1]) != 7 {
			t.Errorf("found ids %d, expected 7 and %d as %s", got, c.largest, c.dtype)
		}
	}
}

// A stream does not read the rows that are kept.
func TestKeptRowsAreNotRead(t *testing.T) {
	s := rowStore(t)
	p, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{4, 3}}, sample.FanoutOptions{SeedType: []string{"a"}, Scope: sample.ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	job := sample.Job{BatchSize: 64, Seed: 9, Seeds: []uint32{5, 900, 2900}}
	f := Features{Nodes: map[string][]string{"a": {"x"}}, NoEdgeIDs: true}
	var rows []int64
	for _, kept := range []bool{false, true} {
		if kept {
			ids := make([]uint32, 3000)
			for v := range ids {
				ids[v] = uint32(v)
			}
			k, err := NewKept(ids, len(ids))
			if err != nil {
				t.Fatal(err)
			}
			f.Kept = map[string]*Kept{"a": k}
		}
		_, stream, end, err := sources(vfs.OS, s, p, job, f, false, outofcore.Options{Threads: 1, Window: 2, Slots: 2, Epochs: 1})
		if err != nil {
			t.Fatal(err)
		}
		st, err := stream.NewStream(1)
		if err != nil {
			t.Fatal(err)
		}
		err = RunStream(t.Context(), st, Pass{Step: 1, End: 1, Epochs: 1}, func() int { return 0 },
			func(context.Context, int, *Maker, uint64, int, int) error { return nil }, func(int) error { return nil })
		rows = append(rows, st.Counts().Rows)
		if err := errors.Join(err, st.Close()); err != nil {
			t.Fatal(err)
		}
		end()
	}
	if rows[0] == 0 || rows[1] != 0 {
		t.Errorf("found %d bytes of rows without and %d with all rows kept, expected some and none", rows[0], rows[1])
	}
}

// Ages are of all nodes, also of those whose rows are kept.
func TestKeptAges(t *testing.T) {
	g := timed()
	for _, n := range g.Nodes {
		born := make([]int16, n.Count)
		for i := range born {
			born[i] = int16(i * 17 % 140)
		}
		n.Columns = append(n.Columns, &graph.Column{Name: "born", DType: graph.Int16, Rows: n.Count, Values: graph.Bytes(born)})
	}
	job := sample.Job{Seeds: []uint32{3, 1, 7, 30}, Times: []sample.Time{sample.IntTime(90), sample.IntTime(100), sample.IntTime(80), sample.IntTime(120)}}
	o := sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeSeed, Before: &sample.Before{Column: "time"}}
	f := Features{Nodes: map[string][]string{"user": {"born"}}, Ages: []Age{{"user", "born"}}}
	want := batchOf(t, planned(t, g, o, job, f), 2, 0)
	kept, err := NewKept([]uint32{1, 3, 5}, g.Nodes[g.NodeType("user")].Count)
	if err != nil {
		t.Fatal(err)
	}
	f.Kept = map[string]*Kept{"user": kept}
	got := batchOf(t, planned(t, g, o, job, f), 2, 0)
	if name := "nodes/user/x/age"; len(want[name]) == 0 || !bytes.Equal(got[name], want[name]) {
		t.Errorf("found ages %x, expected %x", got[name], want[name])
	}
	if n, all := len(got["nodes/user/x/born"]), len(want["nodes/user/x/born"]); n >= all {
		t.Errorf("found %d bytes of rows, expected fewer than %d", n, all)
	}
}

func TestKeptRefused(t *testing.T) {
	for _, c := range []struct {
		ids  []uint32
		want string
	}{
		{[]uint32{0, 5}, "found node 5, expected 0 to 4"},
		{[]uint32{2, 2}, "found node 2 after 2, expected ascending ids"},
		{[]uint32{2, 1}, "found node 1 after 2"},
	} {
		if _, err := NewKept(c.ids, 5); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: found %v, expected %q", c.ids, err, c.want)
		}
	}
}
