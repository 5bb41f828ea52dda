package draft

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// key is a column that refers to the ids of a table.
type key struct {
	column   *column
	to       *Table // nil: a node type without a table
	strength int    // how much the name says, see strengthOf
	found    inclusion
	why      string
	// end is 0 for a source, and 1 for a destination, by the name of the column; -1: the name does not say it.
	end int
}

// typ is the node type that a key refers to.
func (k *key) typ() string {
	if k.to == nil {
		return implicitType
	}
	return k.to.Name
}

// implicitType is the node type of ends that no table has.
const implicitType = "node"

// How much a name says of an id.
const (
	idDeclared = 100
	idUsual    = 95 // id
	idOfTable  = 94 // user_id of users
	idNode     = 93 // node_id
	idNear     = 80 // customer_id of olist_customers
	idNamed    = 60 // product of products
	idFirst    = 50 // a first column that is named as a key
	idKey      = 40
	idShared   = 30 // other tables have a column of the same name
)

// idScore says how much a column is named as the id of its table.
func idScore(c *column) int {
	t := c.table
	if len(t.Key) == 1 && t.Key[0] == c.Name {
		return idDeclared
	}
	switch strings.ToLower(c.Name) {
	case "id", "#id", ":id", "_id":
		return idUsual
	case "node_id", "nodeid":
		return idNode
	}
	stem, isKey := stemOf(c.Name)
	if joined := joinedStem(c.Name); joined != nil && sameWords(joined, tableWords(t)) {
		return idOfTable
	}
	table := tableWords(t)
	switch {
	case isKey && sameWords(stem, table):
		return idOfTable
	case isKey && (within(stem, table) || within(table, stem)):
		return idNear
	case !isKey && sameWords(stem, table):
		return idNamed
	case isKey && c == t.columns[0]:
		return idFirst
	case isKey:
		return idKey
	}
	return 0
}

// findIDs chooses the ids of the tables. Columns that are named after another table are keys, and no ids, unless a database declares
// them so.
func (d *drafter) findIDs() {
	for _, t := range d.Tables {
		t.chooseID(func(c *column, score int) bool {
			return score >= idNamed && (c.unique() || t.rows == 0 || score >= idNode && 2*c.distinct >= t.rows) &&
				(score != idNear || !d.foreignName(t, c))
		})
	}
	for _, t := range d.Tables {
		if t.id == nil {
			t.chooseID(func(c *column, score int) bool {
				return score >= idKey && c.unique() && !d.foreignName(t, c)
			})
		}
	}
	for _, t := range d.Tables {
		if t.id != nil || len(t.columns) == 0 {
			continue
		}
		// Others of the columns may be shared by chance, as price and year are.
		if c := t.columns[0]; c.unique() && !c.cells.nonwhole && c.cells.texts.n+c.cells.ints.n == t.rows && !d.foreignName(t, c) && d.shared(c) {
			t.id, t.weak, t.why = c, true, fmt.Sprintf("%s, and other tables have a column of this name", c.distinctWords())
		}
	}
}

// chooseID takes the column with the best name of those that fit, the first of equal ones.
func (t *Table) chooseID(fits func(c *column, score int) bool) {
	best := 0
	for _, c := range t.columns {
		if score := idScore(c); score > best && c.hashed && !c.cells.nonwhole && fits(c, score) {
			best, t.id = score, c
		}
	}
	if t.id == nil {
		return
	}
	t.why = t.id.distinctWords()
	if best == idDeclared {
		t.why += ", and the key of the table"
	}
}

// distinctWords is "1,000 distinct values in 1,000 rows".
func (c *column) distinctWords() string {
	return fmt.Sprintf("%s in %s", amount(c.distinct, "distinct value"), amount(c.table.rows, "row"))
}

// foreignName says whether a column is named as the id of another table.
func (d *drafter) foreignName(t *Table, c *column) bool {
	return slices.ContainsFunc(d.Tables, func(u *Table) bool {
		return u != t && strengthOf(c, u) >= partName
	})
}

// shared says whether another table has a column of the same name whose values may repeat.
func (d *drafter) shared(c *column) bool {
	return slices.ContainsFunc(d.columns, func(o *column) bool {
		return o.table != c.table && strings.EqualFold(o.Name, c.Name) && o.hashed && !o.cells.nonwhole && o.repeats > 0
	})
}

// How much the name of a column says of the table that it refers to.
const (
	anyName   = 0 // nothing: the values decide
	nearName  = 1 // customer_id and olist_customers
	partName  = 2 // seller_user_id, or user without id; customer and the id customer_id; parent_id and its own table
	sameName  = 3 // user_id and users, or the name of the id
	declared  = 4
	otherName = -1 // it is no name of a key at all
)

