package dispatch

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// budget divides the memory between its uses.
type budget struct {
	parts  int   // parts written together
	buffer int   // values in a stream's buffer
	pages  int64 // bytes of the store to read before its pages are released
	halo   int64 // bytes for sorting halo edges and missing in-edges
	window int   // edges that a rowSort holds, at 16 bytes each
}

// Sizes without a memory bound, and the least that is useful.
const (
	mostBuffer  = 8 << 10 // values: 64 KiB
	leastBuffer = 512
	mostPages   = 128 << 20
	leastPages  = 8 << 20
	leastHalo   = 4 << 20
	leastWindow = 1 << 14
	unbounded   = 1 << 40
	mostParts   = 128 // limits the number of open files
)

// spareBytes is the part of limits.ProcessBytes that a run keeps in reserve.
const spareBytes = 2 << 20

// errMemory is the kind of errors about too little memory.
var errMemory = tagged.Errorf(limits.ErrMemory, "memory too small")

// Forecast estimates what a run needs.
type Forecast struct {
	Bytes       int64   // size of the output
	Memory      int64   // peak of the memory
	Seconds     float64 // time to write the output
	PartsAtOnce int
}

// plan divides the memory.
func (d *dispatcher) plan() error {
	b := &d.budget
	parts := max(d.a.Parts, 1)
	*b = budget{parts: min(parts, mostParts), buffer: mostBuffer, pages: mostPages, halo: unbounded, window: unbounded}
	if d.opt.PartsAtOnce > 0 {
		b.parts = min(b.parts, d.opt.PartsAtOnce)
	}
	if d.opt.Memory == 0 {
		return nil
	}
	*b = budget{parts: b.parts, buffer: leastBuffer, pages: leastPages, halo: leastHalo, window: leastWindow}
	least := *b
	least.parts = 1
	if n := d.memory(least); n > d.opt.Memory {
		return tagged.Errorf(errMemory, "found a memory bound of %s, expected at least %s for %s nodes in %d parts; give more `Memory`", human.Bytes(d.opt.Memory), human.Bytes(n), human.Count(int64(d.nodes())), parts)
	}
	for b.parts > 1 && d.memory(*b) > d.opt.Memory {
		b.parts--
	}
	// The remaining memory goes to all uses in turn.
	for grown := true; grown; {
		grown = false
		for _, double := range []func(x *budget){
			func(x *budget) { x.buffer = min(2*x.buffer, mostBuffer) },
			func(x *budget) { x.pages = min(2*x.pages, mostPages) },
			func(x *budget) { x.window = min(2*x.window, unbounded) },
			func(x *budget) { x.halo = min(2*x.halo, unbounded) },
		} {
			next := *b
			if double(&next); next != *b && d.memory(next) <= d.opt.Memory {
				*b, grown = next, true
			}
		}
	}
	return nil
}

func (d *dispatcher) nodes() int {
	n := 0
	for _, x := range d.g.Nodes {
		n += x.Count
	}
	return n
}

// memory is the peak memory of a run with a budget.
func (d *dispatcher) memory(b budget) int64 {
	nodes, parts, threads := int64(d.nodes()), int64(b.parts), int64(d.opt.Threads)
	// The assignment and the new ids.
	n := int64(limits.ProcessBytes) + 6*nodes + d.wideMemory(parts)
	if d.a.Trainers > 0 {
		n += 2 * nodes
	}
	set := bitsetBytes(int(nodes))
	if d.opt.Hops > 1 {
		set *= 2
	}
	if d.opt.Formats&dgl.CSR != 0 || d.opt.Formats&dgl.CSC != 0 && (d.opt.Hops > 1 || d.opt.Leaving && d.opt.Hops > 0) {
		n += threads * 8 * 2 * nodes / int64(max(d.a.Parts, 1)) // offsets of the rows of a part, if its halo is as large as its own nodes
	}
	lists, counts := int64(0), int64(0) // lists that a segment writes, and counts that it holds, per part
	for _, into := range d.into {
		lists = max(lists, 3*int64(len(into))+3)
		counts = max(counts, 8*int64(len(into))+4)
	}
	n += (segmentsOfThread*threads + int64(len(d.into))) * int64(d.a.Parts) * counts
	return n + parts*set + threads*int64(8*b.buffer)*(parts*(lists+1)+6) + 16*threads*int64(b.window) + b.pages + b.halo
}

