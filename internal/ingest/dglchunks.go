package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dglChunks is the folder of DGL's chunked graph, or its metadata.json. docs/format-chunked.md specifies the
// content. Ids are the type-wise ids of the chunks: every type has as many nodes as the metadata say.
type dglChunks struct{}

func (dglChunks) name() string { return "chunked" }
func (dglChunks) about() string {
	return "the folder of DGL's metadata.json with edge_type and node_type, or that file"
}
func (dglChunks) becomes() string {
	return "a graph with its types, features and the order of its edges"
}
func (dglChunks) detect(path string, names []string) bool {
	return names == nil && filepath.Base(path) == dglchunks.File || slices.Contains(names, dglchunks.File) && !slices.Contains(names, "part0")
}

func (dglChunks) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if info, err := fsys.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		path = filepath.Join(path, dglchunks.File)
	}
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the counts in that file", path)
	}
	m, err := dglchunks.Read(fsys, path)
	if errors.Is(err, dglchunks.ErrFormat) {
		return nil, sourcef("%w", err)
	}
	if err != nil {
		return nil, err
	}
	c := &dglChunksOpener{p: newOpener(fsys, path, o), o: o}
	s := &Source{Primary: graph.In}
	for i := range m.Nodes {
		n, err := c.nodes(ctx, &m.Nodes[i])
		if err != nil {
			return nil, err
		}
		s.Input.Nodes = append(s.Input.Nodes, n)
	}
	for i := range m.Edges {
		e, err := c.edges(ctx, &m.Edges[i])
		if err != nil {
			return nil, err
		}
		s.Input.Edges = append(s.Input.Edges, e)
	}
	for _, key := range m.Unused {
		c.warnings = append(c.warnings, fmt.Sprintf("%s: the key %q is not used", path, key))
	}
	s.Files, s.Warnings = c.p.files, c.warnings
	return s, nil
}

// dglChunksOpener opens the files of a chunked graph.
type dglChunksOpener struct {
	p        *opener
	o        Options
	warnings []string
}

// plainNodes makes a node type of which only the number of nodes is known.
func plainNodes(fsys vfs.FS, meta, name string, count uint64) (assemble.Nodes, error) {
	n := assemble.Nodes{Type: name, ID: table.Column{DType: graph.Uint64}, Count: count}
	if count > 0 {
		return n, nil
	}
	none, err := arrayfiles.OpenRaw(fsys, []arrayfiles.RawColumn{{Runs: []arrayfiles.Run{{Path: meta}}, Field: table.Field{DType: graph.Uint8}}})
	n.Table = none
	return n, err
}

// files resolves the paths of chunks. They are names, never patterns.
func (c *dglChunksOpener) files(of string, paths []string) ([]string, error) {
	var files []string
	for i, path := range paths {
		file := filepath.FromSlash(path)
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.p.dir, file)
		} else if !c.p.outside {
			return nil, sourcef("%s: %s: found the absolute path %s, expected one within %s; allow it with `AllowOutside`", c.p.meta, of, path, c.p.dir)
		}
		if err := c.p.inside(c.p.dir, file); errors.Is(err, fs.ErrNotExist) {
			return nil, sourcef("%s: %s: found no file %s, expected chunk %d of %d; copy the missing chunk, or write the graph again", c.p.meta, of, file, i, len(paths))
		} else if err != nil {
			return nil, err
		}
		if _, err := vfs.Regular(c.p.fsys, file); errors.Is(err, fs.ErrNotExist) {
			return nil, sourcef("%s: %s: found no file %s, expected chunk %d of %d; copy the missing chunk, or write the graph again", c.p.meta, of, file, i, len(paths))
		} else if err != nil {
			return nil, sourcef("%s: %s: %w", c.p.meta, of, err)
		}
		files = append(files, file)
	}
	for _, f := range files {
		c.p.use(f)
	}
	return files, nil
}

// rows returns the number of rows that each of the given number of files must have. It returns nil if the files are
// not the chunks, so that only the total is known.
func rows(n dglchunks.Counts, files int) []uint64 {
	if n.Chunks != nil && len(n.Chunks) == files {
		return n.Chunks
	}
	if files == 1 {
		return []uint64{n.Total}
	}
	return nil
}

// nodes makes the table of a node type.
func (c *dglChunksOpener) nodes(ctx context.Context, n *dglchunks.Nodes) (assemble.Nodes, error) {
	tables, columns, err := c.features(ctx, "node_data", n.Type, n.Counts, n.Data)
	if err != nil {
		return assemble.Nodes{}, err
	}
	if tables == nil {
		return plainNodes(c.p.fsys, c.p.meta, n.Type, n.Total)
	}
	return assemble.Nodes{Type: n.Type, ID: table.Column{DType: graph.Uint64}, Table: join(tables), Columns: columns}, nil
}

