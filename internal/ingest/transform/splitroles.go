package transform

import (
	"context"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// RoleColumn is the column that Disjoint adds.
const RoleColumn = "role"

// Roles are its categories, in the order of their codes.
var Roles = []string{"message", "supervision"}

// roleWord is in the keys of roles, so that they differ from the keys of splits.
const roleWord = 0x726f6c65 // "role"

// giveRoles divides the edges of train into messages and supervision: of the n items of train (items), the first n * Disjoint, rounded down, of a random order are supervision.
// Edges of train that are no row of the input, which the import added, are messages.
func (t *Transform) giveRoles(ctx context.Context, s *Split, r *rows) error {
	split := r.splits[0].parts
	it := t.items(s, r)
	it.key = draw.Absorb(it.key, roleWord)
	const none, train, supervision = 0, 1, 2
	state, n := make([]uint8, it.count), 0
	for row, part := range split {
		if k, ok := it.of(row); ok && part == 0 && state[k] == none {
			state[k] = train
			n++
		}
	}
	left := int(float64(n) * s.Disjoint)
	if left == 0 || left == n {
		return optionf("split of %s: found disjoint %g of %d edges of train, which leaves no supervision or no message, expected a share that leaves both", s.Type, s.Disjoint, n)
	}
	if err := it.each(ctx, func(_, item int) {
		if left > 0 && state[item] == train {
			state[item] = supervision
			left--
		}
	}); err != nil {
		return err
	}
	a := added{name: RoleColumn, parts: make([]int8, r.count), role: true}
	for row, part := range split {
		switch k, ok := it.of(row); {
		case part != 0:
			a.parts[row] = -1
		case ok && state[k] == supervision:
			a.parts[row] = 1
		}
	}
	r.splits = append(r.splits, a)
	return nil
}

// checkDisjoint refuses roles that no message and no supervision can have.
func (s *Split) checkDisjoint(t *Transform, r *rows) error {
	switch {
	case s.Disjoint == 0:
		return nil
	case !(s.Disjoint > 0 && s.Disjoint < 1):
		return optionf("split of %s: found disjoint %g, expected a share of the edges of train between 0 and 1", s.Type, s.Disjoint)
	case t.edgesOf(r) == nil:
		return optionf("split of %s: found disjoint for nodes, expected an edge type: messages are edges; leave disjoint out", s.Type)
	case len(s.columns(r)) > 1 || s.Like != "":
		return optionf("split of %s: found disjoint with like, folds or masks that are vectors, expected another split of edges; leave disjoint out", s.Type)
	case graph.FindColumn(r.columns, RoleColumn) != nil:
		return optionf("split of %s: found a column %s already, expected none; leave one of the two out", s.Type, RoleColumn)
	}
	return nil
}
