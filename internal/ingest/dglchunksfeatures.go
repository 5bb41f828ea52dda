package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/vfs"
)

// features opens the features of a type: all arrays as one table, which comes first, and one table for each of the
// other features.
func (c *dglChunksOpener) features(ctx context.Context, section, typ string, n dglchunks.Counts, data []dglchunks.Data) (tables []table.Table, columns []table.Column, err error) {
	var raws []arrayfiles.RawColumn
	for _, d := range data {
		of := fmt.Sprintf("%s.%s.%s", section, typ, d.Name)
		files, err := c.files(of, d.Paths)
		if err != nil {
			return nil, nil, err
		}
		if len(files) == 0 {
			if n.Total > 0 {
				c.warnings = append(c.warnings, fmt.Sprintf("%s: %s is left out: it has no files", c.p.meta, of))
			}
			continue
		}
		var f table.Field
		switch d.Format {
		case dglchunks.Numpy:
			raw, err := c.arrays(of, n, files)
			if err != nil {
				return nil, nil, err
			}
			if slices.Contains(raw.Shape, 0) {
				c.warnings = append(c.warnings, fmt.Sprintf("%s: %s is left out: a row of shape %v has no values", c.p.meta, of, raw.Shape))
				continue
			}
			raw.Name, f = d.Name, raw.Field
			raws = append(raws, raw)
		default:
			t, field, err := c.rowsOf(ctx, of, n, d, files)
			if err != nil {
				return nil, nil, err
			}
			f = field
			tables = append(tables, t)
		}
		f.Name = d.Name
		columns = append(columns, newGaps(c.o).fill(table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Unit: f.Unit}, "")...)
	}
	if raws == nil {
		return tables, columns, nil
	}
	t, err := arrayfiles.OpenRaw(c.p.fsys, raws)
	return append([]table.Table{t}, tables...), columns, err
}

// arrays opens .npy files that hold the rows of a feature.
func (c *dglChunksOpener) arrays(of string, n dglchunks.Counts, files []string) (raw arrayfiles.RawColumn, err error) {
	want, total, like := rows(n, len(files)), uint64(0), ""
	for i, file := range files {
		h, err := arrayHeader(c.p.fsys, file)
		if err != nil {
			return raw, c.in(of, err)
		}
		if len(h.Shape) == 0 {
			return raw, c.in(of, sourcef("%s: found a single value, expected an array; write one row per node or edge", file))
		}
		f := table.Field{DType: arrayfiles.DTypeOf(h.Descr), Shape: h.Shape[1:]}
		if like == "" || len(raw.Runs) == 0 && h.Shape[0] > 0 {
			raw.Field, like = f, file
		}
		if total += uint64(h.Shape[0]); want != nil && uint64(h.Shape[0]) != want[i] {
			return raw, c.in(of, sourcef("%s: found %d rows, expected %d in chunk %d; correct the numbers per chunk, or write the array again", file, h.Shape[0], want[i], i))
		}
		if h.Shape[0] == 0 {
			continue // a file without values does not determine the dtype
		}
		if f.DType != raw.DType || !slices.Equal(f.Shape, raw.Shape) {
			return raw, c.in(of, sourcef("%s: found %s with rows of shape %v, expected %s %v, as in %s; write all chunks with one dtype and shape", file, f.DType, f.Shape, raw.DType, raw.Shape, like))
		}
		raw.Runs = append(raw.Runs, arrayfiles.Run{Path: file, Offset: h.Offset, Rows: uint64(h.Shape[0])})
	}
	if total != n.Total {
		return raw, c.in(of, sourcef("found %d rows in all files, expected %d; write the files of all rows", total, n.Total))
	}
	if raw.Runs == nil {
		raw.Runs = []arrayfiles.Run{{Path: files[0]}}
	}
	if len(raw.Shape) == 0 {
		raw.Shape = nil
	}
	return raw, nil
}

func arrayHeader(fsys vfs.FS, file string) (h npy.Header, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return h, err
	}
	defer closing(&err, f)
	info, err := f.Stat()
	if err != nil {
		return h, err
	}
	if h, err = npy.Read(f, info.Size()); err != nil {
		err = sourcef("%s: %w", file, err)
	}
	return h, err
}

