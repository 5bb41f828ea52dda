package arrayfiles

import (
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// OpenEdgeRows is OpenPairs for an array with a known number of edges: an array of shape (2, 2) has one edge per row.
func OpenEdgeRows(fsys vfs.FS, path string, edges uint64) (*Npy, error) {
	h, size, err := readHeader(fsys, path)
	if err != nil {
		return nil, err
	}
	if len(h.Shape) != 2 || h.Shape[1] != 2 || uint64(h.Shape[0]) != edges {
		return OpenPairs(fsys, path)
	}
	d := descrs[h.Descr]
	if !d.IsInt() {
		return nil, badf("%s: found %s, expected integers, the ends of edges", path, d)
	}
	s := int64(d.Size())
	t := &Npy{fsys: fsys, rows: h.Shape[0], bytes: size, chunk: table.ChunkSize}
	for i, name := range []string{"src", "dst"} {
		t.cols = append(t.cols, array{Field: table.Field{Name: name, DType: d}, path: path, dtype: d, width: 1, offset: h.Offset, stride: 2 * s, inner: int64(i) * s, index: []string{"[%d, 0]", "[%d, 1]"}[i]})
	}
	return t, nil
}
