package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// ErrSegments is the kind of the error of Open for a store with segments, whose arrays are in several pieces.
var ErrSegments = errors.New("found a store with segments")

// merged is the state of a store that is opened with its segments.
type merged struct {
	after   int                 // segments that count
	outline bool                // edges that segments change have no lists
	alone   bool                // nothing is merged by several goroutines
	rests   map[string]bool     // files, as Meta names them, that go on in a segment
	changed map[string]bool     // edge types that a segment changes
	base    *Meta               // the metadata of the base: Meta has those of all
	dropped map[string][]int    // edges that each segment drops, by type
	types   map[string]*merging // the parts of edge types that segments change
	arrays  []*mergedArray
	// Of OpenAfter: the version before, or nil, and what the next version goes on with, by edge type. placed is nil otherwise.
	before   *Store
	placed   map[string]*placed
	manifest *Manifest
	bytes    int64 // of memory that holds merged arrays
}

// mergedArray is an array in memory, which Spill writes to a file.
type mergedArray struct {
	file   string // as Meta names it
	values []byte
	set    func(values []byte) // makes the graph use a copy
}

// free frees the memory, if it is there.
func (a *mergedArray) free() error {
	extsort.Free(a.values)
	a.values = nil
	return nil
}

// goesOn says whether an array file goes on in a segment.
func (m *merged) goesOn(file string) bool { return m != nil && m.rests[file] }

// changes says whether segments change the edges of a type.
func (m *merged) changes(edgeType string) bool { return m != nil && m.changed[edgeType] }

// OpenMerged is Open of a store that may have segments, as it was after the first of them; after is -1 for all of them. The lists and the columns of edges that
// segments change are merged in memory (Merged), and have no files. Columns of nodes are maps, as all of a store without segments is.
func OpenMerged(fsys vfs.FS, dir string, after int) (*Store, error) {
	return openMerged(fsys, dir, &merged{after: after})
}

// OpenBeside is OpenMerged of all segments for a process that does other work meanwhile: the goroutine of the caller does all of it.
func OpenBeside(fsys vfs.FS, dir string) (*Store, error) {
	return openMerged(fsys, dir, &merged{after: -1, alone: true})
}

// OpenAfter is OpenBeside that merges only what is new since a version that is open, before, which can be nil and was opened so, too: both share the rest. Lists of edges then have Ends, and an edge is
// named by its place, not by its id. Edge types without positions, with 2^32 places or with columns whose rows differ in size are merged as a whole, and so are all where the version
// before does not lead to this one.
func OpenAfter(fsys vfs.FS, dir string, before *Store) (*Store, error) {
	return openMerged(fsys, dir, &merged{after: -1, alone: true, before: before, placed: map[string]*placed{}})
}

// OpenOutline is OpenMerged of all segments without the lists of the edges that these change, and with the columns of the first part that has edges of a type: what an append
// needs to know, in a time that does not grow with the edges.
func OpenOutline(fsys vfs.FS, dir string) (*Store, error) {
	return openMerged(fsys, dir, &merged{after: -1, outline: true})
}

