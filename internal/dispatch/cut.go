package dispatch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Maker makes parts in several processes, from the places that Count found. Cutter.Cut reads a segment of the store and gives
// records for parts. Gather writes the records of a part to files, and Finish the graph of the part, whose local ids are known
// when all of its edges are there. The files equal the files of Plan.Run.
//
// A record is a list of sections: file (u8), offset (u64), size (u32), and bytes. They are bytes of the files of a part, so that
// records may come in any order. Two files are not of the output: lists.bin has the edges that the part owns, and halo.bin the
// edges that leave it.
type Maker struct {
	d     *dispatcher
	parts []partPlaces
}

// The files of sections.
const (
	toLists = iota
	toHalo
	toNodeFeat
	toEdgeFeat
	toOrigNodes
	toOrigEdges
	files
)

// Files of a part that are not of the output.
const (
	listsFile = "lists.bin"
	haloFile  = "halo.bin"
)

// partPlaces are the offsets of tensors in the files of a part, and of the lists of its edges.
type partPlaces struct {
	at    [files][]int64
	lists []int64 // by edge type: the offsets of the edges into each node
	size  int64   // of lists.bin
}

// NewMaker prepares for the store, the assignment, the options and the folder of lists of a Count. The caller closes it.
func NewMaker(fsys vfs.FS, s *store.Store, a *assign.Assignment, l *Places, opt Options, lists string) (*Maker, error) {
	d, err := newMakerDispatcher(fsys, s, a, l, opt, lists)
	if err != nil {
		return nil, err
	}
	m := &Maker{d: d, parts: make([]partPlaces, d.num.parts)}
	for p := range m.parts {
		x := &m.parts[p]
		for file := range files {
			if tensors, rows := d.tensorsOf(file); tensors != nil {
				_, x.at[file] = dictLayout(tensors, p, rows)
			}
		}
		x.size = (4*int64(d.firstOf(p+1)-d.firstOf(p)) + 7) &^ 7
		for _, in := range d.edges {
			x.lists = append(x.lists, x.size)
			x.size += 8 * d.nodeRows(p, in.dst)
		}
	}
	return m, nil
}

// Close frees the lists.
func (m *Maker) Close() error { return m.d.unmap() }

// tensorsOf are the tensors of a file, nil for a file without tensors.
func (d *dispatcher) tensorsOf(file int) ([]tensor, func(p, t int) int64) {
	switch {
	case file == toNodeFeat:
		return d.nodeTensors, d.nodeRows
	case file == toEdgeFeat:
		return d.edgeTensors, d.edgeRows
	case file == toOrigNodes && d.opt.OriginalNodes:
		return d.origNodes, d.nodeRows
	case file == toOrigEdges && d.opt.OriginalEdges:
		return d.origEdgeTensors(), d.edgeRows
	}
	return nil, nil
}

// Sizes of the buffers of a Cutter.
const (
	recordBytes = 64 << 10 // of a record, more or less
	laneEdges   = 512
	roomBytes   = 4 << 10
	cutBytes    = 2*recordBytes + 2*roomBytes // per part
	laneBytes   = 20 * laneEdges              // per part and edge type into a node type
	sectionHead = 13
)

// Cutter is the buffers of a goroutine that reads segments.
type Cutter struct {
	m     *Maker
	g     *group // all parts
	emit  func(part int, record []byte)
	out   [][]byte // by part
	to    [files][]io.WriterAt
	at    [files][][]int64
	rows  *rowWriter
	lanes []cutLane // by edge type into the node type, then by part
	halo  [][]byte  // by part, edges that leave it
}

// cutLane collects the edges of one type into nodes of one part.
type cutLane struct {
	src       []uint32
	ptr, orig []uint64
	edge      int64 // edges of the type and part before those in src
	row       int64 // nodes before those in ptr
}

