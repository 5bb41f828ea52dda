package ingest

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/vfs"
)

// graphArKeys are the values of a mapping.
type graphArKeys map[string]ast.Node

// read reads a file of YAML.
func (r *graphArReader) read(path string) (yamlfile.File, graphArKeys, error) {
	y := yamlfile.File{Path: path, Kind: ErrSource}
	body, err := y.Read(r.fsys)
	if err != nil {
		return y, nil, err
	}
	r.s.use([]string{path})
	keys, err := graphArMapping(y, body)
	return y, keys, err
}

func graphArMapping(y yamlfile.File, n ast.Node) (graphArKeys, error) {
	entries, err := y.Mapping(n, "keys of GraphAr", nil)
	keys := graphArKeys{}
	for _, e := range entries {
		keys[e.Key] = e.Value
	}
	return keys, err
}

// text is the text of a key, or of the name that it had before; empty: there is none.
func (k graphArKeys) text(y yamlfile.File, name, old string) (string, error) {
	n := k[name]
	if n == nil && old != "" {
		n = k[old]
	}
	if n == nil {
		return "", nil
	}
	return y.Text(n, "the text of "+name)
}

// texts are the texts of a list under a key; nil: there are none.
func (k graphArKeys) texts(y yamlfile.File, name, what string) ([]string, error) {
	switch n := k[name].(type) {
	case nil, *ast.NullNode:
		return nil, nil
	case *ast.SequenceNode:
		if len(n.Values) == 0 {
			return nil, nil
		}
	}
	return y.Texts(k[name], what)
}

// list are the mappings of a list under a key.
func (k graphArKeys) list(y yamlfile.File, name string) (all []graphArKeys, err error) {
	n := k[name]
	if n == nil {
		return nil, nil
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, y.Errorf(n, "found %s that is no list, expected a list; write the file again", name)
	}
	for _, v := range list.Values {
		keys, err := graphArMapping(y, v)
		if err != nil {
			return nil, err
		}
		all = append(all, keys)
	}
	return all, nil
}

// graphArGroups reads the groups of properties under a key property_groups.
func graphArGroups(y yamlfile.File, keys graphArKeys) (groups []graphArGroup, err error) {
	list, err := keys.list(y, "property_groups")
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		g := graphArGroup{}
		if g.prefix, err = k.text(y, "prefix", ""); err != nil {
			return nil, err
		}
		if g.kind, err = k.text(y, "file_type", ""); err != nil {
			return nil, err
		}
		properties, err := k.list(y, "properties")
		if err != nil {
			return nil, err
		}
		var names []string
		for _, p := range properties {
			name, err := p.text(y, "name", "")
			if err != nil {
				return nil, err
			}
			typ, err := p.text(y, "data_type", "")
			if err != nil {
				return nil, err
			}
			if cardinality, err := p.text(y, "cardinality", ""); err != nil {
				return nil, err
			} else if cardinality != "" && cardinality != "single" {
				typ = "list<" + typ + ">"
			}
			g.properties, names = append(g.properties, graphArProperty{name, typ}), append(names, name)
		}
		if g.prefix == "" {
			g.prefix = strings.Join(names, "_")
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// graphArList is one of the lists of the edges of a type, which differ in their order.
type graphArList struct {
	prefix, kind string
	groups       []graphArGroup // its own; nil: those of the edges
}

// graphArLists reads the lists of edges.
func graphArLists(y yamlfile.File, keys graphArKeys) (lists []graphArList, err error) {
	all, err := keys.list(y, "adj_lists")
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		x := graphArList{}
		if x.kind, err = k.text(y, "file_type", ""); err != nil {
			return nil, err
		}
		if x.prefix, err = k.text(y, "prefix", ""); err != nil {
			return nil, err
		}
		if x.groups, err = graphArGroups(y, k); err != nil {
			return nil, err
		}
		if x.prefix == "" {
			ordered, err := k.text(y, "ordered", "")
			if err != nil {
				return nil, err
			}
			by, err := k.text(y, "aligned_by", "")
			if err != nil {
				return nil, err
			}
			x.prefix = map[string]string{"true": "ordered_by_"}[ordered] + map[string]string{"src": "source", "dst": "dest"}[by]
			if ordered != "true" {
				x.prefix = "unordered_by_" + x.prefix
			}
		}
		lists = append(lists, x)
	}
	return lists, nil
}

// count reads a file with a number of 8 bytes; false: there is none.
func (r *graphArReader) count(name string) (uint64, bool, error) {
	file, err := r.inside(name)
	if err != nil {
		return 0, false, err
	}
	b, err := vfs.ReadFile(r.fsys, file, 1<<10)
	if vfs.Absent(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if len(b) != 8 || b[7] > 127 {
		return 0, false, sourcef("%s: found %d bytes, expected a number of 8 bytes, little-endian; copy the whole graph", file, len(b))
	}
	r.s.use([]string{file})
	return binary.LittleEndian.Uint64(b), true, nil
}

// countedTable is a table whose number of rows a file says.
type countedTable struct {
	table.Table
	rows  uint64
	known bool
	path  string
}

// Guess describes the fields.
func (t countedTable) Guess() ([]table.Guess, error) {
	if g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) }); ok {
		return g.Guess()
	}
	return make([]table.Guess, len(t.Fields())), nil
}

// Scan implements table.Table.
func (t countedTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	rows, err := t.Table.Scan(ctx, columns, threads, fn)
	if err == nil && t.known && rows != t.rows {
		err = sourcef("%s: found %d rows in the chunks, expected %d, as the files of counts say; copy the whole graph", t.path, rows, t.rows)
	}
	return rows, err
}