// strengthOf says how much the name of a column says of a table.
func strengthOf(c *column, u *Table) int {
	if u.id != nil && u != c.table && sameSpelling(u.id.Name, c.Name) && idScore(u.id) < idUsual {
		return sameName
	}
	table := tableWords(u)
	stem, isKey := stemOf(c.Name)
	if u.id != nil && u != c.table && !isKey {
		if of, named := stemOf(u.id.Name); named && len(of) > 0 && sameWords(stem, of) {
			return partName
		}
	}
	if joined := joinedStem(c.Name); joined != nil && sameWords(joined, table) {
		return sameName
	}
	switch {
	case isKey && sameWords(stem, table):
		return sameName
	case u == c.table && isSelfName(c.Name):
		return partName
	case isKey && endsWith(stem, table), !isKey && sameWords(stem, table):
		return partName
	case isKey && within(stem, table), isEndName(c.Name) && within(table, tableWords(c.table)):
		return nearName
	case isKey && !hasWord(c.Name, "code", "no", "nr", "ref"), isEndName(c.Name), hasWord(c.Name, "by", "to", "from", "parent"):
		return anyName
	}
	return otherName
}

// findKeys finds the columns that refer to ids.
func (d *drafter) findKeys(ctx context.Context, v *values) error {
	var all []*key
	var pairs []*inclusion
	for _, c := range d.columns {
		if !c.hashed || c.cells.nonwhole {
			continue
		}
		for _, u := range d.Tables {
			if u.id == nil || u.id == c {
				continue
			}
			strength := strengthOf(c, u)
			if c.table.declares(c, u) {
				strength = declared
			} else if c == c.table.id || strength == otherName && !c.mayMean(u) {
				continue
			}
			k := &key{column: c, to: u, strength: strength, end: -1, found: inclusion{from: c, to: u.id, ignored: c.gapsBut(u.id)}}
			all, pairs = append(all, k), append(pairs, &k.found)
		}
	}
	if err := v.include(ctx, len(d.columns), pairs); err != nil {
		return err
	}
	for _, c := range d.columns {
		var mine []*key
		for _, k := range all {
			if k.column == c && k.holds() {
				mine = append(mine, k)
			}
		}
		if k := bestKey(mine); k != nil {
			k.explain()
			c.table.keys = append(c.table.keys, k)
			continue
		}
		for _, k := range mine {
			c.maybe = append(c.maybe, k.to.Name)
		}
	}
	for _, t := range d.Tables {
		if t.weak && !d.referred(t) {
			t.id = nil
		}
	}
	for _, t := range d.Tables {
		t.orderEnds()
	}
	return nil
}

// declares says whether the database has a foreign key of a column to the id of a table.
func (t *Table) declares(c *column, u *Table) bool {
	return slices.ContainsFunc(t.Foreign, func(f Foreign) bool {
		return len(f.Columns) == 1 && f.Columns[0] == c.Name && f.Table == u.Name && (f.Targets == nil || f.Targets[0] == u.id.Name)
	})
}

// leastTexts is the least number of distinct texts that make a key of a column whose name says nothing.
const leastTexts = 8

// mayMean says whether the values of a column may be ids of a table although its name says nothing: texts that are no numbers.
func (c *column) mayMean(u *Table) bool {
	return u != c.table && c.cells.texts.n > 0 && c.distinct >= leastTexts && u.id.cells.texts.n > 0 && c.repeats > 0
}

// holds says whether enough of the values of a column are ids.
func (k *key) holds() bool {
	in, out := k.found.inside, k.found.dangling
	switch {
	case k.strength == declared:
		return true
	case in+out == 0:
		return k.strength >= sameName && !k.to.weak
	case k.strength >= partName, k.strength == nearName && isEndName(k.column.Name):
		return in >= out
	case k.strength == nearName:
		return in >= 9*out
	}
	if out > 0 || k.column.distinct < 2 {
		return false
	}
	return k.strength == otherName || isEndName(k.column.Name) || k.column.cells.texts.n > 0 || 10*k.column.distinct >= k.to.id.distinct
}

// bestKey is the key with the best name and then the most values; nil: there is none, or nothing tells which of two.
func bestKey(keys []*key) *key {
	if len(keys) == 0 {
		return nil
	}
	compare := func(a, b *key) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.found.dangling, b.found.dangling), cmp.Compare(len(tableWords(b.to)), len(tableWords(a.to))))
	}
	slices.SortStableFunc(keys, compare)
	if len(keys) > 1 && keys[0].strength <= anyName && keys[1].strength == keys[0].strength {
		return nil
	}
	return keys[0]
}

// explain says why a column is a key.
func (k *key) explain() {
	id := k.to.Name + "." + k.to.id.Name
	n := human.ExactU(k.found.inside + k.found.dangling)
	switch {
	case k.found.inside+k.found.dangling == 0:
		k.why = fmt.Sprintf("named as %s, and has no values", id)
	case k.found.dangling == 0:
		k.why = fmt.Sprintf("%s, all in %s", amount(k.found.inside, "value"), id)
	default:
		k.why = fmt.Sprintf("%s of %s values are in %s", human.ExactU(k.found.inside), n, id)
	}
	if k.strength == declared {
		k.why = "foreign key of the database: " + k.why
	}
}

// orderEnds gives two keys that are named as ends their order.
func (t *Table) orderEnds() {
	for _, k := range t.keys {
		name := strings.ToLower(k.column.Name)
		if slices.Contains(sourceNames, name) {
			k.end = 0
		} else if slices.Contains(targetNames, name) {
			k.end = 1
		}
	}
	if len(t.keys) == 2 && t.keys[0].end == 1 && t.keys[1].end == 0 {
		slices.Reverse(t.keys)
	}
}

// amount is a number and a noun.
func amount(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return human.ExactU(n) + " " + noun + "s"
}
