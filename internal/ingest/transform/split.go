package transform

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Parts are the categories of SplitColumn, in the order of their codes.
var Parts = []string{"train", "valid", "test"}

var categoriesOfParts, categoriesOfRoles = categoriesOf(Parts), categoriesOf(Roles)

func categoriesOf(texts []string) *table.Categories {
	c := &table.Categories{}
	c.Set(texts)
	return c
}

// Split divides the rows of a type into Parts. One of Ratios, At, Values, PerClass, Like, Files, Masks and Folds is set.
type Split struct {
	// Of is TYPE, COLUMN or TYPE.COLUMN. It is taken apart into Type and By.
	Of string
	// Type is a node type, or an edge type as "src:rel:dst". Empty: the only node type.
	Type string
	// By is the column that decides. Empty: the random seed does.
	By string
	// Ratios are the shares of the parts in the rows. Their sum is at most 1; the rest of the rows is in no part. With
	// By, rows are taken in ascending order of the column, and rows with equal values are in the same part: the one that
	// has the first of them. A row whose value is missing is in no part.
	Ratios []float64
	// At are two values of the column, as text: rows below the first are in train, the others below the second in valid,
	// the rest in test. A row whose value is missing is in no part.
	At []string
	// Values are the values of the column that each part has, as text.
	Values [][]string
	// Stratify is a column of classes, which Ratios or Folds divide each, with the sizes that they give all rows. It has the classes of PerClass. A row
	// without a class is in no part.
	Stratify string
	// PerClass is the number of rows of train in each class. Of the other rows that have a class, ValidRows are in valid, and TestRows in test; 0 is all
	// that are left.
	PerClass, ValidRows, TestRows int
	// Group is a column whose rows of equal values are in the same part, of Ratios or Folds; of an edge type, also GroupSource or GroupDestination, for the edges
	// of a node. A row without a value is in no part.
	Group string
	// Like divides edges as their ends are divided: LikeNodes, or the node type whose ends decide. An edge is in the latest part of these ends, by the
	// order of Parts, and in no part if one of them is in none. It has each split column of the nodes.
	Like string
	// Files list the rows of each part. Three, of which some are nil.
	Files []*Listed
	// Masks are columns of bools that are true for the rows of each part; "" has none. Columns of vectors give a split for each of their values.
	Masks []string
	// Folds is the number of parts of equal size of a cross-validation: a split for each, in which that fold is test, the ValidFolds after it are valid, and the
	// others are train.
	Folds, ValidFolds int
	// Disjoint is the share of the edges of train that a model is to predict. It adds RoleColumn: these edges are supervision, the others of train are messages,
	// and edges of other parts have no role. An edge and its reverse have one role. 0 adds no column.
	Disjoint float64
}

// The words of Group and Like that name no column and no type.
const (
	GroupSource      = "source"
	GroupDestination = "destination"
	LikeNodes        = "nodes"
)

// added is a column with the parts of rows.
type added struct {
	name string
	// parts has the part of each row, or -1; with folds, its fold.
	parts              []int8
	fold, folds, valid int
	role               bool // the categories are Roles, not Parts
}

// texts are the categories.
func (a *added) texts() []string {
	if a.role {
		return Roles
	}
	return Parts
}

// at is the part of a row, or -1.
func (a *added) at(row int) int8 {
	p := a.parts[row]
	if a.folds == 0 || p < 0 {
		return p
	}
	switch after := (int(p) - a.fold + a.folds) % a.folds; {
	case after == 0:
		return 2
	case after <= a.valid:
		return 1
	}
	return 0
}

// splitColumn is the name of one of several splits.
func splitColumn(i int) string { return fmt.Sprintf("%s_%d", SplitColumn, i) }

