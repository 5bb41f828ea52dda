package seeds

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Negatives reads the negatives of each link, and returns the most that a link has. text is one of these:
//
//   - the name of a column of the links, whose rows are lists of original ids of targets, or vectors of them; of a type without original
//     ids they are type-wise ids;
//   - "FILE.npy": type-wise ids of targets, [links, negatives], or of sources and targets, [links, negatives, 2];
//   - "FILE.npy,OFFSETS.npy": type-wise ids of targets, [all], or of sources and targets, [all, 2], where link i has the rows from offset i to offset i + 1.
//
// A file may have more rows than there are links, where the links are the first of a longer list. Negatives of a file without sources have the sources of their links.
func Negatives(ctx context.Context, fsys vfs.FS, s *store.Store, links *Seeds, text string) (lists sample.NegativeLists, most int, err error) {
	if len(links.Types) != 2 {
		return lists, 0, tagged.Errorf(sample.ErrSeed, "found `NegativesFrom` with seeds that are nodes of type %s, expected links; give an edge type SRC:REL:DST, or a file of links, in `Seeds`", links.Types[0])
	}
	r := listReader{links: len(links.Nodes) / 2}
	for end, t := range links.Types {
		r.types[end] = s.Graph.Nodes[s.Graph.NodeType(t)]
	}
	if c := graph.FindColumn(links.Columns, text); c != nil {
		ids, err := s.IDs(s.Graph.NodeType(links.Types[1]))
		if err != nil {
			return lists, 0, err
		}
		if err := r.original(c, ids.Find); err != nil {
			return lists, 0, err
		}
	} else if err := r.file(ctx, fsys, text, links.Columns); err != nil {
		return lists, 0, err
	}
	return r.done(text)
}

// listReader collects the negatives of links.
type listReader struct {
	links int
	types [2]*graph.Nodes // of sources and targets
	lists sample.NegativeLists
	ends  []uint64 // by link
}

// end ends the list of a link.
func (r *listReader) end() { r.ends = append(r.ends, uint64(r.lists.Len())) }

// done is the lists, without their ends where all have the same length.
func (r *listReader) done(text string) (lists sample.NegativeLists, most int, err error) {
	before, least := uint64(0), -1
	for _, end := range r.ends {
		n := int(end - before)
		if least < 0 || n < least {
			least = n
		}
		most, before = max(most, n), end
	}
	if most == 0 {
		return lists, 0, tagged.Errorf(sample.ErrSeed, "%s: found no negative for any of %d links, expected some; list them, or draw them (`Negatives`)", text, r.links)
	}
	if most > sample.MostNegatives {
		return lists, 0, tagged.Errorf(sample.ErrSeed, "%s: found a link with %d negatives, expected at most %d; list fewer", text, most, sample.MostNegatives)
	}
	if least < most {
		r.lists.Ends = r.ends
	}
	return r.lists, most, nil
}

// original takes the original ids of targets in a column of the links.
func (r *listReader) original(c *graph.Column, find func([]byte) (uint64, bool)) error {
	refuse := func(format string, args ...any) error {
		return tagged.Errorf(sample.ErrSeed, "column %q of the links: %w", c.Name, fmt.Errorf(format, args...))
	}
	if len(c.Shape) != 1 || !c.DType.IsInt() && c.DType != graph.String || c.Categories != nil || c.Unit != "" {
		return refuse("found %s of shape %v, expected a list of ids per link, integers or texts; import the column as a list of ids", c.DType, c.Shape)
	}
	if err := c.CheckOffsets(); err != nil {
		return refuse("%w", err)
	}
	id, err := idReader(c)
	if err != nil {
		return refuse("%w", err)
	}
	r.lists.Targets = true
	for row := range r.links {
		from, to := c.Span(row, row+1)
		for k := from; k < to; k++ {
			text := id(k)
			v, ok := find(text)
			if !ok {
				return refuse("row %d: found id %q, expected the id of a node of type %s, as it was imported; correct the list, or import the node", row, text, r.types[1].Type)
			}
			r.lists.Nodes = append(r.lists.Nodes, uint32(v))
		}
		r.end()
	}
	return nil
}

// idReader is a function that gives an element of a column as the text of an id, which is valid until the next call.
func idReader(c *graph.Column) (func(i int) []byte, error) {
	if c.DType == graph.String {
		return func(i int) []byte { return c.Values[c.StringOffsets.At(i):c.StringOffsets.At(i+1)] }, nil
	}
	var text []byte
	if c.DType == graph.Uint64 {
		v := graph.View[uint64](c.Values)
		return func(i int) []byte { text = strconv.AppendUint(text[:0], v[i], 10); return text }, nil
	}
	at, err := integers(c)
	return func(i int) []byte { text = strconv.AppendInt(text[:0], at(i), 10); return text }, err
}

