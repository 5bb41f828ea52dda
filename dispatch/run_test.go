package dispatch

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/partition/assign"
	"github.com/graphmill/graphmill/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// input is a random graph with its assignment, and the same as plain lists.
type input struct {
	g     *graph.Graph
	a     *assign.Assignment
	edges [][]pair // by edge type and edge id
}

type pair struct{ src, dst int }

// drawInput makes a typed graph: some types have no edges or nodes, some edge types
// are listed by source, some in both directions, some have wide ids.
func drawInput(t *rapid.T) *input {
	in := &input{g: &graph.Graph{}, a: &assign.Assignment{Parts: rapid.IntRange(1, 5).Draw(t, "parts"), Method: "random", Start: []uint64{0}}}
	types := rapid.IntRange(1, 3).Draw(t, "types")
	var total int
	for i := range types {
		n := &graph.Nodes{Type: fmt.Sprintf("t%d", i), Count: rapid.IntRange(0, 30).Draw(t, "nodes")}
		if rapid.Bool().Draw(t, "columns") {
			n.Columns = columns(n.Count, uint64(i+1), 9)
		}
		in.g.Nodes = append(in.g.Nodes, n)
		total += n.Count
		in.a.Types, in.a.Start = append(in.a.Types, n.Type), append(in.a.Start, uint64(total))
	}
	if rapid.Bool().Draw(t, "trainers") {
		in.a.Trainers = rapid.IntRange(1, 3).Draw(t, "trainers of a part")
	}
	for range total {
		k := max(in.a.Trainers, 1)
		x := rapid.IntRange(0, in.a.Parts*k-1).Draw(t, "part")
		in.a.Part = append(in.a.Part, uint16(x/k))
		if in.a.Trainers > 0 {
			in.a.Trainer = append(in.a.Trainer, uint16(x))
		}
	}
	relations := rapid.IntRange(0, 4).Draw(t, "relations")
	for i := range relations {
		src, dst := rapid.IntRange(0, types-1).Draw(t, "src"), rapid.IntRange(0, types-1).Draw(t, "dst")
		e := &graph.Edges{Type: graph.EdgeType{Src: in.g.Nodes[src].Type, Rel: fmt.Sprintf("r%d", i), Dst: in.g.Nodes[dst].Type}}
		if rapid.Bool().Draw(t, "out") {
			e.Primary = graph.Out
		}
		var list []pair
		if ns, nd := in.g.Nodes[src].Count, in.g.Nodes[dst].Count; ns > 0 && nd > 0 {
			list = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pair {
				return pair{rapid.IntRange(0, ns-1).Draw(t, "s"), rapid.IntRange(0, nd-1).Draw(t, "d")}
			}), 0, 60).Draw(t, "edges")
		}
		near := func(p pair) (int, int) {
			if e.Primary == graph.In {
				return p.dst, p.src
			}
			return p.src, p.dst
		}
		slices.SortStableFunc(list, func(a, b pair) int { x, _ := near(a); y, _ := near(b); return x - y })
		e.Count = len(list)
		count := [2]int{graph.In: in.g.Nodes[dst].Count, graph.Out: in.g.Nodes[src].Count}
		wide := rapid.Bool().Draw(t, "wide")
		e.Adj[e.Primary] = adjacency(list, count[e.Primary], e.Primary, false, wide)
		if rapid.Bool().Draw(t, "both") {
			e.Adj[1-e.Primary] = adjacency(list, count[1-e.Primary], 1-e.Primary, true, wide)
		}
		if rapid.Bool().Draw(t, "edge columns") {
			e.Columns = columns(e.Count, uint64(i+100), 9)
		}
		if rapid.Bool().Draw(t, "positions") {
			c := &graph.Column{Name: inputPosition, DType: graph.Uint32, Rows: e.Count}
			for j := range e.Count {
				c.Values = binary.LittleEndian.AppendUint32(c.Values, uint32((j*7+3)%max(e.Count, 1)))
			}
			e.Columns = append([]*graph.Column{c}, e.Columns...)
		}
		in.g.Edges, in.edges = append(in.g.Edges, e), append(in.edges, list)
	}
	return in
}

