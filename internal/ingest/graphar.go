package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/vfs"
)

// graphAr is a graph of Apache GraphAr: NAME.graph.yml lists a file for each type of vertices and edges, whose properties and ends are in chunks of Parquet or CSV. Ends are the
// numbers of vertices, in the order of the chunks.
type graphAr struct{}

func (graphAr) name() string { return "graphar" }
func (graphAr) about() string {
	return "NAME.graph.yml of Apache GraphAr, or the folder of one, with chunks in Parquet or CSV"
}
func (graphAr) becomes() string {
	return "a node type for each type of vertices; an edge type for each type of edges and pair of types"
}

// isGraphAr says whether a name is that of a graph.
func isGraphAr(name string) bool {
	return strings.HasSuffix(name, ".graph.yml") || strings.HasSuffix(name, ".graph.yaml")
}

func (graphAr) detect(path string, names []string) bool {
	return names == nil && isGraphAr(path) || slices.ContainsFunc(names, isGraphAr)
}

// sniff looks for the key vertices, as a graph.yaml may have such a name, too.
func (graphAr) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	if i := slices.IndexFunc(names, isGraphAr); i >= 0 {
		path = filepath.Join(path, names[i])
	}
	text, err := head(fsys, path)
	return bytes.HasPrefix(text, []byte("vertices:")) || bytes.Contains(text, []byte("\nvertices:")), err
}

// graphArReader reads a graph.
type graphArReader struct {
	o      Options
	fsys   vfs.FS
	dir    string // of the graph, below which all files are
	prefix string
	m      *maker
	s      *Source
	types  map[string]uint64 // node types, and their chunk sizes
}

func (graphAr) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 || o.IDs == idsString {
		return nil, usagef("found `NumNodes` or string ids with %s, expected neither: its ends are the numbers of vertices; leave them out", path)
	}
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		entries, err := fsys.ReadDir(path)
		if err != nil {
			return nil, err
		}
		var found []string
		for _, e := range entries {
			if isGraphAr(e.Name()) {
				found = append(found, e.Name())
			}
		}
		if len(found) != 1 {
			return nil, sourcef("%s: found %d files NAME.graph.yml, expected one; name one of them", path, len(found))
		}
		path = filepath.Join(path, found[0])
	}
	r := &graphArReader{o: o, fsys: fsys, dir: filepath.Dir(path), m: &maker{gaps: newGaps(o)}, s: &Source{Primary: graph.In}, types: map[string]uint64{}}
	y, top, err := r.read(path)
	if err != nil {
		return nil, err
	}
	if r.prefix, err = top.text(y, "prefix", ""); err != nil {
		return nil, err
	}
	if filepath.IsAbs(r.prefix) { // of the machine that wrote it
		r.prefix = ""
	}
	for _, list := range []struct {
		key string
		add func(ctx context.Context, file string) error
	}{{"vertices", r.addVertices}, {"edges", r.addEdges}} {
		names, err := top.texts(y, list.key, "the name of a file")
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			file, err := r.inside(n)
			if err != nil {
				return nil, err
			}
			if err := list.add(ctx, file); err != nil {
				return nil, err
			}
		}
	}
	if len(r.s.Input.Nodes) == 0 {
		return nil, sourcef("%s: found no vertices, expected at least one type of them; add it to vertices", path)
	}
	r.s.Warnings = append(r.s.Warnings, r.m.notes...)
	if err := r.m.check(); err != nil {
		return nil, err
	}
	return r.s, checkTwice(&r.s.Input)
}

// inside is the path of a file that the YAML names.
func (r *graphArReader) inside(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", sourcef("%s: found the file %.60q, expected one within the folder; correct the name or the prefix", r.dir, name)
	}
	file := filepath.Join(r.dir, name)
	if r.o.Outside {
		return file, nil
	}
	err := vfs.Inside(r.fsys, r.dir, file)
	if link, ok := errors.AsType[*vfs.LinkError](err); ok {
		return "", sourcef("%s: found the symbolic link %s, which can lead out of %s; allow it with `AllowOutside`", r.dir, link.Path, r.dir)
	}
	if vfs.Absent(err) { // whoever opens the file says so
		err = nil
	}
	return file, err
}

// graphArCount is a number of the YAML.
func graphArCount(y yamlfile.File, keys graphArKeys, name string) (uint64, error) {
	text, err := keys.text(y, name, "")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, sourcef("%s: found %s %.40q, expected a number of rows; write the file again", y.Path, name, text)
	}
	return n, nil
}