// integers is a function that gives an element of a column of integers.
func integers(c *graph.Column) (func(i int) int64, error) {
	switch c.DType {
	case graph.Int8:
		return integersOf[int8](c), nil
	case graph.Int16:
		return integersOf[int16](c), nil
	case graph.Int32:
		return integersOf[int32](c), nil
	case graph.Int64:
		return integersOf[int64](c), nil
	case graph.Uint8:
		return integersOf[uint8](c), nil
	case graph.Uint16:
		return integersOf[uint16](c), nil
	case graph.Uint32:
		return integersOf[uint32](c), nil
	}
	return nil, fmt.Errorf("found dtype %s, expected integers; convert the column", c.DType)
}

func integersOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](c *graph.Column) func(i int) int64 {
	v := graph.View[T](c.Values)
	return func(i int) int64 { return int64(v[i]) }
}

// file takes type-wise ids of an array.
func (r *listReader) file(ctx context.Context, fsys vfs.FS, text string, columns []*graph.Column) error {
	path, offsets, ragged := strings.Cut(text, ",")
	if !strings.HasSuffix(path, ".npy") || ragged && !strings.HasSuffix(offsets, ".npy") {
		var have []string
		for _, c := range columns {
			if len(c.Shape) == 1 && !strings.HasPrefix(c.Name, "#") {
				have = append(have, c.Name)
			}
		}
		expected := "a column of lists of ids, of which there is none"
		if have != nil {
			expected = "one of " + strings.Join(have, ", ")
		}
		return tagged.Errorf(sample.ErrSeed, "`NegativesFrom`: found no column %q of the links, expected %s, or an .npy file of node ids; name one of these", text, expected)
	}
	tab, err := arrayfiles.OpenNpy(fsys, []arrayfiles.NpyColumn{{Name: "negatives", Path: path}})
	if err != nil {
		return err
	}
	f := tab.Fields()[0]
	shape := f.Shape
	if ragged {
		shape = append([]int{-1}, shape...)
		if tab, err = arrayfiles.OpenNpy(fsys, []arrayfiles.NpyColumn{{Name: "negatives", Path: path, Lists: &arrayfiles.Lists{DType: f.DType, Shape: shape, Rows: []string{offsets}}}}); err != nil {
			return err
		}
	}
	pairs := len(shape) == 2 && shape[1] == 2
	switch {
	case !f.DType.IsInt() || len(shape) != 1 && !pairs:
		expected := "[links, negatives] of targets, or [links, negatives, 2] of sources and targets"
		if ragged {
			expected = "[all] of targets, or [all, 2] of sources and targets"
		}
		return tagged.Errorf(sample.ErrSeed, "%s: found %s rows of shape %v, expected integers %s; save the node ids so", path, f.DType, f.Shape, expected)
	case tab.Rows() < uint64(r.links):
		return tagged.Errorf(sample.ErrSeed, "%s: found the negatives of %d links, expected %d, one list per seed link; save a list for each link, in the order of the seeds", text, tab.Rows(), r.links)
	}
	r.lists.Targets = !pairs
	return r.scan(ctx, tab, f.DType, shape)
}

// scan takes the first rows of a table.
func (r *listReader) scan(ctx context.Context, tab *arrayfiles.Npy, dtype graph.DType, shape []int) error {
	_, err := tab.Scan(ctx, []table.Column{{Name: "negatives", DType: dtype, Shape: shape}}, 1, func(_ int, c *table.Chunk) error {
		var g gathered
		g.begin(table.Column{Name: "negatives", DType: dtype, Shape: shape})
		g.add(&c.Columns[0], c.Rows)
		at, err := integers(&g.Column)
		if dtype == graph.Uint64 {
			v := graph.View[uint64](g.Values)
			at, err = func(i int) int64 { return int64(min(v[i], 1<<62)) }, nil
		}
		for i := 0; i < c.Rows && len(r.ends) < r.links && err == nil; i++ {
			from, to := g.Span(i, i+1)
			for k := from; k < to; k++ {
				end := 1
				if !r.lists.Targets {
					end = (k - from) % 2
				}
				v, t := at(k), r.types[end]
				if v < 0 || v >= int64(t.Count) {
					return tagged.Errorf(sample.ErrSeed, "%s: found node %d of type %s, expected 0 to %d; negatives in arrays are row numbers of the store", tab.Where(c.First+uint64(i), "negatives"), v, t.Type, t.Count-1)
				}
				r.lists.Nodes = append(r.lists.Nodes, uint32(v))
			}
			r.end()
		}
		return err
	})
	return err
}

// FilesOfNegatives is the files that NegativesFrom names, where it is no column of the links.
func FilesOfNegatives(text string) []string {
	if files := strings.Split(text, ","); !slices.ContainsFunc(files, func(name string) bool { return !strings.HasSuffix(name, ".npy") }) {
		return files
	}
	return nil
}
