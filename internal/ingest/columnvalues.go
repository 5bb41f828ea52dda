package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ValuesOptions say which column of a table OpenValues reads, and how.
type ValuesOptions struct {
	// Name is the name that the column gets.
	Name string
	// Column is the field that has the values; "" is the field Name or, if there is none, the only one that has no ids.
	Column string
	// Ordered says that the rows are in the order of the nodes or edges, so that the table has no ids.
	Ordered bool
	// ID is the field of ids, unless Ordered; "" is one with a usual name.
	ID string
	// Integers says that the ids are integers.
	Integers bool
	// DType is the dtype of the values, as in graph.yaml: "float32", "category", "datetime[ms]", "float32[3]"; "" is what
	// they look like.
	DType string
	// RowOffsets and StringOffsets are the .npy files with the offsets of the lists and strings in a .npy file, in the layout of a
	// store's columns. DType is required with them.
	RowOffsets    []string
	StringOffsets string
	Missing       []Missing
	Threads       int
}

// Values is a table with the values of a column, and perhaps of the column that marks its empty cells.
type Values struct {
	Table table.Table
	// ID is the column of ids; nil: the rows are in the order of the nodes or edges.
	ID *table.Column
	// Columns are what to read, and Names what they are called.
	Columns []table.Column
	Names   []string
	// Lacking says that a node without a row gets what Missing says of an empty cell. Otherwise such a node is an error.
	Lacking  bool
	Warnings []string
}

// OpenValues opens a table, or a .npy file whose rows are in the order of the nodes or edges, as the values of one column. path can name
// several files, as an edge list has it.
func OpenValues(ctx context.Context, fsys vfs.FS, path string, o ValuesOptions) (*Values, error) {
	fsys = vfs.Unchanged(fsys)
	files, folder, err := tablefiles.FindPath(fsys, path, true)
	if err != nil {
		return nil, sourcef("%w", err)
	}
	kind, err := tablefiles.KindOf(fsys, files[0])
	if err != nil {
		return nil, err
	}
	v := &Values{}
	if kind == table.Array {
		if err := v.openArray(fsys, files, &o); err != nil {
			return nil, err
		}
	} else {
		if len(o.RowOffsets) > 0 || o.StringOffsets != "" {
			return nil, usagef("%s: found `RowOffsets` or `StringOffsets` with a table, expected them with a .npy file; leave them out", files[0])
		}
		var folders []string
		if folder != "" {
			folders = []string{folder}
		}
		if v.Table, err = tablefiles.Open(fsys, files, tablefiles.Options{CSVOptions: textfiles.CSVOptions{}, Folders: folders, Outside: true}); err != nil {
			return nil, err
		}
	}
	fields, err := describe(v.Table)
	if err != nil {
		return nil, err
	}
	if !o.Ordered {
		if err := v.pickID(fields, &o); err != nil {
			return nil, err
		}
	}
	f, err := v.pickValues(fields, &o)
	if err != nil {
		return nil, err
	}
	return v, v.choose(ctx, f, &o)
}

// openArray opens a .npy file as a table of one column.
func (v *Values) openArray(fsys vfs.FS, files []string, o *ValuesOptions) error {
	switch {
	case len(files) > 1:
		return sourcef("%s: found %d arrays, expected one; name one file", files[0], len(files))
	case o.ID != "":
		return usagef("%s: found `ID` with an array, expected it with a table that has the ids; leave it out if the rows are in the order of the nodes", files[0])
	case o.Column != "":
		return usagef("%s: found `Column` with an array, expected it with a table; leave it out", files[0])
	}
	o.Ordered = true
	column := arrayfiles.NpyColumn{Name: o.Name, Path: files[0]}
	if len(o.RowOffsets) > 0 || o.StringOffsets != "" {
		if o.DType == "" {
			return usagef("%s: found `RowOffsets` or `StringOffsets` without `DType`, expected them together; give the dtype, such as string or float32[]", files[0])
		}
		f, err := parseType(strings.TrimSpace(o.DType))
		if err != nil {
			return usagef("`DType`: %w", err)
		}
		column.Lists = &arrayfiles.Lists{DType: f.DType, Shape: f.Shape, Rows: o.RowOffsets, Strings: o.StringOffsets}
	}
	t, err := arrayfiles.OpenNpy(fsys, []arrayfiles.NpyColumn{column})
	v.Table = t
	return err
}

// pickID finds the field of ids.
func (v *Values) pickID(fields []looks, o *ValuesOptions) error {
	f, err := pick(v.Table, fields, o.ID, idNames)
	if err != nil {
		return sourcef("%w; name the column of ids by `ID`, or give `Ordered` if the rows are in the order of the nodes", err)
	}
	id := keyColumn(f.Name, o.Integers)
	id.Whole = o.Integers && f.whole
	v.ID, v.Warnings = &id, noted(v.Warnings, blanksNote(v.Table, f))
	return nil
}

// pickValues finds the field of the values.
func (v *Values) pickValues(fields []looks, o *ValuesOptions) (*looks, error) {
	name := o.Column
	if name == "" && field(fields, o.Name) != nil {
		name = o.Name
	}
	if name != "" {
		f := field(fields, name)
		switch {
		case f == nil:
			return nil, sourcef("%s: found no column %q, expected one of %s%s", v.Table.Files()[0], name, table.List(some(fieldNames(fields))), suggest.Hint(name, fieldNames(fields)))
		case v.ID != nil && f.Name == v.ID.Name:
			return nil, usagef("%s: found the column %q for ids and values, expected two; name another by `ID` or `Column`", v.Table.Files()[0], name)
		}
		return f, nil
	}
	var rest []*looks
	for i := range fields {
		if (v.ID == nil || fields[i].Name != v.ID.Name) && !fields[i].Ignored {
			rest = append(rest, &fields[i])
		}
	}
	if len(rest) != 1 {
		return nil, sourcef("%s: found the columns %s, expected %q among them, or one column of values; name it by `Column`", v.Table.Files()[0], table.List(some(fieldNames(fields))), o.Name)
	}
	return rest[0], nil
}

// choose sets the columns to read.
func (v *Values) choose(ctx context.Context, f *looks, o *ValuesOptions) (err error) {
	w := &wanted{}
	if o.DType != "" {
		if w.Field, err = parseType(strings.TrimSpace(o.DType)); err != nil {
			return usagef("`DType`: %w", err)
		}
		if w.Shape == nil && w.DType != graph.String {
			w.Shape = f.Shape
		}
	}
	m := &maker{gaps: newGaps(Options{Missing: o.Missing})}
	if v.Columns, err = m.columns(ctx, v.Table, f, w); err != nil {
		return err
	}
	rule, _, _ := m.rule(&v.Columns[0], "")
	v.Lacking = rule != "" && rule != missingError
	if err := m.check(); err != nil {
		return err
	}
	v.Warnings = append(v.Warnings, m.notes...)
	for i, c := range v.Columns {
		v.Names = append(v.Names, o.Name+[]string{"", features.MarkSuffix}[i])
		if c.Categories == nil || c.Categories.Known() {
			continue
		}
		found, err := table.Collect(ctx, v.Table, []table.Column{c}, max(o.Threads, 1), table.Limits{})
		if err != nil {
			return err
		}
		c.Categories.Set(found[0].Texts())
	}
	if slices.Contains(v.Columns[0].Shape, -1) {
		v.Columns[0].Empty, v.Columns[0].Fill = table.EmptyError, "" // an empty cell has no values
	}
	return nil
}
