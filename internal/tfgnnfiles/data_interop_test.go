//go:build interopdata

package tfgnnfiles

import (
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
)

// TF-GNN's own schemas and specs are read and checked.
func TestDataSchemas(t *testing.T) {
	testRealFiles(t, matches(t, golden.Data(t, "tfgnn/*/*/*.pbtxt")))
}
