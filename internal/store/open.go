package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Store is an open folder. Either Graph or Collection is set. Their slices are views of memory maps, valid until Close.
type Store struct {
	Dir        string
	Meta       *Meta
	Graph      *graph.Graph
	Collection *graph.Collection

	fs     vfs.FS
	starts map[string]int64  // of array files: the offset of the values
	apart  map[string]string // of an Overlay: the paths of array files outside of Dir
	maps   [][]byte
	unmaps []func() error
	later  map[string]func(context.Context) error // fetches the bytes of an array file that are not there yet
	read   atomic.Int64                           // bytes that Touched has counted since a Release
}

// ErrNotStore is the kind of the error of Open for a folder that is no store.
var ErrNotStore = errors.New("not a store")

// notStore is ErrNotStore for a folder without graph.json; it is also fs.ErrNotExist where there is no folder.
func notStore(fsys vfs.FS, dir string) error {
	err := fmt.Errorf("%s: %w: it has no %s; %s", dir, ErrNotStore, MetaFile, instead(fsys, dir))
	if there, failed := vfs.Exists(fsys, dir); there || failed != nil {
		return err
	}
	if vfs.Scheme(dir) == "" { // of an address, only that graph.json is missing is known
		err = fmt.Errorf("%s: %w: there is no such folder; correct the path, or import or generate one first", dir, ErrNotStore)
	}
	return tagged.Errorf(fs.ErrNotExist, "%w", err)
}

// instead says what to do with a folder or file without graph.json, which may be something else that graphmill writes.
func instead(fsys vfs.FS, dir string) string {
	names := []string{filepath.Base(dir)}
	if entries, err := fsys.ReadDir(dir); err == nil { // a file has no entries, and its own name
		names = names[:0]
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		switch {
		case strings.Contains(name, ".tfrecord"):
			return "it has TFRecords: make a collection of them with their schema, by `Schema`"
		case name == "part0":
			return "it has the parts of a graph: check them with graphmill verify, or import their .json file, which gives the whole graph"
		}
	}
	return "import or generate one first"
}

// Open maps a store or collection. A file that is reached through a symbolic link in the folder is an error.
func Open(fsys vfs.FS, dir string) (*Store, error) {
	s, err := OpenLater(fsys, dir)
	if err != nil {
		return nil, err
	}
	if err := s.Fetch(context.Background(), func(string) bool { return true }); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenLater is Open of a store whose far ends, edge ids and values of columns may be on another machine: a read of them is an
// error of guard.Do before Fetch has brought them. Offsets are there at once, as everything is of a store on this machine.
func OpenLater(fsys vfs.FS, dir string) (*Store, error) {
	s := &Store{Dir: dir, fs: vfs.Confine(fsys, dir), Meta: &Meta{}, starts: map[string]int64{}, later: map[string]func(context.Context) error{}}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Fetch brings the arrays that OpenLater has left out and want takes. want gets the names of their files, as in Meta. It may be called
// again for others, while nothing reads the store.
func (s *Store) Fetch(ctx context.Context, want func(file string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(s.later)) {
		if !want(name) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.later[name](ctx); err != nil {
			return err
		}
		delete(s.later, name)
	}
	return nil
}

// Fetched says whether every array is there.
func (s *Store) Fetched() bool { return len(s.later) == 0 }

func (s *Store) open() (err error) {
	defer guard.Catch(&err)()
	file := filepath.Join(s.Dir, MetaFile)
	b, err := vfs.ReadFile(s.fs, file, maxMeta)
	if vfs.Absent(err) {
		return notStore(s.fs, s.Dir)
	}
	if err != nil {
		return err
	}
	m, err := ReadManifest(s.fs, s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: %w", s.Dir, ErrDamaged, err)
	}
	if err != nil {
		return err
	}
	if want := m.Files[MetaFile]; want.XXH3 != sum(b) {
		return fmt.Errorf("%s: %w: found checksum %s, expected %s", file, ErrDamaged, sum(b), want.XXH3)
	}
	if err := DecodeJSON(b, s.Meta); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if s.Meta.Format != Format {
		return fmt.Errorf("%s: found format %d, expected %d; use a newer graphmill", file, s.Meta.Format, Format)
	}
	for name, want := range m.Files {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		info, err := s.fs.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: %w", s.Dir, ErrDamaged, err)
		}
		if err != nil {
			return err
		}
		if info.Size() != want.Bytes {
			return fmt.Errorf("%s: %w: found %d bytes, expected %d", path, ErrDamaged, info.Size(), want.Bytes)
		}
	}
	if file := s.Meta.Schema; file != "" {
		if _, ok := m.Files[file]; !ok {
			return fmt.Errorf("%s: found schema %q, expected a file of the manifest", s.Dir, file)
		}
	}
	if err := s.counts(); err != nil {
		return fmt.Errorf("%s: %w", s.Dir, err)
	}
	switch s.Meta.Kind {
	case KindStore:
		err = s.openGraph()
	case KindCollection:
		err = s.openCollection()
	default:
		err = fmt.Errorf("found kind %q, expected %s or %s", s.Meta.Kind, KindStore, KindCollection)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Dir, err)
	}
	return nil
}