// edges makes the table of an edge type.
func (c *dglChunksOpener) edges(ctx context.Context, e *dglchunks.Edges) (out assemble.Edges, err error) {
	if out.Type, err = graph.ParseEdgeType(e.Type); err != nil {
		return out, sourcef("%s: edge_type: %w", c.p.meta, err)
	}
	of := "edges." + e.Type
	files, err := c.files(of, e.Paths)
	if err != nil {
		return out, err
	}
	src, dst := "src", "dst"
	for slices.ContainsFunc(e.Data, func(d dglchunks.Data) bool { return d.Name == src || d.Name == dst }) {
		src, dst = "#"+src, "#"+dst
	}
	names := []string{src, dst}
	pieces, err := c.ends(of, e, files, names)
	if err != nil {
		return out, err
	}
	base, err := views.Concat(names, pieces)
	if err != nil {
		return out, fmt.Errorf("%w (%s: %s)", err, c.p.meta, of)
	}
	tables, columns, err := c.features(ctx, "edge_data", e.Type, e.Counts, e.Data)
	if err != nil {
		return out, err
	}
	if len(tables) > 0 {
		if arrays, ok := tables[0].(*arrayfiles.Npy); ok {
			base, tables = arrayfiles.Beside(base, arrays), tables[1:]
		}
	}
	out.Table = join(append([]table.Table{base}, tables...))
	out.Src, out.Dst, out.Columns = keyColumn(src, true), keyColumn(dst, true), columns
	return out, nil
}

// join puts the columns of tables side by side.
func join(tables []table.Table) table.Table {
	if len(tables) == 1 {
		return tables[0]
	}
	return views.InStep(tables...)
}

// ends opens the files of edges and declares the number of rows that each must have.
func (c *dglChunksOpener) ends(of string, e *dglchunks.Edges, files, names []string) ([]views.Piece, error) {
	want := rows(e.Counts, len(files))
	if len(files) == 0 && e.Total > 0 {
		return nil, sourcef("%s: %s: found no files, expected the files of %d edges; list them in the file", c.p.meta, of, e.Total)
	}
	open := func(files []string, rows uint64) (t table.Table, err error) {
		switch e.Format {
		case dglchunks.CSV:
			o := textfiles.CSVOptions{Names: names}
			if o.Delimiter, err = c.delimiter(e.Files, files); err == nil {
				t, err = textfiles.OpenCSV(c.p.fsys, files, o)
			}
		case dglchunks.Parquet:
			t, err = columnfiles.OpenParquet(c.p.fsys, files)
		default:
			t, err = arrayfiles.OpenEdgeRows(c.p.fsys, files[0], rows)
		}
		if err != nil {
			return nil, c.in(of, err)
		}
		return t, nil
	}
	if want == nil && e.Format != dglchunks.Numpy && len(files) > 0 {
		t, err := open(files, e.Total)
		return []views.Piece{{Table: t, Rows: e.Total, Says: c.p.meta}}, err
	}
	var pieces []views.Piece
	left := e.Total
	for i, file := range files {
		n := left
		if want != nil {
			n = want[i]
		}
		t, err := open([]string{file}, n)
		if err != nil {
			return nil, err
		}
		if a, ok := t.(*arrayfiles.Npy); ok && want == nil {
			n = a.Rows()
		}
		if left -= n; want == nil && (n > e.Total || left > e.Total || i == len(files)-1 && left > 0) {
			return nil, sourcef("%s: %s: found a different number of edges in the files up to %s, expected %d in all; correct num_edges_per_chunk, or write the chunks again", c.p.meta, of, file, e.Total)
		}
		pieces = append(pieces, views.Piece{Table: t, Rows: n, Says: c.p.meta})
	}
	return pieces, nil
}

// in adds the part of the metadata that an error is about.
func (c *dglChunksOpener) in(of string, err error) error {
	return fmt.Errorf("%w (%s: %s)", err, c.p.meta, of)
}

// delimiter returns what separates the fields of CSV files: the caller's choice, or the metadata's, or a space
// if the first line contains a space and none of the other usual delimiters.
func (c *dglChunksOpener) delimiter(f dglchunks.Files, files []string) (byte, error) {
	if c.o.Delimiter != 0 {
		return c.o.Delimiter, nil
	}
	if f.Delimiter != "" {
		return f.Delimiter[0], nil
	}
	for _, file := range files {
		line, err := firstLine(c.p.fsys, file)
		if err != nil {
			return 0, err
		}
		for _, d := range []byte(",\t;| ") {
			if slices.Contains(line, d) {
				return d, nil
			}
		}
	}
	return 0, nil
}

// firstLine returns the start of a file up to its first line end.
func firstLine(fsys vfs.FS, file string) (line []byte, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, 4096)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	b = b[:n]
	if i := slices.Index(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return b, nil
}
