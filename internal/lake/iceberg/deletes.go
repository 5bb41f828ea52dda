package iceberg

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/lake"
)

// deleted returns the rows that deletions by number delete of each file with rows; nil: none. keyed, if not nil, finds those that deletions
// by key delete.
func (r *reader) deleted(rows, deletions []*entry) (out []*roaring64.Bitmap, keyed *keyDeletions, err error) {
	out = make([]*roaring64.Bitmap, len(rows))
	if len(deletions) == 0 {
		return out, nil, nil
	}
	byPath := map[string]int{} // of the numbers of files, by the paths in the metadata
	for i, e := range rows {
		byPath[e.File.Path] = i
	}
	var positions, keys []*entry
	vectors := map[int]*entry{}
	for _, d := range deletions {
		switch {
		case d.File.Content == contentKeys:
			keys = append(keys, d)
		case d.File.Format == "PUFFIN":
			i, ok := byPath[*d.File.Referenced]
			switch {
			case !ok: // the file is not in the table any more
				continue
			case vectors[i] != nil:
				return nil, nil, lake.Badf("found two deletion vectors of %s, expected one; the manifests are damaged", rows[i].File.Path)
			case rows[i].sequence > d.sequence:
				return nil, nil, lake.Badf("found a deletion vector of %s that is older than the file, expected a newer one; the manifests are damaged", rows[i].File.Path)
			}
			vectors[i] = d
		default:
			positions = append(positions, d)
		}
	}
	for i, d := range vectors {
		b, err := r.vector(d)
		if err != nil {
			return nil, nil, err
		}
		out[i] = b
	}
	for _, d := range positions {
		if err := r.positions(d, rows, byPath, vectors, out); err != nil {
			return nil, nil, err
		}
	}
	keyed, err = r.keyDeletions(rows, keys)
	return out, keyed, err
}

// vector reads a deletion vector, which is a blob of a Puffin file.
func (r *reader) vector(d *entry) (*roaring64.Bitmap, error) {
	f := &d.File
	const around = 8 // the size before the vector, and the checksum after it
	r.log = append(r.log, d.path)
	b, err := lake.ReadVector(r.fsys, d.path, *f.Offset, *f.Size-around)
	if err != nil {
		return nil, err
	}
	deleted, err := lake.DecodeVector(b)
	if err == nil && deleted.GetCardinality() != uint64(f.Rows) {
		err = fmt.Errorf("found %d deleted rows, expected %d as the manifest says", deleted.GetCardinality(), f.Rows)
	}
	if err != nil {
		return nil, lake.Badf("%s: deletion vector at byte %d: %w; the table is damaged", d.path, *f.Offset, err)
	}
	return deleted, nil
}

// The field ids of the columns of a file of positions.
const (
	idOfPath     = 2147483546
	idOfPosition = 2147483545
)

// positions adds the rows that a file of positions deletes.
func (r *reader) positions(d *entry, rows []*entry, byPath map[string]int, vectors map[int]*entry, out []*roaring64.Bitmap) error {
	// A file with a vector has all its deletions in the vector.
	counts := func(i int) bool {
		return vectors[i] == nil && rows[i].sequence <= d.sequence && rows[i].key() == d.key()
	}
	if f := d.File.Referenced; f != nil {
		if i, ok := byPath[*f]; !ok || !counts(i) {
			return nil
		}
	}
	choose := func(p *parquet.File) ([]int, error) {
		path, pos := columnOf(p, idOfPath, "file_path"), columnOf(p, idOfPosition, "pos")
		if path < 0 || pos < 0 || p.Columns[path].Type != parquet.Bytes || p.Columns[pos].Type != parquet.Int64 || p.Columns[path].Lists+p.Columns[pos].Lists > 0 {
			return nil, lake.Badf("found no columns file_path and pos, expected the positions of deleted rows; copy the file again")
		}
		return []int{path, pos}, nil
	}
	last, at := "", -1 // the file of the row before, as rows are sorted
	r.log = append(r.log, d.path)
	return eachBatch(r.fsys, d.path, allGroups, choose, func(first uint64, n int, columns []parquet.Rows) error {
		for row := range n {
			if isNull(&columns[0], row) || isNull(&columns[1], row) {
				return lake.Badf("row %d: found null, expected a path and a position; copy the file again", first+uint64(row))
			}
			if path := bytesAt(&columns[0], row); string(path) != last || row == 0 && first == 0 {
				last, at = string(path), -1
				if i, ok := byPath[last]; ok && counts(i) {
					at = i
				}
			}
			if at < 0 {
				continue
			}
			pos := int64At(&columns[1], row)
			if pos < 0 || pos > maxPosition {
				return lake.Badf("row %d: found the position %d, expected the number of a row from 0 on; copy the file again", first+uint64(row), pos)
			}
			if out[at] == nil {
				out[at] = roaring64.New()
			}
			out[at].Add(uint64(pos))
		}
		return nil
	})
}

// maxPosition bounds the number of a row in a file.
const maxPosition = 1 << 48

// columnOf returns the number of the column with a field id, or with a name if the file has no ids; -1: there is none.
func columnOf(p *parquet.File, id int, names ...string) int {
	hasIDs := false
	for i, c := range p.Columns {
		if hasIDs = hasIDs || c.ID != 0; c.ID == id {
			return i
		}
	}
	if hasIDs {
		return -1
	}
	for _, name := range names {
		for i, c := range p.Columns {
			if c.Name == name {
				return i
			}
		}
	}
	return -1
}
