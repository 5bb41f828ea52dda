package ingest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/vfs"
)

// konect is a network of the KONECT collection: out.NAME, or the folder that holds it with meta.NAME and ent.NAME
// files. Nodes count from 1.
type konect struct{}

func (konect) name() string { return "konect" }
func (konect) about() string {
	return "KONECT's out.NAME, or the folder that holds it with meta.NAME and ent.NAME"
}
func (konect) becomes() string {
	return "a graph of one type, or left and right for a bipartite one; weight and time become columns of the edges"
}
func (konect) detect(path string, names []string) bool {
	if names == nil {
		return strings.HasPrefix(filepath.Base(path), konectEdges) || mayBeList(path)
	}
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, konectEdges) })
}

const konectEdges = "out."

// sniff looks at the first line.
func (konect) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	if names != nil {
		return true, nil
	}
	line, err := headLine(fsys, path)
	if err != nil {
		return false, err
	}
	_, err = konectKind(line)
	return err == nil, nil
}

// mayBeList says whether a path names a text file that can be a list, unless its first line says another format.
func mayBeList(path string) bool {
	kind := table.KindByName(path)
	return !isPattern(path) && lastAt(path) < 0 && (kind == table.Text || kind == table.Unknown)
}

// headLine is the first line of a file, without its line end; empty for what is no file.
func headLine(fsys vfs.FS, path string) (string, error) {
	info, err := fsys.Stat(path)
	if vfs.Absent(err) || err == nil && !info.Mode().IsRegular() {
		return "", nil // a later format says what is wrong
	}
	if err != nil {
		return "", err
	}
	text, err := head(fsys, path)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimRight(string(line[:min(len(line), 1000)]), "\r"), nil
}

// konectKind returns sym, asym or bip of the first line, "% sym unweighted".
func konectKind(line string) (string, error) {
	words := strings.Fields(strings.TrimPrefix(line, "%"))
	if !strings.HasPrefix(line, "%") || len(words) < 1 || !slices.Contains([]string{"sym", "asym", "bip"}, words[0]) {
		return "", sourcef("found the first line %q, expected %% sym, %% asym or %% bip, and the kind of the weights; correct the first line", line[:min(len(line), 60)])
	}
	return words[0], nil
}

// konectHeader is what the comments at the start of a file say.
type konectHeader struct {
	kind        string
	counted     bool
	edges       uint64
	left, right uint64 // number of nodes; 0: not said
}

func readKonect(fsys vfs.FS, path string) (h konectHeader, err error) {
	text, err := head(fsys, path)
	if err != nil {
		return h, err
	}
	for n := 1; n == 1 || len(text) > 0 && text[0] == '%'; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if n == 1 {
			if h.kind, err = konectKind(string(line)); err != nil {
				return h, fmt.Errorf("%s:1: %w", path, err)
			}
			continue
		}
		words := strings.Fields(string(line[1:]))
		var counts []uint64
		for _, w := range words {
			v, err := strconv.ParseUint(w, 10, 64)
			if err != nil {
				break
			}
			counts = append(counts, v)
		}
		if h.counted || len(counts) != len(words) || len(counts) == 0 {
			continue
		}
		counts = append(counts, 0, 0)
		h.counted, h.edges, h.left, h.right = true, counts[0], counts[1], counts[2]
		if h.kind != "bip" && h.left != h.right && len(words) > 2 {
			return h, sourcef("%s:%d: found %d and %d nodes, expected the same number twice in a network of one node type; correct the line, or write bip on the first line", path, n, h.left, h.right)
		}
	}
	return h, nil
}

