// Package seeds finds the seeds of a run: the nodes or edges of a type, those with a value of a column, or the nodes or
// links of a file.
package seeds

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Seeds are the seeds of a run, in the order given.
type Seeds struct {
	// Types is the node type of the seeds or, for links, the types of source and target.
	Types []string
	// Edges is the edge type that links are edges of; empty where they come from a file.
	Edges string
	// Nodes are type-wise ids: one per seed or, for links, source and target in turn. A seed may occur several times.
	Nodes []uint32
	// Columns is the other columns of a table of links, or the columns of the edges, by name, with a row per link. Of features that the
	// store holds in pieces, it is the pieces.
	Columns []*graph.Column
}

// Find reads the text of the option Seeds:
//
//   - "" or "TYPE": every node of the type that has a row in its table;
//   - "TYPE:COLUMN=VALUE": the nodes of the type with the value in the column;
//   - "SRC:REL:DST" or "SRC:REL:DST:COLUMN=VALUE": the edges of the type, or those with the value, as links, in the order of
//     their ids; "SRC:REL:DST:#input_position": all edges, in the order of the input;
//   - a file, shards of a file as "base@N", a glob, or a folder. An .npy file holds type-wise ids. Any other table that
//     tablefiles.Open opens has a column "id" or "#id" of original ids, which are the type-wise ids where the type has
//     none. A table of one column may have any name, and text of one column no header.
//
// types is the node type of the rows of a file. It may be empty where the graph has one node type, or the text names
// it. Two types ask for links: a file with the columns "source" and "target", with or without "#", or with two columns
// and no header, or an array of pairs. edges is the edge type of links, empty where it is not known: without a text, its
// edges are the links. features are the other columns to take. nil takes all of them, with dtypes
// inferred from their values. Where most is not 0, only the first seeds are taken, at most the given number.
func Find(ctx context.Context, fsys vfs.FS, s *store.Store, text string, types []string, edges string, features []table.Column, most int) (*Seeds, error) {
	g := s.Graph
	if e, condition := edgesOf(g, cmp.Or(text, edges)); e != nil {
		if ends := []string{e.Type.Src, e.Type.Dst}; len(types) > 0 && !slices.Equal(types, ends) || edges != "" && edges != e.Type.String() {
			return nil, tagged.Errorf(sample.ErrSeed, "found seeds that are edges of type %s, expected %s, from which the plan starts; give such seeds, or change seed_type in the plan", e.Type, cmp.Or(edges, strings.Join(types, ",")))
		}
		return links(g, e, condition, features, most)
	}
	nodeType := ""
	if len(types) > 0 {
		nodeType = types[0]
	}
	if name, condition, filtered := strings.Cut(text, ":"); ofType(g, text) {
		if len(types) == 2 {
			return nil, tagged.Errorf(sample.ErrSeed, "found seeds %q, expected a file of links with columns source and target, because the plan starts from links; give such a file in `Seeds`, or an edge type SRC:REL:DST", text)
		}
		if name != "" && nodeType != "" && nodeType != name {
			return nil, tagged.Errorf(sample.ErrSeed, "found seeds of node type %q, expected %q, from which the plan starts; give such seeds, or change seed_type in the plan", name, nodeType)
		}
		t, err := typeOf(g, cmp.Or(nodeType, name))
		if err != nil {
			return nil, err
		}
		if filtered {
			found, err := where(g.Nodes[t], condition)
			if err != nil {
				return nil, err
			}
			return found.first(most)
		}
		return allNodes(g.Nodes[t], most)
	}
	files, dir, err := findFiles(fsys, g, text)
	if err != nil {
		return nil, err
	}
	r := reader{fsys: fsys, s: s, files: files, dir: dir}
	for _, name := range types {
		t, err := typeOf(g, name)
		if err != nil {
			return nil, err
		}
		r.types = append(r.types, t)
	}
	if len(types) == 0 {
		t, err := typeOf(g, "")
		if err != nil {
			return nil, err
		}
		r.types = []int{t}
	}
	found, err := r.read(ctx, features)
	if err != nil {
		return nil, err
	}
	return found.first(most)
}

