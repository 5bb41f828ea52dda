package audit

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// made is a typed graph and its division. The parts are written by the definitions of docs/format-dgl.md, in
// the simplest way.
type made struct {
	nodeTypes []string
	counts    []int
	edgeTypes []madeEdges
	part      [][]int // of each node of each type
	parts     int
	hops      int
	leaving   bool
	formats   dgl.Formats
	originals int // 0: none; 1: in the parts; 2: next to the configuration
	owner     bool
}

type madeEdges struct {
	name     string
	src, dst int // node types
	ends     [][2]int
}

// id is a node or edge: its type and its original id.
type id struct{ typ, id int }

func (m *made) typed() bool { return len(m.nodeTypes) > 1 || len(m.edgeTypes) > 1 }

// numbered gives new ids to the nodes or edges: by part, type and original id.
func numbered(parts int, counts []int, part func(x id) int) (order []id, ranges [][][2]int64) {
	ranges = make([][][2]int64, len(counts))
	for p := range parts {
		for t, n := range counts {
			first := int64(len(order))
			for i := range n {
				if part(id{t, i}) == p {
					order = append(order, id{t, i})
				}
			}
			ranges[t] = append(ranges[t], [2]int64{first, int64(len(order))})
		}
	}
	return order, ranges
}

// write writes the parts to a folder and returns the configuration's name.
func (m *made) write(t testing.TB, dir string) string {
	t.Helper()
	nodeOf := func(x id) int { return m.part[x.typ][x.id] }
	ends := func(x id) (src, dst id) {
		e := &m.edgeTypes[x.typ]
		return id{e.src, e.ends[x.id][0]}, id{e.dst, e.ends[x.id][1]}
	}
	edgeOf := func(x id) int { _, dst := ends(x); return nodeOf(dst) }
	edgeCounts := make([]int, len(m.edgeTypes))
	for i, e := range m.edgeTypes {
		edgeCounts[i] = len(e.ends)
	}
	nodes, nodeRanges := numbered(m.parts, m.counts, nodeOf)
	edges, edgeRanges := numbered(m.parts, edgeCounts, edgeOf)
	newNode, newEdge := map[id]int64{}, map[id]int64{}
	for i, x := range nodes {
		newNode[x] = int64(i)
	}
	for i, x := range edges {
		newEdge[x] = int64(i)
	}
	c := &dgl.Config{GraphName: "made", Method: "test", HaloHops: m.hops}
	for i, n := range m.nodeTypes {
		c.Nodes = append(c.Nodes, dgl.TypeRanges{Name: n, Ranges: nodeRanges[i]})
	}
	for i, e := range m.edgeTypes {
		c.Edges = append(c.Edges, dgl.TypeRanges{Name: e.name, Ranges: edgeRanges[i]})
	}
	for p := range m.parts {
		d := fmt.Sprintf("part%d", p)
		c.Parts = append(c.Parts, dgl.PartFiles{NodeFeats: d + "/node_feat.dgl", EdgeFeats: d + "/edge_feat.dgl", Graph: d + "/graph.dgl"})
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		var local []id // nodes
		at := map[id]int{}
		add := func(x id) bool {
			if _, ok := at[x]; ok {
				return false
			}
			at[x] = len(local)
			local = append(local, x)
			return true
		}
		for _, x := range nodes {
			if nodeOf(x) == p {
				add(x)
			}
		}
		owned := len(local)
		in := map[id]bool{}
		var own, halo []id
		for _, e := range edges {
			if edgeOf(e) == p {
				own, in[e] = append(own, e), true
			}
		}
		var front []id
		for _, e := range own {
			if src, _ := ends(e); add(src) {
				front = append(front, src)
			}
		}
		for range m.hops - 1 {
			var next []id
			for _, e := range edges {
				if src, dst := ends(e); slices.Contains(front, dst) && !in[e] {
					in[e] = true
					if add(src) {
						next = append(next, src)
					}
				}
			}
			front = next
		}
		if m.leaving {
			for _, e := range edges {
				if src, dst := ends(e); nodeOf(src) == p && !in[e] {
					in[e] = true
					add(dst)
				}
			}
		}
		for _, e := range edges {
			if in[e] && edgeOf(e) != p {
				halo = append(halo, e)
			}
		}
		m.writeGraph(t, filepath.Join(dir, d, "graph.dgl"), p, local, owned, append(own, halo...), len(own), at, newNode, newEdge, nodeOf, ends)
		m.writeRows(t, filepath.Join(dir, d, "node_feat.dgl"), m.nodeTypes, local[:owned])
		var names []string
		for _, e := range m.edgeTypes {
			names = append(names, e.name)
		}
		m.writeRows(t, filepath.Join(dir, d, "edge_feat.dgl"), names, own)
		if m.originals == 1 {
			writeIDs(t, filepath.Join(dir, d, "orig_nids.dgl"), m.nodeTypes, local[:owned])
			writeIDs(t, filepath.Join(dir, d, "orig_eids.dgl"), names, own)
		}
		if m.originals == 2 && p == 0 {
			writeIDs(t, filepath.Join(dir, "orig_nids.dgl"), m.nodeTypes, nodes)
			writeIDs(t, filepath.Join(dir, "orig_eids.dgl"), names, edges)
		}
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "made.json")
	if err := os.WriteFile(name, c.JSON(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func (m *made) writeGraph(t testing.TB, name string, p int, local []id, owned int, edges []id, own int, at map[id]int, newNode, newEdge map[id]int64, nodeOf func(id) int, ends func(id) (id, id)) {
	s := dgl.GraphSpec{Nodes: int64(len(local)), Edges: int64(len(edges)), Formats: m.formats}
	data := map[string][]byte{}
	tensor := func(list *[]dgl.Tensor, prefix, name string, dtype dgl.DType, n int, value func(i int) int64) {
		*list = append(*list, dgl.Tensor{Name: name, DType: dtype, Shape: []int64{int64(n)}})
		data[prefix+name] = integers(dtype, n, value)
	}
	flag := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	tensor(&s.NodeData, "ndata/", "_ID", dgl.Int64, len(local), func(i int) int64 { return newNode[local[i]] })
	tensor(&s.NodeData, "ndata/", "inner_node", dgl.Uint8, len(local), func(i int) int64 { return flag(i < owned) })
	tensor(&s.EdgeData, "edata/", "_ID", dgl.Int64, len(edges), func(i int) int64 { return newEdge[edges[i]] })
	tensor(&s.EdgeData, "edata/", "inner_edge", dgl.Uint8, len(edges), func(i int) int64 { return flag(i < own) })
	if m.owner {
		tensor(&s.NodeData, "ndata/", "part_id", dgl.Int64, len(local), func(i int) int64 { return int64(nodeOf(local[i])) })
	}
	if m.typed() {
		tensor(&s.NodeData, "ndata/", "_TYPE", dgl.Int32, len(local), func(i int) int64 { return int64(local[i].typ) })
		tensor(&s.EdgeData, "edata/", "_TYPE", dgl.Int32, len(edges), func(i int) int64 { return int64(edges[i].typ) })
	}
	src := func(i int) int { s, _ := ends(edges[i]); return at[s] }
	dst := func(i int) int { _, d := ends(edges[i]); return at[d] }
	data["coo/src"] = integers(dgl.Int64, len(edges), func(i int) int64 { return int64(src(i)) })
	data["coo/dst"] = integers(dgl.Int64, len(edges), func(i int) int64 { return int64(dst(i)) })
	rows := func(name string, row, col func(i int) int) {
		var order []int
		indptr := []int{0}
		for r := range local {
			for i := range edges {
				if row(i) == r {
					order = append(order, i)
				}
			}
			indptr = append(indptr, len(order))
		}
		data[name+"/indptr"] = integers(dgl.Int64, len(indptr), func(i int) int64 { return int64(indptr[i]) })
		data[name+"/indices"] = integers(dgl.Int64, len(order), func(i int) int64 { return int64(col(order[i])) })
		data[name+"/eids"] = integers(dgl.Int64, len(order), func(i int) int64 { return int64(order[i]) })
	}
	rows("csr", src, dst)
	rows("csc", dst, src)
	for i, f := range []dgl.Formats{dgl.COO, dgl.CSR, dgl.CSC} {
		if m.formats&f == 0 {
			for _, a := range [][]string{{"coo/src", "coo/dst"}, {"csr/indptr", "csr/indices", "csr/eids"}, {"csc/indptr", "csc/indices", "csc/eids"}}[i] {
				delete(data, a)
			}
		}
	}
	writeLayout(t, name, dgl.GraphLayout(s), data)
}

// integers returns n values of a dtype.
func integers(dtype dgl.DType, n int, value func(i int) int64) []byte {
	var b []byte
	for i := range n {
		b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(value(i)))[:dtype.Size()]...)
	}
	return b
}

func writeLayout(t testing.TB, name string, l *dgl.Layout, data map[string][]byte) {
	t.Helper()
	f, err := vfs.OS.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := l.WriteLiterals(f); err != nil {
		t.Fatal(err)
	}
	for slot, b := range data {
		s := l.Slot(slot)
		if int64(len(b)) != s.Size {
			t.Fatalf("%s: found %d bytes of %s, expected %d", name, len(b), slot, s.Size)
		}
		if _, err := f.WriteAt(b, s.Offset); err != nil {
			t.Fatal(err)
		}
	}
}

// feature is the feature of a node or edge: a row of two values.
func feature(x id) []byte {
	return integers(dgl.Int16, 2, func(i int) int64 { return int64(100*x.typ + 7*x.id + i) })
}

func (m *made) writeRows(t testing.TB, name string, types []string, list []id) {
	var tensors []dgl.Tensor
	data := map[string][]byte{}
	for k, typ := range types {
		var b []byte
		for _, x := range list {
			if x.typ == k {
				b = append(b, feature(x)...)
			}
		}
		tensors = append(tensors, dgl.Tensor{Name: typ + "/x", DType: dgl.Int16, Shape: []int64{int64(len(b)) / 4, 2}})
		data[typ+"/x"] = b
	}
	writeLayout(t, name, dgl.DictLayout(tensors), data)
}

func writeIDs(t testing.TB, name string, types []string, list []id) {
	var tensors []dgl.Tensor
	data := map[string][]byte{}
	for k, typ := range types {
		var ids []int64
		for _, x := range list {
			if x.typ == k {
				ids = append(ids, int64(x.id))
			}
		}
		tensors = append(tensors, dgl.Tensor{Name: typ, DType: dgl.Int64, Shape: []int64{int64(len(ids))}})
		data[typ] = integers(dgl.Int64, len(ids), func(i int) int64 { return ids[i] })
	}
	writeLayout(t, name, dgl.DictLayout(tensors), data)
}

// store returns the graph in memory, with edges listed by destination. With positions, the edge ids of the
// parts are input positions.
func (m *made) store() *graph.Graph {
	g := &graph.Graph{}
	for i, n := range m.nodeTypes {
		var values []byte
		for k := range m.counts[i] {
			values = append(values, feature(id{i, k})...)
		}
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: n, Count: m.counts[i], Columns: []*graph.Column{
			{Name: "x", DType: graph.Int16, Shape: []int{2}, Rows: m.counts[i], Values: values}}})
	}
	for i, e := range m.edgeTypes {
		of, _ := graph.ParseEdgeType(e.name)
		out := &graph.Edges{Type: of, Count: len(e.ends)}
		indptr, far := []uint32{0}, []uint32{}
		var values []byte
		var positions []uint32
		for v := range m.counts[e.dst] {
			for k, x := range e.ends {
				if x[1] == v {
					far = append(far, uint32(x[0]))
					positions = append(positions, uint32(k))
					values = append(values, feature(id{i, k})...)
				}
			}
			indptr = append(indptr, uint32(len(far)))
		}
		out.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
		out.Columns = []*graph.Column{
			{Name: graph.PositionColumn, DType: graph.Uint32, Rows: len(far), Values: graph.Bytes(positions)},
			{Name: "x", DType: graph.Int16, Shape: []int{2}, Rows: len(far), Values: values},
		}
		g.Edges = append(g.Edges, out)
	}
	g.Sort()
	return g
}