// adjacency lists the edges of each node from one end.
func adjacency(list []pair, nodes int, d graph.Direction, ids, wide bool) *graph.Adjacency {
	at := make([][]uint64, nodes) // edge ids
	for e, p := range list {
		near := p.src
		if d == graph.In {
			near = p.dst
		}
		at[near] = append(at[near], uint64(e))
	}
	ptr, far, id := []uint64{0}, []uint64{}, []uint64{}
	for _, es := range at {
		for _, e := range es {
			other := list[e].dst
			if d == graph.In {
				other = list[e].src
			}
			far, id = append(far, uint64(other)), append(id, e)
		}
		ptr = append(ptr, uint64(len(far)))
	}
	index := func(x []uint64) graph.Index {
		if wide {
			return graph.Index{U64: x}
		}
		y := make([]uint32, len(x))
		for i, v := range x {
			y[i] = uint32(v)
		}
		return graph.Index{U32: y}
	}
	a := &graph.Adjacency{Indptr: index(ptr), Far: index(far)}
	if ids {
		a.EdgeID = index(id)
	}
	return a
}

// columns are one of each width and kind, at most so many, with values that tell rows apart.
func columns(rows int, salt uint64, most int) []*graph.Column {
	var list []*graph.Column
	kinds := []graph.Column{
		{Name: "b", DType: graph.Bool}, {Name: "bf", DType: graph.BFloat16, Shape: []int{3}}, {Name: "d", DType: graph.Float64, Shape: []int{2}},
		{Name: "f", DType: graph.Float32}, {Name: "u16", DType: graph.Uint16, Shape: []int{2}}, {Name: "u32", DType: graph.Uint32}, {Name: "u64", DType: graph.Uint64},
		{Name: "wide", DType: graph.Int64, Shape: []int{70, 10}},
	}
	for _, c := range kinds[:min(most, len(kinds))] {
		c.Rows = rows
		c.Values = make([]byte, rows*c.RowBytes())
		for i := range c.Values {
			c.Values[i] = byte((uint64(i)*2654435761 + salt*97) >> 3)
			if c.DType == graph.Bool {
				c.Values[i] &= 1
			}
			if c.DType == graph.Uint64 && i%8 == 7 {
				c.Values[i] &= 0x7f
			}
		}
		list = append(list, &c)
	}
	if most <= len(kinds) {
		return list
	}
	list = append(list, &graph.Column{Name: "words", DType: graph.String, Rows: rows, StringOffsets: graph.Index{U64: make([]uint64, rows+1)}})
	return list
}

// reference is what the files must hold, by definition.
type reference struct {
	newNode  [][]int // by type and id
	newEdge  [][]int // by edge type and edge id
	partOf   [][]int
	parts    []refPart
	nodeMap  [][][2]int64
	edgeMap  [][][2]int64
	edgeType map[int][2]int // new edge id: type and edge id
}

type refPart struct {
	own, halo         []int // new ids of nodes
	ownEdge, haloEdge []int // new ids of edges
}

