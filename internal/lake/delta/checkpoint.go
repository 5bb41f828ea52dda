package delta

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// eachOf calls fn for the actions of a checkpoint, those in sidecars too.
func (l *log) eachOf(c *checkpoint, fn func(*action) error) error {
	var sidecars []string
	note := func(a *action) error {
		if a.Sidecar == nil {
			return fn(a)
		}
		if base := filepath.Base(a.Sidecar.Path); base != a.Sidecar.Path || base == ".." {
			return lake.Badf("found the sidecar %q, expected the name of a file in _sidecars; copy the table with its log to one place", a.Sidecar.Path)
		}
		sidecars = append(sidecars, filepath.Join(l.dir, "_sidecars", a.Sidecar.Path))
		return nil
	}
	for _, name := range c.files {
		path := filepath.Join(l.dir, name)
		l.read = append(l.read, path)
		each := eachRow
		if strings.HasSuffix(name, ".json") {
			each = eachLine
		}
		if err := each(l.fsys, path, note); err != nil {
			return err
		}
	}
	for _, path := range sidecars {
		l.read = append(l.read, path)
		if err := eachRow(l.fsys, path, fn); err != nil {
			return err
		}
	}
	return nil
}

// checkpointRows is the number of rows of a checkpoint that are read at a time.
const checkpointRows = 1 << 12

// eachRow calls fn for the actions of a Parquet file of a checkpoint.
func eachRow(fsys vfs.FS, path string, fn func(*action) error) (err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p, err := parquet.Open(f, info.Size())
	if err != nil {
		return badParquet(path, err)
	}
	for g := range p.Groups {
		r := newRows(p, f, g)
		err := r.each(p.Groups[g].Rows, fn)
		r.close()
		if err != nil {
			return badParquet(fmt.Sprintf("%s: row group %d", path, g), err)
		}
	}
	return nil
}

