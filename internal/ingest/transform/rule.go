package transform

import (
	"fmt"
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// Rule is the part that the split of a graph gives a row that is added to it. It looks at that row alone, so that the rows of the graph keep their parts.
//
//   - A split at two values, or by values, divides new rows as it divided the others.
//   - In a split by shares in the order of a column, the rows of the graph show the values at which parts begin: a new row is in the first part whose later parts have no value up to its own.
//   - In a split by shares at random, a draw per row decides: u = draw.Absorb(K, n) / 2^64 for the row number n, where K is the key of the split, gives the first part whose share, with those
//     of the parts before it, is above u.
type Rule struct {
	// By is the column that decides; "" for a draw.
	By string
	// by and split are, of shares in the order of a column, the column and the parts of the rows of the graph, from which limits follow.
	by, split *graph.Column
	limits    [3]key
	values    map[string]int8
	ratios    []float64
	key       uint64
}

// Rules are the rules of the splits of a graph, by type. A split that looks at several rows (classes, groups, folds), at other tables (files, masks, nodes) or gives roles has none.
func Rules(g *graph.Graph, splits []Split, seed uint64) (map[string]*Rule, error) {
	t, err := checked(g, Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	rules := map[string]*Rule{}
	for _, s := range splits {
		if s.Of != "" {
			s.Type, s.By = t.apart(s.Of)
		}
		if s.Type == "" && len(t.nodes) == 1 {
			s.Type = t.nodes[0].n.Type
		}
		r := t.rows(s.Type)
		if r == nil || s.Stratify != "" || s.Group != "" || s.Like != "" || s.Files != nil || s.Masks != nil || s.Folds != 0 || s.Disjoint != 0 || s.By == "" && s.Ratios == nil {
			continue
		}
		rule := &Rule{By: s.By, ratios: s.Ratios}
		if s.By == "" {
			rule.key = t.splitKey(&s, r)
			rules[s.Type] = rule
			continue
		}
		by := graph.FindColumn(r.columns, s.By)
		if by == nil {
			continue // left out since
		}
		if s.Values != nil {
			rule.values = map[string]int8{}
			for p, values := range s.Values {
				for _, v := range values {
					rule.values[v] = int8(p)
				}
			}
		} else if s.Ratios != nil {
			rule.by, rule.split = by, graph.FindColumn(r.columns, SplitColumn)
		} else if rule.limits, err = s.limits(by); err != nil {
			return nil, fmt.Errorf("split of %s: %w", s.Type, err)
		}
		rules[s.Type] = rule
	}
	return rules, nil
}

// limitsOf are, for each part, the least value of a column in the rows of later parts and of none.
func limitsOf(by, split *graph.Column) (limits [3]key, err error) {
	at, err := ordered(by)
	if err != nil {
		return limits, err
	}
	parts, err := PartsOf(split)
	if err != nil {
		return limits, err
	}
	limits = [3]key{last, last, last}
	for row := range split.Rows {
		k := at(row)
		if k == missing {
			continue
		}
		in := parts(row)
		if in < 0 {
			in = numParts
		}
		for p := range in {
			limits[p] = min(limits[p], k)
		}
	}
	return limits, nil
}

// PartsOf returns the part of each row in a column of a split, or -1.
func PartsOf(split *graph.Column) (func(row int) int, error) {
	if split == nil || split.Categories == nil {
		return nil, fmt.Errorf("found no column %s of categories, expected the parts of the rows; import the store again", SplitColumn)
	}
	of := make([]int, split.Categories.Rows)
	for i := range of {
		of[i] = -1
		for p, name := range Parts {
			if string(split.Categories.Text(i)) == name {
				of[i] = p
			}
		}
	}
	codes := graph.View[int32](split.Values)
	return func(row int) int {
		if c := codes[row]; c >= 0 && int(c) < len(of) {
			return of[c]
		}
		return -1
	}, nil
}

// Of returns the part of each row of new columns, or -1. number is the number of a row among all of its type.
func (r *Rule) Of(columns []*graph.Column, number func(row int) uint64) (func(row int) int, error) {
	if r.By == "" {
		return func(row int) int {
			u, sum := float64(draw.Absorb(r.key, number(row))>>11)/(1<<53), 0.0
			for p, share := range r.ratios {
				if sum += share; u < sum {
					return p
				}
			}
			return -1
		}, nil
	}
	by := graph.FindColumn(columns, r.By)
	if by == nil {
		return nil, fmt.Errorf("found no column %q, expected the one that decides on the parts of rows; add it to the table", r.By)
	}
	if r.values != nil {
		text := texts(by)
		var buf []byte
		return func(row int) int {
			buf = text(buf[:0], row)
			if p, ok := r.values[string(buf)]; ok {
				return int(p)
			}
			return -1
		}, nil
	}
	limits := r.limits
	if r.split != nil {
		var err error
		if limits, err = limitsOf(r.by, r.split); err != nil {
			return nil, err
		}
	}
	at, err := ordered(by)
	if err != nil {
		return nil, err
	}
	return func(row int) int {
		k := at(row)
		if k == missing {
			return -1
		}
		p := sort.Search(len(limits), func(p int) bool { return k < limits[p] })
		if p == len(limits) {
			return -1
		}
		return p
	}, nil
}