func newReference(in *input, opt Options) *reference {
	r := &reference{edgeType: map[int][2]int{}, nodeMap: make([][][2]int64, len(in.g.Nodes)), edgeMap: make([][][2]int64, len(in.g.Edges)), parts: make([]refPart, in.a.Parts)}
	for t, n := range in.g.Nodes {
		r.newNode = append(r.newNode, make([]int, n.Count))
		var parts []int
		for _, p := range in.a.Of(t) {
			parts = append(parts, int(p))
		}
		r.partOf = append(r.partOf, parts)
	}
	for _, list := range in.edges {
		r.newEdge = append(r.newEdge, make([]int, len(list)))
	}
	node, edge := 0, 0
	for p := range in.a.Parts {
		for t := range in.g.Nodes {
			first := node
			for v, q := range r.partOf[t] {
				if q == p {
					r.newNode[t][v] = node
					r.parts[p].own = append(r.parts[p].own, node)
					node++
				}
			}
			r.nodeMap[t] = append(r.nodeMap[t], [2]int64{int64(first), int64(node)})
		}
	}
	ends := func(e int) (int, int) {
		return in.g.NodeType(in.g.Edges[e].Type.Src), in.g.NodeType(in.g.Edges[e].Type.Dst)
	}
	for p := range in.a.Parts {
		for e, list := range in.edges {
			_, dt := ends(e)
			var ids []int
			for id, x := range list {
				if r.partOf[dt][x.dst] == p {
					ids = append(ids, id)
				}
			}
			slices.SortStableFunc(ids, func(a, b int) int { return r.newNode[dt][list[a].dst] - r.newNode[dt][list[b].dst] })
			first := edge
			for _, id := range ids {
				r.newEdge[e][id] = edge
				r.edgeType[edge] = [2]int{e, id}
				r.parts[p].ownEdge = append(r.parts[p].ownEdge, edge)
				edge++
			}
			r.edgeMap[e] = append(r.edgeMap[e], [2]int64{int64(first), int64(edge)})
		}
	}
	// The halo, hop by hop, over all edges as (source, destination) of new ids.
	type link struct{ src, dst, id int }
	var links []link
	for e, list := range in.edges {
		st, dt := ends(e)
		for id, x := range list {
			links = append(links, link{r.newNode[st][x.src], r.newNode[dt][x.dst], r.newEdge[e][id]})
		}
	}
	for p := range r.parts {
		own, reached, edges := map[int]bool{}, map[int]bool{}, map[int]bool{}
		for _, v := range r.parts[p].own {
			own[v] = true
		}
		isOwn := func(id int) bool { return slices.Contains(r.parts[p].ownEdge, id) }
		for _, x := range links {
			if own[x.dst] && !own[x.src] {
				reached[x.src] = true
			}
		}
		for range max(opt.Hops-1, 0) {
			more := map[int]bool{}
			for _, x := range links {
				if reached[x.dst] {
					edges[x.id] = true
					if !own[x.src] {
						more[x.src] = true
					}
				}
			}
			for v := range more {
				reached[v] = true
			}
		}
		for _, x := range links {
			if opt.Leaving && opt.Hops > 0 && own[x.src] && !own[x.dst] {
				edges[x.id] = true
				reached[x.dst] = true
			}
		}
		for v := range reached {
			r.parts[p].halo = append(r.parts[p].halo, v)
		}
		for e := range edges {
			if !isOwn(e) {
				r.parts[p].haloEdge = append(r.parts[p].haloEdge, e)
			}
		}
		slices.Sort(r.parts[p].halo)
		slices.Sort(r.parts[p].haloEdge)
	}
	return r
}

// dispatchTo runs a dispatch into a new folder.
func dispatchTo(fsys fsx.FS, dir string, in *input, opt Options) (*Report, error) {
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	p, err := Prepare(context.Background(), fsys, &store.Store{Graph: in.g, Dir: "in.store"}, in.a, w, opt)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	r, err := p.Run(context.Background())
	if err != nil {
		return nil, err
	}
	if f := p.Forecast(); f.PartsAtOnce >= in.a.Parts && f.Bytes != r.Bytes {
		return nil, fmt.Errorf("found a forecast of %d bytes, expected %d", f.Bytes, r.Bytes)
	}
	if err := w.Seal(context.Background(), nil, opt.Threads); err != nil {
		return nil, err
	}
	return r, w.Publish()
}

func TestPartsAreTheReference(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		opt := Options{
			GraphName: "g", Hops: rapid.IntRange(0, 3).Draw(t, "hops"), Leaving: rapid.Bool().Draw(t, "leaving"), PartIDs: rapid.Bool().Draw(t, "part ids"),
			OriginalNodes: true, OriginalEdges: true, Formats: dgl.Formats(rapid.IntRange(1, 7).Draw(t, "formats")), Threads: rapid.IntRange(1, 3).Draw(t, "threads"),
		}
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		defer os.RemoveAll(dir)
		report, err := dispatchTo(fsx.Unsynced{FS: fsx.OS}, dir, in, opt)
		if err != nil {
			t.Fatal(err)
		}
		check(t, dir, in, newReference(in, opt), opt, report)
	})
}

// i64s reads a slot.
func i64s(t *rapid.T, f fsx.File, a dgl.Array) []int {
	b := make([]byte, a.Size)
	if _, err := f.ReadAt(b, a.Offset); err != nil {
		t.Fatal(err)
	}
	var list []int
	for i := int64(0); i < a.Size; i += a.DType.Size() {
		switch a.DType {
		case dgl.Int64:
			list = append(list, int(binary.LittleEndian.Uint64(b[i:])))
		case dgl.Int32:
			list = append(list, int(binary.LittleEndian.Uint32(b[i:])))
		default:
			list = append(list, int(b[i]))
		}
	}
	return list
}

func equal(t *rapid.T, what string, got, want []int) {
	if !slices.Equal(got, want) {
		t.Fatalf("%s: found %v, expected %v", what, got, want)
	}
}