func openMerged(fsys vfs.FS, dir string, m *merged) (*Store, error) {
	s := newStore(fsys, dir)
	s.merged = m
	err := s.open()
	if err == nil {
		err = s.Fetch(context.Background(), func(string) bool { return true })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Segments is the number of segments that the open store is made of, and Merged the number of bytes of memory, beyond maps of files, that hold what they
// change.
func (s *Store) Segments() int {
	if s.merged == nil {
		return 0
	}
	return s.merged.after
}

// Added counts what each segment added.
func (s *Store) Added() (list []report.SegmentDescription) {
	if s.merged == nil {
		return nil
	}
	for i := range s.Meta.Segments {
		x := &s.Meta.Segments[i]
		a := report.SegmentDescription{Made: x.Made}
		for _, n := range x.Nodes {
			a.Nodes += n.Count
		}
		for name, e := range x.Edges {
			a.Edges += e.Count
			a.Dropped += s.merged.dropped[name][i]
		}
		for _, n := range x.ChangedNodes {
			a.Changed += n
		}
		for _, n := range x.ChangedEdges {
			a.Changed += n
		}
		list = append(list, a)
	}
	return list
}

// After is the metadata of the store as it was after the first of its segments.
func (s *Store) After(segments int) *Meta {
	m := *s.Meta
	if s.merged != nil {
		m = *s.merged.base
	}
	if m.Segments = m.Segments[:segments]; segments == 0 {
		m.Format, m.Segments = Format, nil
	}
	return &m
}

// Merged is described at Segments.
func (s *Store) Merged() int64 {
	if s.merged == nil {
		return 0
	}
	return s.merged.bytes
}

// Spill writes the merged lists and columns of fixed size to files in the folder dir, and maps them in place of the memory, so that they are read as those of a store
// without segments are: a part at a time (ArrayFile). dir is made anew, and must outlive the store. Nothing else may read the store meanwhile.
func (s *Store) Spill(ctx context.Context, fsys vfs.FS, dir string) error {
	if s.Segments() == 0 {
		return nil
	}
	if err := errors.Join(fsys.RemoveAll(dir), fsys.Mkdir(dir)); err != nil {
		return err
	}
	if s.apart == nil {
		s.apart = map[string]string{}
	}
	for i, a := range s.merged.arrays {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		name := filepath.Join(dir, fmt.Sprintf("merged-%d", i))
		if err := vfs.WriteFile(fsys, name, a.values); err != nil {
			return err
		}
		if len(a.values) > 0 {
			b, unmap, err := mapWhole(fsys, name)
			if err != nil {
				return err
			}
			s.maps, s.unmaps = append(s.maps, b), append(s.unmaps, unmap)
			a.set(b)
			s.merged.bytes -= int64(len(a.values))
		}
		if err := a.free(); err != nil {
			return err
		}
		s.apart[a.file], s.starts[a.file] = name, 0
	}
	s.merged.arrays = nil
	return nil
}

// mapWhole maps a file.
func mapWhole(fsys vfs.FS, name string) (b []byte, unmap func() error, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Map()
}

// OnePiece refuses a store with segments, for those who read its files themselves.
func (s *Store) OnePiece() error {
	if s.Segments() == 0 {
		return nil
	}
	return s.inSegments()
}

// inSegments is the error of a store whose segments count.
func (s *Store) inSegments() error {
	return fmt.Errorf("%s: %w (%d), expected one in one piece; run graphmill compact on it", s.Dir, ErrSegments, len(s.Meta.Segments))
}

// checkFormat refuses versions of graph.json that Open does not read.
func (s *Store) checkFormat(file string) error {
	m := s.Meta
	switch {
	case m.Format == Format && len(m.Segments) == 0:
		if s.merged != nil && s.merged.after > 0 {
			return fmt.Errorf("%s: found a store without segments, expected at least %d", s.Dir, s.merged.after)
		}
		s.merged = nil
		return nil
	case m.Format != SegmentedFormat || m.Kind != KindStore || len(m.Segments) == 0:
		return fmt.Errorf("%s: found format %d, expected %d, or %d of a store with segments; use a newer graphmill", file, m.Format, Format, SegmentedFormat)
	case s.merged == nil:
		return s.inSegments()
	case s.merged.after > len(m.Segments):
		return fmt.Errorf("%s: found %d segments, expected at least %d", s.Dir, len(m.Segments), s.merged.after)
	case s.merged.after < 0:
		s.merged.after = len(m.Segments)
	}
	return nil
}

// joinSegments makes Meta the metadata of the graph with its segments, and joins the files that go on in them.
func (s *Store) joinSegments(m *Manifest) error {
	x := s.merged
	whole := *s.Meta
	x.manifest = m
	x.base, x.rests, x.changed, x.dropped, x.types = s.Meta, map[string]bool{}, map[string]bool{}, map[string][]int{}, map[string]*merging{}
	whole.Nodes, whole.Edges, whole.Segments = map[string]*NodesMeta{}, map[string]*EdgesMeta{}, slices.Clone(s.Meta.Segments[:x.after])
	for name, n := range x.base.Nodes {
		of := *n
		of.Columns = maps.Clone(n.Columns)
		whole.Nodes[name] = &of
	}
	for name, e := range x.base.Edges {
		of := *e
		whole.Edges[name] = &of
	}
	parts := &partFiles{store: s, manifest: m, of: map[string][]vfs.Shard{}}
	for i := range whole.Segments {
		part := &whole.Segments[i]
		if err := part.check(m); err != nil {
			return fmt.Errorf("segment %d: %w", i+1, err)
		}
		for _, name := range slices.Sorted(maps.Keys(part.Replaced)) {
			if err := parts.replace(name, part.Replaced[name]); err != nil {
				return fmt.Errorf("segment %d: %s: %w", i+1, name, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part.Nodes)) {
			if err := parts.joinNodes(whole.Nodes, name, part.Nodes[name]); err != nil {
				return fmt.Errorf("segment %d: node type %s: %w", i+1, name, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part.Edges)) {
			e := part.Edges[name]
			x.changed[name] = true
			if whole.Edges[name] == nil {
				whole.Edges[name] = &EdgesMeta{Primary: e.Primary, NoPositions: e.NoPositions}
			}
		}
	}
	for name := range whole.Edges { // lists have an offset for each of the nodes
		t, err := graph.ParseEdgeType(name)
		if err != nil {
			return err
		}
		for _, end := range []string{t.Src, t.Dst} {
			before, now := x.base.Nodes[end], whole.Nodes[end]
			x.changed[name] = x.changed[name] || now != nil && (before == nil || before.Count != now.Count)
		}
	}
	if s.shards == nil {
		s.shards = map[string][]vfs.Shard{}
	}
	maps.Copy(s.shards, parts.of)
	s.fs = vfs.Joined(s.fs, parts.of)
	s.Meta = &whole
	return nil
}

// check refuses numbers of nodes and edges that no segment has: what no file shows is in proportion to the sizes of all files, since the offsets of nodes are memory.
func (s *Segment) check(m *Manifest) error {
	bytes := 0
	for _, f := range m.Files {
		bytes += int(min(f.Bytes, maxCount/limits.PerByte/2/int64(len(m.Files))))
	}
	for name, n := range s.Nodes {
		if n == nil || n.Count < 0 || n.Count > max(limits.PerByte*bytes, LikelyNodes) {
			return fmt.Errorf("%w: node type %s: found a count that is none, expected one of the new nodes", ErrDamaged, name)
		}
	}
	for name, e := range s.Edges {
		if e == nil || e.Count < 0 || e.Count > maxCount {
			return fmt.Errorf("%w: edge type %s: found a count that is none, expected one of the new edges", ErrDamaged, name)
		}
	}
	for _, counts := range []map[string]int{s.ChangedNodes, s.ChangedEdges} {
		for name, n := range counts {
			if n < 0 || n > maxCount {
				return fmt.Errorf("%w: %s: found %d changed rows, expected a count", ErrDamaged, name, n)
			}
		}
	}
	return nil
}

// LikelyNodes is a number of new nodes of a segment that is believed, whatever its files have.
const LikelyNodes = 1 << 26

// partFiles joins files of the base with those that go on with them.
type partFiles struct {
	store    *Store
	manifest *Manifest
	of       map[string][]vfs.Shard // by the path of the first file
}

// joinNodes adds the nodes of a segment to those of a type before it.
func (p *partFiles) joinNodes(all map[string]*NodesMeta, name string, n *NodesMeta) error {
	to := all[name]
	if to == nil || to.Open() { // a new type, or one whose first nodes these are
		of := *n
		of.Columns = maps.Clone(n.Columns)
		all[name] = &of
		return nil
	}
	if n.Count > maxCount-to.Count {
		return fmt.Errorf("found a count of %d after %d nodes, expected at most %d in all", n.Count, to.Count, maxCount)
	}
	if len(n.Columns) != len(to.Columns) || (n.IDs == nil) != (to.IDs == nil) {
		return fmt.Errorf("found %d columns, expected the %d of the nodes before, and original ids if these have them", len(n.Columns), len(to.Columns))
	}
	to.Count += n.Count
	for column, c := range n.Columns {
		before, ok := to.Columns[column]
		if !ok {
			return fmt.Errorf("found the column %q, which the nodes before do not have", column)
		}
		if err := p.joinColumn(before, c); err != nil {
			return fmt.Errorf("column %q: %w", column, err)
		}
		if c.Categories != nil { // those of all rows so far
			before.Categories = c.Categories
			to.Columns[column] = before
		}
	}
	if n.IDs != nil {
		return p.joinColumn(*to.IDs, *n.IDs)
	}
	return nil
}

// joinColumn adds the files of a column in a segment to those before.
func (p *partFiles) joinColumn(before, more ColumnMeta) error {
	before.Categories, more.Categories = nil, nil // files of their own
	names, rests := before.Files(), more.Files()
	if len(names) != len(rests) || before.DType != more.DType || fmt.Sprint(before.Shape) != fmt.Sprint(more.Shape) {
		return fmt.Errorf("found %s %v, expected %s %v, as of the rows before", more.DType, more.Shape, before.DType, before.Shape)
	}
	for i, name := range names {
		if err := p.join(name, rests[i]); err != nil {
			return err
		}
	}
	return nil
}

// join adds a file that goes on with another.
func (p *partFiles) join(file, rest string) error {
	entry, ok := p.manifest.Files[rest]
	if !ok {
		return fmt.Errorf("found the file name %q, expected a file of the manifest", rest)
	}
	path := p.path(file)
	shards, err := p.shards(file)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, f := range shards {
		size += f.Bytes
	}
	at := restFrom(size)
	if entry.Bytes < size-at {
		return fmt.Errorf("%s: found %d bytes, expected at least %d, which go on at byte %d of %s", rest, entry.Bytes, size-at, at, file)
	}
	shards = slices.Clone(shards)
	for i := range shards {
		if at <= shards[i].Bytes {
			shards = shards[:i+1]
			shards[i].Bytes, shards[i].Part = at, true
			break
		}
		at -= shards[i].Bytes
	}
	if shards[len(shards)-1].Bytes == 0 {
		shards = shards[:len(shards)-1]
	}
	p.of[path] = append(shards, vfs.Shard{Path: p.path(rest), Bytes: entry.Bytes})
	p.store.merged.rests[file] = true
	return nil
}

// replace puts the bytes of a segment in the place of those of a file so far.
func (p *partFiles) replace(file string, r ReplacedFile) error {
	entry, ok := p.manifest.Files[r.File]
	if !ok {
		return fmt.Errorf("%w: found the file name %q, expected a file of the manifest", ErrDamaged, r.File)
	}
	if r.Blocks == "" {
		p.of[p.path(file)] = []vfs.Shard{{Path: p.path(r.File), Bytes: entry.Bytes}}
		return nil
	}
	shards, err := p.shards(file)
	if err != nil {
		return err
	}
	numbers, err := p.store.index(r.Blocks, -1)
	if err != nil {
		return err
	}
	all, size, at := shards, int64(0), int64(0)
	for _, s := range all {
		size += s.Bytes
	}
	shards = nil
	next, block := int64(0), limits.ShardAlign // the first byte of the file that has no shard yet
	for i := 0; i < numbers.Len(); {
		first := i
		for i++; i < numbers.Len() && numbers.At(i) == numbers.At(i-1)+1; i++ {
			continue
		}
		if n := numbers.At(i - 1); n >= uint64((size+block-1)/block) || numbers.At(first) > n || int64(numbers.At(first))*block < next {
			return fmt.Errorf("%w: found block %d, expected blocks that ascend in a file of %d bytes", ErrDamaged, n, size)
		}
		from, to := int64(numbers.At(first))*block, min(int64(numbers.At(i-1)+1)*block, size)
		shards = appendRange(shards, all, next, from)
		shards = append(shards, vfs.Shard{Path: p.path(r.File), From: at, Bytes: to - from, Part: at+to-from < entry.Bytes})
		at, next = at+to-from, to
	}
	if at != entry.Bytes {
		return fmt.Errorf("%w: %s: found %d bytes, expected the %d of its blocks", ErrDamaged, r.File, entry.Bytes, at)
	}
	p.of[p.path(file)] = appendRange(shards, all, next, size)
	return nil
}

// appendRange appends the shards of the bytes [from, to) of all.
func appendRange(shards, all []vfs.Shard, from, to int64) []vfs.Shard {
	first := int64(0) // byte of the shard
	for _, s := range all {
		if lo, hi := max(from, first), min(to, first+s.Bytes); lo < hi {
			shards = append(shards, vfs.Shard{Path: s.Path, From: s.From + lo - first, Bytes: hi - lo, Part: s.Part || hi < first+s.Bytes})
		}
		first += s.Bytes
	}
	return shards
}

// path is the path of a file of the store.
func (p *partFiles) path(file string) string {
	return filepath.Join(p.store.Dir, filepath.FromSlash(file))
}

// shards are the files that hold the bytes of a file so far.
func (p *partFiles) shards(file string) ([]vfs.Shard, error) {
	path := p.path(file)
	if have := p.of[path]; have != nil {
		return have, nil
	}
	if have := p.store.shards[path]; have != nil {
		return have, nil
	}
	entry, ok := p.manifest.Files[file]
	if !ok {
		return nil, fmt.Errorf("found the file name %q, expected a file of the manifest", file)
	}
	return []vfs.Shard{{Path: path, Bytes: entry.Bytes}}, nil
}

// restFrom is the byte of a file of size bytes from which a segment goes on with it.
func restFrom(size int64) int64 { return size / limits.ShardAlign * limits.ShardAlign }
