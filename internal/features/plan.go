package features

import (
	"maps"
	"slices"
)

// Plan is the features of a graph.
type Plan struct {
	Fit   FitRows
	Nodes map[string][]Spec // by node type
	Edges map[string][]Spec // by edge type, as "src:rel:dst"
}

// FitRows says which rows features are fitted on. The zero value is the part train of types that are split, and all rows of others.
type FitRows struct {
	// All takes all rows.
	All bool `json:"all,omitempty"`
	// Split is a part of the split of a type. At least one type must be split.
	Split string `json:"split,omitempty"`
	// Before takes the rows whose time is earlier, in seconds since 1970-01-01T00:00:00Z, and all rows of types without times. A row without a time is not taken.
	Before *int64 `json:"before,omitempty"`
	// By names the column that Before compares; empty: the only column of times of a type. With Split it names the column of the parts, such as split_0; empty: split.
	By string `json:"by,omitempty"`
}

// None says whether there is no feature.
func (p *Plan) None() bool { return p == nil || len(p.Nodes)+len(p.Edges) == 0 }

// Fills says whether a feature of any type fills the missing values of a column of numbers, or has a place for them.
func (p *Plan) Fills(column string) bool {
	if p == nil {
		return false
	}
	for _, types := range []map[string][]Spec{p.Nodes, p.Edges} {
		for _, specs := range types {
			if Fills(specs, column) {
				return true
			}
		}
	}
	return false
}

// Plan is the plan that the state of a store follows.
func (f *File) Plan() *Plan {
	plan := &Plan{Fit: f.Fit, Nodes: map[string][]Spec{}, Edges: map[string][]Spec{}}
	for _, x := range []struct {
		from map[string]*Type
		to   map[string][]Spec
	}{{f.Nodes, plan.Nodes}, {f.Edges, plan.Edges}} {
		for typ, t := range x.from {
			for _, name := range sortedNames(t.Features) {
				s := Spec{Name: name, Norm: t.Features[name].Norm, Bits: t.Features[name].Bits, Code: t.Features[name].Code}
				for _, p := range t.Features[name].Parts {
					s.Parts = append(s.Parts, p.Part)
				}
				x.to[typ] = append(x.to[typ], s)
			}
		}
	}
	return plan
}

// Sources are the columns that features of a type are made of.
func Sources(specs []Spec) []string {
	from := map[string]bool{}
	for _, s := range specs {
		for _, p := range s.Parts {
			if p.From != "" {
				from[p.From] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(from))
}

// Fills says whether a feature fills the missing values of a column of numbers, or has a place for them.
func Fills(specs []Spec, column string) bool {
	for _, s := range specs {
		for _, p := range s.Parts {
			if p.From == column && (p.Impute != ImputeNone || p.Encode != EncodeNone) {
				return true
			}
		}
	}
	return false
}
