package assemble

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// oracle builds in memory, as the documentation specifies. Its result is the content of every file, or the table row
// that the error names.
type oracle struct {
	in    Input
	opt   Options
	files map[string][]byte
	types []string
	nodes map[string]*oracleNodes
}

type oracleNodes struct {
	n      *Nodes
	t      *memTable
	keyed  bool
	ids    map[string]int
	rowID  []int // per table row: the id; -1: dropped
	kept   []int // rows that become nodes
	added  int   // number of nodes after them
	texts  []string
	count  int
	known  bool
	offset int
}

type oracleEdge struct {
	src, dst  int
	part, row int
}

func u32s(vs ...int) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func (o *oracle) put(name, descr string, shape []int, data []byte) {
	h, err := npy.AppendHeader(nil, descr, shape)
	if err != nil {
		panic(err)
	}
	o.files[name] = append(h, data...)
}

func u64le(vs []uint64) []byte { return graph.Bytes(vs) }

// putColumn writes the cells of a column.
func (o *oracle) putColumn(dir, name string, c table.Column, cells []cell) {
	base := dir + "/" + store.FileName(name)
	var data []byte
	strs := []uint64{0}
	rows := make([][]uint64, dimensions(&c))
	for k := range rows {
		rows[k] = []uint64{0}
	}
	for _, x := range cells {
		for k, lengths := range x.lengths {
			for _, n := range lengths {
				rows[k] = append(rows[k], rows[k][len(rows[k])-1]+uint64(n))
			}
		}
		for _, s := range x.texts {
			data = append(data, s...)
			strs = append(strs, uint64(len(data)))
		}
		if c.DType != graph.String {
			data = append(data, x.data...)
		}
	}
	shape := append([]int{len(cells)}, c.Shape...)
	k := 0
	for i, d := range c.Shape {
		if d == -1 {
			name := base + ".row_offsets.npy"
			if k > 0 {
				name = fmt.Sprintf("%s.%d.row_offsets.npy", base, k+1)
			}
			o.put(name, "u8", []int{len(rows[k])}, u64le(rows[k]))
			shape = append([]int{int(rows[k][len(rows[k])-1])}, c.Shape[i+1:]...)
			k++
		}
	}
	if c.DType == graph.String {
		o.put(base+".string_offsets.npy", "u8", []int{len(strs)}, u64le(strs))
		o.put(base+".npy", "u1", []int{len(data)}, data)
		return
	}
	o.put(base+".npy", store.Descr(c.DType), shape, data)
}

// zeroCell returns the cell of an added node.
func zeroCell(c table.Column) (x cell) {
	n := 1
	for _, d := range c.Shape {
		if d > 0 {
			n *= d
			continue
		}
		x.lengths = append(x.lengths, make([]uint32, n))
		n = 0
	}
	if c.DType == graph.String {
		x.texts = make([]string, n)
	} else {
		x.data = make([]byte, n*c.DType.Size())
	}
	return x
}

// keyOf returns a cell of an id column as a key.
func keyOf(c table.Column, x cell) string {
	if c.DType == graph.String {
		return x.texts[0]
	}
	return string(x.data)
}