// graphArGroup is a group of properties.
type graphArGroup struct {
	prefix, kind string
	properties   []graphArProperty
}

type graphArProperty struct{ name, typ string }

// chunks are the files chunk0, chunk1 and so on in a folder, in order.
func (r *graphArReader) chunks(folder string) (files []string, err error) {
	dir, err := r.inside(folder)
	if err != nil {
		return nil, err
	}
	numbers, err := r.numbered(dir, "chunk")
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		file := filepath.Join(folder, fmt.Sprint("chunk", n))
		if file, err = r.inside(file); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// numbered are the numbers of the files or folders NAME0, NAME1 and so on in a folder.
func (r *graphArReader) numbered(dir, name string) (numbers []uint64, err error) {
	entries, err := r.fsys.ReadDir(dir)
	if vfs.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), name)
		if n, err := strconv.ParseUint(digits, 10, 63); ok && err == nil && strconv.FormatUint(n, 10) == digits {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// table opens chunks as a table.
func (r *graphArReader) table(files []string, kind string) (table.Table, error) {
	r.s.use(files)
	switch kind {
	case "parquet":
		return columnfiles.OpenParquet(r.fsys, files)
	case "csv":
		return textfiles.OpenCSV(r.fsys, files, textfiles.CSVOptions{Delimiter: r.o.Delimiter})
	}
	advice := "write the graph again in one of them"
	if kind == "orc" {
		advice = "convert each chunk with pyarrow, parquet.write_table(orc.read_table(CHUNK), CHUNK), and correct file_type in the YAML"
	}
	return nil, sourcef("%s: found chunks of the type %.40q, expected parquet or csv; %s", files[0], kind, advice)
}

// columns are the properties of groups, of which a table has the fields.
func (r *graphArReader) columns(ctx context.Context, t table.Table, groups []graphArGroup) (columns []table.Column, err error) {
	fields, err := describe(t)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		for _, p := range g.properties {
			f := field(fields, p.name)
			if f == nil {
				return nil, sourcef("%s: found the columns %s, expected the property %q among them; write the graph again", t.Files()[0], table.List(some(fieldNames(fields))), p.name)
			}
			w := &wanted{}
			if g.kind == "csv" {
				if w.Field, err = graphArField(p); err != nil {
					return nil, sourcef("%s: property %q: %w", t.Files()[0], p.name, err)
				}
			}
			if isNumberList(&f.Field) { // no option says that lists differ in length
				width, err := table.SameWidth(ctx, t, f.Field)
				if err != nil {
					return nil, err
				}
				if w.Field = f.Field; width > 0 {
					w.Shape = []int{width}
				}
			}
			add, err := r.m.columns(ctx, t, f, w)
			if err != nil {
				return nil, err
			}
			columns = append(columns, add...)
		}
	}
	return columns, nil
}

// graphArField is how text of a type is read.
func graphArField(p graphArProperty) (f table.Field, err error) {
	f = table.Field{Name: p.name}
	element, list := strings.CutPrefix(strings.ToLower(p.typ), "list<")
	switch strings.TrimSuffix(element, ">") {
	case "bool":
		f.DType = graph.Bool
	case "int32":
		f.DType = graph.Int32
	case "int64":
		f.DType = graph.Int64
	case "float":
		f.DType = graph.Float32
	case "double":
		f.DType = graph.Float64
	case "string":
		f.DType = graph.String
	case "date":
		f.DType, f.Unit = graph.Int64, graph.Seconds
	case "timestamp":
		f.DType, f.Unit = graph.Int64, graph.Milliseconds
	default:
		return f, fmt.Errorf("found the type %.40q, expected bool, int32, int64, float, double, string, date, timestamp or a list of one", p.typ)
	}
	if list {
		f.Shape = []int{-1}
	}
	return f, nil
}

