package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation/describing"
	"github.com/graphmill/graphmill/option"
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

// Profile summarises the columns of a store: how many values are missing and distinct, where numbers lie, which values are frequent, in all rows and in each part of a split,
// and how far each column is from the same one of another store.
func (s *Store) Profile(ctx context.Context, o option.Profile) ([]report.ColumnProfile, error) {
	return describing.Profile(ctx, s.store, o)
}