func (o *oracle) build() (bad string) {
	o.files, o.nodes = map[string][]byte{}, map[string]*oracleNodes{}
	for i := range o.in.Nodes {
		n := &o.in.Nodes[i]
		x := &oracleNodes{n: n, ids: map[string]int{}}
		o.nodes[n.Type] = x
		o.types = append(o.types, n.Type)
		x.keyed = n.ID.DType == graph.String
		if n.Table == nil {
			x.known, x.count = n.Count > 0, int(n.Count)
			continue
		}
		x.t, x.known = n.Table.(*memTable), true
	}
	sort.Strings(o.types)
	for _, typ := range o.types {
		if bad := o.keys(o.nodes[typ]); bad != "" {
			return bad
		}
	}
	o.appear()
	parts := make([]int, len(o.in.Edges))
	for i := range parts {
		parts[i] = i
	}
	name := func(i int) string { return o.in.Edges[i].Type.String() }
	sort.Slice(parts, func(i, j int) bool { return name(parts[i]) < name(parts[j]) })
	edges := make([][]oracleEdge, len(parts))
	for k, i := range parts {
		if edges[k], bad = o.edges(k, &o.in.Edges[i]); bad != "" {
			return bad
		}
		if !o.opt.Homogeneous { // called here only for its error: the numbers of nodes may still grow
			if bad := o.adjacency(o.in.Edges[i].Type, parts[k:k+1], edges[k:k+1], k); bad != "" {
				return bad
			}
		}
	}
	at := 0
	for _, typ := range o.types {
		if o.opt.Homogeneous {
			o.nodes[typ].offset = at
			at += o.nodes[typ].count
		}
	}
	if !o.opt.Homogeneous {
		for k, i := range parts {
			if bad := o.adjacency(o.in.Edges[i].Type, parts[k:k+1], edges[k:k+1], k); bad != "" {
				return bad
			}
		}
		for _, typ := range o.types {
			o.writeNodes(typ, []*oracleNodes{o.nodes[typ]})
		}
		return ""
	}
	if len(o.types) == 0 {
		return ""
	}
	var all []*oracleNodes
	for _, typ := range o.types {
		all = append(all, o.nodes[typ])
	}
	o.writeNodes("_N", all)
	return o.adjacency(graph.HomogeneousEdge, parts, edges, 0)
}

func (o *oracle) keys(x *oracleNodes) string {
	if x.t == nil {
		return ""
	}
	id := x.n.ID
	if id.Name != "" && id.DType == graph.Uint64 {
		for r, c := range x.t.cells[id.Name] {
			x.keyed = x.keyed || binary.LittleEndian.Uint64(c.data) != uint64(r)
		}
		x.keyed = x.keyed || o.opt.DanglingEdges == Zeros
	}
	for r := range x.t.rows {
		if x.keyed {
			key := keyOf(id, x.t.cells[id.Name][r])
			if _, ok := x.ids[key]; ok {
				if o.opt.DuplicateNodes == Error {
					return x.t.Where(uint64(r), "")
				}
				x.rowID = append(x.rowID, -1)
				continue
			}
			x.ids[key] = len(x.kept)
			x.texts = append(x.texts, key)
		}
		x.rowID = append(x.rowID, len(x.kept))
		x.kept = append(x.kept, r)
	}
	x.count = len(x.kept)
	return ""
}

// rowOut says whether a row gives no edge because it is filtered or absent.
func rowOut(e *Edges, r int) bool {
	t := e.Table.(*memTable)
	if e.Where != nil && t.cells[e.Where.Column][r].texts[0] != e.Where.Value {
		return true
	}
	for _, c := range []table.Column{e.Src, e.Dst} {
		if c.Name != "" && t.cells[c.Name][r].absent {
			return true
		}
	}
	return false
}

func (o *oracle) appear() {
	for i := range o.in.Edges {
		e := &o.in.Edges[i]
		t := e.Table.(*memTable)
		for r := range t.rows {
			if rowOut(e, r) {
				continue
			}
			for k, c := range []table.Column{e.Src, e.Dst} {
				x := o.nodes[[]string{e.Type.Src, e.Type.Dst}[k]]
				if !x.keyed || c.Name == "" || x.t != nil && o.opt.DanglingEdges != Zeros {
					continue
				}
				key := keyOf(c, t.cells[c.Name][r])
				if _, ok := x.ids[key]; !ok {
					x.ids[key] = x.count
					x.texts = append(x.texts, key)
					x.count++
					if x.t != nil {
						x.added++
					}
				}
			}
		}
	}
	for _, x := range o.nodes {
		x.known = x.known || x.keyed
	}
}

