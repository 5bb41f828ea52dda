package amending

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// target is a type of a store whose columns change.
type target struct {
	name    string // node type, or edge type src:rel:dst
	rows    int
	dir     string                      // of its files
	columns map[string]store.ColumnMeta // in the metadata of the store
	nodes   int                         // number of the node type; -1 for edges
}

// openStore opens the store in a folder, and returns its checksum.
func openStore(dir string) (s *store.Store, sum string, err error) {
	s, err = store.Open(vfs.OS, dir)
	if err != nil {
		return nil, "", err
	}
	if s.Graph == nil {
		err = operation.Usagef("%s: found a collection, expected a store; change the column in the store or the tables that it was made from, and make it again", dir)
	} else {
		sum, err = store.Sum(vfs.OS, dir)
	}
	if err != nil {
		operation.CloseWith(&err, s.Close)
		return nil, "", err
	}
	return s, sum, nil
}

// findTarget finds a type by its name: a node type, an edge type src:rel:dst, or the relation of one edge type.
func findTarget(s *store.Store, name string) (*target, error) {
	for i, n := range s.Graph.Nodes {
		if n.Type == name {
			m := s.Meta.Nodes[name]
			if m.Columns == nil {
				m.Columns = map[string]store.ColumnMeta{}
			}
			return &target{name: name, rows: n.Count, dir: store.NodesDir(name), columns: m.Columns, nodes: i}, nil
		}
	}
	var found []graph.EdgeType
	var known []string
	for _, n := range s.Graph.Nodes {
		known = append(known, n.Type)
	}
	for _, e := range s.Graph.Edges {
		known = append(known, e.Type.String())
		if e.Type.String() == name || e.Type.Rel == name {
			found = append(found, e.Type)
		}
	}
	switch len(found) {
	case 0:
		return nil, operation.Usagef("%s: found no type %q, expected one of %s%s", s.Dir, name, strings.Join(known, ", "), suggest.Hint(name, known))
	case 1:
		m := s.Meta.Edges[found[0].String()]
		if m.Columns == nil {
			m.Columns = map[string]store.ColumnMeta{}
		}
		return &target{name: found[0].String(), rows: m.Count, dir: store.EdgesDir(found[0]), columns: m.Columns, nodes: -1}, nil
	}
	return nil, operation.Usagef("%s: found the relation %q of %d edge types, expected one type; give it as %s", s.Dir, name, len(found), found[0])
}

// of says what the rows are, for errors.
func (t *target) of() string {
	if t.nodes < 0 {
		return "edges of type " + t.name
	}
	return "nodes of type " + t.name
}

// visible are the columns that a user can change.
func (t *target) visible() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.columns)), func(name string) bool { return strings.HasPrefix(name, "#") })
}

// checkName refuses names that no column of a user has.
func checkName(name string) error {
	switch {
	case strings.HasPrefix(name, "#"):
		return operation.Usagef("found the column %q, expected one whose name does not begin with #, as graphmill keeps those itself; choose another name", name)
	case name == "" || strings.ContainsFunc(name, unicode.IsControl):
		return operation.Usagef("found the name %q of a column, expected one without control characters that is not empty; choose another name", name)
	}
	return nil
}

// lacks refuses a column that is there.
func (t *target) lacks(name string) error {
	if _, there := t.columns[name]; there {
		return operation.Usagef("found the column %q among those of the %s, expected a new name; choose another one, or replace the column", name, t.of())
	}
	return nil
}

// has refuses a column that is not there.
func (t *target) has(name string) error {
	if _, there := t.columns[name]; !there {
		names := t.visible()
		list := strings.Join(names, ", ")
		if list == "" {
			list = "none"
		}
		return operation.Usagef("found no column %q of the %s, expected one of %s%s", name, t.of(), list, suggest.Hint(name, names))
	}
	return nil
}

// existing is what the columns are written for. withIDs says that rows are found by the ids of nodes.
func (t *target) existing(s *store.Store, withIDs bool) (assemble.Existing, error) {
	e := assemble.Existing{Dir: t.dir, What: t.of(), Rows: t.rows}
	if !withIDs {
		return e, nil
	}
	ids, err := s.IDs(t.nodes)
	e.IDs = ids
	return e, err
}

// described is the dtype of a column with its shape and meaning.
func described(c store.ColumnMeta) string {
	text := c.DType
	switch {
	case c.Categories != nil:
		text = "category"
	case c.Unit != "":
		text = "datetime[" + c.Unit + "]"
	}
	if len(c.Shape) == 0 {
		return text
	}
	var dims []string
	for _, d := range c.Shape {
		if d < 0 {
			dims = append(dims, "")
		} else {
			dims = append(dims, fmt.Sprint(d))
		}
	}
	return text + "[" + strings.Join(dims, ",") + "]"
}
