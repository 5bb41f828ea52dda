package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/amending"
	"github.com/graphmill/graphmill/option"
)

// AddColumn adds the column name to a type of the store in the folder dir: a node type, an edge type "src:rel:dst", or a relation that is
// unique in the graph. source is a .npy file with a row per node in the order of the nodes, or per edge in the order of the edge ids; or a
// table with the ids of the nodes. The store gets a new version under its name in one step, whose other files are hard links to the files
// of the version before. A Store that is open keeps the version that it has.
func AddColumn(ctx context.Context, dir, typ, name, source string, o option.Column) (*Report, error) {
	return amending.AddColumn(ctx, dir, typ, name, source, o)
}

// ReplaceColumn is AddColumn for a column that the type has. The new values may have another dtype, of which the report has a note.
func ReplaceColumn(ctx context.Context, dir, typ, name, source string, o option.Column) (*Report, error) {
	return amending.ReplaceColumn(ctx, dir, typ, name, source, o)
}

// DropColumn removes a column from a type of the store in the folder dir, as AddColumn adds one.
func DropColumn(ctx context.Context, dir, typ, name string, o option.Run) (*Report, error) {
	return amending.DropColumn(ctx, dir, typ, name, o)
}