func (o *oracle) edges(part int, e *Edges) (list []oracleEdge, bad string) {
	t := e.Table.(*memTable)
	resolve := func(x *oracleNodes, c table.Column, r int) (id int, absent bool) {
		if c.Name == "" {
			if x.t == t {
				return x.rowID[r], x.rowID[r] < 0
			}
			id = r
		} else if x.keyed {
			if id, ok := x.ids[keyOf(c, t.cells[c.Name][r])]; ok {
				return id, false
			}
			return -1, false
		} else {
			id = int(binary.LittleEndian.Uint64(t.cells[c.Name][r].data))
		}
		if x.known && id >= x.count {
			return -1, false
		}
		return id, false
	}
	for r := range t.rows {
		if rowOut(e, r) {
			continue
		}
		sn, dn := o.nodes[e.Type.Src], o.nodes[e.Type.Dst]
		s, sa := resolve(sn, e.Src, r)
		d, da := resolve(dn, e.Dst, r)
		if sa || da {
			continue
		}
		if s < 0 || d < 0 {
			if o.opt.DanglingEdges != Drop {
				return nil, t.Where(uint64(r), "")
			}
			continue
		}
		if sn == dn && s == d && o.opt.SelfLoops != Keep {
			if o.opt.SelfLoops == Error {
				return nil, t.Where(uint64(r), "")
			}
			continue
		}
		list = append(list, oracleEdge{s, d, part, r})
		if e.Symmetrise && s != d {
			list = append(list, oracleEdge{d, s, part, r})
		}
		for k, x := range []*oracleNodes{sn, dn} {
			if !x.known {
				x.count = max(x.count, []int{s, d}[k]+1)
			}
		}
	}
	return list, ""
}

func (o *oracle) commonColumns(lists [][]table.Column) []table.Column {
	var cols []table.Column
	for _, c := range lists[0] {
		all := true
		for _, l := range lists {
			all = all && slices.ContainsFunc(l, func(x table.Column) bool {
				return x.Name == c.Name && x.DType == c.DType && slices.Equal(x.Shape, c.Shape)
			})
		}
		if all {
			cols = append(cols, c)
		}
	}
	return cols
}

// adjacency writes one edge type. first is the number of its first part.
func (o *oracle) adjacency(typ graph.EdgeType, parts []int, lists [][]oracleEdge, first int) (bad string) {
	count := func(name string) int {
		if o.opt.Homogeneous {
			n := 0
			for _, x := range o.nodes {
				n += x.count
			}
			return n
		}
		return o.nodes[name].count
	}
	near, far := count(typ.Near(o.opt.Primary)), count(typ.Far(o.opt.Primary))
	type edge struct {
		near, far int
		oracleEdge
	}
	var all []edge
	seen := map[[2]int]bool{}
	for k, list := range lists {
		e := &o.in.Edges[parts[k]]
		for _, x := range list {
			y := edge{x.dst + o.nodes[e.Type.Dst].offset, x.src + o.nodes[e.Type.Src].offset, x}
			if o.opt.Primary == graph.Out {
				y.near, y.far = y.far, y.near
			}
			if o.opt.DuplicateEdges != Keep && seen[[2]int{y.near, y.far}] {
				if o.opt.DuplicateEdges == Error {
					return e.Table.Where(uint64(x.row), "")
				}
				continue
			}
			all = append(all, y)
			seen[[2]int{y.near, y.far}] = true
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].near < all[j].near })
	dir := store.EdgesDir(typ)
	var fars, pos, kinds []byte
	degree := make([]int, near+1)
	for _, e := range all {
		fars = append(fars, u32s(e.far)...)
		pos = append(pos, u32s(e.row)...)
		kinds = append(kinds, byte(e.part-first))
		degree[e.near+1]++
	}
	for i := range near {
		degree[i+1] += degree[i]
	}
	o.put(dir+"/indptr.npy", "u4", []int{near + 1}, u32s(degree...))
	o.put(dir+"/far.npy", "u4", []int{len(all)}, fars)
	if !o.opt.NoPositions {
		o.put(dir+"/#input_position.npy", "u4", []int{len(all)}, pos)
	}
	if o.opt.Homogeneous {
		o.put(dir+"/#type.npy", "u1", []int{len(all)}, kinds)
	}
	var cols [][]table.Column
	for _, i := range parts {
		cols = append(cols, o.in.Edges[i].Columns)
	}
	if len(parts) > 0 {
		for _, c := range o.commonColumns(cols) {
			var cells []cell
			for _, e := range all {
				cells = append(cells, o.in.Edges[parts[e.part-first]].Table.(*memTable).cells[c.Name][e.row])
			}
			o.putColumn(store.ColumnDir(dir, c.Name), c.Name, c, cells)
		}
	}
	if !o.opt.Both {
		return ""
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return all[order[i]].far < all[order[j]].far })
	var others []byte
	degree = make([]int, far+1)
	for _, i := range order {
		others = append(others, u32s(all[i].near)...)
		degree[all[i].far+1]++
	}
	for i := range far {
		degree[i+1] += degree[i]
	}
	o.put(dir+"/other_indptr.npy", "u4", []int{far + 1}, u32s(degree...))
	o.put(dir+"/other_far.npy", "u4", []int{len(all)}, others)
	o.put(dir+"/other_edge_id.npy", "u4", []int{len(all)}, u32s(order...))
	return ""
}

