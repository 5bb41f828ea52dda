package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// splitNames are the parts of a split. Their indices are the codes of a column split.
var splitNames = []string{"train", "valid", "test"}

var splitParts = func() *table.Categories {
	c := &table.Categories{}
	c.Set(splitNames)
	return c
}()

// splitBlock is the number of rows whose codes are made in memory at a time.
const splitBlock = 64 << 20

// splits adds the splits of a data set at path, which are in split/NAME, as columns. A split of nodes lists ids of
// nodes. One of links lists pairs of ends, which are no rows of the graph, since most of them are none of its edges: it
// is left out.
func (g *ogbGraph) splits(ctx context.Context, path string) error {
	if g.dir != path && filepath.Dir(g.dir) != path {
		return nil
	}
	root := &raw{fsys: g.fsys, dir: path, files: g.files, o: g.o}
	all, err := root.sub("split")
	if err != nil {
		return err
	}
	folders, err := all.folders()
	if err != nil {
		return err
	}
	for _, d := range folders {
		name := "split"
		if len(folders) > 1 {
			name += "_" + filepath.Base(d.dir)
		}
		if err := g.split(ctx, d, name); err != nil {
			return err
		}
	}
	if err := root.list(); err != nil {
		return err
	}
	if slices.Contains(root.names, "split_dict.pt") && len(folders) == 0 { // of MAG240M
		g.pickled(path, "split_dict.pt", filepath.Join(path, "split", "NAME", g.nodes[0].name))
	}
	return nil
}

