package draft

import (
	"fmt"
	"slices"
)

// The most own columns of a table of two keys whose rows are edges: without an id of its own, and with one.
const (
	mostOwn   = 24
	mostOwnID = 2
)

// decideTypes says which tables are edges: the ones with two keys that nothing refers to, and little besides.
func (d *drafter) decideTypes() {
	for _, t := range d.Tables {
		t.impliedEnds(d)
		ends := len(t.keys) == 2 && t.Data != nil
		for _, k := range t.keys {
			ends = ends && k.column.cells.empty.n+k.column.gone().n == 0
		}
		if !ends || d.referred(t) {
			continue
		}
		own := len(t.columns) - 2
		if t.id != nil && t.keys[0].column != t.id && t.keys[1].column != t.id {
			t.edge = own-1 <= mostOwnID
		} else {
			t.edge = own <= mostOwn
		}
	}
}

// referred says whether keys of other rows refer to a table.
func (d *drafter) referred(t *Table) bool {
	return slices.ContainsFunc(d.Tables, func(o *Table) bool {
		return slices.ContainsFunc(o.keys, func(k *key) bool { return k.to == t })
	})
}

// impliedEnds makes keys of the ends of a table of edges whose nodes have no table.
func (t *Table) impliedEnds(d *drafter) {
	if t.id != nil || slices.ContainsFunc(d.Tables, func(o *Table) bool { return o.Name == implicitType }) {
		return
	}
	var ends [2]*column
	for _, c := range t.columns {
		for i, names := range [][]string{sourceNames, targetNames} {
			if ends[i] == nil && c.hashed && !t.isKey(c) && slices.ContainsFunc(names, func(n string) bool { return isNamed(c, n) }) {
				ends[i] = c
			}
		}
	}
	if ends[0] == nil || ends[1] == nil || ends[0].cells.empty.n+ends[1].cells.empty.n > 0 {
		return
	}
	t.keys = nil // an edge has two ends: other keys are columns
	for i, c := range ends {
		t.keys = append(t.keys, &key{column: c, end: i, why: "named as an end of edges; no table has its values as ids"})
	}
}

// integerIDs says whether the ids of a table, and all that refers to them, are integers from 0 as they are written.
func (d *drafter) integerIDs(t *Table) bool {
	if t.id == nil || !t.id.integers() {
		return false
	}
	for _, o := range d.Tables {
		for _, k := range o.keys {
			if k.to == t && !k.column.integers() {
				return false
			}
		}
	}
	return true
}

// integers says whether the cells of a column are integers from 0 without leading zeros or signs, or whole numbers with a point.
func (c *column) integers() bool {
	n := &c.cells
	return !c.Words && n.ints.n+n.whole == c.filled()-c.gone().n && n.whole == n.floats.n && n.signed.n == 0 && n.zeros.n == 0
}

// relations names the edge type of each foreign key of tables of nodes, and of the tables of edges: by the column, or the table.
func (d *drafter) relations() map[*key]string {
	names, taken := map[*key]string{}, map[string]bool{}
	take := func(src, rel, dst string) bool {
		a, b := src+":"+rel+":"+dst, dst+":rev_"+rel+":"+src
		if taken[a] || taken[b] || a == b {
			return false
		}
		taken[a], taken[b] = true, true
		return true
	}
	for _, t := range d.Tables {
		if t.edge {
			take(t.keys[0].typ(), typeName(t.Name), t.keys[1].typ())
			names[t.keys[0]] = typeName(t.Name)
		}
	}
	for _, t := range d.Tables {
		if t.edge {
			continue
		}
		for _, k := range t.keys {
			rel := typeName(k.column.Name)
			for n := 2; !take(t.Name, rel, k.typ()); n++ {
				rel = fmt.Sprintf("%s_%s_%d", t.Name, typeName(k.column.Name), n)
			}
			names[k] = rel
		}
	}
	return names
}