// Release gives the memory of mapped pages back. They are read again when they are needed.
func (s *Store) Release() error {
	var err error
	for _, b := range s.maps {
		err = errors.Join(err, vfs.Release(b))
	}
	return err
}

// releaseEvery is the number of bytes that may be read between two releases of Touched.
const releaseEvery = 8 << 20

// Touched counts bytes that were read, and calls Release when they are many, so that a caller that reads a store holds
// little of it in memory. It may be called from several goroutines.
func (s *Store) Touched(bytes int64) error {
	if s.read.Add(bytes) < releaseEvery {
		return nil
	}
	s.read.Store(0)
	return s.Release()
}

// Close unmaps everything.
func (s *Store) Close() error {
	s.maps = nil
	var err error
	for _, f := range s.unmaps {
		err = errors.Join(err, f())
	}
	s.unmaps = nil
	return err
}

// maxCount is the most rows of a table: one more offset can still be counted.
const maxCount = math.MaxInt/2 - 1

// counts checks all numbers of rows, before the lengths of arrays are compared with them.
func (s *Store) counts() error {
	check := func(what string, there bool, count func() int) error {
		if !there {
			return fmt.Errorf("%s: found null, expected an object", what)
		}
		if n := count(); n < 0 || n > maxCount {
			return fmt.Errorf("%s: found a count of %d, expected 0 to %d", what, n, maxCount)
		}
		return nil
	}
	if c := s.Meta.Context; c != nil {
		if err := check("context", true, func() int { return c.Count }); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta.Nodes)) {
		n := s.Meta.Nodes[name]
		if err := check("node type "+name, n != nil, func() int { return n.Count }); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta.Edges)) {
		e := s.Meta.Edges[name]
		if err := check("edge type "+name, e != nil, func() int { return e.Count }); err != nil {
			return err
		}
	}
	return nil
}

// mapped is an array file.
type mapped struct {
	npy.Header
	data []byte
}