func (konect) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString {
		return nil, usagef("found string ids with %s, expected integer ids, which count from 1 in KONECT", path)
	}
	d := &raw{fsys: fsys, dir: filepath.Dir(path), files: &[]string{}, o: o}
	file := filepath.Base(path)
	if info, err := fsys.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		d.o.Outside = true // the caller names the file
	} else {
		d.dir = path
		if err := d.list(); err != nil {
			return nil, err
		}
		var outs []string
		for _, n := range d.names {
			if strings.HasPrefix(n, konectEdges) {
				outs = append(outs, n)
			}
		}
		if len(outs) != 1 {
			return nil, sourcef("%s: found %d files out.NAME, expected one; import one of them", d.dir, len(outs))
		}
		file = outs[0]
	}
	path = filepath.Join(d.dir, file)
	h, err := readKonect(fsys, path)
	if err != nil {
		return nil, err
	}
	edges, columns, err := d.konectTable(ctx, file, h)
	if err != nil {
		return nil, err
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: edges, Src: keyColumn("src", true), Dst: keyColumn("dst", true), Columns: columns, Symmetrise: h.kind == "sym"}
	nodes := []assemble.Nodes{{Type: graph.HomogeneousNode, Count: h.left}}
	if h.kind == "bip" {
		if o.NumNodes > 0 {
			return nil, usagef("found `NumNodes` with a bipartite network, expected it with one node type")
		}
		e.Type = graph.EdgeType{Src: "left", Rel: graph.HomogeneousEdge.Rel, Dst: "right"}
		nodes = []assemble.Nodes{{Type: e.Type.Src, Count: h.left}, {Type: e.Type.Dst, Count: h.right}}
	} else if o.NumNodes > 0 {
		if o.NumNodes < h.left {
			return nil, usagef("found `NumNodes` %d, expected at least the %d nodes that %s states", o.NumNodes, h.left, path)
		}
		nodes[0].Count = o.NumNodes
	}
	s := &Source{Primary: graph.In}
	for i := range nodes {
		nodes[i].ID = table.Column{DType: graph.Uint64}
	}
	if err := d.entities(strings.TrimPrefix(konectName(file), konectEdges), nodes, s); err != nil {
		return nil, err
	}
	if h.kind == "sym" {
		s.Warnings = append(s.Warnings, path+":1: the network is undirected, so the reverse of each edge is added")
	}
	s.Input, s.Files = assemble.Input{Nodes: nodes, Edges: []assemble.Edges{e}}, *d.files
	return s, nil
}

// konectName returns the name of a file without its compression.
func konectName(file string) string {
	for _, ext := range []string{".gz", ".zst"} {
		file = strings.TrimSuffix(file, ext)
	}
	return file
}

// konectTable opens the edges. Their columns are the ends, the weight and the time.
func (d *raw) konectTable(ctx context.Context, file string, h konectHeader) (table.Table, []table.Column, error) {
	path := filepath.Join(d.dir, file)
	first, err := d.table(file, textfiles.CSVOptions{Numbered: true, Comments: true, Delimiter: ' '})
	if err != nil {
		return nil, nil, err
	}
	names := []string{"src", "dst", "weight", "time"}
	n := len(first.Fields())
	if n == 0 && h.edges == 0 { // no line tells the columns
		n = 2
	}
	if n < 2 || n > len(names) {
		return nil, nil, sourcef("%s: found %d columns, expected 2 to 4: from, to, weight and time", path, n)
	}
	names = names[:n]
	t, err := textfiles.OpenCSV(d.fsys, []string{path}, textfiles.CSVOptions{Names: names, Comments: true, Delimiter: ' '})
	if err != nil {
		return nil, nil, err
	}
	fields, err := describe(t)
	if err != nil {
		return nil, nil, err
	}
	for i := range fields[2:] {
		if f := &fields[2+i]; f.DType == graph.String {
			f.DType = graph.Float32 // the scan then names the cell that is no number
		}
	}
	columns, _, err := featuresOf(ctx, t, fields[2:], d.o)
	if err != nil {
		return nil, nil, err
	}
	edges := views.FromOne(t, "src", "dst")
	if !h.counted {
		return edges, columns, nil
	}
	edges, err = views.Concat(names, []views.Piece{{Table: edges, Rows: h.edges, Says: "the comment in line 2"}})
	return edges, columns, err
}

