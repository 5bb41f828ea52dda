package sampling

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/vfs"
)

// keptNodes are the nodes that Kept names, by type; nil without it.
func (o *request) keptNodes(ctx context.Context, g *graph.Graph) (map[string]*feed.Kept, error) {
	if o.kept == "" {
		return nil, nil
	}
	ids, err := seeds.OfTypes(ctx, vfs.OS, g, o.kept)
	if err != nil {
		return nil, fmt.Errorf("`Kept`: %w", err)
	}
	kept := map[string]*feed.Kept{}
	for t, n := range g.Nodes {
		if len(ids[t]) == 0 {
			continue
		}
		if kept[n.Type], err = feed.NewKept(ids[t], n.Count); err != nil {
			return nil, err
		}
	}
	return kept, nil
}
