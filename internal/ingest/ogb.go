package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ogbDataset is an OGB data set, or its raw folder: text files without headers, compressed with gzip, or archives of
// arrays. The files say its level. A data set of graphs, which has graph-label, or several graphs, is a collection; the
// ends of its edges count from the first node of their graph. A data set of nodes, which has node-label, or of links,
// which has neither, has one graph, which is a store.
//
// Undirected data sets have each edge once; Options.Symmetrise puts the reverse after each edge, as OGB does when it
// reads them.
type ogbDataset struct{}

const (
	ogbEdges      = "edge.csv.gz"
	ogbNodeCounts = "num-node-list.csv.gz"
	ogbEdgeCounts = "num-edge-list.csv.gz"
	ogbSuffix     = ".csv.gz"
	ogbLabels     = "graph-label.csv.gz"
	ogbNodeLabels = "node-label.csv.gz"
	// Present only for graphs with several types.
	ogbNodeDict = "num-node-dict.csv.gz"
	ogbTriplets = "triplet-type-list.csv.gz"
)

func (ogbDataset) name() string { return "ogb" }
func (ogbDataset) about() string {
	return "a folder with edge.csv.gz and num-node-list.csv.gz, or with data.npz, or with a folder raw that has them"
}
func (ogbDataset) becomes() string {
	return "a store of the one graph of nodes or links, or a collection, with features, labels and splits"
}
func (ogbDataset) detect(_ string, names []string) bool {
	has := func(file string) bool { return slices.Contains(names, file) }
	return has(ogbEdges) && has(ogbNodeCounts) || has(ogbNodeDict) && has(ogbTriplets) || has(npzHomogeneous) || has(npzEdges) && has(npzNodeCounts) || isMAG240M(names)
}

func (ogbDataset) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString {
		return nil, usagef("found string ids with an OGB data set, expected integer ids, which it has")
	}
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with an OGB data set, expected the counts in its files")
	}
	d, err := openRaw(fsys, path, o)
	if err != nil {
		return nil, err
	}
	has := func(file string) bool { return slices.Contains(d.names, file) }
	g := &ogbGraph{raw: d}
	one := true
	switch {
	case has(ogbNodeCounts) && has(ogbLabels):
		one = false
	case has(ogbNodeCounts), has(ogbTriplets):
		one, err = g.text(ctx)
	case has(npzHomogeneous):
		one, err = g.homogeneousArrays(ctx)
	case has(npzNodeCounts):
		one, err = g.typedArrays(ctx)
	case isMAG240M(d.names):
		err = g.mag240M()
	default:
		err = sourcef("%s: found none of the files of an OGB data set, expected %s; give the folder raw of the data set, or its parent", path, ogbDataset{}.about())
	}
	if err != nil {
		return nil, err
	}
	if one {
		return g.source(ctx, path)
	}
	if !has(ogbNodeCounts) {
		return nil, sourcef("%s: found many graphs, expected one, or OGB's text layout of many graphs of one type; read the graphs with OGB, save their arrays with numpy.save, and list those in a graph.yaml with the key graphs", d.dir)
	}
	return d.graphs(ctx, path)
}

