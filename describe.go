package graphmill

import (
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation/describing"
	"github.com/graphmill/graphmill/internal/operation/dispatching"
	"github.com/graphmill/graphmill/report"
)

// Describe describes the contents of the store or collection. It reads the degrees of the nodes.
func (s *Store) Describe() (d *report.Description, err error) {
	defer guard.Catch(&err)()
	return describing.Describe(s.store), nil
}

// DescribeLayout describes the pack layout in a folder.
func DescribeLayout(dir string) (*report.LayoutDescription, error) {
	return describing.DescribeLayout(dir)
}

// IsLayout reports whether the manifest of a folder says that it is a pack layout.
func IsLayout(dir string) (bool, error) {
	return describing.IsLayout(dir)
}

// IsParts reports whether a path leads to parts in DGL's distributed format: to their folder or their configuration file.
func IsParts(path string) (bool, error) {
	return dispatching.IsParts(path)
}
