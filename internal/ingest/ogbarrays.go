package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/npz"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
)

// The files of OGB's large data sets: archives of .npy arrays. A graph of one type has one archive. A graph with
// several types has one archive per kind of array, with one member per type. MAG240M has a folder per type with .npy
// files.
const (
	npzSuffix      = ".npz"
	npzHomogeneous = "data.npz"
	npzEdges       = "edge_index_dict.npz"
	npzEdgeCounts  = "num_edges_dict.npz"
	npzNodeCounts  = "num_nodes_dict.npz"
	npzLabels      = "node-label.npz"

	magFolder = "processed"
)

// archive opens an archive in the folder.
func (d *raw) archive(file string) (*npz.Archive, error) {
	path := filepath.Join(d.dir, file)
	if err := d.inside(path); err != nil {
		return nil, err
	}
	a, err := d.o.arrays.Archive(path)
	if err != nil {
		return nil, arrayError(err)
	}
	if !slices.Contains(*d.files, path) {
		*d.files = append(*d.files, path)
	}
	return a, nil
}

// arrayError makes an error about the content of an archive an ErrSource.
func arrayError(err error) error {
	if errors.Is(err, npz.ErrFormat) || errors.Is(err, npy.ErrFormat) {
		return sourcef("%w", err)
	}
	return err
}

// array returns the name of an array of an archive, which it unpacks if necessary.
func (d *raw) array(ctx context.Context, a *npz.Archive, name string) (string, error) {
	path, err := d.o.arrays.Array(ctx, a.Path(), name)
	return path, arrayError(err)
}

// count returns the number that an array states for the only graph. one is false if there are several graphs.
func count(a *npz.Archive, name string) (n uint64, one bool, err error) {
	values, small, err := a.Int64s(name)
	switch {
	case err != nil:
		return 0, false, arrayError(err)
	case !small || len(values) != 1:
		return 0, false, nil
	case values[0] < 0:
		return 0, false, sourcef("%s:%s: found %d, expected the number of nodes or edges of a graph; download the data set again", a.Path(), name, values[0])
	}
	return uint64(values[0]), true, nil
}

// homogeneousArrays reads the arrays of data.npz and node-label.npz. It returns whether they belong to one graph.
func (g *ogbGraph) homogeneousArrays(ctx context.Context) (one bool, err error) {
	a, err := g.archive(npzHomogeneous)
	if err != nil {
		return false, err
	}
	const nodes, edges = "num_nodes_list", "num_edges_list"
	if !a.Has("edge_index") || !a.Has(nodes) {
		return false, sourcef("%s: found no arrays edge_index and num_nodes_list, expected the arrays of an OGB data set; name another format if it is none", a.Path())
	}
	n := &ogbType{name: graph.HomogeneousNode, says: a.Path() + ":" + nodes}
	if n.count, one, err = count(a, nodes); err != nil || !one {
		return one, err
	}
	e := &ogbType{name: graph.HomogeneousEdge.String()}
	g.nodes, g.edges = []*ogbType{n}, []*ogbType{e}
	if a.Has(edges) {
		e.says = a.Path() + ":" + edges
		if e.count, one, err = count(a, edges); err != nil || !one {
			return one, err
		}
	}
	if err := g.unpack(ctx, a, slices.DeleteFunc(slices.Clone(a.Names()), func(m string) bool {
		return m == nodes || m == edges || m != "edge_index" && !strings.HasPrefix(m, "node_") && !strings.HasPrefix(m, "edge_")
	})); err != nil {
		return true, err
	}
	for _, m := range a.Names() {
		switch {
		case m == "edge_index":
			err = g.pairs(ctx, a, m, e)
		case m == nodes || m == edges:
		case strings.HasPrefix(m, "edge_"):
			err = g.column(ctx, a, m, featName(m), e)
		case strings.HasPrefix(m, "node_"):
			err = g.column(ctx, a, m, featName(m), n)
		default:
			g.warn("%s: the array %q is left out: OGB's names start with node_ or edge_", a.Path(), m)
		}
		if err != nil {
			return true, err
		}
	}
	if slices.Contains(g.names, npzLabels) {
		g.label = true
		if a, err = g.archive(npzLabels); err == nil {
			err = g.column(ctx, a, "node_label", "label", n)
		}
	}
	return true, err
}

// unpack unpacks arrays side by side.
func (g *ogbGraph) unpack(ctx context.Context, a *npz.Archive, names []string) error {
	return arrayError(g.o.arrays.Unpack(ctx, a.Path(), names, g.o.Threads))
}

// pairs opens the ends of edges.
func (g *ogbGraph) pairs(ctx context.Context, a *npz.Archive, name string, e *ogbType) error {
	path, err := g.array(ctx, a, name)
	if err != nil {
		return err
	}
	e.ends, err = arrayfiles.OpenPairs(g.fsys, path)
	return err
}

// column adds an array as a column of a type.
func (g *ogbGraph) column(ctx context.Context, a *npz.Archive, array, name string, t *ogbType) error {
	path, err := g.array(ctx, a, array)
	if err != nil {
		return err
	}
	return g.addArray(path, name, t)
}

