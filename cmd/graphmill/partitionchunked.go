package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
)

// importChunked makes a temporary store of a chunked graph: its edges, and the columns
// that are to be balanced. It lies in the folder of temporary files until end.
func (t *terminal) importChunked(ctx context.Context, in string, f *partitionFlags, r *report.Report) (_ *store.Store, inputs map[string]string, end func() error, err error) {
	src, inputs, err := t.openChunked(ctx, in, f.outside, &f.outFlags, r)
	if err != nil {
		return nil, nil, nil, err
	}
	f.options.ImportOrder = nil
	var known []string
	for i := range src.Input.Nodes {
		n := &src.Input.Nodes[i]
		f.options.ImportOrder = append(f.options.ImportOrder, n.Type)
		for _, c := range n.Columns {
			known = append(known, n.Type+"/"+c.Name)
		}
		n.Columns = slices.DeleteFunc(slices.Clone(n.Columns), func(c table.Column) bool {
			return !slices.Contains(f.options.Balance.Columns, c.Name) && !slices.Contains(f.options.Balance.Columns, n.Type+"/"+c.Name)
		})
	}
	for _, name := range f.options.Balance.Columns {
		if !slices.ContainsFunc(known, func(full string) bool { return full == name || strings.HasSuffix(full, "/"+name) }) {
			return nil, nil, nil, usagef("%s: found no column %q of nodes, expected one of %s", in, name, strings.Join(known, ", "))
		}
	}
	for i := range src.Input.Edges {
		src.Input.Edges[i].Columns = nil
	}
	s, end, err := t.temporaryStore(ctx, src, filepath.Join(f.options.Temp, ".graph"), f.common, r)
	if err != nil {
		return nil, nil, nil, err
	}
	s.Dir = in // which is the name that the user knows
	return s, inputs, end, nil
}
