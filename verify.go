package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/verifying"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Verify reads every file of an output folder, and compares it with the manifest. For a store or a collection it also
// checks that the arrays are consistent. For the parts of a graph, given by their folder or configuration file, it checks
// that every node, edge and row of features occurs exactly once and in its place, and that the halo is complete. Damage is
// not an error: the result has OK false and lists it.
func Verify(ctx context.Context, path string, o option.Verify) (*report.Verification, error) {
	return verifying.Verify(ctx, path, o)
}