// addArray adds an .npy file as a column of a type.
func (g *ogbGraph) addArray(path, name string, t *ogbType) error {
	c := arrayfiles.NpyColumn{Name: name, Path: path}
	x, err := arrayfiles.OpenNpy(g.fsys, []arrayfiles.NpyColumn{c})
	if err != nil {
		return err
	}
	if t.says != "" && x.Rows() != t.count {
		return sourcef("%s: found %d rows, expected %d, as %s says; download the data set again", path, x.Rows(), t.count, t.says)
	}
	t.arrays = append(t.arrays, c)
	t.columns = append(t.columns, featureOf(x.Fields()[0]))
	return nil
}

// typedArrays reads the arrays of archives with one member per type.
func (g *ogbGraph) typedArrays(ctx context.Context) (one bool, err error) {
	counts, err := g.archive(npzNodeCounts)
	if err != nil {
		return false, err
	}
	for _, t := range counts.Names() {
		n := &ogbType{name: t, says: counts.Path() + ":" + t}
		if n.count, one, err = count(counts, t); err != nil || !one {
			return one, err
		}
		g.nodes = append(g.nodes, n)
	}
	edges, err := g.archive(npzEdges)
	if err != nil {
		return false, err
	}
	var numbers *npz.Archive
	if slices.Contains(g.names, npzEdgeCounts) {
		if numbers, err = g.archive(npzEdgeCounts); err != nil {
			return false, err
		}
	}
	if err := g.unpack(ctx, edges, edges.Names()); err != nil {
		return true, err
	}
	for _, r := range edges.Names() {
		parts := strings.Split(r, "___")
		if len(parts) != 3 {
			return true, sourcef("%s: found the array %q, expected SOURCE___RELATION___TARGET; rename it, or remove it from the folder", edges.Path(), r)
		}
		e := &ogbType{name: strings.Join(parts, ":")}
		if numbers != nil {
			e.says = numbers.Path() + ":" + r
			if e.count, one, err = count(numbers, r); err != nil || !one {
				return one, err
			}
		}
		if err := g.pairs(ctx, edges, r, e); err != nil {
			return true, err
		}
		g.edges = append(g.edges, e)
	}
	for _, file := range g.names {
		base, ok := strings.CutSuffix(file, npzSuffix)
		base = strings.TrimSuffix(base, "_dict")
		types := g.nodes
		name := featName(base)
		switch {
		case !ok || file == npzEdges || file == npzNodeCounts || file == npzEdgeCounts:
			continue
		case file == npzLabels:
			g.label, name = true, "label"
		case strings.HasPrefix(base, "edge_"):
			types = g.edges
		case !strings.HasPrefix(base, "node_"):
			continue
		}
		a, err := g.archive(file)
		if err == nil {
			err = g.unpack(ctx, a, a.Names())
		}
		if err != nil {
			return true, err
		}
		for _, m := range a.Names() {
			i := slices.IndexFunc(types, func(t *ogbType) bool { return strings.ReplaceAll(t.name, ":", "___") == m })
			if i < 0 {
				return true, sourcef("%s: found the array %q, expected one of the types of %s and %s", a.Path(), m, counts.Path(), edges.Path())
			}
			if err := g.column(ctx, a, m, name, types[i]); err != nil {
				return true, err
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

// isMAG240M recognises the folder of OGB-LSC's MAG240M.
func isMAG240M(names []string) bool {
	return slices.Contains(names, magFolder) && slices.Contains(names, "meta.pt") && !slices.Contains(names, rawDir)
}

// mag240M reads MAG240M: processed/TYPE/node_X.npy and processed/SOURCE___RELATION___TARGET/edge_index.npy. The number
// of nodes of a type without arrays is in a pickle, which is not read: it is the largest id + 1.
func (g *ogbGraph) mag240M() error {
	root, err := g.sub(magFolder)
	if err != nil {
		return err
	}
	folders, err := root.folders()
	if err != nil {
		return err
	}
	for _, d := range folders {
		name := filepath.Base(d.dir)
		t := &ogbType{name: name}
		parts := strings.Split(name, "___")
		if len(parts) == 3 {
			t.name = strings.Join(parts, ":")
			g.edges = append(g.edges, t)
		} else {
			g.nodes = append(g.nodes, t)
		}
		for _, file := range d.names {
			base, ok := strings.CutSuffix(file, ".npy")
			if !ok {
				continue
			}
			path := filepath.Join(d.dir, file)
			if err := d.inside(path); err != nil {
				return err
			}
			*g.files = append(*g.files, path)
			switch {
			case base == "edge_index":
				t.ends, err = arrayfiles.OpenPairs(g.fsys, path)
			case base == "node_label":
				g.label = true
				err = g.addArray(path, "label", t)
			default:
				err = g.addArray(path, featName(base), t)
			}
			if err != nil {
				return err
			}
		}
		if len(parts) == 3 && t.ends == nil {
			return sourcef("%s: found no edge_index.npy, expected the ends of edges; download the data set again", d.dir)
		}
	}
	for _, e := range g.edges {
		parts := strings.Split(e.name, ":")
		for _, of := range []string{parts[0], parts[2]} {
			if g.node(of) == nil {
				g.nodes = append(g.nodes, &ogbType{name: of})
			}
		}
	}
	if len(g.edges) == 0 {
		return sourcef("%s: found no folder SOURCE___RELATION___TARGET, expected the edges of MAG240M; download the data set again", root.dir)
	}
	return nil
}