// NewCutter makes buffers.
func (m *Maker) NewCutter() *Cutter {
	parts := m.d.num.parts
	c := &Cutter{m: m, g: &group{dispatcher: m.d, to: parts}, out: make([][]byte, parts), halo: make([][]byte, parts), rows: newRowWriter(parts, roomBytes)}
	for file := range files {
		for p := range parts {
			c.to[file] = append(c.to[file], &cutFile{c, byte(file), p})
			c.at[file] = append(c.at[file], m.parts[p].at[file])
		}
	}
	return c
}

// cutFile is a file of a part as a Cutter writes it: sections of records.
type cutFile struct {
	c    *Cutter
	file byte
	p    int
}

// WriteAt implements io.WriterAt.
func (f *cutFile) WriteAt(b []byte, at int64) (int, error) {
	f.c.section(f.p, f.file, at, b)
	return len(b), nil
}

func (c *Cutter) section(p int, file byte, at int64, b []byte) {
	if len(c.out[p])+sectionHead+len(b) > recordBytes {
		c.flush(p)
	}
	x := append(c.out[p], file)
	x = binary.LittleEndian.AppendUint64(x, uint64(at))
	x = binary.LittleEndian.AppendUint32(x, uint32(len(b)))
	c.out[p] = append(x, b...)
}

func (c *Cutter) flush(p int) {
	if len(c.out[p]) > 0 {
		c.emit(p, c.out[p])
		c.out[p] = c.out[p][:0]
	}
}

// Cut gives the records of a segment: what it has of each part. The bytes of a record are valid during the call of emit.
func (c *Cutter) Cut(ctx context.Context, segment int, emit func(part int, record []byte)) error {
	g := c.g
	if segment < 0 || segment >= len(g.segs) {
		return fmt.Errorf("found segment %d, expected less than %d; use the same version on all machines", segment, len(g.segs))
	}
	c.emit = emit
	for p := range c.out {
		c.out[p], c.halo[p] = c.out[p][:0], c.halo[p][:0]
	}
	for _, file := range []int{toNodeFeat, toOrigNodes} {
		tensors, _ := c.m.d.tensorsOf(file)
		for k := range tensors {
			if err := g.nodeRun(c.rows, &tensors[k], c.to[file], c.at[file], k, segment); err != nil {
				return err
			}
		}
	}
	if err := c.edges(ctx, segment); err != nil {
		return err
	}
	tensors, _ := c.m.d.tensorsOf(toEdgeFeat)
	for k := range tensors {
		if err := g.edgeRun(ctx, c.rows, &tensors[k], c.to[toEdgeFeat], c.at[toEdgeFeat], k, segment); err != nil {
			return err
		}
	}
	for p := range c.out {
		c.flush(p)
	}
	return ctx.Err()
}

// edges gives the edges into the nodes of a segment.
func (c *Cutter) edges(ctx context.Context, segment int) error {
	g, s := c.g, c.g.segs[segment]
	readers := g.readers(s.t)
	parts := g.num.parts
	for len(c.lanes) < len(readers)*parts {
		c.lanes = append(c.lanes, cutLane{})
	}
	for i := range c.lanes[:len(readers)*parts] {
		l := &c.lanes[i]
		l.src, l.ptr, l.orig = l.src[:0], l.ptr[:0], l.orig[:0]
		l.edge, l.row = int64(g.counts[segment][i]), int64(s.nodes[i%parts])
	}
	for from := s.from; from < s.to; from += blockNodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+blockNodes, s.to)
		for j, r := range readers {
			offsets, far, err := r.block(from, to)
			if err != nil {
				return err
			}
			if err := c.block(s.t, j, from, r, offsets, far); err != nil {
				return err
			}
			if err := g.read(8*len(offsets) + 4*len(far)); err != nil {
				return err
			}
		}
	}
	for j := range readers {
		for p := range parts {
			c.flushLane(s.t, j, p)
		}
	}
	for q := range parts {
		c.flushHalo(q)
	}
	return nil
}

