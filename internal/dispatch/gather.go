package dispatch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// tree is a folder in which a worker makes files. In an object store they lie on the local disk, without names, until place.
type tree struct {
	fs     vfs.FS
	dir    string
	sender vfs.Sender // nil for a file system
	held   []heldFile
}

// heldFile is a file of a tree that place sends.
type heldFile struct {
	vfs.File
	path string
}

// Close implements vfs.File: the tree closes the file.
func (heldFile) Close() error { return nil }

func newTree(fsys vfs.FS, dir string) *tree {
	return &tree{fs: fsys, dir: dir, sender: vfs.SenderOf(fsys, dir)}
}

// Create implements folder.
func (t *tree) Create(name string) (vfs.File, error) {
	file := filepath.Join(t.dir, filepath.FromSlash(name))
	if t.sender != nil {
		f, err := t.sender.Temp(t.dir)
		if err != nil {
			return nil, err
		}
		t.held = append(t.held, heldFile{f, file})
		return t.held[len(t.held)-1], nil
	}
	if err := t.fs.MkdirAll(filepath.Dir(file)); err != nil {
		return nil, err
	}
	f, err := t.fs.Create(file)
	if err != nil {
		return nil, err
	}
	return synced{f}, nil
}

// Dir implements folder.
func (t *tree) Dir() string { return t.dir }

// place gives the files of an object store their names, the first one last: it says that all are there.
func (t *tree) place() error {
	for _, f := range slices.Backward(t.held) {
		if err := t.sender.Send(f.path, f.File, false); err != nil {
			return err
		}
	}
	return nil
}

// close closes the files of an object store.
func (t *tree) close() (err error) {
	for _, f := range t.held {
		err = errors.Join(err, f.File.Close())
	}
	return err
}

// synced is a file that Close makes durable.
type synced struct{ vfs.File }

// Close implements vfs.File.
func (f synced) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

// Folder is the name of the folder of a part.
func Folder(part int) string { return partFolder(part) }

// GraphFile is the name of the file of a part that Finish makes.
const GraphFile = graphFile

// GatheredLast is the name of the file of a part that Gather makes last in an object store, where files get their names one by one.
const GatheredLast = listsFile

// Gather writes what a part owns to root/part<p>, from all records of the part.
func (m *Maker) Gather(ctx context.Context, part int, root string, records func() ([]byte, bool)) (err error) {
	d := m.d
	if part < 0 || part >= d.num.parts {
		return fmt.Errorf("found part %d, expected less than %d; use the same version on all machines", part, d.num.parts)
	}
	out := newTree(d.fs, root)
	defer func() { err = errors.Join(err, out.close()) }()
	x := gathering{m: m, g: &group{dispatcher: d, from: part, to: part + 1, out: out}, part: part}
	defer func() { err = errors.Join(err, x.close()) }()
	for file, name := range []string{toLists: listsFile, toHalo: haloFile, toNodeFeat: nodeFeatFile, toEdgeFeat: edgeFeatFile, toOrigNodes: origNodeFile, toOrigEdges: origEdgeFile} {
		if err := x.openFile(file, partName(part, name)); err != nil {
			return err
		}
	}
	if err := x.open[toLists].Truncate(x.size[toLists]); err != nil {
		return err
	}
	for b, ok := records(); ok; b, ok = records() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := eachSection(b, x.writeSection); err != nil {
			return err
		}
	}
	if err := x.checkWhole(); err != nil {
		return err
	}
	return out.place()
}

// gathering is a run of Gather.
type gathering struct {
	m    *Maker
	g    *group
	part int
	// By file: nil where the part has none; its bytes; the bytes of all sections of it; those that came.
	open            [files]vfs.File
	size, want, got [files]int64
}

