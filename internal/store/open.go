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
	shards map[string][]vfs.Shard
	starts map[string]int64  // of array files: the offset of the values
	apart  map[string]string // of an Overlay: the paths of array files outside of Dir
	maps   [][]byte
	unmaps []func() error
	later  map[string]vfs.FetchBytes // fetches the bytes of an array file that are not there yet
	merged *merged                   // of a store with segments; nil: of none
	listed map[string]graph.Index    // of a scratch: see Listed; nil: of another store
	read   atomic.Int64              // bytes that Touched has counted since a Release
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
	s := newStore(fsys, dir)
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newStore is a store that is still to be opened.
func newStore(fsys vfs.FS, dir string) *Store {
	return &Store{Dir: dir, fs: vfs.Confine(fsys, dir), Meta: &Meta{}, starts: map[string]int64{}, later: map[string]vfs.FetchBytes{}}
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
		if err := s.later[name](ctx, 0, math.MaxInt64); err != nil {
			return err
		}
		delete(s.later, name)
	}
	return nil
}

// FetchRows is Fetch of rows of an array, which have width bytes each, and of no other rows of it: a later Fetch does not bring them.
func (s *Store) FetchRows(ctx context.Context, file string, first, end uint64, width int) error {
	fetch := s.later[file]
	if fetch == nil {
		return nil
	}
	delete(s.later, file)
	if first == end {
		return nil
	}
	start := uint64(s.starts[file])
	return fetch(ctx, int64(start+first*uint64(width)), int64(start+end*uint64(width)))
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
	if s.shards, err = m.shardsIn(s.Dir); err != nil {
		return fmt.Errorf("%s: %w: %w", s.Dir, ErrDamaged, err)
	}
	s.fs = s.Joined(s.fs)
	if err := s.checkFormat(file); err != nil {
		return err
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
	if s.merged != nil {
		if err := s.joinSegments(m); err != nil {
			return fmt.Errorf("%s: %w", s.Dir, err)
		}
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

// Mapped is the bytes of all maps.
func (s *Store) Mapped() (n int64) {
	for _, b := range s.maps {
		n += int64(len(b))
	}
	return n
}

// ReadAtRandom says that the maps are read in no order from now on: systems else read up to megabytes around each page that is not in memory, which takes the place of others.
func (s *Store) ReadAtRandom() {
	for _, b := range s.maps {
		vfs.ReadAtRandom(b)
	}
	if s.merged != nil {
		for _, p := range s.merged.placed {
			p.readAtRandom()
		}
	}
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
		var fetch vfs.FetchBytes
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
	read := npy.Read
	if s.merged.goesOn(name) {
		read = npy.ReadGrown
	}
	if m.Header, err = read(bytes.NewReader(b), int64(len(b))); err != nil {
		return m, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if m.Offset%8 != 0 {
		return m, fmt.Errorf("%s: found data at byte %d, expected a multiple of 8", f.Name(), m.Offset)
	}
	m.data = b[m.Offset:]
	s.starts[name] = m.Offset
	return m, nil
}

// Joined is fsys, in which the files of the store that have shards are whole files, by their names in Meta.
func (s *Store) Joined(fsys vfs.FS) vfs.FS { return vfs.Joined(fsys, s.shards) }

// ArrayFile is the path of the file of an array in Joined and the offset of its values in the file, for callers that do not read
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
