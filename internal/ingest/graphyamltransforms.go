package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/internal/ingest/transform"
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
func (y yamlFile) readTransforms(n ast.Node) (t Transforms, err error) {
	fields, err := y.mapping(n, "transforms", []string{"self_loops", "duplicate_edges", "symmetrise", "largest_component", "split", "seed", "normalise"})
	if err != nil {
		return t, err
	}
	for _, f := range fields {
		switch f.key {
		case "self_loops":
			t.SelfLoops, err = y.policy(f.value, "keep", "drop", "error", "add")
		case "duplicate_edges":
			t.DuplicateEdges, err = y.policy(f.value, "keep", "drop", "drop-equal", "error", "sum", "count")
		case "symmetrise":
			t.Symmetrise, err = y.boolean(f.value)
		case "largest_component":
			t.LargestComponent, err = y.boolean(f.value)
		case "normalise":
			t.Normalise, err = y.texts(f.value, "the name of a column")
		case "seed":
			t.Seed, err = y.seed(f.value)
		case "split":
			t.Splits, err = y.splits(f.value)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// policy returns one of several words.
func (y yamlFile) policy(n ast.Node, words ...string) (string, error) {
	s, err := y.text(n, "one of "+strings.Join(words, ", "))
	if err == nil && !slices.Contains(words, s) {
		err = y.errorf(n, "found %q, expected one of %s%s", s, strings.Join(words, ", "), suggest.Hint(s, words))
	}
	return s, err
}

func (y yamlFile) seed(n ast.Node) (uint64, error) {
	s, err := y.text(n, "a number")
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, y.errorf(n, "found the seed %q, expected a number from 0 to 18446744073709551615", s)
	}
	return v, nil
}

// splits reads a split per type.
func (y yamlFile) splits(n ast.Node) ([]transform.Split, error) {
	types, err := y.mapping(n, "types and their splits", nil)
	if err != nil {
		return nil, err
	}
	var out []transform.Split
	for _, t := range types {
		s := transform.Split{Type: t.key}
		if _, ok := t.value.(*ast.SequenceNode); ok { // paper: [0.8, 0.1, 0.1]
			if s.Ratios, err = y.ratios(t.value); err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		if err := y.splitBy(t, &s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// splitBy reads the mapping of a split.
func (y yamlFile) splitBy(t entry, s *transform.Split) error {
	fields, err := y.mapping(t.value, "a split", append([]string{"ratios", "by", "at"}, transform.Parts...))
	if err != nil {
		return err
	}
	ways := 0
	for _, f := range fields {
		switch f.key {
		case "ratios":
			ways++
			s.Ratios, err = y.ratios(f.value)
		case "by":
			s.By, err = y.text(f.value, "the name of a column")
		case "at":
			ways++
			s.At, err = y.texts(f.value, "the first values of valid and test")
		default:
			if s.Values == nil {
				ways++
				s.Values = make([][]string, len(transform.Parts))
			}
			s.Values[slices.Index(transform.Parts, f.key)], err = y.texts(f.value, "values of the column")
		}
		if err != nil {
			return err
		}
	}
	if ways != 1 {
		return y.errorf(t.at, "found %d ways to split %s, expected one of ratios, at, and values for train, valid and test", ways, t.key)
	}
	return nil
}

func (y yamlFile) ratios(n ast.Node) (out []float64, err error) {
	parts, err := y.texts(n, "a number")
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		x, err := strconv.ParseFloat(p, 64)
		if err != nil {
			return nil, y.errorf(n, "found the ratio %q, expected a number from 0 to 1", p)
		}
		out = append(out, x)
	}
	return out, nil
}