func (x *gathering) close() (err error) {
	for _, f := range x.open {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// openFile makes a file, unless the options leave it out.
func (x *gathering) openFile(file int, name string) (err error) {
	d := x.m.d
	switch {
	case file == toOrigNodes && !d.opt.OriginalNodes, file == toOrigEdges && !d.opt.OriginalEdges:
		return nil
	case file == toHalo:
		x.open[file], err = x.g.out.Create(name)
		return err
	case file == toLists:
		x.size[file] = x.m.parts[x.part].size
		x.want[file] = 4 * int64(d.firstOf(x.part+1)-d.firstOf(x.part))
		for _, in := range d.edges {
			x.want[file] += 8 * d.nodeRows(x.part, in.dst)
		}
		x.open[file], err = x.g.out.Create(name)
		return err
	}
	tensors, rows := d.tensorsOf(file)
	l, _ := dictLayout(tensors, x.part, rows)
	for _, t := range tensors {
		x.want[file] += rows(x.part, t.t) * int64(t.width)
	}
	x.size[file] = l.Size()
	x.open[file], err = x.g.file(name, l)
	return err
}

// writeSection writes a section of a record to a place in a file.
func (x *gathering) writeSection(file int, at int64, data []byte) error {
	if file >= files || x.open[file] == nil {
		return errRecord
	}
	if file == toHalo { // in any order
		at, x.size[file] = x.size[file], x.size[file]+int64(len(data))
		if len(data)%haloRecord != 0 {
			return errRecord
		}
	}
	x.got[file] += int64(len(data))
	if at+int64(len(data)) > x.size[file] || at < 0 {
		return errRecord
	}
	_, err := x.open[file].WriteAt(data, at)
	return err
}

// checkWhole returns an error if bytes of a file did not come, or came twice.
func (x *gathering) checkWhole() error {
	for file := range files {
		if file != toHalo && x.got[file] != x.want[file] {
			return fmt.Errorf("part %d: found %d bytes of file %d, expected %d: a record was lost, or came twice", x.part, x.got[file], file, x.want[file])
		}
	}
	return nil
}

// lists are the edges that a part owns, as Gather wrote them.
type lists struct {
	d     *dispatcher
	x     *partPlaces
	p     int
	src   []uint32
	data  []byte
	unmap func() error
}

func (m *Maker) lists(root string, p int) (*lists, error) {
	d := m.d
	b, unmap, err := mapFile(d.fs, filepath.Join(root, partFolder(p), listsFile))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) != m.parts[p].size {
		return nil, errors.Join(fmt.Errorf("part %d: found lists of %d bytes, expected %d", p, len(b), m.parts[p].size), unmap())
	}
	own := d.firstOf(p+1) - d.firstOf(p)
	return &lists{d, &m.parts[p], p, graph.View[uint32](b[:4*own]), b, unmap}, nil
}

func mapFile(fsys vfs.FS, name string) ([]byte, func() error, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	b, unmap, err := f.Map()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, err
	}
	return b, unmap, nil
}

// run is the edges of type e into a node, the row in its type and part: they are src[lo:hi].
func (l *lists) run(e int, row int64) (lo, hi uint64, err error) {
	at := l.x.lists[e] + 8*row
	n := uint64(l.d.edgeRows(l.p, e))
	lo, hi = binary.LittleEndian.Uint64(l.data[at:]), n
	if row+1 < l.d.nodeRows(l.p, l.d.edges[e].dst) {
		hi = binary.LittleEndian.Uint64(l.data[at+8:])
	}
	if lo > hi || hi > n {
		return 0, 0, fmt.Errorf("part %d: %w: found edges %d to %d of %d", l.p, store.ErrDamaged, lo, hi, n)
	}
	first := l.d.firstEdge(l.p, e)
	return first + lo, first + hi, nil
}

// finishing is a run of Finish.
type finishing struct {
	m    *Maker
	g    *group
	own  *lists
	root string
	open map[int]*lists // of other parts
	halo []byte         // records of halo edges
}

