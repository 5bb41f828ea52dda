package operation

import (
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/option"
)

// SplitTransform is a split without its files.
func SplitTransform(s *option.Split) transform.Split {
	return transform.Split{
		Of: s.Of, Ratios: s.Ratios, At: s.At, Values: s.Values, Stratify: s.Stratify, PerClass: s.PerClass, ValidRows: s.ValidRows, TestRows: s.TestRows,
		Group: s.Group, Like: s.Like, Masks: s.Masks, Folds: s.Folds, ValidFolds: s.ValidFolds, Disjoint: s.Disjoint,
	}
}