// block gives the edges of one type, number j of those into type t, into a block of nodes.
func (c *Cutter) block(t, j, first int, r *reader, offsets []uint64, far []uint32) error {
	g := c.g
	e := g.into[t][j]
	part := g.num.part[g.num.base[t]+first:][:len(offsets)-1]
	id := g.num.id[g.num.base[t]+first:][:len(offsets)-1]
	sources := g.num.id[g.num.base[r.src]:g.num.base[r.src+1]]
	sourcePart := g.num.part[g.num.base[r.src]:g.num.base[r.src+1]]
	leaving := g.opt.Leaving && g.opt.Hops > 0
	for k, p := range part {
		begin, end := offsets[k], offsets[k+1]
		l := &c.lanes[j*g.num.parts+int(p)]
		edge := uint64(l.edge) + uint64(len(l.src))
		l.ptr = append(l.ptr, edge)
		run := far[begin-offsets[0] : end-offsets[0]]
		for x, u := range run {
			if int(u) >= len(sources) {
				return r.noSource(u)
			}
			l.src = append(l.src, sources[u])
			if q := sourcePart[u]; leaving && q != p {
				c.leaving(int(q), g.edgeStart[int(p)*len(g.edges)+e]+edge+uint64(x), sources[u], id[k])
			}
		}
		if g.opt.OriginalEdges {
			at := len(l.orig)
			for range run {
				l.orig = append(l.orig, 0)
			}
			if err := r.original(l.orig[at:], begin); err != nil {
				return err
			}
		}
		if len(l.src) >= laneEdges || len(l.ptr) >= laneEdges {
			c.flushLane(t, j, int(p))
		}
	}
	return nil
}

// leaving gives an edge from a node of part q to another part.
func (c *Cutter) leaving(q int, edge uint64, src, dst uint32) {
	b := binary.LittleEndian.AppendUint64(c.halo[q], edge)
	b = binary.LittleEndian.AppendUint32(b, src)
	c.halo[q] = binary.LittleEndian.AppendUint32(b, dst)
	if len(c.halo[q]) >= roomBytes {
		c.flushHalo(q)
	}
}

func (c *Cutter) flushHalo(q int) {
	if len(c.halo[q]) > 0 {
		c.section(q, toHalo, 0, c.halo[q])
		c.halo[q] = c.halo[q][:0]
	}
}

func (c *Cutter) flushLane(t, j, p int) {
	g := c.g
	e, l, x := g.into[t][j], &c.lanes[j*g.num.parts+p], &c.m.parts[p]
	c.sections(p, toLists, 4*(int64(g.firstEdge(p, e))+l.edge), graph.Bytes(l.src))
	c.sections(p, toLists, x.lists[e]+8*l.row, graph.Bytes(l.ptr))
	if g.opt.OriginalEdges {
		c.sections(p, toOrigEdges, x.at[toOrigEdges][e]+8*l.edge, graph.Bytes(l.orig))
	}
	l.edge += int64(len(l.src))
	l.row += int64(len(l.ptr))
	l.src, l.ptr, l.orig = l.src[:0], l.ptr[:0], l.orig[:0]
}

// sections is section for bytes that may exceed a record, as the edges of one node do.
func (c *Cutter) sections(p int, file byte, at int64, b []byte) {
	for len(b) > 0 {
		n := min(len(b), recordBytes/2)
		c.section(p, file, at, b[:n])
		at, b = at+int64(n), b[n:]
	}
}

// eachSection calls fn with each section of a record.
func eachSection(b []byte, fn func(file int, at int64, data []byte) error) error {
	for len(b) > 0 {
		if len(b) < sectionHead {
			return errRecord
		}
		file, at, n := int(b[0]), binary.LittleEndian.Uint64(b[1:]), int(binary.LittleEndian.Uint32(b[9:]))
		b = b[sectionHead:]
		if n > len(b) || at > math.MaxInt64 {
			return errRecord
		}
		if err := fn(file, int64(at), b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

var errRecord = errors.New("found a record that is cut off, expected whole sections; use the same version on all machines")

// tooLarge is the error of a part that does not fit a worker.
func tooLarge(p int, need, memory int64) error {
	return tagged.Errorf(errMemory, "part %d: found a memory bound of %s, expected at least %s for a worker that makes this part; give workers more `Memory`, divide the graph into more parts, or use graphmill dispatch, which needs less",
		p, human.Bytes(memory), human.Bytes(need))
}
