package parquet

import "io"

// nestedColumns adds the leaves of a column of structs or maps to File.Nested. elements are those of the column, in depth-first order,
// and leaf is the number of its first leaf.
func (f *File) nestedColumns(elements []element, leaf int) error {
	type group struct {
		path  string
		left  int64 // elements directly in it that were not visited
		outer Column
	}
	var groups []group
	for i, e := range elements {
		for len(groups) > 0 && groups[len(groups)-1].left == 0 {
			groups = groups[:len(groups)-1]
		}
		w := walk{leaf: leaf}
		path := e.name
		if len(groups) > 0 {
			g := &groups[len(groups)-1]
			g.left--
			path = g.path + "." + e.name
			w.c.maxDef, w.c.maxRep, w.c.Lists = g.outer.maxDef, g.outer.maxRep, g.outer.Lists
			w.c.lists = append([]list(nil), g.outer.lists...)
		} else if i > 0 {
			return corruptf("column %q: found elements of the schema beside it, expected them in it; the file is damaged", elements[0].name)
		}
		if len(groups) > maxNesting {
			return nil // such columns are of no use to anybody
		}
		w.repeat(e)
		if e.children > 0 {
			groups = append(groups, group{path, e.children, w.c})
			continue
		}
		leaf++
		if e.kind < 0 {
			continue // a struct without fields
		}
		w.value(e)
		w.c.Name, w.c.leaf, w.c.ID, w.c.nulls = path, leaf-1, e.id, w.c.Type == Bytes
		f.Nested = append(f.Nested, w.c)
	}
	return nil
}

// maxNesting bounds the depth of structs.
const maxNesting = 64

// NestedReader is Reader for a column of Nested.
func (f *File) NestedReader(r io.ReaderAt, group, column int) *Reader {
	return f.reader(r, group, &f.Nested[column])
}