// mapFile maps an array file. Its values may come later, where later is set.
func (s *Store) mapFile(name string, later bool) (m mapped, err error) {
	if err := checkLocal(name); err != nil {
		return m, err
	}
	f, err := s.fs.Open(filepath.Join(s.Dir, filepath.FromSlash(name)))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var b []byte
	var unmap func() error
	if far, ok := f.(vfs.Later); ok && later {
		var fetch func(context.Context) error
		if b, fetch, unmap, err = far.MapLater(); err == nil {
			s.later[name] = fetch
		}
	} else {
		b, unmap, err = f.Map()
	}
	if err != nil {
		return m, err
	}
	s.maps, s.unmaps = append(s.maps, b), append(s.unmaps, unmap)
	if m.Header, err = npy.Read(bytes.NewReader(b), int64(len(b))); err != nil {
		return m, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if m.Offset%8 != 0 {
		return m, fmt.Errorf("%s: found data at byte %d, expected a multiple of 8", f.Name(), m.Offset)
	}
	m.data = b[m.Offset:]
	s.starts[name] = m.Offset
	return m, nil
}

// ArrayFile is the path of the file of an array and the offset of its values in the file, for callers that do not read
// the array through the map. name is the array's name in Meta. The offset of an array that Open has not mapped is -1.
func (s *Store) ArrayFile(name string) (path string, start int64) {
	start, ok := s.starts[name]
	if !ok {
		start = -1
	}
	if path, ok := s.apart[name]; ok {
		return path, start
	}
	return filepath.Join(s.Dir, filepath.FromSlash(name)), start
}

// view reads an array of uint32 or uint64.
func view(descr string, b []byte) (graph.Index, bool) {
	switch descr {
	case "u4":
		return graph.Index{U32: graph.View[uint32](b)}, true
	case "u8":
		return graph.Index{U64: graph.View[uint64](b)}, true
	}
	return graph.Index{}, false
}

// index maps an array of offsets or ids. An empty name is the empty list. want < 0 accepts any length.
func (s *Store) index(name string, want int) (graph.Index, error) {
	return s.indexLater(name, want, false)
}

// indexLater is index, of values that may come later where later is set.
func (s *Store) indexLater(name string, want int, later bool) (graph.Index, error) {
	if name == "" {
		return graph.Index{}, nil
	}
	m, err := s.mapFile(name, later)
	if err != nil {
		return graph.Index{}, err
	}
	x, ok := view(m.Descr, m.data)
	if !ok || len(m.Shape) != 1 {
		return x, fmt.Errorf("%s: found %s %v, expected one dimension of u4 or u8", name, m.Descr, m.Shape)
	}
	if want >= 0 && m.Shape[0] != want {
		return x, fmt.Errorf("%s: found %d values, expected %d", name, m.Shape[0], want)
	}
	return x, nil
}

// need is index for an array that must exist. Far ends and edge ids may come later: the others are offsets, which
// Open reads.
func (s *Store) need(arrays map[string]string, key string, want int) (graph.Index, error) {
	if arrays[key] == "" {
		return graph.Index{}, fmt.Errorf("found no array %q in %s, expected its file", key, MetaFile)
	}
	return s.indexLater(arrays[key], want, key == "far" || key == "other_far" || key == "other_edge_id")
}

// last is the last offset, which is the length of the list that the offsets divide.
func last(x graph.Index) int {
	if x.Len() == 0 {
		return 0
	}
	return int(min(x.At(x.Len()-1), maxCount))
}

func (s *Store) column(name string, c ColumnMeta, rows int) (*graph.Column, error) {
	dtype, err := graph.ParseDType(c.DType)
	if err != nil {
		return nil, err
	}
	col := &graph.Column{Name: name, DType: dtype, Shape: c.Shape, Rows: rows}
	m, err := s.mapFile(c.File, true)
	if err != nil {
		return nil, err
	}
	col.Values = m.data
	// elements is the number of elements of the last variable dimension. Each has the shape fixed.
	fixed, elements, values := c.Shape, rows, rows
	for i, d := range c.Shape {
		switch {
		case d == -1 && len(col.Offsets) < len(c.RowOffsets):
			x, err := s.index(c.RowOffsets[len(col.Offsets)], values+1)
			if err != nil {
				return nil, err
			}
			col.Offsets = append(col.Offsets, x)
			fixed, elements, values = c.Shape[i+1:], last(x), last(x)
		case d < 1 || values > maxCount/d:
			return nil, fmt.Errorf("column %q: found shape %v with row offsets %q, expected positive dimensions, or -1 with row offsets", name, c.Shape, c.RowOffsets)
		default:
			values *= d
		}
	}
	if len(col.Offsets) != len(c.RowOffsets) {
		return nil, fmt.Errorf("column %q: found shape %v with row offsets %q, expected as many variable dimensions", name, c.Shape, c.RowOffsets)
	}
	wantShape, wantDescr := append([]int{elements}, fixed...), Descr(dtype)
	if dtype == graph.String {
		if col.StringOffsets, err = s.index(c.StringOffsets, values+1); err != nil {
			return nil, err
		}
		wantShape, wantDescr = []int{last(col.StringOffsets)}, "u1"
	}
	if m.Descr != wantDescr || fmt.Sprint(m.Shape) != fmt.Sprint(wantShape) {
		return nil, fmt.Errorf("%s: found %s %v, expected %s %v", c.File, m.Descr, m.Shape, wantDescr, wantShape)
	}
	return col, s.meaning(col, c)
}

// meaning sets the unit and the categories of a column.
func (s *Store) meaning(col *graph.Column, c ColumnMeta) (err error) {
	if c.Unit != "" {
		if col.Unit, err = graph.ParseUnit(c.Unit); err == nil && col.DType != graph.Int64 {
			err = fmt.Errorf("found a unit with dtype %s, expected int64", col.DType)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", col.Name, err)
		}
	}
	if c.Categories == nil {
		return nil
	}
	texts := *c.Categories
	if col.DType != graph.Int32 || texts.DType != graph.String.String() || len(texts.Shape) > 0 || texts.Categories != nil {
		return fmt.Errorf("column %q: found categories of %s %v for dtype %s, expected strings for int32", col.Name, texts.DType, texts.Shape, col.DType)
	}
	offsets, err := s.index(texts.StringOffsets, -1)
	if err != nil {
		return err
	}
	if offsets.Len() == 0 || offsets.Len()-1 > math.MaxInt32 {
		return fmt.Errorf("%s: found %d offsets, expected 1 to 2147483648", texts.StringOffsets, offsets.Len())
	}
	col.Categories, err = s.column(col.Name, texts, offsets.Len()-1)
	return err
}

func (s *Store) columns(metas map[string]ColumnMeta, rows int) ([]*graph.Column, error) {
	var cols []*graph.Column
	for name, m := range metas {
		c, err := s.column(name, m, rows)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	sort.Slice(cols, func(i, j int) bool { return cols[i].Name < cols[j].Name })
	return cols, nil
}

func (s *Store) openGraph() error {
	s.Graph = &graph.Graph{}
	if m := s.Meta.Context; m != nil {
		var err error
		if s.Graph.Context, err = s.columns(m.Columns, m.Count); err != nil {
			return err
		}
	}
	for name, m := range s.Meta.Nodes {
		cols, err := s.columns(m.Columns, m.Count)
		if err != nil {
			return err
		}
		if m.Added < 0 || m.Added > max(m.Count, 0) {
			return fmt.Errorf("node type %s: found %d added nodes, expected at most all %d", name, m.Added, m.Count)
		}
		n := &graph.Nodes{Type: name, Count: m.Count, Columns: cols, Added: m.Added}
		if m.IDs != nil {
			if n.IDs, err = s.column("#id", *m.IDs, m.Count); err != nil {
				return err
			}
		}
		s.Graph.Nodes = append(s.Graph.Nodes, n)
	}
	for name, m := range s.Meta.Edges {
		e, err := s.openEdges(name, m)
		if err != nil {
			return fmt.Errorf("edge type %s: %w", name, err)
		}
		s.Graph.Edges = append(s.Graph.Edges, e)
	}
	s.Graph.Sort()
	return nil
}

func (s *Store) openEdges(name string, m *EdgesMeta) (*graph.Edges, error) {
	t, err := graph.ParseEdgeType(name)
	if err != nil {
		return nil, err
	}
	for _, end := range []string{t.Src, t.Dst} {
		if s.Meta.Nodes[end] == nil {
			return nil, fmt.Errorf("found no node type %q", end)
		}
	}
	e := &graph.Edges{Type: t, Count: m.Count, NoPositions: m.NoPositions}
	if e.Primary, err = graph.ParseDirection(m.Primary); err != nil {
		return nil, err
	}
	for i, d := range []graph.Direction{e.Primary, 1 - e.Primary} {
		prefix := [...]string{"", "other_"}[i]
		if i == 1 && m.Arrays["other_indptr"] == "" {
			break
		}
		near := s.Meta.Nodes[t.Near(d)].Count
		a := &graph.Adjacency{}
		if a.Indptr, err = s.need(m.Arrays, prefix+"indptr", near+1); err != nil {
			return nil, err
		}
		if a.Indptr.At(0) != 0 || last(a.Indptr) != m.Count {
			return nil, fmt.Errorf("found offsets from %d to %d, expected 0 to %d", a.Indptr.At(0), last(a.Indptr), m.Count)
		}
		if a.Far, err = s.need(m.Arrays, prefix+"far", m.Count); err != nil {
			return nil, err
		}
		if i == 1 {
			if a.EdgeID, err = s.need(m.Arrays, "other_edge_id", m.Count); err != nil {
				return nil, err
			}
		}
		e.Adj[d] = a
	}
	e.Columns, err = s.columns(m.Columns, m.Count)
	return e, err
}
