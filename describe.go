package graphmill

import (
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation/describing"
	"github.com/graphmill/graphmill/report"
)

// Describe describes the contents of the store or collection. It reads the degrees of the nodes.
func (s *Store) Describe() (d *report.Description, err error) {
	defer guard.Catch(&err)()
	return describing.Describe(s.store)
}

// DescribeLayout describes the pack layout in a folder.
func DescribeLayout(dir string) (*report.LayoutDescription, error) {
	return describing.DescribeLayout(dir)
}