// predict makes the forecast. first is marked; numbering and marking took the given time.
func (d *dispatcher) predict(first *group, marking time.Duration) (Forecast, error) {
	f := Forecast{PartsAtOnce: d.budget.parts}
	config := 2 * int64(len(d.config().JSON()))
	if first == nil {
		f.Bytes = config
		return f, nil
	}
	var halo, haloEdges uint64
	for i := range first.reached {
		f.Bytes += first.partBytes(i)
		halo += uint64(first.halo[i])
		haloEdges += first.ownHalo(i)
	}
	// Parts that are not marked yet are expected to be like those that are.
	left := 0
	for p := range d.num.parts {
		if (p < first.from || p >= first.to) && !d.w.Kept(partFolder(p)) {
			left++
		}
	}
	done := int64(first.to - first.from)
	f.Bytes += f.Bytes * int64(left) / done
	f.Bytes += config
	b := d.budget
	b.halo = min(b.halo, int64(haloEdges)*haloRecord)
	b.window = int(min(int64(b.window), d.largestRows(first)))
	b.pages = min(b.pages, d.storeBytes())
	f.Memory = d.memory(b) - spareBytes
	rate := float64(writeRate)
	if d.opt.Threads > 1 {
		rate *= 1.6
	}
	if f.Bytes > probedAbove {
		disk, err := d.probe()
		if err != nil {
			return f, err
		}
		rate = min(rate, disk)
	}
	// Writing the edges of a part looks the same ids up as marking it did, which is most of the time of a large graph.
	f.Seconds = marking.Seconds()*float64(2*int64(left)+done)/float64(done) + float64(f.Bytes)/rate
	// Temporary files hold the ends of edges where there is no COO, and halo edges that exceed the memory.
	need := f.Bytes
	if spill := int64(haloEdges)*haloRecord - d.budget.halo; spill > 0 {
		need += spill
	}
	return f, vfs.Room(d.fs, d.w.Dir(), 1, uint64(need), "the parts")
}

// writeRate is the number of bytes per second that one thread writes: it copies them into the page cache,
// checksums them and syncs them to a disk that keeps up.
const writeRate = 450 << 20

// probedAbove is the least size of an output for which the speed of the disk is measured.
const probedAbove = 2 << 30

// probe measures the bytes per second that the disk takes, by writing 64 MiB.
func (d *dispatcher) probe() (_ float64, err error) {
	f, err := d.fs.Temp(d.w.Dir())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	const blocks, block = 64, 1 << 20
	b := make([]byte, block)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // some file systems compress; Read returns no error
	began := time.Now()
	for range blocks {
		if _, err := f.Write(b); err != nil {
			return 0, err
		}
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return blocks * block / time.Since(began).Seconds(), nil
}

// largestRows is the number of edges of the largest rowSort of a group.
func (d *dispatcher) largestRows(g *group) int64 {
	var most uint64
	for i := range g.haloEdges {
		n := g.ownHalo(i)
		if d.opt.Formats&dgl.CSR != 0 {
			n += d.firstOf(g.from+i+1) - d.firstOf(g.from+i)
		}
		most = max(most, n)
	}
	return int64(most)
}

// storeBytes is the number of bytes of the store that a run reads.
func (d *dispatcher) storeBytes() (n int64) {
	for _, in := range d.edges {
		n += in.indptr.Bytes() + in.far.Bytes() + in.id.Bytes() + in.position.Bytes()
	}
	for _, x := range d.nodeTensors {
		n += x.stored
	}
	for _, x := range d.edgeTensors {
		n += x.stored
	}
	return n
}

// partBytes is the size of the files of part from+i.
func (g *group) partBytes(i int) int64 {
	p := g.from + i
	n := dgl.GraphLayout(g.spec(i)).Size()
	dict := func(tensors []tensor, rows func(p, t int) int64) {
		l, _ := dictLayout(tensors, p, rows)
		n += l.Size()
	}
	dict(g.nodeTensors, g.nodeRows)
	dict(g.edgeTensors, g.edgeRows)
	if g.opt.OriginalNodes {
		dict(g.origNodes, g.nodeRows)
	}
	if g.opt.OriginalEdges {
		dict(g.origEdgeTensors(), g.edgeRows)
	}
	return n
}
