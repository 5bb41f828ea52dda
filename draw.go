package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/drawing"
	"github.com/graphmill/graphmill/option"
)

// Draw draws a subgraph of the collection in the folder in, or the store there, into the file out, which ends with .svg, or with .html for a page. It draws at
// most 300 nodes. The same input and options give the same bytes.
func Draw(ctx context.Context, in, out string, o option.Picture) (*Report, error) {
	return drawing.Draw(ctx, in, out, o)
}
