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
	Splits                       []Split
	Seed                         uint64
	Normalise                    []string
}

// Split is a split whose files are not open yet.
type Split struct {
	transform.Split
	// FileNames are the paths of the files of ids of each part, "" for none; nil: there are no files. IDColumns are their columns, nil for the usual ones.
	FileNames, IDColumns []string
	at                   ast.Node
}

// Rules are the names of the policies for rows that break a rule; "" where the source says nothing.
type Rules struct {
	DanglingEdges, DuplicateNodes string
	// Partial says that the table of nodes has some of the nodes, perhaps several times: those that edges name and it lacks are nodes, too, after them. That breaks no rule.
	Partial bool
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