// folders opens the folders in a folder.
func (d *raw) folders() (list []*raw, err error) {
	for _, name := range d.names {
		at := filepath.Join(d.dir, name)
		info, err := d.fsys.Stat(at)
		switch {
		case err != nil:
			return nil, err
		case !info.IsDir():
			continue
		}
		x, err := d.sub(name)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// seedTypes says what the node types of links are, where there is one type.
func (g *ogbGraph) seedTypes() string {
	if len(g.nodes) == 1 {
		return fmt.Sprintf(" (here %[1]s,%[1]s)", g.nodes[0].name)
	}
	return ""
}

func (g *ogbGraph) pickled(dir, file, to string) {
	if slices.Contains(splitNames, strings.TrimSuffix(file, ".pt")) { // pairs of ends
		g.warn("%s: not read: it is a pickle, which can run programs, with links; load it with torch.load, save them with numpy.save as an array of shape [links, 2], and give that as `Seeds`, with `SeedType` SOURCE,TARGET%s", filepath.Join(dir, file), g.seedTypes())
		return
	}
	g.warn("%s: not read: it is a pickle, which can run programs; load it with torch.load, and save its arrays with numpy.save as train.npy, valid.npy and test.npy in %s", filepath.Join(dir, file), to)
}

// split adds one split, which is in a folder, as columns of a name.
func (g *ogbGraph) split(ctx context.Context, d *raw, name string) error {
	typed := len(g.nodes) > 1 || g.nodes[0].name != graph.HomogeneousNode
	if !typed {
		return g.splitOf(ctx, d, name, g.nodes[0])
	}
	for _, n := range g.nodes {
		sub, err := d.sub(n.name)
		if err != nil {
			return err
		}
		if err := g.splitOf(ctx, sub, name, n); err != nil {
			return err
		}
	}
	for _, file := range d.names {
		if strings.HasSuffix(file, ".pt") && !slices.ContainsFunc(g.nodes, func(n *ogbType) bool { return slices.Contains(d.names, n.name) }) {
			g.pickled(d.dir, file, filepath.Join(d.dir, "TYPE"))
		}
	}
	return nil
}

// splitOf adds the split whose files are in a folder as a column of nodes.
func (g *ogbGraph) splitOf(ctx context.Context, d *raw, name string, n *ogbType) error {
	parts, err := g.splitParts(d)
	if err != nil {
		return err
	}
	if parts == [3]table.Table{} {
		for _, file := range d.names {
			if strings.HasSuffix(file, ".pt") {
				g.pickled(d.dir, file, d.dir)
			}
		}
		return nil
	}
	if n.says == "" && n.splits == nil {
		t, err := g.table(n)
		if err != nil {
			return err
		}
		a, ok := t.(*arrayfiles.Npy)
		if !ok { // only MAG240M has types without a stated number
			return sourcef("%s: found a split of %q, whose number of nodes no file says, expected a type with an array; remove the split, or add an array of the type", d.dir, n.name)
		}
		n.count = a.Rows()
	}
	path := filepath.Join(d.dir, name)
	err = g.o.arrays.New(path, "i1", []int{int(n.count)}, func(file vfs.File, offset int64) error {
		return writeSplit(ctx, parts, n.count, file, offset)
	})
	if err != nil {
		return err
	}
	n.arrays = append(n.arrays, arrayfiles.NpyColumn{Name: name, Path: path})
	n.columns = append(n.columns, table.Column{Name: name, DType: graph.Int32, Categories: splitParts})
	n.splits = append(n.splits, name)
	return nil
}

// splitParts opens the ids of the parts of a split in a folder; those that it does not have are nil.
func (g *ogbGraph) splitParts(d *raw) (parts [3]table.Table, err error) {
	for i, part := range splitNames {
		switch {
		case slices.Contains(d.names, part+ogbSuffix):
			parts[i], err = d.table(part+ogbSuffix, textfiles.CSVOptions{Names: []string{"id"}})
		case slices.Contains(d.names, part+".npy"):
			parts[i], err = d.ids(part + ".npy")
			if err == nil && parts[i] == nil {
				g.warn("%s: left out: it has pairs of ends, not ids of nodes; give it as `Seeds`, with `SeedType` SOURCE,TARGET%s", filepath.Join(d.dir, part+".npy"), g.seedTypes())
			}
		}
		if err != nil {
			return parts, err
		}
	}
	return parts, nil
}

// writeSplit writes the code of the part of each of count nodes to a file, from offset on; -1: in no part.
func writeSplit(ctx context.Context, parts [3]table.Table, count uint64, file vfs.File, offset int64) error {
	for from := uint64(0); from < count; from += splitBlock {
		codes := make([]int8, min(splitBlock, count-from))
		for i := range codes {
			codes[i] = -1
		}
		for code, t := range parts {
			if t == nil {
				continue
			}
			if err := mark(ctx, t, codes, from, count, int8(code)); err != nil {
				return err
			}
		}
		if _, err := file.WriteAt(graph.Bytes(codes), offset+int64(from)); err != nil {
			return err
		}
	}
	return nil
}

// ids opens an array of ids. It returns nil for an array of another shape.
func (d *raw) ids(file string) (table.Table, error) {
	path := filepath.Join(d.dir, file)
	if err := d.inside(path); err != nil {
		return nil, err
	}
	t, err := arrayfiles.OpenNpy(d.fsys, []arrayfiles.NpyColumn{{Name: "id", Path: path}})
	if err != nil {
		return nil, err
	}
	if len(t.Fields()[0].Shape) > 0 {
		return nil, nil
	}
	*d.files = append(*d.files, path)
	return t, nil
}

// mark gives the ids of a table a code. codes are the codes of the ids from a number on, of a type with count nodes.
func mark(ctx context.Context, t table.Table, codes []int8, from, count uint64, code int8) error {
	_, err := t.Scan(ctx, []table.Column{{Name: "id", DType: graph.Uint64}}, 1, func(_ int, c *table.Chunk) error {
		for i, id := range graph.View[uint64](c.Columns[0].Data)[:c.Rows] {
			if id >= count {
				return sourcef("%s: found node %d, expected less than %d, the number of nodes; download the split again", t.Where(c.First+uint64(i), "id"), id, count)
			}
			if id < from || id-from >= uint64(len(codes)) {
				continue
			}
			if old := codes[id-from]; old >= 0 && old != code {
				return sourcef("%s: found node %d, which is also in %s, expected each node in one of %s; download the split again", t.Where(c.First+uint64(i), "id"), id, splitNames[old], strings.Join(splitNames, ", "))
			}
			codes[id-from] = code
		}
		return nil
	})
	return err
}
