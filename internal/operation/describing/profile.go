package describing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/profile"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Profile summarises the columns of a store, by type and name: all rows of each, and then the rows of each part of a split that has some. Columns that graphmill keeps for itself are left out.
func Profile(ctx context.Context, s *store.Store, o option.Profile) (list []report.ColumnProfile, err error) {
	defer guard.Catch(&err)()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	if s.Graph == nil {
		return nil, operation.Usagef("%s: found a collection, expected a store, whose columns are summarised; open a store", s.Dir)
	}
	var like *store.Store
	if o.Like != "" {
		if like, err = operation.OpenGraph(o.Like); err != nil {
			return nil, err
		}
		defer operation.CloseAfter(&err, "", like.Close)
	}
	p := profiling{ctx: ctx, o: &o, s: s, like: like}
	for _, n := range s.Graph.Nodes {
		var other []*graph.Column
		if like != nil {
			if t := like.Graph.NodeType(n.Type); t >= 0 {
				other = like.Graph.Nodes[t].Columns
			}
		}
		if err := p.columns(n.Type, n.Count, n.Columns, other); err != nil {
			return nil, err
		}
	}
	for _, e := range s.Graph.Edges {
		name := e.Type.String()
		var other []*graph.Column
		if like != nil {
			if t, err := like.Graph.EdgeType(name); err == nil && like.Graph.Edges[t].Type == e.Type {
				other = like.Graph.Edges[t].Columns
			}
		}
		if err := p.columns(name, e.Count, e.Columns, other); err != nil {
			return nil, err
		}
	}
	return p.list, nil
}

// profiling summarises the columns of a store.
type profiling struct {
	ctx  context.Context
	o    *option.Profile
	s    *store.Store
	like *store.Store // to compare with; nil: none
	list []report.ColumnProfile
}

// columns summarises the columns of a type, against the columns of the same names of another store.
func (p *profiling) columns(typ string, count int, columns, other []*graph.Column) error {
	type part struct {
		name string
		rows features.Rows
	}
	type job struct {
		c *graph.Column
		part
	}
	parts := []part{{}}
	split := graph.FindColumn(columns, transform.SplitColumn)
	if split != nil && split.Categories != nil {
		codes := graph.View[int32](split.Values)
		for code := range split.Categories.Rows {
			if !slices.Contains(codes, int32(code)) {
				continue
			}
			parts = append(parts, part{string(split.Categories.Text(code)), func(first int, keep []bool) {
				for i, of := range codes[first:][:len(keep)] {
					keep[i] = int(of) == code
				}
			}})
		}
	}
	var jobs []job
	for _, c := range columns {
		for _, of := range parts {
			if !strings.HasPrefix(c.Name, "#") && (c != split || of.rows == nil) {
				jobs = append(jobs, job{c, of})
			}
		}
	}
	meter := operation.NewMeter(&p.o.Run, "columns of "+typ, int64(len(jobs)), "columns")
	defer meter.End()
	profiles := make([]report.ColumnProfile, len(jobs))
	group, ctx := guard.WithContext(p.ctx)
	group.SetLimit(p.o.Threads)
	for i, j := range jobs {
		group.Go(func() error {
			var compared *profile.Column
			if x := graph.FindColumn(other, j.c.Name); x != nil && j.rows == nil {
				compared = &profile.Column{Column: x, Mark: markOf(other, x), Touched: p.like.Touched}
			}
			got, err := profile.Of(ctx, &profile.Column{Column: j.c, Mark: markOf(columns, j.c), Rows: j.rows, Touched: p.s.Touched}, compared, p.o.Memory/2/int64(p.o.Threads))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", p.s.Dir, typ, err)
			}
			got.Type, got.Part = typ, j.name
			profiles[i] = got
			meter.Add(1)
			return nil
		})
	}
	err := group.Wait()
	p.list = append(p.list, profiles...)
	return err
}

// markOf is the column of bools that says which rows of a column, or which of all their values, are missing; nil for none.
func markOf(columns []*graph.Column, c *graph.Column) []byte {
	m := graph.FindColumn(columns, c.Name+features.MarkSuffix)
	if m == nil || m.DType != graph.Bool || m.Ragged() || m.RowValues() != 1 && (c.Ragged() || m.RowValues() != c.RowValues()) {
		return nil
	}
	return m.Values
}