// graphs opens a data set at path of many graphs.
func (d *raw) graphs(ctx context.Context, path string) (*Source, error) {
	*d.files = nil
	edges, err := d.table(ogbEdges, textfiles.CSVOptions{Names: []string{"src", "dst"}})
	if err != nil {
		return nil, err
	}
	counts := func(file string) (s collection.Split, err error) {
		s.Kind, s.Column = collection.Counts, "count"
		s.Table, err = d.table(file, textfiles.CSVOptions{Names: []string{"count"}})
		return s, err
	}
	nodes := collection.Nodes{Type: graph.HomogeneousNode}
	if nodes.Split, err = counts(ogbNodeCounts); err != nil {
		return nil, err
	}
	edge := collection.Edges{Type: graph.HomogeneousEdge, Rows: collection.Rows{Table: edges}, Src: "src", Dst: "dst"}
	if edge.Split, err = counts(ogbEdgeCounts); err != nil {
		return nil, err
	}
	in := &collection.Input{}
	for _, file := range d.names {
		base, ok := strings.CutSuffix(file, ogbSuffix)
		if !ok {
			continue
		}
		// Other files have the names of their columns: node_species.
		switch {
		case file == ogbLabels:
			err = d.add(ctx, &in.Context, file, "label", true)
		case base == "node-feat":
			err = d.add(ctx, &nodes.Tables, file, "feat", false)
		case file == ogbNodeLabels:
			err = d.add(ctx, &nodes.Tables, file, "label", true)
		case strings.HasPrefix(base, "node_"):
			err = d.add(ctx, &nodes.Tables, file, base, false)
		case base == "edge-feat":
			err = d.add(ctx, &edge.Beside, file, "feat", false)
		case strings.HasPrefix(base, "edge_"):
			err = d.add(ctx, &edge.Beside, file, base, false)
		}
		if err != nil {
			return nil, err
		}
	}
	in.Nodes, in.Edges = []collection.Nodes{nodes}, []collection.Edges{edge}
	warnings := d.others(func(n string) bool { return strings.HasSuffix(n, ogbSuffix) })
	if d.dir == path || filepath.Dir(d.dir) == path {
		root := &raw{fsys: d.fsys, dir: path, files: d.files, o: d.o}
		all, err := root.sub("split")
		if err != nil {
			return nil, err
		}
		folders, err := all.folders()
		if err != nil {
			return nil, err
		}
		for _, f := range folders {
			warnings = append(warnings, fmt.Sprintf("%s: not imported: a collection has no splits; its files number the graphs of the collection from 0", f.dir))
		}
	}
	return &Source{Collection: in, Files: *d.files, Warnings: warnings}, nil
}

// add opens a file whose lines are the rows of one column. Its dtype is the one that all its values have: int64,
// float32 or string. An empty cell of labels is NaN, as in OGB.
func (d *raw) add(ctx context.Context, to *[]collection.Rows, file, column string, label bool) error {
	r, err := d.rows(file, column, graph.Invalid)
	if err != nil {
		return err
	}
	c := &r.Columns[0]
	looks, err := describe(r.Table)
	if err != nil {
		return err
	}
	c.DType = graph.Int64
	for _, f := range looks {
		switch {
		case f.text:
			c.DType = graph.String
		case f.DType != graph.Int64 && c.DType == graph.Int64:
			c.DType = graph.Float32
		}
	}
	if c.DType == graph.Int64 {
		// Read all rows, since a column that begins with integers can continue with other values.
		var asked []table.Column
		for _, f := range c.Fields {
			asked = append(asked, table.Column{Name: f, DType: graph.Int64})
		}
		_, err := r.Table.Scan(ctx, asked, 1, func(int, *table.Chunk) error { return nil })
		switch {
		case errors.Is(err, table.ErrFormat):
			c.DType = graph.Float32
		case err != nil:
			return err
		}
	}
	c.CountNaN = c.DType == graph.Float32
	d.fill(&r)
	c = &r.Columns[0]
	if label && c.CountNaN && c.Empty == table.EmptyError {
		c.Empty, c.Fill = table.EmptyFill, "nan"
	}
	*to = append(*to, r)
	return nil
}

// inFolder returns the path of a folder in a data set, or "" if there is none.
func (d *raw) inFolder(parts ...string) (string, error) {
	for _, p := range parts {
		if !filepath.IsLocal(p) || strings.ContainsRune(p, filepath.Separator) {
			return "", sourcef("%s: found a type named %q, expected a name that a folder can have; rename the type", d.dir, p)
		}
	}
	at := d.dir
	for _, p := range parts {
		at = filepath.Join(at, p)
		switch _, err := d.fsys.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", err
		}
		if err := d.inside(at); err != nil {
			return "", err
		}
	}
	return at, nil
}