// rowsOf opens a feature whose files are tables. The values of a row are the values of its columns, or of a list in it. It
// returns a table of one column, and the column to ask for.
func (c *dglChunksOpener) rowsOf(ctx context.Context, of string, n dglchunks.Counts, d dglchunks.Data, files []string) (t table.Table, field table.Field, err error) {
	open := func(files []string) (table.Table, error) {
		if d.Format == dglchunks.Parquet {
			return columnfiles.OpenParquet(c.p.fsys, files)
		}
		o := textfiles.CSVOptions{Numbered: true}
		var err error
		if o.Delimiter, err = c.delimiter(d.Files, files); err != nil {
			return nil, err
		}
		return textfiles.OpenCSV(c.p.fsys, files, o)
	}
	want := rows(n, len(files))
	groups := [][]string{files}
	if want != nil {
		groups = slices.Collect(slices.Chunk(files, 1))
	} else {
		want = []uint64{n.Total}
	}
	var pieces []views.Piece
	for i, g := range groups {
		piece, err := open(g)
		if err != nil {
			return nil, field, c.in(of, err)
		}
		if len(piece.Fields()) > 0 { // a text without lines has no fields
			pieces = append(pieces, views.Piece{Table: piece, Rows: want[i], Says: c.p.meta})
		} else if want[i] > 0 {
			return nil, field, c.in(of, sourcef("%s: found no rows, expected %d; write the array again", g[0], want[i]))
		}
	}
	field.Name = d.Name
	if pieces == nil {
		field.DType = graph.Float32
		t, err = arrayfiles.OpenRaw(c.p.fsys, []arrayfiles.RawColumn{{Field: field, Runs: []arrayfiles.Run{{Path: files[0]}}}})
		return t, field, err
	}
	looks, err := describe(pieces[0].Table)
	if err != nil {
		return nil, field, c.in(of, err)
	}
	names, err := c.alike(&field, pieces[0].Table, looks)
	if err == nil {
		field.Shape, err = c.shape(ctx, pieces, looks)
	}
	if err == nil {
		t, err = views.Concat(names, pieces)
	}
	if err != nil {
		return nil, field, c.in(of, err)
	}
	if len(names) > 1 {
		t = views.Stack(t, field, names)
	}
	return t, field, nil
}

// alike gives a feature the common dtype of the columns that it consists of, and returns the names of these columns.
func (c *dglChunksOpener) alike(f *table.Field, t table.Table, columns []looks) ([]string, error) {
	if f.DType = columns[0].DType; len(columns) == 1 {
		f.Unit = columns[0].Unit
		return []string{f.Name}, nil
	}
	_, text := t.(*textfiles.CSV)
	for _, x := range columns {
		if text && f.DType == graph.Int64 && x.DType == graph.Float32 { // some columns only look like integers
			f.DType = x.DType
		}
		if same := x.DType == f.DType || text && x.DType == graph.Int64 && f.DType == graph.Float32; !same || len(x.Shape) > 0 || x.DType == graph.String || x.Unit != "" {
			return nil, sourcef("%s: found columns of %s and of %s %v, expected numbers of one dtype, or a single column", t.Files()[0], f.DType, x.DType, x.Shape)
		}
	}
	return fieldNames(columns), nil
}

// shape returns the shape of a row: the one that the Parquet files declare, or the shape of the lists in the first row, or
// the number of columns if there are several.
func (c *dglChunksOpener) shape(ctx context.Context, pieces []views.Piece, columns []looks) (shape []int, err error) {
	first := columns[0].Field
	switch said, err := c.said(pieces); {
	case err != nil:
		return nil, err
	case said != nil:
		shape = said
	case len(first.Shape) > 0:
		for i := 0; i < len(pieces) && shape == nil; i++ {
			first.Name = pieces[i].Fields()[0].Name
			if shape, err = table.Shaped(ctx, pieces[i].Table, first); err != nil {
				return nil, err
			}
		}
	case len(columns) > 1:
		shape = []int{len(columns)}
	}
	values := 1
	for _, d := range shape {
		if d < 1 || values > 1<<30/d {
			return nil, sourcef("%s: found rows of shape %v, expected some values in each; write the array again, or leave it out of the file", pieces[0].Files()[0], shape)
		}
		values *= d
	}
	if len(first.Shape) == 0 && values != len(columns) {
		return nil, sourcef("%s: found rows of shape %v, expected %d values, one per column; correct the shape in the file, or write the array again", pieces[0].Files()[0], shape, len(columns))
	}
	return shape, nil
}

// said returns the shape of a row that Parquet files declare under the key "shape", or nil if none does. It is the
// text of a Python tuple, whose first number counts the rows.
func (c *dglChunksOpener) said(pieces []views.Piece) (shape []int, err error) {
	like := ""
	for _, p := range pieces {
		t, ok := p.Table.(*columnfiles.Columnar)
		if !ok {
			return nil, nil
		}
		for i, file := range t.Files() {
			text, ok := t.Meta(i, "shape")
			if !ok {
				continue
			}
			dims, err := npy.ParseShape(text)
			if err != nil || len(dims) == 0 {
				return nil, sourcef("%s: found the shape %.40q in the metadata of the file, expected a tuple such as \"(100, 16)\"", file, text)
			}
			if like == "" {
				shape, like = dims[1:], file
			} else if !slices.Equal(shape, dims[1:]) {
				return nil, sourcef("%s: found rows of shape %v, expected %v, as in %s; write all chunks with one shape", file, dims[1:], shape, like)
			}
		}
	}
	return shape, nil
}
