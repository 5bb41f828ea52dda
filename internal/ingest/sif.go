package ingest

import (
	"bytes"
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// simpleInteractions is a file of Cytoscape's simple interaction format. It gives one node type, as triples do.
type simpleInteractions struct{}

func (simpleInteractions) name() string { return "sif" }
func (simpleInteractions) about() string {
	return ".sif of Cytoscape: a node, a relation and nodes per line, or a node alone; plain or as .gz or .zst"
}
func (simpleInteractions) becomes() string {
	return "a node type entity; an edge type for each relation, or a column of them"
}
func (simpleInteractions) detect(path string, names []string) bool {
	return names == nil && table.Extension(path) == ".sif"
}

func (simpleInteractions) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	text, err := head(fsys, path)
	if err != nil {
		return nil, err
	}
	tabs := bytes.IndexByte(text, '\t') >= 0
	t, err := textfiles.OpenSIF(fsys, path, tabs)
	if err != nil {
		return nil, err
	}
	s := &Source{Files: t.Files()}
	if err := s.partial(ctx, entity, func() (table.Table, error) { return textfiles.OpenSIFNodes(fsys, path, tabs) }, o); err != nil {
		return nil, err
	}
	return s, s.triples(ctx, t, o, plainNames, nil)
}

// partial makes a node type of a table of texts with some of the nodes, under the name of its first field, if it has rows.
func (s *Source) partial(ctx context.Context, typ string, open func() (table.Table, error), o Options) error {
	t, err := open()
	if err != nil {
		return err
	}
	id := table.Column{Name: t.Fields()[0].Name, DType: graph.String, ID: true}
	rows, err := t.Scan(ctx, []table.Column{id}, max(o.Threads, 1), func(int, *table.Chunk) error { return nil })
	if err != nil || rows == 0 {
		return err
	}
	s.Input.Nodes, s.Rules.Partial = []assemble.Nodes{{Type: typ, Table: t, ID: id}}, true
	return nil
}
