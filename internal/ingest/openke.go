package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// openKE is a folder of OpenKE: entity2id.txt and relation2id.txt with a name and its number per line, and train2id.txt, valid2id.txt and
// test2id.txt with the numbers of a head, a tail and a relation, in this order. The first line of each is the number of the others. It
// gives one node type.
type openKE struct{}

func (openKE) name() string { return "openke" }
func (openKE) about() string {
	return "a folder of OpenKE with entity2id.txt, relation2id.txt and train2id.txt, perhaps with valid2id.txt and test2id.txt"
}
func (openKE) becomes() string {
	return "a node type entity with the column name; an edge type for each relation, or a column of them; a column split"
}
func (openKE) detect(_ string, names []string) bool {
	return slices.Contains(names, openKEFile(splits[0]))
}

// openKEFile is the file of a split, or of the names of entities or relations.
func openKEFile(what string) string { return what + "2id.txt" }

// maxOpenKERelations and maxOpenKENames bound the names of relations, which are in memory: their number and their bytes.
const (
	maxOpenKERelations = 1 << 20
	maxOpenKENames     = 64 << 20
)

func (openKE) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString || o.NumNodes > 0 {
		return nil, usagef("found string ids or `NumNodes` with %s, expected neither: the folder numbers its entities; leave `IDs` and `NumNodes` out", path)
	}
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, sourcef("%s: found a file, expected the folder of %s; name the folder", path, openKEFile(splits[0]))
	}
	d := &raw{fsys: fsys, dir: path, o: o}
	if err := d.list(); err != nil {
		return nil, err
	}
	s := &Source{}
	file := func(what string) (string, error) {
		name := openKEFile(what)
		if !slices.Contains(d.names, name) {
			return "", sourcef("%s: found no %s, expected entity2id.txt, relation2id.txt and train2id.txt; add the file", path, name)
		}
		f := filepath.Join(path, name)
		s.Files = append(s.Files, f)
		return f, d.inside(f)
	}
	entities, err := file("entity")
	if err != nil {
		return nil, err
	}
	n := assemble.Nodes{Type: entity, ID: table.Column{DType: graph.Uint64}}
	fields := []table.Field{{Name: "name", DType: graph.String}}
	if n.Table, err = textfiles.OpenStream(fsys, entities, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		return readNumbered(in, entities, func(line int, name []byte) error { return row(line, [][]byte{name}) })
	}); err != nil {
		return nil, err
	}
	if n.Columns, _, err = featuresOf(ctx, n.Table, declared(fields), o); err != nil {
		return nil, err
	}
	s.Input.Nodes = []assemble.Nodes{n}
	named, err := file("relation")
	if err != nil {
		return nil, err
	}
	relations, err := openKERelations(fsys, named)
	if err != nil {
		return nil, err
	}
	var pieces []views.Piece
	for _, split := range splits {
		if split != splits[0] && !slices.Contains(d.names, openKEFile(split)) {
			continue
		}
		f, err := file(split)
		if err != nil {
			return nil, err
		}
		p, err := openKETriples(fsys, f, split, relations)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
	}
	t, err := views.Concat([]string{textfiles.TripleHead, textfiles.TripleRelation, textfiles.TripleTail, textfiles.TripleSplit}, pieces)
	if err != nil {
		return nil, err
	}
	return s, s.triples(ctx, t, o, plainNames, relations)
}

// readCounted calls fn for each line with words below the first one, which has their number.
func readCounted(in io.Reader, path string, fn func(line int, text []byte) error) error {
	stated, first, rows := uint64(0), 0, uint64(0)
	err := textfiles.EachLine(in, path, func(line int, text []byte) error {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			return nil
		}
		if first == 0 {
			first = line
			var err error
			if stated, err = strconv.ParseUint(string(text), 10, 63); err != nil {
				return sourcef("%s:%d: found %.40q, expected the number of the lines below; add it", path, line, text)
			}
			return nil
		}
		rows++
		return fn(line, text)
	})
	switch {
	case err != nil:
		return err
	case first == 0:
		return sourcef("%s: found no line, expected the number of the lines below; add it", path)
	case rows != stated:
		return sourcef("%s:%d: found the number %d, expected %d, as there are lines below; the file is cut, or correct the number", path, first, stated, rows)
	}
	return nil
}

// readNumbered calls fn for each name. The lines have a name and its number, from 0 in order.
func readNumbered(in io.Reader, path string, fn func(line int, name []byte) error) error {
	next := uint64(0)
	return readCounted(in, path, func(line int, text []byte) error {
		at := bytes.LastIndexAny(text, " \t")
		if at < 0 {
			return sourcef("%s:%d: found %.40q, expected a name and its number, separated by a tab; correct the line", path, line, text)
		}
		if want := strconv.FormatUint(next, 10); string(text[at+1:]) != want {
			return sourcef("%s:%d: found number %.40q, expected %s: the lines number the names from 0 in order; sort the lines by their numbers", path, line, text[at+1:], want)
		}
		next++
		return fn(line, bytes.TrimSpace(text[:at]))
	})
}

// openKERelations returns the names of the relations, in order.
func openKERelations(fsys vfs.FS, path string) (relations []string, err error) {
	size := 0
	seen := map[string]bool{}
	err = textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		return readNumbered(in, path, func(line int, name []byte) error {
			if size += len(name); len(relations) == maxOpenKERelations || size > maxOpenKENames {
				return sourcef("%s:%d: found more than %d relations, or names of more than %d bytes, expected fewer; write the triples as tables of a graph.yaml", path, line, maxOpenKERelations, maxOpenKENames)
			}
			if seen[string(name)] {
				return sourcef("%s:%d: found the relation %.40q twice, expected it once; rename one of the two", path, line, name)
			}
			seen[string(name)] = true
			relations = append(relations, string(name))
			return nil
		})
	})
	return relations, err
}

// openKETriples opens the triples of a split.
func openKETriples(fsys vfs.FS, path, split string, relations []string) (p views.Piece, err error) {
	fields := []table.Field{{Name: textfiles.TripleHead}, {Name: textfiles.TripleRelation, DType: graph.String}, {Name: textfiles.TripleTail}, {Name: textfiles.TripleSplit, DType: graph.String}}
	p.Table, err = textfiles.OpenStream(fsys, path, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		cells := [][]byte{nil, nil, nil, []byte(split)}
		return readCounted(in, path, func(line int, text []byte) error {
			words := bytes.Fields(text)
			if len(words) != 3 {
				return sourcef("%s:%d: found %d words, expected the numbers of a head, a tail and a relation; correct the line", path, line, len(words))
			}
			relation, err := strconv.ParseUint(string(words[2]), 10, 63)
			if err != nil || relation >= uint64(len(relations)) {
				return sourcef("%s:%d: found the relation %.40q, expected a number below %d, of the relations of relation2id.txt; the third number is the relation", path, line, words[2], len(relations))
			}
			cells[0], cells[1], cells[2] = words[0], []byte(relations[relation]), words[1]
			return row(line, cells)
		})
	})
	if err != nil {
		return p, err
	}
	text, err := head(fsys, path)
	if err != nil {
		return p, err
	}
	p.Says = path
	if words := strings.Fields(string(text[:min(len(text), 100)])); len(words) > 0 { // a bad one is an error of the scan
		p.Rows, _ = strconv.ParseUint(words[0], 10, 63)
		p.Says = fmt.Sprintf("the first line of %s", path)
	}
	return p, nil
}