// addEdges adds a type of edges.
func (r *graphArReader) addEdges(ctx context.Context, file string) error {
	y, keys, err := r.read(file)
	if err != nil {
		return err
	}
	var e assemble.Edges
	for _, x := range []struct {
		to        *string
		name, old string
	}{{&e.Type.Src, "src_type", "src_label"}, {&e.Type.Rel, "edge_type", "edge_label"}, {&e.Type.Dst, "dst_type", "dst_label"}} {
		if *x.to, err = keys.text(y, x.name, x.old); err != nil {
			return err
		}
		if err := graph.CheckName(*x.to); err != nil {
			return sourcef("%s: %w; rename the type", file, err)
		}
	}
	for _, t := range []string{e.Type.Src, e.Type.Dst} {
		if _, ok := r.types[t]; !ok {
			return sourcef("%s: found edges of vertices of the type %q, expected one that the graph lists; add it to vertices", file, t)
		}
	}
	prefix, err := keys.text(y, "prefix", "")
	if err != nil {
		return err
	}
	prefix = filepath.Join(r.prefix, cmp.Or(prefix, e.Type.Src+"_"+e.Type.Rel+"_"+e.Type.Dst))
	groups, err := graphArGroups(y, keys)
	if err != nil {
		return err
	}
	lists, err := graphArLists(y, keys)
	if err != nil {
		return err
	}
	if directed, err := keys.text(y, "directed", ""); err != nil {
		return err
	} else if directed == "false" {
		r.m.note("%s: the edges are undirected, and are imported in the one direction that the chunks have; give `Symmetrise` for both", file)
	}
	for _, list := range lists {
		found, err := r.openList(ctx, &e, prefix, list, groups)
		if err != nil {
			return err
		}
		if found {
			r.s.Input.Edges = append(r.s.Input.Edges, e)
			return nil
		}
	}
	return sourcef("%s: found no chunks of any of the %d lists of edges, expected one with adj_list/part0/chunk0; copy the whole graph", file, len(lists))
}

// The columns of ends in the chunks of a list.
const (
	graphArSrc = "_graphArSrcIndex"
	graphArDst = "_graphArDstIndex"
)

// edgeCount is the sum of the files edge_count0, edge_count1 and so on of a list; false: there are none.
func (r *graphArReader) edgeCount(base string) (total uint64, known bool, err error) {
	dir, err := r.inside(base)
	if err != nil {
		return 0, false, err
	}
	parts, err := r.numbered(dir, "edge_count")
	for _, p := range parts {
		n, _, failed := r.count(filepath.Join(base, fmt.Sprint("edge_count", p)))
		if failed != nil {
			return 0, false, failed
		}
		if total += n; total < n {
			return 0, false, sourcef("%s: found counts of edges that 64 bits do not hold together, expected right ones; copy the whole graph", dir)
		}
	}
	return total, parts != nil, err
}

// openList opens one of the lists of the same edges; false: it has no files.
func (r *graphArReader) openList(ctx context.Context, e *assemble.Edges, prefix string, list graphArList, groups []graphArGroup) (bool, error) {
	base := filepath.Join(prefix, list.prefix)
	dir, err := r.inside(filepath.Join(base, "adj_list"))
	if err != nil {
		return false, err
	}
	parts, err := r.numbered(dir, "part")
	if err != nil {
		return false, err
	}
	total, known, err := r.edgeCount(base)
	if err != nil || parts == nil && (!known || total > 0) {
		return false, err
	}
	if list.groups != nil {
		groups = list.groups
	}
	files := make([][]string, len(groups)+1)
	for _, p := range parts {
		part := fmt.Sprint("part", p)
		for i := range files {
			folder := "adj_list"
			if i > 0 {
				folder = groups[i-1].prefix
			}
			chunks, err := r.chunks(filepath.Join(base, folder, part))
			if err != nil {
				return false, err
			}
			files[i] = append(files[i], chunks...)
		}
	}
	var tables []table.Table
	for i := range files {
		if len(files[i]) != len(files[0]) {
			return false, sourcef("%s: found %d chunks of the properties in %s, expected %d, as of the ends; copy the whole graph", dir, len(files[i]), groups[i-1].prefix, len(files[0]))
		}
		if len(files[i]) == 0 {
			continue
		}
		kind := list.kind
		if i > 0 {
			kind = groups[i-1].kind
		}
		t, err := r.table(files[i], kind)
		if err != nil {
			return false, err
		}
		tables = append(tables, t)
	}
	e.Src, e.Dst = keyColumn(graphArSrc, true), keyColumn(graphArDst, true)
	if tables == nil {
		e.Table = noNodes{dir}
		return true, nil
	}
	e.Table = countedTable{tables[0], total, known, dir}
	if len(tables) > 1 {
		e.Table = countedTable{views.InStep(tables...), total, known, dir}
	}
	e.Columns, err = r.columns(ctx, e.Table, groups)
	return true, err
}