// first keeps the first seeds, at most the given number, where most is not 0.
func (s *Seeds) first(most int) (*Seeds, error) {
	if most == 0 || most >= len(s.Nodes)/len(s.Types) {
		return s, nil
	}
	s.Nodes = slices.Clone(s.Nodes[:most*len(s.Types)])
	for i, c := range s.Columns {
		var err error
		if s.Columns[i], err = taken(c, ascending(most)); err != nil {
			return nil, fmt.Errorf("column %q of the links: %w", c.Name, err)
		}
	}
	return s, nil
}

// ofType says whether text means nodes or edges of a type rather than a file.
func ofType(g *graph.Graph, text string) bool {
	if e, _ := edgesOf(g, text); e != nil {
		return true
	}
	name, condition, filtered := strings.Cut(text, ":")
	return text == "" || g.NodeType(name) >= 0 && (!filtered || strings.Contains(condition, "="))
}

// Files is the files that the option Seeds means on a graph. It is empty where the option means nodes or edges of a type.
func Files(fsys vfs.FS, g *graph.Graph, text string) ([]string, error) {
	if ofType(g, text) {
		return nil, nil
	}
	files, _, err := findFiles(fsys, g, text)
	if err != nil {
		return nil, err
	}
	if _, ok := tablefiles.CutLog(files[0]); ok { // the files of a lake's table are known when it is open
		t, err := tablefiles.Open(fsys, files, tablefiles.Options{Outside: true})
		if err != nil {
			return nil, err
		}
		files = t.Files()
	}
	return files, nil
}

// findFiles returns the files, and the folder that holds them if text is its name.
func findFiles(fsys vfs.FS, g *graph.Graph, text string) (files []string, dir string, err error) {
	if files, dir, err = tablefiles.FindPath(fsys, text, true); err != nil {
		err = tagged.Errorf(sample.ErrSeed, "found seeds %q, which is neither a node type (%s) nor a file: %w%s", text, typeNames(g), err, meantEdges(g, text))
	}
	return files, dir, err
}

// meantEdges is the end of an error about seeds that are neither a type nor a file: the seeds with the whole edge type of which they have the
// relation; empty: there is none.
func meantEdges(g *graph.Graph, text string) string {
	name, condition, filtered := strings.Cut(text, ":")
	if filtered && !strings.Contains(condition, "=") {
		return ""
	}
	var meant []string
	for _, e := range g.Edges {
		if e.Type.Rel == name {
			meant = append(meant, strconv.Quote(e.Type.String()+text[len(name):]))
		}
	}
	if len(meant) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(meant, " or ") + "?"
}

func typeNames(g *graph.Graph) string {
	var names []string
	for _, n := range g.Nodes {
		names = append(names, n.Type)
	}
	return strings.Join(names, ", ")
}

func typeOf(g *graph.Graph, name string) (int, error) {
	if name == "" {
		if len(g.Nodes) == 1 {
			return 0, nil
		}
		return -1, tagged.Errorf(sample.ErrSeed, "found no node type for the seeds, expected one of %s; give a node type in `Seeds`, or in `SeedType` where `Seeds` is a file", typeNames(g))
	}
	t := g.NodeType(name)
	if t < 0 {
		return -1, tagged.Errorf(sample.ErrSeed, "found node type %q, expected one of %s", name, typeNames(g))
	}
	return t, nil
}

// allNodes is all nodes of a type that are not added, or the first most of them.
func allNodes(n *graph.Nodes, most int) (*Seeds, error) {
	count := n.Count - n.Added
	if most > 0 {
		count = min(count, most)
	}
	if count > math.MaxUint32 { // no bytes of the store back a count
		return nil, tagged.Errorf(sample.ErrTooLarge, "found %d nodes of type %s, expected fewer than 2^32", n.Count, n.Type)
	}
	return &Seeds{Types: []string{n.Type}, Nodes: ascending(count)}, nil
}

// ascending is 0, 1, 2, ...
func ascending(n int) []uint32 {
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	return rows
}