// Finish makes the graph of a part as temp/part<p>/graph.dgl. Gather must have written all parts to root, or with at most one
// hop this part alone.
func (m *Maker) Finish(ctx context.Context, part int, root, temp string) (err error) {
	d := m.d
	f := &finishing{m: m, root: root, open: map[int]*lists{}}
	out := newTree(d.fs, temp)
	defer func() { err = errors.Join(err, out.close()) }()
	f.g = &group{dispatcher: d, from: part, to: part + 1, out: out}
	defer f.g.close()
	if f.own, err = m.lists(root, part); err != nil {
		return err
	}
	f.open[part] = f.own
	defer func() {
		for _, l := range f.open {
			err = errors.Join(err, l.unmap())
		}
	}()
	reached, err := newBitset(d.nodes())
	if err != nil {
		return err
	}
	f.g.reached = []*bitset{reached}
	if err := f.mark(ctx); err != nil {
		return err
	}
	f.g.halo = []int{reached.index()}
	if err := f.write(ctx); err != nil {
		return err
	}
	return out.place()
}

// mark finds the halo.
func (f *finishing) mark(ctx context.Context) error {
	g, reached := f.g, f.g.reached[0]
	lo, hi := g.num.owned(g.from)
	total := uint32(g.num.base[g.num.types])
	for _, s := range f.own.src {
		if s >= total {
			return fmt.Errorf("part %d: %w: found source %d of %d nodes", g.from, store.ErrDamaged, s, total)
		}
		if s-lo >= hi-lo {
			reached.set(s)
		}
	}
	if g.opt.Hops > 1 {
		if err := f.expand(ctx); err != nil {
			return err
		}
	}
	b, unmap, err := mapFile(g.fs, filepath.Join(f.root, partFolder(g.from), haloFile))
	if err != nil {
		return err
	}
	f.halo = append(f.halo, b...)
	if err := unmap(); err != nil {
		return err
	}
	n := uint64(len(f.halo) / haloRecord)
	g.haloEdges = [][]uint64{{n}} // the sum alone is used
	if need := g.partMemory(g.from, n); g.opt.Memory > 0 && need > g.opt.Memory {
		return tooLarge(g.from, need, g.opt.Memory)
	}
	for at := 0; at < len(f.halo); at += haloRecord {
		for _, v := range []uint32{binary.LittleEndian.Uint32(f.halo[at+8:]), binary.LittleEndian.Uint32(f.halo[at+12:])} {
			if v >= total {
				return errRecord
			}
			if v-lo >= hi-lo {
				reached.set(v)
			}
		}
	}
	return nil
}

// expand adds the in-edges of the nodes that fewer than Hops edges reach.
func (f *finishing) expand(ctx context.Context) error {
	g, reached := f.g, f.g.reached[0]
	var now, next []uint32
	if err := reached.members(func(id uint32) error { now = append(now, id); return nil }); err != nil {
		return err
	}
	for range g.opt.Hops - 1 {
		next = next[:0]
		for i, v := range now {
			if i%blockNodes == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := f.node(v, func(s uint32) { next = append(next, s) }); err != nil {
				return err
			}
			if need := g.partMemory(g.from, uint64(len(f.halo)/haloRecord)); g.opt.Memory > 0 && i%blockNodes == 0 && need > g.opt.Memory {
				return tooLarge(g.from, need, g.opt.Memory)
			}
		}
		slices.Sort(next) // neighbours in the lists of their parts
		now, next = next, now
	}
	return nil
}

// node adds the in-edges of a halo node. found takes the sources that were not reached before.
func (f *finishing) node(v uint32, found func(s uint32)) error {
	g, reached := f.g, f.g.reached[0]
	place, _ := slices.BinarySearch(g.num.start, v+1) // the first that begins after v
	place--
	q, t := place/g.num.types, place%g.num.types
	l := f.open[q]
	if l == nil {
		var err error
		if l, err = f.m.lists(f.root, q); err != nil {
			return err
		}
		f.open[q] = l
	}
	lo, hi := g.num.owned(g.from)
	leaving := g.opt.Leaving
	for _, e := range g.into[t] {
		from, to, err := l.run(e, int64(v-g.num.start[place]))
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			s := l.src[i]
			if int(s) >= g.num.base[g.num.types] {
				return fmt.Errorf("part %d: %w: found source %d of %d nodes", q, store.ErrDamaged, s, g.num.base[g.num.types])
			}
			own := s-lo < hi-lo
			if !own && !reached.has(s) {
				reached.set(s)
				found(s)
			}
			if own && leaving {
				continue // among the edges that leave the part
			}
			f.halo = binary.LittleEndian.AppendUint64(f.halo, g.firstOf(q)+i)
			f.halo = binary.LittleEndian.AppendUint32(f.halo, s)
			f.halo = binary.LittleEndian.AppendUint32(f.halo, v)
		}
	}
	return nil
}