func check(t *rapid.T, dir string, in *input, ref *reference, opt Options, report *Report) {
	c, err := dgl.ReadConfig(fsx.OS, filepath.Join(dir, "g.json"), false)
	if err != nil {
		t.Fatal(err)
	}
	if c.HaloHops != opt.Hops || c.Method != "random" || c.GraphName != "g" {
		t.Fatalf("found %+v", c)
	}
	for i := range c.Nodes {
		if !slices.Equal(c.Nodes[i].Ranges, ref.nodeMap[i]) {
			t.Fatalf("node_map of %s: found %v, expected %v", c.Nodes[i].Name, c.Nodes[i].Ranges, ref.nodeMap[i])
		}
	}
	for i := range c.Edges {
		if !slices.Equal(c.Edges[i].Ranges, ref.edgeMap[i]) {
			t.Fatalf("edge_map of %s: found %v, expected %v", c.Edges[i].Name, c.Edges[i].Ranges, ref.edgeMap[i])
		}
	}
	var size int64
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if info, _ := e.Info(); !e.IsDir() && e.Name() != store.ManifestFile && e.Name() != store.ManifestSumFile {
			size += info.Size()
		}
		return nil
	})
	if report.Bytes != size {
		t.Fatalf("found %d bytes in the report, expected %d", report.Bytes, size)
	}
	for p := range ref.parts {
		checkGraph(t, filepath.Join(dir, c.Parts[p].Graph), in, ref, opt, p)
		checkRows(t, filepath.Join(dir, fmt.Sprintf("part%d", p)), in, ref, p)
	}
}