// entities adds the columns of the ent files to the nodes: ent.NAME has a line for each node, and ent.NAME.TYPE.COLUMN
// a line for each node of a type. The meta file lists the types. A file with the comment "% ent dat.age ..." has the id
// of the node and the columns of that list in each line.
func (d *raw) entities(name string, nodes []assemble.Nodes, s *Source) error {
	files, err := d.entityFiles(name, len(nodes), s)
	if err != nil {
		return err
	}
	for i := range nodes {
		if len(files[i]) == 0 {
			continue
		}
		if d.o.NumNodes > 0 {
			return usagef("found `NumNodes` with %s, expected it without files of nodes", filepath.Join(d.dir, files[i][0].name))
		}
		if err := d.addEntities(name, files[i], &nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// entityFile is an ent file, with the name of its column.
type entityFile struct{ name, column string }

// entityFiles returns the ent files of each of n node types, and warns of those that no type is known of.
func (d *raw) entityFiles(name string, n int, s *Source) ([][]entityFile, error) {
	var types []string
	files := make([][]entityFile, n)
	for _, file := range d.names {
		rest, ok := strings.CutPrefix(konectName(file), "ent."+name)
		if !ok || rest != "" && rest[0] != '.' {
			continue
		}
		if types == nil {
			var err error
			if types, err = d.entityNames("meta." + name); err != nil {
				return nil, err
			}
		}
		column, at := "name", 0
		if parts := strings.Split(strings.TrimPrefix(rest, "."), "."); rest != "" {
			column = parts[len(parts)-1]
			if n > 1 {
				at = slices.Index(types, parts[0])
			}
		} else if n > 1 {
			at = -1
		}
		if at < 0 || at >= n || slices.ContainsFunc(files[at], func(f entityFile) bool { return f.column == column }) {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: not imported: the file meta.%s does not say of which nodes it is", filepath.Join(d.dir, file), name))
			continue
		}
		files[at] = append(files[at], entityFile{file, column})
	}
	return files, nil
}

// addEntities adds the columns of ent files to the nodes of a type.
func (d *raw) addEntities(name string, files []entityFile, n *assemble.Nodes) error {
	var tables []table.Table
	var names []string
	for _, f := range files {
		listed, err := d.entityColumns(f.name)
		if err != nil {
			return err
		}
		if listed != nil && len(files) == 1 {
			return d.addListed(f.name, listed, n)
		}
		t, err := d.table(f.name, textfiles.CSVOptions{Names: []string{f.column}, Delimiter: '\t'})
		if err != nil {
			return err
		}
		tables, names = append(tables, t), append(names, f.column)
		n.Columns = append(n.Columns, table.Column{Name: f.column, DType: graph.String})
	}
	n.Table = views.InStep(tables...)
	if n.Count > 0 {
		var err error
		if n.Table, err = views.Concat(names, []views.Piece{{Table: n.Table, Rows: n.Count, Says: "the comment in line 2 of out." + name}}); err != nil {
			return err
		}
	}
	n.Count = 0
	return nil
}

// addListed adds the columns of an ent file that lists them to the nodes of a type. The first is the id.
func (d *raw) addListed(file string, listed []string, n *assemble.Nodes) error {
	t, err := d.table(file, textfiles.CSVOptions{Names: listed, Comments: true, Delimiter: ' '})
	if err != nil {
		return err
	}
	for _, name := range listed[1:] {
		n.Columns = append(n.Columns, table.Column{Name: name, DType: graph.String})
	}
	n.Table, n.ID.Name, n.Count = views.FromOne(t, listed[0]), listed[0], 0
	return nil
}

// entityColumns returns the columns of an ent file that lists them in its comments. The first is the id.
func (d *raw) entityColumns(file string) ([]string, error) {
	path := filepath.Join(d.dir, file)
	if err := d.inside(path); err != nil {
		return nil, err
	}
	text, err := head(d.fsys, path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		list, ok := strings.CutPrefix(line, "% ent ")
		if !ok {
			if !strings.HasPrefix(line, "%") {
				break
			}
			continue
		}
		names := []string{"ent"}
		for _, n := range strings.Fields(list) {
			names = append(names, strings.TrimPrefix(n, "dat."))
		}
		return names, nil
	}
	return nil, nil
}

// entityNames returns the entity-names of a meta file, in order: the names of the left nodes come first.
func (d *raw) entityNames(file string) ([]string, error) {
	if !slices.Contains(d.names, file) {
		return []string{}, nil
	}
	path := filepath.Join(d.dir, file)
	if err := d.inside(path); err != nil {
		return nil, err
	}
	text, err := head(d.fsys, path)
	if err != nil {
		return nil, err
	}
	types := []string{}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "entity-names:"); ok {
			for t := range strings.SplitSeq(list, ",") {
				types = append(types, strings.TrimSpace(t))
			}
		}
	}
	return types, nil
}
