package dispatch

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dispatchTo runs a dispatch into a new folder.
func dispatchTo(fsys vfs.FS, dir string, in *input, opt Options) (*Report, error) {
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
		report, err := dispatchTo(vfs.Unsynced{FS: vfs.OS}, dir, in, opt)
		if err != nil {
			t.Fatal(err)
		}
		check(t, dir, in, newReference(in, opt), opt, report)
	})
}

// i64s reads a slot.
func i64s(t *rapid.T, f vfs.File, a dgl.Array) []int {
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
	c, err := dgl.ReadConfig(vfs.OS, filepath.Join(dir, "g.json"), false)
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
	checkTold(t, c, in, ref, report)
	for p := range ref.parts {
		checkGraph(t, filepath.Join(dir, c.Parts[p].Graph), in, ref, opt, p)
		checkRows(t, filepath.Join(dir, fmt.Sprintf("part%d", p)), in, ref, p)
	}
}

// rowsOf returns the number of rows of a type in all parts together, and in the part with the fewest.
func rowsOf(ranges [][2]int64) (all, least int64) {
	least = math.MaxInt64
	for _, r := range ranges {
		all, least = all+r[1]-r[0], min(least, r[1]-r[0])
	}
	return all, least
}

// checkTold checks that the configuration lists the bools, and that the report lists each type with features
// of which a part owns nothing.
func checkTold(t *rapid.T, c *dgl.Config, in *input, ref *reference, report *Report) {
	var bools, gaps []string
	look := func(name string, columns []*graph.Column, ranges [][2]int64) {
		all, least := rowsOf(ranges)
		if all == 0 {
			return
		}
		features := false
		for _, x := range columns {
			features = features || x.DType != graph.String && x.Name != graph.PositionColumn
			if x.DType == graph.Bool {
				bools = append(bools, name+"/"+x.Name)
			}
		}
		if features && least == 0 {
			gaps = append(gaps, name)
		}
	}
	for i, n := range in.g.Nodes {
		look(n.Type, n.Columns, ref.nodeMap[i])
	}
	for i, e := range in.g.Edges {
		look(e.Type.String(), e.Columns, ref.edgeMap[i])
	}
	if !slices.Equal(c.Bools, bools) {
		t.Fatalf("bool_features: found %q, expected %q", c.Bools, bools)
	}
	if len(report.Gaps) != len(gaps) {
		t.Fatalf("gaps: found %q, expected those of %q", report.Gaps, gaps)
	}
	for i, name := range gaps {
		if !strings.HasPrefix(report.Gaps[i], name+",") {
			t.Fatalf("gaps: found %q, expected %s", report.Gaps[i], name)
		}
	}
}

func checkGraph(t *rapid.T, name string, in *input, ref *reference, opt Options, p int) {
	f, err := dgl.OpenGraphs(vfs.OS, name)
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
		d, err := dgl.OpenDict(vfs.OS, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	compare := func(file, typeName string, columns []*graph.Column, ranges [][2]int64, rows []int, trainers []uint16) {
		d := dict(file)
		defer d.Close()
		all, least := rowsOf(ranges)
		if least == 0 {
			trainers = nil
		}
		for _, c := range columns {
			a, ok := d.Find(typeName + "/" + c.Name)
			if c.DType == graph.String || c.Name == graph.PositionColumn || all == 0 {
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
		compare(nodeFeatFile, n.Type, n.Columns, ref.nodeMap[tt], rows, trainers)
		orig(origNodeFile, n.Type, rows)
	}
	for e, x := range in.g.Edges {
		var rows, ids []int
		var trainers []uint16
		if in.a.Trainers > 0 {
			trainers = []uint16{}
		}
		position := graph.FindColumn(x.Columns, graph.PositionColumn)
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
		compare(edgeFeatFile, x.Type.String(), x.Columns, ref.edgeMap[e], rows, trainers)
		orig(origEdgeFile, x.Type.String(), ids)
	}
}
