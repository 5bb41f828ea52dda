package transform

import (
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// maxFolds is the most folds of a split.
const maxFolds = 100

// checkSplit completes a split and checks it.
func (t *Transform) checkSplit(s *Split) error {
	if s.Of != "" {
		s.Type, s.By = t.apart(s.Of)
		s.Of = ""
	}
	if s.Type == "" && len(t.nodes) == 1 {
		s.Type = t.nodes[0].n.Type
	}
	var types []string
	t.each(func(name string, _ *rows) { types = append(types, name) })
	r := t.rows(s.Type)
	twice := 0
	for i := range t.o.Splits {
		if t.o.Splits[i].Type == s.Type {
			twice++
		}
	}
	switch {
	case r == nil && s.Type == "":
		return optionf("split: found no type, expected one of %s", strings.Join(types, ", "))
	case r == nil:
		return optionf("split of %s: found no such type, expected one of %s", s.Type, strings.Join(types, ", "))
	case twice > 1:
		return optionf("split of %s: found two splits of this type, expected one", s.Type)
	}
	for _, name := range s.columns(r) {
		if graph.FindColumn(r.columns, name) != nil {
			return optionf("split of %s: found a column %s already, expected none; leave one of the two out", s.Type, name)
		}
	}
	if err := s.checkWays(); err != nil {
		return err
	}
	if err := s.checkDisjoint(t, r); err != nil {
		return err
	}
	if s.Ratios != nil {
		sum, negative := 0.0, false
		for _, x := range s.Ratios {
			sum += x
			negative = negative || x < 0
		}
		if len(s.Ratios) != len(Parts) || negative || !(sum > 0 && sum <= 1+1e-9) {
			return optionf("split of %s: found the ratios %v, expected three from 0 to 1 (train, valid, test) with a sum of at most 1", s.Type, s.Ratios)
		}
	}
	switch {
	case s.Like != "":
		return s.checkLike(t, r)
	case s.Masks != nil:
		return s.checkMasks(t, r)
	case s.Files != nil:
		return s.checkFiles(t, r)
	}
	if err := s.checkClasses(t, r); err != nil || s.By == "" {
		return err
	}
	return s.checkBy(t, r)
}

// checkBy refuses columns by which rows cannot be divided.
func (s *Split) checkBy(t *Transform, r *rows) error {
	c := graph.FindColumn(r.columns, s.By)
	if c == nil {
		return t.noColumn(s, s.By)
	}
	if c.Ragged() || c.RowValues() != 1 {
		return optionf("split of %s: found column %s of shape %v, expected one value per row", s.Type, s.By, c.Shape)
	}
	if s.Values != nil {
		return s.checkValues()
	}
	if _, err := ordered(c); err != nil {
		return optionf("split of %s: column %s: %w", s.Type, s.By, err)
	}
	_, err := s.limits(c)
	return err
}

// noColumn is the error of a column that a type lacks.
func (t *Transform) noColumn(s *Split, name string) error {
	return optionf("split of %s: found no column %s, expected one of %s", s.Type, name, strings.Join(t.columnNames(s.Type), ", "))
}

// columns are the names of the columns that a split adds, as far as they are known before it follows nodes.
func (s *Split) columns(r *rows) []string {
	n := s.Folds
	if shape := s.maskShape(r); len(shape) == 1 {
		n = max(shape[0], 0)
	}
	if n == 0 {
		return []string{SplitColumn}
	}
	var names []string
	for i := range n {
		names = append(names, splitColumn(i))
	}
	return names
}

// checkWays refuses ways to split that contradict each other.
func (s *Split) checkWays() error {
	var ways []string
	for _, w := range []struct {
		name  string
		given bool
	}{
		{"ratios", s.Ratios != nil}, {"at", s.At != nil}, {"values", s.Values != nil}, {"per_class", s.PerClass != 0}, {"like", s.Like != ""},
		{"files", s.Files != nil}, {"masks", s.Masks != nil}, {"folds", s.Folds != 0},
	} {
		if w.given {
			ways = append(ways, w.name)
		}
	}
	by := len(ways) == 1 && slices.Contains([]string{"ratios", "at", "values"}, ways[0])
	random := len(ways) == 1 && slices.Contains([]string{"ratios", "folds"}, ways[0])
	switch {
	case s.By == "" && (s.At != nil || s.Values != nil):
		return optionf("split of %s: found no column, expected the one that decides", s.Type)
	case len(ways) == 0 && s.By == "":
		return optionf("split of %s: found no column, expected the one that decides, or ratios, per_class, like, files, masks or folds", s.Type)
	case len(ways) > 1:
		return optionf("split of %s: found %s, expected one of them; leave the others out", s.Type, strings.Join(ways, " and "))
	case s.By != "" && len(ways) == 1 && !by:
		return optionf("split of %s: found the column %s and %s, expected one of them", s.Type, s.By, ways[0])
	case s.Stratify != "" && s.Group != "":
		return optionf("split of %s: found stratify and group, expected one of them: groups that stay together have no exact classes", s.Type)
	case (s.Stratify != "" && s.PerClass == 0 || s.Group != "") && (!random || s.By != ""):
		return optionf("split of %s: found stratify or group with %s, expected ratios or folds at random", s.Type, strings.Join(append(ways, s.By), " "))
	case s.PerClass != 0 && s.Stratify == "":
		return optionf("split of %s: found per_class without a label, expected the column of the classes; give stratify", s.Type)
	case s.PerClass < 0 || s.ValidRows < 0 || s.TestRows < 0:
		return optionf("split of %s: found per_class %d with %d rows of valid and %d of test, expected numbers of rows", s.Type, s.PerClass, s.ValidRows, s.TestRows)
	case s.PerClass == 0 && s.ValidRows+s.TestRows > 0:
		return optionf("split of %s: found numbers of rows of valid and test without per_class, expected both", s.Type)
	case s.Folds != 0 && (s.Folds < 2 || s.Folds > maxFolds || s.ValidFolds < 0 || s.ValidFolds > s.Folds-2):
		return optionf("split of %s: found %d folds with %d of them for valid, expected 2 to %d folds, of which at least one is for train and one for test", s.Type, s.Folds, s.ValidFolds, maxFolds)
	}
	return nil
}

// checkClasses refuses columns that are no classes and no groups.
func (s *Split) checkClasses(t *Transform, r *rows) error {
	for _, name := range []string{s.Stratify, s.Group} {
		if name == "" {
			continue
		}
		c := graph.FindColumn(r.columns, name)
		if end := name == s.Group && (name == GroupSource || name == GroupDestination) && t.edgesOf(r) != nil; end {
			if c != nil {
				return optionf("split of %s: found a column %s, which could be the group as well as the %s of an edge, expected one of them; rename the column", s.Type, name, name)
			}
			continue
		}
		if c == nil {
			return t.noColumn(s, name)
		}
		kinds := c.DType == graph.String || c.DType == graph.Bool || c.DType.IsInt() || c.DType == graph.Float32 || c.DType == graph.Float64
		if c.Ragged() || c.RowValues() != 1 || !kinds {
			return optionf("split of %s: found column %s of %s %v, expected one number, bool or text per row", s.Type, name, kind(c), c.Shape)
		}
	}
	return nil
}
