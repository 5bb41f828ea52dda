package appending

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation/preparing"
	"github.com/graphmill/graphmill/internal/store"
)

// checkFeatures refuses features that follow from the whole graph: new edges change those of old nodes.
func (a *appending) checkFeatures() error {
	if a.features == nil {
		return nil
	}
	for _, types := range []map[string]*features.Type{a.features.Nodes, a.features.Edges} {
		for name, t := range types {
			for feature, f := range t.Features {
				if slices.ContainsFunc(f.Parts, func(p *features.State) bool { return p.Structure != nil }) {
					return fmt.Errorf("%s: found the feature %s/%s, which is made of all edges, expected features of rows alone: new edges change those of nodes that are there; import all tables again", a.store.Dir, name, feature)
				}
			}
		}
	}
	return nil
}

// featuresOf is the features of a type, nil for none.
func (a *appending) featuresOf(name string) *features.Type {
	if a.features == nil {
		return nil
	}
	if t := a.features.Nodes[name]; t != nil {
		return t
	}
	return a.features.Edges[name]
}

// withoutFeatures is a list of the columns of a type without those that its features made.
func withoutFeatures(columns []*graph.Column, made *features.Type) []*graph.Column {
	if made == nil {
		return slices.Clone(columns)
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c *graph.Column) bool {
		for _, f := range made.Features {
			if slices.ContainsFunc(f.Pieces, func(p features.Piece) bool { return p.Column == c.Name }) {
				return true
			}
		}
		return false
	})
}

// applied is the features of the store that the types of an input have; nil for none.
func (b *building) applied(in *assemble.Input) *features.File {
	if b.features == nil {
		return nil
	}
	like := features.NewFile(b.features.Fit)
	for _, n := range in.Nodes {
		if t := b.features.Nodes[n.Type]; t != nil && len(n.Columns) > 0 { // a type that the edges alone name has no new rows
			like.Nodes[n.Type] = t
		}
	}
	for _, e := range in.Edges {
		if t := b.features.Edges[e.Type.String()]; t != nil {
			like.Edges[e.Type.String()] = t
		}
	}
	if len(like.Nodes)+len(like.Edges) == 0 {
		return nil
	}
	return like
}

// buildWith builds a store, with features if there are some.
func (b *building) buildWith(ctx context.Context, w *store.Writer, like *features.File, build func(*store.Writer) (*store.Meta, error)) (*store.Meta, error) {
	if like == nil {
		return build(w)
	}
	return preparing.Build(ctx, w, preparing.Input{Like: like, LikeName: "the store", Run: &b.o.Run}, b.report, build)
}
