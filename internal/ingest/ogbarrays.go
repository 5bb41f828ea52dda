package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
)

// The files of OGB's large data sets: archives of .npy arrays. A graph of one type has one archive. A graph with
// several types has one archive per kind of array, with one member per type.
const (
	npzSuffix      = ".npz"
	npzHomogeneous = "data.npz"
	npzEdges       = "edge_index_dict.npz"
	npzNodeCounts  = "num_nodes_dict.npz"
)

// maxCounts bounds the bytes that are read of an array of counts. A longer array belongs to many graphs.
const maxCounts = 64 << 10

// arraysOf returns the graph of a folder of archives, or nil if it has many graphs. place is the file that shows the
// number of graphs.
func (d *raw) arraysOf(path string) (g *ogbGraph, place string, err error) {
	g = &ogbGraph{path: path}
	if slices.Contains(d.names, npzHomogeneous) {
		one, err := d.homogeneousArrays(g)
		if !one {
			g = nil
		}
		return g, npzHomogeneous, err
	}
	one, err := d.typedArrays(g)
	if !one {
		g = nil
	}
	return g, npzNodeCounts, err
}

// homogeneousArrays reads the arrays of data.npz and node-label.npz. It returns whether they belong to one graph.
func (d *raw) homogeneousArrays(g *ogbGraph) (one bool, err error) {
	members, err := d.members(npzHomogeneous)
	if err != nil {
		return false, err
	}
	if members["edge_index"] == nil || members["num_nodes_list"] == nil {
		return false, sourcef("%s: found no arrays edge_index and num_nodes_list, expected the arrays of an OGB data set; name another format if it is none", filepath.Join(d.dir, npzHomogeneous))
	}
	count, one, err := d.count(npzHomogeneous, members["num_nodes_list"])
	if err != nil || !one {
		return one, err
	}
	n := ogbType{name: graph.HomogeneousNode, count: count}
	e := ogbType{name: graph.HomogeneousEdge.String(), table: d.unpacked(g, npzHomogeneous, "edge_index")}
	for _, m := range sortedMembers(members) {
		to := &n.columns
		switch {
		case m == "edge_index":
			continue
		case strings.HasPrefix(m, "edge_"):
			to = &e.columns
		case !strings.HasPrefix(m, "node_"):
			continue
		}
		*to = append(*to, ogbColumn{name: featName(m), file: d.unpacked(g, npzHomogeneous, m)})
	}
	const labels = "node-label.npz"
	if slices.Contains(d.names, labels) {
		g.label = true
		n.columns = append(n.columns, ogbColumn{name: "label", file: d.unpacked(g, labels, "node_label")})
	}
	g.nodes, g.edges = []ogbType{n}, []ogbType{e}
	return true, nil
}

// typedArrays reads the arrays of archives with one member per type.
func (d *raw) typedArrays(g *ogbGraph) (one bool, err error) {
	counts, err := d.members(npzNodeCounts)
	if err != nil {
		return false, err
	}
	for _, t := range sortedMembers(counts) {
		n := ogbType{name: t}
		if n.count, one, err = d.count(npzNodeCounts, counts[t]); err != nil || !one {
			return one, err
		}
		g.nodes = append(g.nodes, n)
	}
	edges, err := d.members(npzEdges)
	if err != nil {
		return false, err
	}
	for _, r := range sortedMembers(edges) {
		parts := strings.Split(r, "___")
		if len(parts) != 3 {
			return false, sourcef("%s: found the array %q, expected SOURCE___RELATION___TARGET", filepath.Join(d.dir, npzEdges), r)
		}
		g.edges = append(g.edges, ogbType{name: strings.Join(parts, ":"), table: d.unpacked(g, npzEdges, r)})
	}
	for _, file := range d.names {
		base, ok := strings.CutSuffix(file, npzSuffix)
		base = strings.TrimSuffix(base, "_dict")
		types := g.nodes
		name := featName(base)
		switch {
		case !ok || file == npzEdges || file == npzNodeCounts:
			continue
		case base == "node-label":
			g.label, name = true, "label"
		case strings.HasPrefix(base, "edge_"):
			types = g.edges
		case !strings.HasPrefix(base, "node_"):
			continue
		}
		members, err := d.members(file)
		if err != nil {
			return false, err
		}
		for i := range types {
			t := &types[i]
			if m := strings.ReplaceAll(t.name, ":", "___"); members[m] != nil {
				t.columns = append(t.columns, ogbColumn{name: name, file: d.unpacked(g, file, m)})
			}
		}
	}
	return true, nil
}

// featName returns the name of a column: "feat" for features, and otherwise the array's.
func featName(array string) string {
	if array == "node_feat" || array == "edge_feat" {
		return "feat"
	}
	return array
}

// unpacked returns the name that a graph.yaml gives to a member of an archive, in the folder next to the archive into
// which it is unpacked.
func (d *raw) unpacked(g *ogbGraph, archive, member string) string {
	to := filepath.Join(d.dir, strings.TrimSuffix(archive, npzSuffix))
	command := fmt.Sprintf("python3 -m zipfile -e %s %s", quoteArgument(filepath.Join(d.dir, archive)), quoteArgument(to))
	if !slices.Contains(g.unpack, command) {
		g.unpack = append(g.unpack, command)
	}
	return d.name(g.path, filepath.Join(filepath.Base(to), member+".npy"))
}

// quoteArgument quotes a path for a shell where necessary.
func quoteArgument(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,=@%", r))
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// members returns the arrays of an archive, with the first maxCounts bytes of each.
func (d *raw) members(archive string) (arrays map[string]*member, err error) {
	path := filepath.Join(d.dir, archive)
	if err := d.inside(path); err != nil {
		return nil, err
	}
	f, err := d.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, sourcef("%s: %w; expected an archive of NumPy arrays", path, err)
	}
	arrays = map[string]*member{}
	for _, m := range z.File {
		name, ok := strings.CutSuffix(m.Name, ".npy")
		if !ok {
			continue
		}
		x := &member{size: m.UncompressedSize64}
		if x.size <= maxCounts {
			if x.bytes, err = readMember(m); err != nil {
				return nil, sourcef("%s: %s: %w", path, m.Name, err)
			}
		}
		arrays[name] = x
	}
	return arrays, nil
}

// member is an array of an archive, with its bytes if they are few.
type member struct {
	size  uint64
	bytes []byte
}

func readMember(m *zip.File) (b []byte, err error) {
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, maxCounts))
}

func sortedMembers(arrays map[string]*member) []string {
	var names []string
	for name := range arrays {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// count returns the number of nodes of the only graph. one is false if there are several graphs.
func (d *raw) count(archive string, m *member) (n uint64, one bool, err error) {
	if m.bytes == nil {
		return 0, false, nil
	}
	bad := func(err error) (uint64, bool, error) {
		return 0, false, sourcef("%s: numbers of nodes: %w", filepath.Join(d.dir, archive), err)
	}
	h, err := npy.Read(bytes.NewReader(m.bytes), int64(len(m.bytes)))
	if err != nil {
		return bad(err)
	}
	if h.Descr != "i8" && h.Descr != "u8" && h.Descr != "i4" {
		return bad(fmt.Errorf("found %s, expected int64", h.Descr))
	}
	if h.Values() != 1 {
		return 0, false, nil
	}
	for i, c := range m.bytes[h.Offset:] {
		n |= uint64(c) << (8 * i)
	}
	return n, true, nil
}
