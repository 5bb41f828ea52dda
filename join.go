package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/joining"
	"github.com/graphmill/graphmill/option"
)

// Join writes the store or collection in the folder in to the new folder out, with each array as one file. A job on a cluster leaves large arrays
// in shards, which its workers wrote; everything reads them as they are. The result has the files, and so the manifest, of an output that one process wrote.
// A folder without shards is an error.
func Join(ctx context.Context, in, out string, o option.Run) (*Report, error) {
	return joining.Join(ctx, in, out, o)
}
