package importing

import (
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// splitOption is a split of a source as an option.
func splitOption(s *ingest.Split) option.Split {
	of := s.Type
	if s.By != "" {
		of += "." + s.By
	}
	return option.Split{
		Of: of, Ratios: s.Ratios, At: s.At, Values: s.Values, Stratify: s.Stratify, PerClass: s.PerClass, ValidRows: s.ValidRows, TestRows: s.TestRows,
		Group: s.Group, Like: s.Like, Files: s.FileNames, IDColumns: s.IDColumns, Masks: s.Masks, Folds: s.Folds, ValidFolds: s.ValidFolds, Disjoint: s.Disjoint,
	}
}

// openListed opens the files of ids of splits.
func openListed(o *option.Build, splits []transform.Split) error {
	for i := range splits {
		of := &o.Splits[i]
		if of.Files == nil {
			continue
		}
		if len(of.Files) != len(transform.Parts) {
			return operation.Usagef("found `Splits` with %d files, expected three: of train, valid and test; an empty name is none", len(of.Files))
		}
		splits[i].Files = make([]*transform.Listed, len(transform.Parts))
		for p, path := range of.Files {
			if path == "" {
				continue
			}
			f, err := ingest.OpenListed(vfs.OS, path, of.IDColumns, strings.Count(of.Of, ":") == 2)
			if err != nil {
				return err
			}
			splits[i].Files[p] = f
		}
	}
	return nil
}

// listFiles are the files of ids of splits that are no files of the source.
func listFiles(o *option.Build, source []string) (files []string) {
	for _, s := range o.Splits {
		for _, f := range s.Files {
			if f != "" && !slices.Contains(source, f) && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// withReverses adds a split for each edge type that has the rows of a split edge type with the ends swapped.
func withReverses(splits []transform.Split, edges []assemble.Edges) []transform.Split {
	of := func(s *transform.Split) *assemble.Edges {
		for i, e := range edges {
			if name := e.Type.String(); s.Type == name || s.Of == name || strings.HasPrefix(s.Of, name+".") {
				return &edges[i]
			}
		}
		return nil
	}
	divided := map[graph.EdgeType]bool{}
	for i := range splits {
		if e := of(&splits[i]); e != nil {
			divided[e.Type] = true
		}
	}
	out := slices.Clone(splits)
	for _, s := range splits {
		e := of(&s)
		for _, r := range edges {
			if e == nil || divided[r.Type] || !isReverse(e, &r) {
				continue
			}
			divided[r.Type] = true
			out = append(out, reversed(s, e.Type, r.Type))
		}
	}
	return out
}

// reversed is the split of the reverse edges: what it says of the ends is swapped.
func reversed(s transform.Split, of, to graph.EdgeType) transform.Split {
	if s.Of != "" {
		s.Of = to.String() + strings.TrimPrefix(s.Of, of.String())
	} else {
		s.Type = to.String()
	}
	switch s.Group {
	case transform.GroupSource:
		s.Group = transform.GroupDestination
	case transform.GroupDestination:
		s.Group = transform.GroupSource
	}
	files := slices.Clone(s.Files)
	for i, f := range files {
		if f != nil && len(f.Columns) == 2 {
			files[i] = &transform.Listed{Table: f.Table, Columns: []string{f.Columns[1], f.Columns[0]}}
		}
	}
	s.Files = files
	return s
}