func checkGraph(t *rapid.T, name string, in *input, ref *reference, opt Options, p int) {
	f, err := dgl.OpenGraphs(fsx.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := f.Graph(0)
	if err != nil {
		t.Fatal(err)
	}
	part := ref.parts[p]
	nodes, edges := slices.Concat(part.own, part.halo), slices.Concat(part.ownEdge, part.haloEdge)
	local := map[int]int{}
	var nodeTypes, nodeParts, edgeTypes, innerNode, innerEdge, src, dst []int
	for i, v := range nodes {
		local[v] = i
		innerNode = append(innerNode, toInt(i < len(part.own)))
		for q := range ref.parts {
			for tt := range ref.nodeMap {
				if r := ref.nodeMap[tt][q]; int64(v) >= r[0] && int64(v) < r[1] {
					nodeTypes, nodeParts = append(nodeTypes, tt), append(nodeParts, q)
				}
			}
		}
	}
	for i, id := range edges {
		innerEdge = append(innerEdge, toInt(i < len(part.ownEdge)))
		e := ref.edgeType[id]
		edgeTypes = append(edgeTypes, e[0])
		x := in.edges[e[0]][e[1]]
		src = append(src, local[ref.newNode[in.g.NodeType(in.g.Edges[e[0]].Type.Src)][x.src]])
		dst = append(dst, local[ref.newNode[in.g.NodeType(in.g.Edges[e[0]].Type.Dst)][x.dst]])
	}
	get := func(find func(string) (dgl.Array, bool), name string, want []int) {
		a, ok := find(name)
		if !ok {
			t.Fatalf("part %d: found no %s", p, name)
		}
		equal(t, fmt.Sprintf("part %d %s", p, name), i64s(t, f, a), want)
	}
	nt, rel := &g.NodeTypes[0], &g.Relations[0]
	get(nt.Find, "_ID", nodes)
	get(rel.Find, "_ID", edges)
	get(nt.Find, "inner_node", innerNode)
	get(rel.Find, "inner_edge", innerEdge)
	if len(in.g.Nodes) != 1 || len(in.g.Edges) != 1 {
		get(nt.Find, "_TYPE", nodeTypes)
		get(rel.Find, "_TYPE", edgeTypes)
	}
	if opt.PartIDs {
		get(nt.Find, "part_id", nodeParts)
	}
	if rel.Formats() != opt.Formats {
		t.Fatalf("found formats %s, expected %s", rel.Formats(), opt.Formats)
	}
	if rel.COO != nil {
		equal(t, "coo src", i64s(t, f, rel.COO.Src), src)
		equal(t, "coo dst", i64s(t, f, rel.COO.Dst), dst)
	}
	rows := func(what string, r *dgl.Rows, key, other []int) {
		if r == nil {
			return
		}
		ptr, idx, ids := []int{0}, []int(nil), []int(nil)
		for v := range nodes {
			for e := range edges {
				if key[e] == v {
					idx, ids = append(idx, other[e]), append(ids, e)
				}
			}
			ptr = append(ptr, len(ids))
		}
		equal(t, what+" indptr", i64s(t, f, r.Indptr), ptr)
		equal(t, what+" indices", i64s(t, f, r.Indices), idx)
		equal(t, what+" edge ids", i64s(t, f, r.EdgeIDs), ids)
	}
	rows("csc", rel.CSC, dst, src)
	rows("csr", rel.CSR, src, dst)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkRows compares features and original ids, row by row.
func checkRows(t *rapid.T, dir string, in *input, ref *reference, p int) {
	node := map[int][2]int{}
	for tt := range ref.newNode {
		for v, id := range ref.newNode[tt] {
			node[id] = [2]int{tt, v}
		}
	}
	dict := func(name string) *dgl.Dict {
		d, err := dgl.OpenDict(fsx.OS, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	compare := func(file, typeName string, columns []*graph.Column, rows []int, trainers []uint16) {
		d := dict(file)
		defer d.Close()
		for _, c := range columns {
			a, ok := d.Find(typeName + "/" + c.Name)
			if c.DType == graph.String || c.Name == inputPosition {
				if ok {
					t.Fatalf("found %s in %s", a.Name, file)
				}
				continue
			}
			if !ok || a.Rows() != int64(len(rows)) || len(a.Shape) != 1+len(c.Shape) {
				t.Fatalf("%s/%s: found %v, expected %d rows of %v", typeName, c.Name, a.Shape, len(rows), c.Shape)
			}
			got := make([]byte, a.Size)
			if _, err := d.ReadAt(got, a.Offset); err != nil {
				t.Fatal(err)
			}
			var want []byte
			for _, row := range rows {
				b := c.Row(row)
				switch c.DType {
				case graph.Uint16:
					for ; len(b) > 0; b = b[2:] {
						want = append(want, b[0], b[1], 0, 0)
					}
				case graph.Uint32:
					for ; len(b) > 0; b = b[4:] {
						want = append(append(want, b[:4]...), 0, 0, 0, 0)
					}
				default:
					want = append(want, b...)
				}
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%s/%s of part %d: found other rows than expected", typeName, c.Name, p)
			}
		}
		if a, ok := d.Find(typeName + "/" + trainerID); ok != (trainers != nil) {
			t.Fatalf("%s: found trainers %v, expected %v", typeName, ok, trainers != nil)
		} else if ok {
			var want []int
			for _, x := range trainers {
				want = append(want, int(x))
			}
			equal(t, "trainer_id", i64s(t, d, a), want)
		}
	}
	orig := func(file, typeName string, want []int) {
		d := dict(file)
		defer d.Close()
		a, ok := d.Find(typeName)
		if !ok {
			t.Fatalf("%s: found no %s", file, typeName)
		}
		equal(t, file+" "+typeName, i64s(t, d, a), want)
	}
	for tt, n := range in.g.Nodes {
		var rows []int
		var trainers []uint16
		if in.a.Trainers > 0 {
			trainers = []uint16{}
		}
		for _, id := range ref.parts[p].own {
			if x := node[id]; x[0] == tt {
				rows = append(rows, x[1])
				if trainers != nil {
					trainers = append(trainers, in.a.TrainersOf(tt)[x[1]])
				}
			}
		}
		compare(nodeFeatFile, n.Type, n.Columns, rows, trainers)
		orig(origNodeFile, n.Type, rows)
	}
	for e, x := range in.g.Edges {
		var rows, ids []int
		var trainers []uint16
		if in.a.Trainers > 0 {
			trainers = []uint16{}
		}
		position := graph.FindColumn(x.Columns, inputPosition)
		for _, id := range ref.parts[p].ownEdge {
			y := ref.edgeType[id]
			if y[0] != e {
				continue
			}
			rows = append(rows, y[1])
			if position != nil {
				ids = append(ids, int(binary.LittleEndian.Uint32(position.Row(y[1]))))
			} else {
				ids = append(ids, y[1])
			}
			if trainers != nil {
				trainers = append(trainers, in.a.TrainersOf(in.g.NodeType(x.Type.Dst))[in.edges[e][y[1]].dst])
			}
		}
		compare(edgeFeatFile, x.Type.String(), x.Columns, rows, trainers)
		orig(origEdgeFile, x.Type.String(), ids)
	}
}
