package assemble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// files reads every file below dir.
func files(t interface{ Fatal(...any) }, dir string) map[string][]byte {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// build builds a store in a new folder and reads what was written.
func build(t interface{ Fatal(...any) }, fsys vfs.FS, dir string, in Input, opt Options) (map[string][]byte, *Result, error) {
	w, err := store.Create(vfs.OS, filepath.Join(dir, "store"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
	}()
	res, err := Build(context.Background(), fsys, w, in, opt)
	if err != nil {
		return nil, nil, err
	}
	return files(t, w.Dir()), res, nil
}

func id64(v int) cell { return cell{data: binary.LittleEndian.AppendUint64(nil, uint64(v))} }

// genColumn makes a column with random values.
func genColumn(t *rapid.T, tab *memTable, name string, rows int) table.Column {
	c := table.Column{Name: name, DType: rapid.SampledFrom([]graph.DType{graph.Float32, graph.Int64, graph.Uint8, graph.String}).Draw(t, "dtype")}
	switch rapid.IntRange(0, 6).Draw(t, "shape") {
	case 1:
		c.Shape = []int{3}
	case 2:
		c.Shape = []int{-1}
	case 3:
		c.Shape = []int{-1, 2}
	case 4:
		c.Shape = []int{2, -1}
	case 5:
		c.Shape = []int{-1, -1}
	case 6:
		c.Shape = []int{-1, 2, -1, 1}
	}
	cells := make([]cell, rows)
	for i := range cells {
		n := 1
		for _, d := range c.Shape {
			if d > 0 {
				n *= d
				continue
			}
			var lengths []uint32
			for range n {
				lengths = append(lengths, uint32(rapid.IntRange(0, 3).Draw(t, "length")))
			}
			cells[i].lengths = append(cells[i].lengths, lengths)
			n = 0
			for _, l := range lengths {
				n += int(l)
			}
		}
		for range n {
			if c.DType == graph.String {
				cells[i].texts = append(cells[i].texts, rapid.SampledFrom([]string{"", "a", "graph", "éé"}).Draw(t, "text"))
				continue
			}
			for range c.DType.Size() {
				cells[i].data = append(cells[i].data, rapid.Byte().Draw(t, "byte"))
			}
		}
	}
	tab.add(c, cells)
	return c
}

func genTable(t *rapid.T, name string) *memTable {
	return &memTable{name: name, chunk: rapid.IntRange(1, 40).Draw(t, "chunk"), shuffle: rapid.SampledFrom([]uint64{0, 0, 7}).Draw(t, "shuffle")}
}

// genInput makes a random graph.
func genInput(t *rapid.T) Input {
	var in Input
	types := []string{"b", "a", "c"}[:rapid.IntRange(1, 3).Draw(t, "types")]
	for _, typ := range types {
		n := Nodes{Type: typ}
		switch rapid.SampledFrom([]string{"keys", "integers", "rows", "row ids", "integer keys", "string keys", "count"}).Draw(t, "kind") {
		case "keys":
			n.ID.DType = graph.String
		case "integers":
			n.ID.DType = graph.Uint64
		case "count":
			n.ID.DType = graph.Uint64
			n.Count = uint64(rapid.IntRange(1, 9).Draw(t, "count"))
		case "rows":
			n.Table = genTable(t, typ+".csv")
		case "row ids":
			n.ID = table.Column{Name: "id", DType: graph.Uint64}
			n.Table = genTable(t, typ+".csv")
		case "integer keys":
			n.ID = table.Column{Name: "key", DType: graph.Uint64}
			n.Table = genTable(t, typ+".csv")
		case "string keys":
			n.ID = table.Column{Name: "id", DType: graph.String}
			n.Table = genTable(t, typ+".csv")
		}
		if tab, ok := n.Table.(*memTable); ok {
			rows := rapid.IntRange(0, 12).Draw(t, "nodes")
			ids := make([]cell, rows)
			for i := range ids {
				switch {
				case n.ID.DType == graph.String:
					ids[i] = cell{texts: []string{fmt.Sprint("n", rapid.IntRange(0, 30).Draw(t, "id"))}}
				case n.ID.Name == "key":
					ids[i] = id64(rapid.IntRange(0, 30).Draw(t, "id"))
				default:
					ids[i] = id64(i)
				}
			}
			c := n.ID
			if c.Name == "" {
				c = table.Column{Name: "id", DType: graph.Uint64}
			}
			tab.add(c, ids)
			for _, name := range []string{"x", "far", "ids"}[:rapid.IntRange(0, 3).Draw(t, "columns")] {
				n.Columns = append(n.Columns, genColumn(t, tab, name, rows))
			}
		}
		in.Nodes = append(in.Nodes, n)
	}
	for k := range rapid.IntRange(0, 3).Draw(t, "edge types") {
		sn := &in.Nodes[rapid.IntRange(0, len(types)-1).Draw(t, "src")]
		dn := &in.Nodes[rapid.IntRange(0, len(types)-1).Draw(t, "dst")]
		e := Edges{Type: graph.EdgeType{Src: sn.Type, Rel: []string{"r", "q", "s"}[k], Dst: dn.Type}}
		tab := genTable(t, e.Type.String()+".csv")
		rows := rapid.SampledFrom([]int{0, 5, 60, 200}).Draw(t, "edges")
		top := rapid.SampledFrom([]int{1, 8, 40}).Draw(t, "top")
		own := false
		if src, ok := sn.Table.(*memTable); ok && rapid.IntRange(0, 4).Draw(t, "own") == 0 {
			own, tab, rows = true, src, src.rows // the edge type is a foreign key of the node table
		}
		col := func(name string, n *Nodes) table.Column {
			c := table.Column{Name: fmt.Sprint(name, k), DType: graph.Uint64, ID: true}
			if n.ID.DType == graph.String {
				c.DType = graph.String
			}
			c.Empty = rapid.SampledFrom([]table.Empty{table.EmptyError, table.EmptyAbsent}).Draw(t, "empty")
			cells := make([]cell, rows)
			for i := range cells {
				v := rapid.IntRange(0, top).Draw(t, "end")
				cells[i] = id64(v)
				if c.DType == graph.String {
					cells[i] = cell{texts: []string{fmt.Sprint("n", v)}}
				}
				cells[i].absent = c.Empty == table.EmptyAbsent && rapid.IntRange(0, 5).Draw(t, "absent") == 0
			}
			tab.add(c, cells)
			return c
		}
		if !own {
			e.Src = col("src", sn)
		}
		e.Dst = col("dst", dn)
		if rapid.IntRange(0, 3).Draw(t, "where") == 0 {
			kind := make([]cell, rows)
			for i := range kind {
				kind[i].texts = []string{rapid.SampledFrom([]string{"x", "y"}).Draw(t, "kind")}
			}
			tab.add(table.Column{Name: fmt.Sprint("kind", k), DType: graph.String}, kind)
			e.Where = &Filter{Column: fmt.Sprint("kind", k), Value: "x"}
		}
		e.Symmetrise = sn == dn && rapid.Bool().Draw(t, "symmetrise")
		if !own {
			for _, name := range []string{"w", "indptr", "v"}[:rapid.IntRange(0, 3).Draw(t, "columns")] {
				e.Columns = append(e.Columns, genColumn(t, tab, name, rows))
			}
		}
		e.Table = tab
		in.Edges = append(in.Edges, e)
	}
	return in
}

func genOptions(t *rapid.T) Options {
	policy := func(name string, ps ...Policy) Policy { return rapid.SampledFrom(ps).Draw(t, name) }
	return Options{
		Primary:        rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(t, "primary"),
		Both:           rapid.Bool().Draw(t, "both"),
		Homogeneous:    rapid.IntRange(0, 2).Draw(t, "homogeneous") == 0,
		NoPositions:    rapid.IntRange(0, 3).Draw(t, "no positions") == 0,
		DanglingEdges:  policy("dangling", Drop, Drop, Drop, Zeros, Zeros, Zeros, Error),
		DuplicateNodes: policy("duplicate nodes", Drop, Drop, Error),
		DuplicateEdges: policy("duplicate edges", Keep, Drop, Keep, Drop, Error),
		SelfLoops:      policy("self-loops", Keep, Drop, Keep, Drop, Error),
	}
}

// TestBuild compares every byte of random graphs with the build in memory.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in, opt := genInput(t), genOptions(t)
		o := &oracle{in: in, opt: opt}
		bad := o.build()
		opt.Threads = rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "threads")
		opt.Memory = rapid.SampledFrom([]int64{0, 64 << 20, 256 << 20}).Draw(t, "memory")
		opt.work = rapid.SampledFrom([]int64{0, 4 << 10, 32 << 10, 1 << 20}).Draw(t, "work") // so small that everything is spilled and split
		opt.wide = rapid.IntRange(0, 3).Draw(t, "wide") == 0
		defer func(before int64) { limits.Positions = before }(limits.Positions)
		limits.Positions = rapid.SampledFrom([]int64{math.MaxUint32, 0, 6}).Draw(t, "positions") // more ids take 64 bits
		got, res, err := build(t, vfs.OS, dir, in, opt)
		narrowed(t, got)
		if bad != "" {
			// A homogeneous graph reads some tables early to count their nodes, so the error may name the first bad
			// row of another table.
			anyTable := opt.Homogeneous && len(in.Nodes) > 1
			if err == nil || !strings.Contains(err.Error(), bad) && !anyTable {
				t.Fatalf("error %v, want one about %s", err, bad)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(o.files, got); d != "" {
			t.Fatal(d)
		}
		for _, n := range res.Nodes {
			x := o.nodes[n.Type]
			if x.t != nil && n.Rows+n.Added != n.Count+n.Duplicates || int(n.Added) != x.added || int(n.Count) != x.count {
				t.Fatalf("%+v, want %d nodes, %d of them added", n, x.count, x.added)
			}
			if m := res.Meta.Nodes[n.Type]; m != nil && m.Added != x.added {
				t.Fatalf("graph.json says that %d nodes are added, want %d", m.Added, x.added)
			}
		}
	})
}

// narrowed turns lists of ids and offsets of 64 bits into lists of 32 bits. It checks that those with a number above
// limits.Positions had 64.
func narrowed(t *rapid.T, files map[string][]byte) {
	t.Helper()
	for name, b := range files {
		if strings.Contains(name, "/columns/") {
			continue
		}
		switch filepath.Base(name) {
		case "indptr.npy", "far.npy", "other_indptr.npy", "other_far.npy", "other_edge_id.npy", "#input_position.npy", "#type_wise_id.npy", "id_buckets.npy", "id_slots.npy":
		default:
			continue
		}
		h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		data := b[h.Offset:]
		if h.Descr == "u4" {
			for _, x := range graph.View[uint32](bytes.Clone(data)) {
				if int64(x) > limits.Positions {
					t.Fatalf("%s: found %d in 32 bits, expected 64 above %d", name, x, limits.Positions)
				}
			}
			continue
		}
		var list []int
		for _, x := range graph.View[uint64](bytes.Clone(data)) {
			list = append(list, int(x))
		}
		if b, err = npy.AppendHeader(nil, "u4", h.Shape); err != nil {
			t.Fatal(err)
		}
		files[name] = append(b, u32s(list...)...)
	}
}
