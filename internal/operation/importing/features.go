package importing

import (
	"context"
	"fmt"
	"maps"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/preparing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/structure"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// openFeatures reads the features that the options name.
func (o *importJob) openFeatures(options *ingest.Options) (err error) {
	switch {
	case o.Features != "" && o.Like != "":
		return operation.Usagef("found `Features` and `Like`, expected one of them; `Like` takes what was fitted for another store")
	case o.Features != "":
		options.Features, err = ingest.ReadFeatures(vfs.OS, o.Features)
		return err
	case o.Like == "":
		return nil
	}
	if o.like, err = features.ReadFile(vfs.OS, o.Like); err != nil {
		return err
	}
	if o.like == nil {
		if _, err := store.ReadManifest(vfs.OS, o.Like); err != nil {
			return fmt.Errorf("`Like`: %w", err)
		}
		return operation.Usagef("%s: found a store without features, expected one that was imported with features; leave `Like` out", o.Like)
	}
	options.Features = o.like.Plan()
	return nil
}

// withFeatures builds a store with features.
func (o *importJob) withFeatures(ctx context.Context, w *store.Writer, src *ingest.Source, r *report.Report, build func(*store.Writer) (*assemble.Result, error)) (result *assemble.Result, err error) {
	plan := ofReverses(&src.Features, src.Input.Edges)
	if o.like == nil {
		if err := checkFeatures(plan, outlineOf(&src.Input)); err != nil {
			return nil, err
		}
	}
	in := preparing.Input{Plan: plan, Like: o.like, LikeName: o.Like, Run: &o.Run}
	_, err = preparing.Build(ctx, w, in, r, func(raw *store.Writer) (*store.Meta, error) {
		if result, err = build(raw); err != nil {
			return nil, err
		}
		return result.Meta, nil
	})
	return result, err
}

// checkFeatures refuses features that cannot be made of the columns of the source, before it is read.
func checkFeatures(plan *features.Plan, g *graph.Graph) error {
	for _, n := range g.Nodes {
		for _, s := range plan.Nodes[n.Type] {
			if err := s.CheckColumns(n.Type, n.Columns); err != nil {
				return err
			}
			if err := checkStructures(&s, g, n.Type); err != nil {
				return err
			}
		}
	}
	for _, e := range g.Edges {
		for _, s := range plan.Edges[e.Type.String()] {
			if err := s.CheckColumns(e.Type.String(), e.Columns); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStructures refuses structures that the graph does not have.
func checkStructures(s *features.Spec, g *graph.Graph, nodeType string) error {
	for _, p := range s.Parts {
		if p.Structure == nil {
			continue
		}
		width, err := structure.Width(*p.Structure, g, nodeType)
		if err == nil && width == 0 {
			err = fmt.Errorf("found no edge type of the nodes, expected at least one for structure %s; leave it out", p.Structure.Structure)
		}
		if err != nil {
			return fmt.Errorf("%s: feature %s/%s: %w", s.Place, nodeType, s.Name, err)
		}
	}
	return nil
}

// ofReverses is a plan in which edge types that have the rows of another one with the ends swapped have its features, too.
func ofReverses(plan *features.Plan, edges []assemble.Edges) *features.Plan {
	all := *plan
	all.Edges = maps.Clone(plan.Edges)
	for _, e := range edges {
		specs, has := plan.Edges[e.Type.String()]
		if !has {
			continue
		}
		for _, r := range edges {
			if _, own := all.Edges[r.Type.String()]; !own && isReverse(&e, &r) {
				all.Edges[r.Type.String()] = specs
			}
		}
	}
	return &all
}