func badParquet(place string, err error) error {
	if errors.Is(err, parquet.ErrCorrupt) || errors.Is(err, parquet.ErrUnsupported) {
		return lake.Badf("%s: %w", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}

// rows reads the columns of actions of a row group in step.
type rows struct {
	readers map[string]*parquet.Reader
	rows    map[string]*parquet.Rows
	lists   map[string]int // position in the values of each list
}

// needed are the columns of a checkpoint that say what counts, with their types and depths of lists.
var needed = map[string]struct {
	kind  parquet.Type
	lists int
}{
	"add.path": {parquet.Bytes, 0}, "add.partitionValues.key_value.key": {parquet.Bytes, 1}, "add.partitionValues.key_value.value": {parquet.Bytes, 1},
	"add.size":                       {parquet.Int64, 0},
	"add.deletionVector.storageType": {parquet.Bytes, 0}, "add.deletionVector.pathOrInlineDv": {parquet.Bytes, 0}, "add.deletionVector.offset": {parquet.Int32, 0},
	"add.deletionVector.sizeInBytes": {parquet.Int32, 0}, "add.deletionVector.cardinality": {parquet.Int64, 0},
	"metaData.id": {parquet.Bytes, 0}, "metaData.format.provider": {parquet.Bytes, 0}, "metaData.schemaString": {parquet.Bytes, 0}, "metaData.partitionColumns.list.element": {parquet.Bytes, 1},
	"metaData.configuration.key_value.key": {parquet.Bytes, 1}, "metaData.configuration.key_value.value": {parquet.Bytes, 1},
	"protocol.minReaderVersion": {parquet.Int32, 0}, "protocol.readerFeatures.list.element": {parquet.Bytes, 1},
	"sidecar.path": {parquet.Bytes, 0},
}

// plainName is the name of a column as needed has it: writers name the levels of lists and maps in several ways.
func plainName(name string) string {
	name = strings.Replace(name, ".map.", ".key_value.", 1)
	name = strings.Replace(name, ".entries.", ".key_value.", 1)
	name = strings.Replace(name, ".bag.array", ".list.element", 1)
	name = strings.Replace(name, ".list.item", ".list.element", 1)
	return strings.Replace(name, ".array", ".list.element", 1)
}

func newRows(p *parquet.File, f io.ReaderAt, group int) *rows {
	r := &rows{map[string]*parquet.Reader{}, map[string]*parquet.Rows{}, map[string]int{}}
	for i, c := range p.Nested {
		name := plainName(c.Name)
		if want, ok := needed[name]; ok && c.Reason == "" && c.Type == want.kind && c.Lists == want.lists {
			r.readers[name], r.rows[name] = p.NestedReader(f, group, i), &parquet.Rows{}
		}
	}
	return r
}

func (r *rows) close() {
	for _, x := range r.readers {
		x.Close()
	}
}

// each calls fn for the actions of n rows. A column can stop early, at a bound of bytes, so that rows are read one batch after
// the other, of as many rows as each column has.
func (r *rows) each(n int64, fn func(*action) error) error {
	if _, ok := r.readers["add.path"]; !ok {
		return lake.Badf("found no column add.path, expected the actions of a checkpoint; the log is damaged")
	}
	for done := int64(0); done < n; {
		batch := int(min(n-done, checkpointRows))
		clear(r.lists)
		for name, x := range r.readers {
			rows := r.rows[name]
			rows.Reset()
			for rows.N < batch {
				if err := x.Read(rows, batch, maxAction); err != nil {
					return fmt.Errorf("column %s: %w", name, err)
				}
				if len(rows.Data) >= maxAction {
					return lake.Badf("column %s: found more than %d bytes in %d rows, expected fewer; the log is damaged", name, maxAction, batch)
				}
			}
		}
		for row := range batch {
			a, err := r.action(row)
			if err != nil {
				return err
			}
			if err := fn(a); err != nil {
				return fmt.Errorf("row %d: %w", done+int64(row), err)
			}
		}
		done += int64(batch)
	}
	return nil
}

// action makes the action of a row.
func (r *rows) action(row int) (*action, error) {
	var a action
	keys, values := r.texts("add.partitionValues.key_value.key", row), r.texts("add.partitionValues.key_value.value", row)
	columns := r.texts("metaData.partitionColumns.list.element", row)
	settings, set := r.texts("metaData.configuration.key_value.key", row), r.texts("metaData.configuration.key_value.value", row)
	features := r.texts("protocol.readerFeatures.list.element", row)
	if len(keys) != len(values) || len(settings) != len(set) {
		return nil, lake.Badf("found %d keys and %d values of a map, expected as many; the log is damaged", len(keys)+len(settings), len(values)+len(set))
	}
	if path, ok := r.text("add.path", row); ok {
		a.Add = &fileAction{Path: path, PartitionValues: map[string]*string{}}
		a.Add.Size, _ = r.number("add.size", row)
		for i, k := range keys {
			a.Add.PartitionValues[k] = &values[i]
		}
		if kind, ok := r.text("add.deletionVector.storageType", row); ok {
			dv := &deletionVector{StorageType: kind}
			dv.PathOrInline, _ = r.text("add.deletionVector.pathOrInlineDv", row)
			if at, ok := r.number("add.deletionVector.offset", row); ok {
				offset := int32(at)
				dv.Offset = &offset
			}
			size, _ := r.number("add.deletionVector.sizeInBytes", row)
			dv.SizeInBytes = int32(size)
			dv.Cardinality, _ = r.number("add.deletionVector.cardinality", row)
			a.Add.DeletionVector = dv
		}
	}
	if schema, ok := r.text("metaData.schemaString", row); ok {
		a.MetaData = &metadataAction{SchemaString: schema, PartitionColumns: columns, Configuration: map[string]string{}}
		a.MetaData.ID, _ = r.text("metaData.id", row)
		a.MetaData.Format.Provider, _ = r.text("metaData.format.provider", row)
		for i, k := range settings {
			a.MetaData.Configuration[k] = set[i]
		}
	}
	if v, ok := r.number("protocol.minReaderVersion", row); ok {
		a.Protocol = &protocolAction{MinReaderVersion: int(v), ReaderFeatures: features}
	}
	if path, ok := r.text("sidecar.path", row); ok {
		a.Sidecar = &sidecarAction{Path: path}
	}
	return &a, nil
}

// text is the text of a row; false: null, or no such column.
func (r *rows) text(name string, row int) (string, bool) {
	x := r.rows[name]
	if x == nil || x.Null != nil && x.Null[row] {
		return "", false
	}
	return textAt(x, row), true
}

func textAt(x *parquet.Rows, i int) string {
	start := uint32(0)
	if i > 0 {
		start = x.Ends[i-1]
	}
	return string(x.Data[start:x.Ends[i]])
}

// texts is the texts of the list of a row. It is called once for each row, in their order.
func (r *rows) texts(name string, row int) []string {
	x := r.rows[name]
	if x == nil {
		return nil
	}
	var list []string
	for range x.Lengths[0][row] {
		list = append(list, textAt(x, r.lists[name]))
		r.lists[name]++
	}
	return list
}

// number is the integer of a row; false: null, or no such column.
func (r *rows) number(name string, row int) (int64, bool) {
	x := r.rows[name]
	if x == nil || x.Null != nil && x.Null[row] {
		return 0, false
	}
	width := 4
	if needed[name].kind == parquet.Int64 {
		width = 8
	}
	v := int64(0)
	for i := range width {
		v |= int64(x.Data[row*width+i]) << (8 * i)
	}
	if width == 4 {
		v = int64(int32(v))
	}
	return v, true
}
