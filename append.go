package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/appending"
	"github.com/graphmill/graphmill/option"
)

// Append adds the tables of source to the store in the folder dir: new nodes, and new edges between all nodes. It writes only what is new, as a segment, and the
// store then gives the batches, walks and edge ids of a store that was imported at once from all tables, those of the import first. The tables have the types and
// columns of the store; a type may be new. The store gets the new version under its name in one step. A Store that is open keeps the version that it has. After an error the
// store is as it was.
//
// docs/growing.md says which imports and operations take segments, and what Compact is for.
func Append(ctx context.Context, dir, source string, o option.Append) (*Report, error) {
	return appending.Append(ctx, dir, source, o)
}

// Snapshot makes the folder out the store in the folder dir as it was after some of the segments that Append added. Its files are hard links to those of the store, so it takes no
// room until the store is compacted.
func Snapshot(ctx context.Context, dir, out string, o option.Snapshot) (*Report, error) {
	return appending.Snapshot(ctx, dir, out, o)
}

// Compact writes the store in the folder dir as one without segments, which has the same nodes, edges and edge ids. It takes the room of a second store until it ends.
func Compact(ctx context.Context, dir string, o option.Run) (*Report, error) {
	return appending.Compact(ctx, dir, o)
}