// split divides the rows of all splits. Edges that follow their nodes come last.
func (t *Transform) split(ctx context.Context) error {
	for _, follows := range []bool{false, true} {
		for i := range t.o.Splits {
			s := &t.o.Splits[i]
			if (s.Like != "") != follows {
				continue
			}
			r := t.rows(s.Type)
			err := t.divide(ctx, s, r)
			if err == nil && s.Disjoint > 0 {
				err = t.giveRoles(ctx, s, r)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// divide divides the rows of a type.
func (t *Transform) divide(ctx context.Context, s *Split, r *rows) error {
	parts := make([]int8, r.count)
	var err error
	switch {
	case s.Like != "":
		return t.like(ctx, s, r)
	case s.Masks != nil:
		return s.masked(ctx, r)
	case s.By != "":
		err = s.by(ctx, parts, graph.FindColumn(r.columns, s.By))
	default:
		err = t.byItems(ctx, s, r, parts)
	}
	if err != nil {
		return err
	}
	if s.Folds == 0 {
		r.splits = []added{{name: SplitColumn, parts: parts}}
	}
	for i := range s.Folds {
		r.splits = append(r.splits, added{name: splitColumn(i), parts: parts, fold: i, folds: s.Folds, valid: s.ValidFolds})
	}
	return nil
}

// rows returns the rows of a type, or nil.
func (t *Transform) rows(typ string) (r *rows) {
	t.each(func(name string, x *rows) {
		if name == typ {
			r = x
		}
	})
	return r
}

// edgesOf returns the edge type of rows; nil: they are nodes.
func (t *Transform) edgesOf(r *rows) *edgeTable {
	for _, x := range t.edges {
		if &x.rows == r {
			return x
		}
	}
	return nil
}

// splitWord is the first word of the keys of random splits, so that they differ from all other draws.
const splitWord = 0x73706c6974 // "split"

// word is a name as one word.
func word(name string) uint64 {
	h := uint64(len(name))
	for _, b := range []byte(name) {
		h = draw.Absorb(h, uint64(b))
	}
	return h
}

// items are divided at random: nodes, or the rows of the input from which edges come.
//
// An edge and its reverse are in the same part, since otherwise the one would tell of the other: they are one item, and all edge types between two node types
// share their draws.
type items struct {
	count int
	key   uint64
	ranks *ranks // nil: an item for each row
}

func (t *Transform) items(s *Split, r *rows) items {
	it := items{count: r.count, key: t.splitKey(s, r)}
	x := t.edgesOf(r)
	if x == nil {
		return it
	}
	if position := graph.FindColumn(r.columns, graph.PositionColumn); position != nil {
		it.ranks = newRanks(position)
		it.count = it.ranks.count
	}
	return it
}

// splitKey is the key of the draws of a split.
func (t *Transform) splitKey(s *Split, r *rows) uint64 {
	x := t.edgesOf(r)
	if x == nil {
		return draw.Key(t.o.Seed, splitWord, word(s.Type))
	}
	a, b := x.e.Type.Src, x.e.Type.Dst
	return draw.Key(t.o.Seed, splitWord, word(min(a, b)), word(max(a, b)))
}

// of is the item of a row. It returns false for edges that were added.
func (it *items) of(row int) (int, bool) {
	if it.ranks == nil {
		return row, true
	}
	return it.ranks.of(row)
}

// each calls a function for all items in the order that the key gives.
func (it *items) each(ctx context.Context, fn func(at, item int)) error {
	order := draw.NewOrder(uint64(it.count), it.key)
	var run [4096]uint64
	for at := 0; at < it.count; at += len(run) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := run[:min(len(run), it.count-at)]
		order.Fill(part, uint64(at))
		for i, x := range part {
			fn(at+i, int(x))
		}
	}
	return nil
}

// byItems divides the items of a type, and gives each row the part of its item.
func (t *Transform) byItems(ctx context.Context, s *Split, r *rows, parts []int8) error {
	it := t.items(s, r)
	dealt := parts
	if it.ranks != nil {
		dealt = make([]int8, it.count)
	}
	if err := t.dealt(ctx, s, r, &it, dealt); err != nil {
		return err
	}
	if it.ranks == nil {
		return nil
	}
	for i := range parts {
		parts[i] = -1
		if k, ok := it.of(i); ok {
			parts[i] = dealt[k]
		}
	}
	return nil
}

// dealt divides the items of a type.
func (t *Transform) dealt(ctx context.Context, s *Split, r *rows, it *items, dealt []int8) error {
	switch {
	case s.Files != nil:
		return t.listed(ctx, s, r, it, dealt)
	case s.Group != "":
		groups, err := t.groupsOf(ctx, s, r, it)
		if err != nil {
			return err
		}
		return s.grouped(it, groups, dealt)
	case s.Stratify != "":
		classes, err := t.classesOf(ctx, s, s.Stratify, r, it)
		if err != nil {
			return err
		}
		return s.stratified(ctx, it, classes, dealt)
	case s.Folds > 0:
		return it.each(ctx, func(at, item int) { dealt[item] = int8(at % s.Folds) })
	}
	ends := s.ends(it.count)
	return it.each(ctx, func(at, item int) { dealt[item] = part(ends, at) })
}