func (o *oracle) writeNodes(typ string, xs []*oracleNodes) {
	dir := store.NodesDir(typ)
	var cols [][]table.Column
	tables := true
	keyed := true
	n := 0
	for _, x := range xs {
		cols = append(cols, x.n.Columns)
		tables = tables && x.t != nil
		keyed = keyed && x.keyed && (x.t != nil || len(xs) == 1) && x.n.ID.DType == xs[0].n.ID.DType
		n += x.count
	}
	if tables {
		for _, c := range o.commonColumns(cols) {
			var cells []cell
			for _, x := range xs {
				for _, r := range x.kept {
					cells = append(cells, x.t.cells[c.Name][r])
				}
				for range x.added {
					cells = append(cells, zeroCell(c))
				}
			}
			o.putColumn(store.ColumnDir(dir, c.Name), c.Name, c, cells)
		}
	}
	if o.opt.Homogeneous {
		var kinds, ids []byte
		for k, x := range xs {
			for i := range x.count {
				kinds = append(kinds, byte(k))
				ids = append(ids, u32s(i)...)
			}
		}
		o.put(dir+"/#type.npy", "u1", []int{n}, kinds)
		o.put(dir+"/#type_wise_id.npy", "u4", []int{n}, ids)
	}
	if !keyed {
		return
	}
	var cells []cell
	for _, x := range xs {
		for _, s := range x.texts {
			if x.n.ID.DType == graph.String {
				cells = append(cells, cell{texts: []string{s}})
			} else {
				cells = append(cells, cell{data: []byte(s)})
			}
		}
	}
	o.putColumn(dir, idsName(make([]*nodeType, len(xs))), table.Column{DType: xs[0].n.ID.DType}, cells)
	if len(xs) > 1 {
		return
	}
	bits := store.BucketBits(n)
	lists := make([][]int, 1<<bits)
	for id, s := range xs[0].texts {
		b := store.Bucket(store.HashID([]byte(s)), bits)
		lists[b] = append(lists[b], id)
	}
	ends, slots := []int{0}, []int{}
	for _, l := range lists {
		slots = append(slots, l...)
		ends = append(ends, len(slots))
	}
	o.put(dir+"/id_buckets.npy", "u4", []int{len(ends)}, u32s(ends...))
	o.put(dir+"/id_slots.npy", "u4", []int{n}, u32s(slots...))
}

// diff describes where two sets of files differ.
func diff(want, got map[string][]byte) string {
	var out []string
	for name, b := range want {
		if g, ok := got[name]; !ok {
			out = append(out, name+" is missing")
		} else if !slices.Equal(b, g) {
			at := 0
			for at < min(len(b), len(g)) && b[at] == g[at] {
				at++
			}
			out = append(out, fmt.Sprintf("%s: %d bytes, want %d; differs from byte %d: %x, want %x", name, len(g), len(b), at, g[at:min(len(g), at+32)], b[at:min(len(b), at+32)]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is not expected")
		}
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}
