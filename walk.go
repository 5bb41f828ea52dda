package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/walking"
	"github.com/graphmill/graphmill/option"
)

// Walk makes random walks over a store, and writes them to the folder out as an array with a row of nodes per walk
// (docs/walks.md). A walk depends on the store, the options, its start and its number alone: the same call gives the same bytes
// for any Threads.
func Walk(ctx context.Context, in, out string, o option.Walk) (*Report, error) {
	return walking.Walk(ctx, in, out, o)
}