// write writes the graph.
func (f *finishing) write(ctx context.Context) (err error) {
	g := f.g
	x, err := g.openGraph(0)
	defer func() { err = errors.Join(err, closeGraphs([]*partFile{x})) }()
	if err != nil {
		return err
	}
	buffer := g.budget.buffer
	if err := f.writeOwn(ctx, x, buffer); err != nil {
		return err
	}
	if len(f.halo) > 0 {
		for at := 0; at < len(f.halo); at += haloRecord {
			b := f.halo[at:]
			binary.LittleEndian.PutUint32(b[8:], g.local(0, binary.LittleEndian.Uint32(b[8:])))
			binary.LittleEndian.PutUint32(b[12:], g.local(0, binary.LittleEndian.Uint32(b[12:])))
		}
		idBits := bits.Len64(g.edgeStart[len(g.edgeStart)-1])
		sorted := sortRecords(f.halo, make([]byte, len(f.halo)), idBits)
		if err := x.haloRun(g, &haloEdges{idBits: idBits}, sorted, 0, buffer); err != nil {
			return err
		}
		f.halo = nil
	}
	if err := x.writeData(g, make([]uint64, buffer)); err != nil {
		return err
	}
	return x.writeRows(ctx, g, g.budget.window, buffer)
}

// writeOwn writes the edges that the part owns.
func (f *finishing) writeOwn(ctx context.Context, x *partFile, buffer int) error {
	g := f.g
	local := make([]uint32, len(f.own.src))
	for i, s := range f.own.src {
		local[i] = g.local(0, s)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.pairs != nil {
		src := stream{file: x.pairs, at: x.src, buf: make([]uint64, buffer)}
		for _, s := range local {
			if err := src.put(uint64(s)); err != nil {
				return err
			}
		}
		if err := src.flush(); err != nil {
			return err
		}
		if err := f.destinations(&stream{file: x.pairs, at: x.dst, buf: src.buf}); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil || g.opt.Formats&dgl.CSC == 0 {
		return err
	}
	return f.rows(x, local, buffer)
}

// destinations puts the destination of each edge.
func (f *finishing) destinations(to *stream) error {
	g, p := f.g, f.g.from
	lo, _ := g.num.owned(p)
	for e, in := range g.edges {
		first := uint64(g.num.start[p*g.num.types+in.dst] - lo)
		for row := range g.nodeRows(p, in.dst) {
			from, end, err := f.own.run(e, row)
			if err != nil {
				return err
			}
			for range end - from {
				if err := to.put(first + uint64(row)); err != nil {
					return err
				}
			}
		}
	}
	return to.flush()
}

// rows writes the rows of the CSC.
func (f *finishing) rows(x *partFile, local []uint32, buffer int) error {
	g := f.g
	ptr := stream{file: x.graph, at: x.csc.ptr, buf: make([]uint64, buffer)}
	idx := stream{file: x.graph, at: x.csc.idx, buf: make([]uint64, buffer)}
	eid := stream{file: x.graph, at: x.csc.eid, buf: make([]uint64, buffer)}
	n := uint64(0)
	for t, into := range g.into {
		for row := range g.nodeRows(g.from, t) {
			if err := ptr.put(n); err != nil {
				return err
			}
			for _, e := range into {
				from, to, err := f.own.run(e, row)
				if err != nil {
					return err
				}
				for i := from; i < to; i++ {
					if err := idx.put(uint64(local[i])); err != nil {
						return err
					}
				}
				if err := eid.iota(from, to); err != nil {
					return err
				}
				n += to - from
			}
		}
	}
	return errors.Join(ptr.flush(), idx.flush(), eid.flush())
}
