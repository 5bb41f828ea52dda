package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
)

// readSplits reads a split per type.
func readSplits(y yamlfile.File, n ast.Node) ([]Split, error) {
	types, err := y.Mapping(n, "types and their splits", nil)
	if err != nil {
		return nil, err
	}
	var out []Split
	for _, t := range types {
		s := Split{Split: transform.Split{Type: t.Key}, at: t.At}
		if _, ok := t.Value.(*ast.SequenceNode); ok { // paper: [0.8, 0.1, 0.1]
			if s.Ratios, err = readRatios(y, t.Value); err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		if err := s.read(y, t); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// splitWays are the keys of which a split has one, besides the parts.
var splitWays = []string{"ratios", "at", "per_class", "like", "files", "masks", "folds"}

// read reads the mapping of a split.
func (s *Split) read(y yamlfile.File, t yamlfile.Entry) error {
	fields, err := y.Mapping(t.Value, "a split", slices.Concat(splitWays, []string{"by", "stratify", "group", "valid_folds", "disjoint"}, transform.Parts))
	if err != nil {
		return err
	}
	counted := slices.ContainsFunc(fields, func(f yamlfile.Entry) bool { return f.Key == "per_class" })
	ways := 0
	for _, f := range fields {
		if slices.Contains(splitWays, f.Key) {
			ways++
		}
		if slices.Contains(transform.Parts, f.Key) && !counted {
			if s.Values == nil {
				ways++
				s.Values = make([][]string, len(transform.Parts))
			}
			s.Values[slices.Index(transform.Parts, f.Key)], err = y.Texts(f.Value, "values of the column")
		} else {
			err = s.readKey(y, f)
		}
		if err != nil {
			return err
		}
	}
	if ways != 1 {
		return y.Errorf(t.At, "found %d ways to split %s, expected one of %s, and values for train, valid and test", ways, t.Key, strings.Join(splitWays, ", "))
	}
	return nil
}

// readKey reads a key of a split, other than the values of the parts.
func (s *Split) readKey(y yamlfile.File, f yamlfile.Entry) (err error) {
	const column = "the name of a column"
	switch f.Key {
	case "ratios":
		s.Ratios, err = readRatios(y, f.Value)
	case "by":
		s.By, err = y.Text(f.Value, column)
	case "at":
		s.At, err = y.Texts(f.Value, "the first values of valid and test")
	case "stratify":
		s.Stratify, err = y.Text(f.Value, column)
	case "group":
		s.Group, err = y.Text(f.Value, column)
	case "like":
		s.Like, err = y.Text(f.Value, "nodes, or a node type")
	case "masks":
		s.Masks, err = readByPart(y, f.Value, "masks", column, nil)
	case "files":
		s.FileNames, err = readByPart(y, f.Value, "files", "the name of a file", func(e yamlfile.Entry) (err error) {
			s.IDColumns, err = y.Texts(e.Value, column)
			return err
		})
	case "per_class":
		s.PerClass, err = readRows(y, f.Value)
	case "valid":
		s.ValidRows, err = readRows(y, f.Value)
	case "test":
		s.TestRows, err = readRows(y, f.Value)
	case "train":
		err = y.Errorf(f.At, "found train with per_class, expected numbers of rows of valid and test alone; per_class says how many rows of each class are in train")
	case "folds":
		s.Folds, err = readRows(y, f.Value)
	case "disjoint":
		s.Disjoint, err = readShare(y, f.Value)
	case "valid_folds":
		s.ValidFolds, err = readRows(y, f.Value)
	}
	return err
}

// readShare reads a number between 0 and 1.
func readShare(y yamlfile.File, n ast.Node) (float64, error) {
	const what = "a number between 0 and 1"
	text, err := y.Text(n, what)
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x < 1) {
		return 0, y.Errorf(n, "found %q, expected %s", text, what)
	}
	return x, nil
}

// readRows reads a number from 1.
func readRows(y yamlfile.File, n ast.Node) (int, error) {
	const most = 1 << 40
	v, err := y.Count(n, "a number from 1")
	if err == nil && (v == 0 || v > most) {
		err = y.Errorf(n, "found %d, expected a number from 1", v)
	}
	return int(v), err
}

// readByPart reads a name for each part; "" for those without one. columns reads the key columns; nil: there is none.
func readByPart(y yamlfile.File, n ast.Node, what, name string, columns func(yamlfile.Entry) error) ([]string, error) {
	known := slices.Clone(transform.Parts)
	if columns != nil {
		known = append(known, "columns")
	}
	fields, err := y.Mapping(n, what+" of train, valid and test", known)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(transform.Parts))
	for _, f := range fields {
		if f.Key == "columns" {
			err = columns(f)
		} else {
			out[slices.Index(transform.Parts, f.Key)], err = y.Text(f.Value, name)
		}
		if err != nil {
			return nil, err
		}
	}
	if out[0] == "" || out[1]+out[2] == "" {
		return nil, y.Errorf(n, "found %s without train, or without valid and test, expected %s for train and for valid or test; name them", what, what)
	}
	return out, nil
}

// findSplits finds the files of the splits.
func (l *lister) findSplits() error {
	for i := range l.transforms.Splits {
		s := &l.transforms.Splits[i]
		for p, name := range s.FileNames {
			if name == "" {
				continue
			}
			found, err := l.p.find(name)
			if err == nil && len(found) != 1 {
				err = l.y.Errorf(s.at, "found %d files for %s of %s, expected one; join them", len(found), name, s.Type)
			}
			if err != nil {
				return err
			}
			s.FileNames[p] = found[0]
		}
	}
	return nil
}
