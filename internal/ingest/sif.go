package ingest

import (
	"bytes"
	"context"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// simpleInteractions is a file of Cytoscape's simple interaction format. It gives one node type, as triples do.
type simpleInteractions struct{}

func (simpleInteractions) name() string { return "sif" }
func (simpleInteractions) about() string {
	return ".sif of Cytoscape: a node, a relation and nodes per line; plain or as .gz or .zst"
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
	t, err := textfiles.OpenSIF(fsys, path, bytes.IndexByte(text, '\t') >= 0)
	if err != nil {
		return nil, err
	}
	s := &Source{Files: t.Files()}
	if err := s.triples(ctx, t, o, plainNames, nil); err != nil {
		return nil, err
	}
	s.skipped = func() (int64, string) {
		return t.Left(), "nodes alone on a line are left out, unless another line has them"
	}
	return s, nil
}
