package dispatch

import (
	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/tagged"
)

// budget is what the memory is spent on.
type budget struct {
	parts  int   // made at once
	buffer int   // values of a stream's buffer
	pages  int64 // bytes of the store that are read until their pages are given back
	halo   int64 // bytes of halo edges outside of the temporary file
	window int   // edges that a rowSort holds, 16 bytes each
}

// Sizes when the memory is not bounded, and the least with which work makes sense.
const (
	mostBuffer  = 8 << 10 // values: 64 KiB
	leastBuffer = 512
	mostPages   = 256 << 20
	leastPages  = 8 << 20
	leastHalo   = 1 << 20
	leastWindow = 1 << 14
	mostParts   = 128      // at once: open files
	overhead    = 24 << 20 // of the program itself
)

// ErrMemory is the kind of errors about a budget that is too small.
var ErrMemory = errorString("memory too small")

type errorString string

func (e errorString) Error() string { return string(e) }

// partBytes is the size of the files of part from+i.
func (g *group) partBytes(i int) int64 {
	p := g.from + i
	n := dgl.GraphLayout(g.spec(i)).Size()
	dict := func(tensors []tensor, rows func(p, t int) int64) {
		var list []dgl.Tensor
		for _, x := range tensors {
			list = append(list, dgl.Tensor{Name: x.name, DType: x.dtype, Shape: append([]int64{rows(p, x.t)}, x.shape...)})
		}
		n += dgl.DictLayout(list).Size()
	}
	dict(g.nodeTensors, g.nodeRows)
	dict(g.edgeTensors, g.edgeRows)
	if g.opt.OriginalNodes {
		dict(g.origNodes, g.nodeRows)
	}
	if g.opt.OriginalEdges {
		var list []tensor
		for e, in := range g.edges {
			list = append(list, tensor{t: e, name: in.name, dtype: dgl.Int64})
		}
		dict(list, g.edgeRows)
	}
	return n
}

// plans divides the memory.
func (d *dispatcher) plans() error {
	b := &d.budget
	*b = budget{parts: min(d.num.parts, mostParts), buffer: mostBuffer, pages: mostPages, halo: 1 << 40, window: 1 << 40}
	if d.opt.Memory == 0 {
		return nil
	}
	threads := int64(d.opt.Threads)
	nodes := d.num.base[d.num.types]
	// What is there whatever is chosen: the assignment, new ids, counts.
	fixed := int64(overhead) + 6*int64(nodes) + int64(len(d.segs))*int64(d.num.parts)*12
	if d.a.Trainers > 0 {
		fixed += 2 * int64(nodes)
	}
	lists := int64(0)
	for _, into := range d.into {
		lists = max(lists, 3*int64(len(into))+3)
	}
	set := bitsetBytes(nodes)
	if d.opt.Hops > 1 {
		set *= 2
	}
	need := func(parts, buffer, pages, halo, window int64) int64 {
		return fixed + parts*set + threads*(parts*lists*buffer*8+window*16+6*buffer*8) + pages + halo
	}
	if least := need(1, leastBuffer, leastPages, leastHalo, leastWindow); least > d.opt.Memory {
		return tagged.Errorf(ErrMemory, "found a memory budget of %d bytes, expected at least %d for %d nodes", d.opt.Memory, least, nodes)
	}
	b.pages, b.halo, b.window, b.buffer = leastPages, leastHalo, leastWindow, leastBuffer
	for b.parts > 1 && need(int64(b.parts), leastBuffer, leastPages, leastHalo, leastWindow) > d.opt.Memory {
		b.parts--
	}
	// What is left goes to the pages, the halo edges, the buffers and the window, in turn.
	for grown := true; grown; {
		grown = false
		for _, step := range []struct {
			double func(x *budget)
			most   bool
		}{
			{func(x *budget) { x.buffer *= 2 }, b.buffer >= mostBuffer},
			{func(x *budget) { x.pages *= 2 }, b.pages >= mostPages},
			{func(x *budget) { x.window *= 2 }, b.window >= 1<<40},
			{func(x *budget) { x.halo *= 2 }, b.halo >= 1<<40},
		} {
			next := *b
			step.double(&next)
			if !step.most && need(int64(next.parts), int64(next.buffer), next.pages, next.halo, int64(next.window)) <= d.opt.Memory {
				*b, grown = next, true
			}
		}
	}
	return nil
}
