package assemble

import (
	"fmt"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestAdded adds many nodes to tables with columns of all kinds, with so little memory that buckets of keys are
// split, and compares every byte with the build in memory.
func TestAdded(t *testing.T) {
	dir := t.TempDir()
	key := func(i int) cell { return cell{texts: []string{fmt.Sprint("node/", i)}} }
	nodes := &memTable{name: "n.csv", chunk: 7}
	others := &memTable{name: "o.csv", chunk: 5}
	edges := &memTable{name: "e.csv", chunk: 100}
	back := &memTable{name: "b.csv", chunk: 33, shuffle: 3}
	in := Input{
		Nodes: []Nodes{
			{Type: "n", Table: nodes, ID: table.Column{Name: "id", DType: graph.String}},
			{Type: "o", Table: others, ID: table.Column{Name: "id", DType: graph.Uint64}},
		},
		Edges: []Edges{
			{Type: graph.EdgeType{Src: "n", Rel: "r", Dst: "n"}, Table: edges, Src: table.Column{Name: "s", DType: graph.String}, Dst: table.Column{Name: "d", DType: graph.String}},
			{Type: graph.EdgeType{Src: "o", Rel: "r", Dst: "n"}, Table: back, Src: table.Column{Name: "s", DType: graph.Uint64}, Dst: table.Column{Name: "d", DType: graph.String}},
		},
	}
	columns := []table.Column{
		{Name: "vec", DType: graph.Float32, Shape: []int{2}}, {Name: "flag", DType: graph.Bool}, {Name: "text", DType: graph.String},
		{Name: "texts", DType: graph.String, Shape: []int{2}}, {Name: "list", DType: graph.Int16, Shape: []int{-1}}, {Name: "lists", DType: graph.String, Shape: []int{3, -1}}, {Name: "deep", DType: graph.Int8, Shape: []int{-1, 2, -1}},
	}
	cells := func(of func(i int) cell, rows int) []cell {
		list := make([]cell, rows)
		for i := range list {
			list[i] = of(i)
		}
		return list
	}
	const twice = 13 // a row with the same id as the first row
	nodes.add(in.Nodes[0].ID, cells(func(i int) cell { return key(i % twice * (i + 1)) }, 40))
	others.add(in.Nodes[1].ID, cells(id64, 25)) // ids that equal the row numbers
	for i := range in.Nodes {
		tab := []*memTable{nodes, others}[i]
		for _, c := range columns {
			tab.add(c, cells(func(r int) cell {
				x := zeroCell(c)
				for k := range x.data {
					x.data[k] = byte(r + k)
				}
				for k := range x.texts {
					x.texts[k] = fmt.Sprint(r, k)
				}
				return x
			}, tab.rows))
		}
		in.Nodes[i].Columns = columns
	}
	end := func(seed uint64, n uint64) func(i int) cell {
		return func(i int) cell { return key(int(mix(seed+uint64(i)) % n)) }
	}
	edges.add(in.Edges[0].Src, cells(end(1, 9000), 8000))
	edges.add(in.Edges[0].Dst, cells(end(2, 50), 8000))
	back.add(in.Edges[1].Src, cells(func(i int) cell { return id64(int(mix(uint64(i)) % 9000)) }, 3000))
	back.add(in.Edges[1].Dst, cells(end(3, 20000), 3000))
	for _, homogeneous := range []bool{false, true} {
		opt := Options{Primary: graph.Out, DanglingEdges: Zeros, DuplicateNodes: Drop, DuplicateEdges: Keep, SelfLoops: Keep, Homogeneous: homogeneous}
		o := &oracle{in: in, opt: opt}
		if bad := o.build(); bad != "" {
			t.Fatal(bad)
		}
		for _, work := range []int64{0, 4 << 10, 64 << 10} {
			opt.work, opt.Threads = work, 1+int(work>>12)%3
			got, res, err := build(t, vfs.OS, dir, in, opt)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(o.files, got); d != "" {
				t.Fatal(d)
			}
			for _, n := range res.Nodes {
				if x := o.nodes[n.Type]; n.Added != uint64(x.added) || n.Added < 2000 || n.Rows+n.Added != n.Count+n.Duplicates {
					t.Fatalf("%+v, want %d added", n, x.added)
				}
			}
		}
	}
}

// Nothing can be added to a table whose ids are its row numbers.
func TestAddedToRows(t *testing.T) {
	nodes, edges := &memTable{name: "n.csv"}, &memTable{name: "e.csv"}
	nodes.add(table.Column{Name: "x", DType: graph.Uint64}, []cell{id64(1), id64(2)})
	c := table.Column{Name: "s", DType: graph.Uint64}
	edges.add(c, []cell{id64(0), id64(2)})
	in := Input{Nodes: []Nodes{{Type: "n", Table: nodes}}, Edges: []Edges{{Type: graph.EdgeType{Src: "n", Rel: "r", Dst: "n"}, Table: edges, Src: c, Dst: c}}}
	_, _, err := build(t, vfs.OS, t.TempDir(), in, Options{DanglingEdges: Zeros, SelfLoops: Keep})
	const want = "e.csv:3: found source 2, expected an id of node type n, below 2: no node can be added to a table whose ids are its row numbers; give it a column of ids, or `DanglingEdges` drop"
	if err == nil || err.Error() != want {
		t.Fatalf("error %v, want %s", err, want)
	}
}

// The columns of the context are like columns of nodes.
func TestContext(t *testing.T) {
	tab := &memTable{name: "c.csv", chunk: 1, shuffle: 5}
	columns := []table.Column{{Name: "label", DType: graph.Int64}, {Name: "names", DType: graph.String, Shape: []int{-1}}}
	var labels, names []cell
	for i := range 9 {
		labels = append(labels, id64(i))
		names = append(names, cell{lengths: [][]uint32{{2}}, texts: []string{"a", fmt.Sprint(i)}})
	}
	tab.add(columns[0], labels)
	tab.add(columns[1], names)
	got, res, err := build(t, vfs.OS, t.TempDir(), Input{Context: &Context{Table: tab, Columns: columns}}, Options{Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{files: map[string][]byte{}}
	o.putColumn("context", "label", columns[0], labels)
	o.putColumn("context", "names", columns[1], names)
	if d := diff(o.files, got); d != "" {
		t.Fatal(d)
	}
	if c := res.Meta.Context; c == nil || c.Count != 9 || len(c.Columns) != 2 {
		t.Fatalf("%+v", c)
	}
}
