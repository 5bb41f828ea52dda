package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/suggest"
)

// Transforms are the changes to the whole graph that a source asks for. The policies are "" where it says nothing.
type Transforms struct {
	SelfLoops, DuplicateEdges    string // the names of policies
	Symmetrise, LargestComponent bool
	Splits                       []transform.Split
	Seed                         uint64
	Normalise                    []string
}

// Rules are the names of the policies for rows that break a rule; "" where the source says nothing.
type Rules struct {
	DanglingEdges, DuplicateNodes string
}

// readTransforms reads the section transforms.
func readTransforms(y yamlfile.File, n ast.Node) (t Transforms, err error) {
	fields, err := y.Mapping(n, "transforms", []string{"self_loops", "duplicate_edges", "symmetrise", "largest_component", "split", "seed", "normalise"})
	if err != nil {
		return t, err
	}
	for _, f := range fields {
		switch f.Key {
		case "self_loops":
			t.SelfLoops, err = readPolicy(y, f.Value, "keep", "drop", "error", "add")
		case "duplicate_edges":
			t.DuplicateEdges, err = readPolicy(y, f.Value, "keep", "drop", "drop-equal", "error", "sum", "count")
		case "symmetrise":
			t.Symmetrise, err = y.Boolean(f.Value)
		case "largest_component":
			t.LargestComponent, err = y.Boolean(f.Value)
		case "normalise":
			t.Normalise, err = y.Texts(f.Value, "the name of a column")
		case "seed":
			t.Seed, err = readSeed(y, f.Value)
		case "split":
			t.Splits, err = readSplits(y, f.Value)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// readPolicy returns one of several words.
func readPolicy(y yamlfile.File, n ast.Node, words ...string) (string, error) {
	s, err := y.Text(n, "one of "+strings.Join(words, ", "))
	if err == nil && !slices.Contains(words, s) {
		err = y.Errorf(n, "found %q, expected one of %s%s", s, strings.Join(words, ", "), suggest.Hint(s, words))
	}
	return s, err
}

func readSeed(y yamlfile.File, n ast.Node) (uint64, error) {
	s, err := y.Text(n, "a number")
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, y.Errorf(n, "found the seed %q, expected a number from 0 to 18446744073709551615", s)
	}
	return v, nil
}

// readSplits reads a split per type.
func readSplits(y yamlfile.File, n ast.Node) ([]transform.Split, error) {
	types, err := y.Mapping(n, "types and their splits", nil)
	if err != nil {
		return nil, err
	}
	var out []transform.Split
	for _, t := range types {
		s := transform.Split{Type: t.Key}
		if _, ok := t.Value.(*ast.SequenceNode); ok { // paper: [0.8, 0.1, 0.1]
			if s.Ratios, err = readRatios(y, t.Value); err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		if err := readSplit(y, t, &s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// readSplit reads the mapping of a split.
func readSplit(y yamlfile.File, t yamlfile.Entry, s *transform.Split) error {
	fields, err := y.Mapping(t.Value, "a split", append([]string{"ratios", "by", "at"}, transform.Parts...))
	if err != nil {
		return err
	}
	ways := 0
	for _, f := range fields {
		switch f.Key {
		case "ratios":
			ways++
			s.Ratios, err = readRatios(y, f.Value)
		case "by":
			s.By, err = y.Text(f.Value, "the name of a column")
		case "at":
			ways++
			s.At, err = y.Texts(f.Value, "the first values of valid and test")
		default:
			if s.Values == nil {
				ways++
				s.Values = make([][]string, len(transform.Parts))
			}
			s.Values[slices.Index(transform.Parts, f.Key)], err = y.Texts(f.Value, "values of the column")
		}
		if err != nil {
			return err
		}
	}
	if ways != 1 {
		return y.Errorf(t.At, "found %d ways to split %s, expected one of ratios, at, and values for train, valid and test", ways, t.Key)
	}
	return nil
}

func readRatios(y yamlfile.File, n ast.Node) (out []float64, err error) {
	parts, err := y.Texts(n, "a number")
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		x, err := strconv.ParseFloat(p, 64)
		if err != nil {
			return nil, y.Errorf(n, "found the ratio %q, expected a number from 0 to 1", p)
		}
		out = append(out, x)
	}
	return out, nil
}
