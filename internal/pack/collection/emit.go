package collection

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// emitBytes is the size of an emitter's buffer, which stays in a processor's cache while it is filled and
// written.
const emitBytes = 512 << 10

// emitter writes a part of an array, front to back. It keeps its first error.
type emitter struct {
	array *store.Array
	at    int64 // offset of the buffer in the array
	buf   []byte
	err   error
	packs []packed // of a chunk
}

func newEmitter() *emitter { return &emitter{buf: make([]byte, 0, emitBytes)} }

// begin starts writing at byte at of the array.
func (e *emitter) begin(a *store.Array, at int64) {
	e.array, e.at, e.buf, e.err = a, at, e.buf[:0], nil
}

// flush writes the buffer.
func (e *emitter) flush() error {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.array.WriteAt(e.buf, e.at)
	}
	e.at += int64(len(e.buf))
	e.buf = e.buf[:0]
	return e.err
}

// room returns free bytes of the buffer: want bytes, or fewer but a multiple of 8.
func (e *emitter) room(want int) []byte {
	if cap(e.buf)-len(e.buf) < min(want, 8) {
		_ = e.flush() // the emitter keeps the error
	}
	n := len(e.buf)
	if free := cap(e.buf) - n; want > free {
		want = free &^ 7
	}
	e.buf = e.buf[:n+want]
	return e.buf[n:]
}

// bytes copies b; a large b is written without a copy.
func (e *emitter) bytes(b []byte) {
	if len(b) >= emitBytes/2 {
		if e.flush() == nil {
			_, e.err = e.array.WriteAt(b, e.at)
		}
		e.at += int64(len(b))
		return
	}
	for len(b) > 0 && e.err == nil {
		b = b[copy(e.room(len(b)), b):]
	}
}

// fill writes v n times.
func (e *emitter) fill(v byte, n int) {
	for n > 0 && e.err == nil {
		to := e.room(n)
		n -= len(to)
		to[0] = v
		for done := 1; done < len(to); done *= 2 {
			copy(to[done:], to[:done])
		}
	}
}

// repeat writes v n times.
func (e *emitter) repeat(v int32, n int) {
	for n > 0 && e.err == nil {
		to := graph.View[int32](e.room(4 * n))
		for i := range to {
			to[i] = v
		}
		n -= len(to)
	}
}

// shifted writes ids, each increased by by.
func shifted[T uint32 | uint64](e *emitter, ids []T, by int32) {
	for len(ids) > 0 && e.err == nil {
		to := graph.View[int32](e.room(4 * len(ids)))
		from := ids[:len(to)]
		for i := range to {
			to[i] = int32(from[i]) + by
		}
		ids = ids[len(to):]
	}
}

// counts writes the number of items of each graph, of the padding graph, and 0 for the empty graphs.
func counts(ptr graph.Index, graphs, all int) func(*emitter, *packed) {
	return func(out *emitter, p *packed) {
		left := all
		for _, g := range p.graphs {
			from, to := span(ptr, g)
			out.repeat(int32(to-from), 1)
			left -= to - from
		}
		out.repeat(int32(left), 1)
		out.repeat(0, graphs-len(p.graphs)-1)
	}
}

// offsets writes the first item of each graph, of the padding graph, and of the empty graphs after it, which
// is the end.
func offsets(ptr graph.Index, graphs, all int) func(*emitter, *packed) {
	return func(out *emitter, p *packed) {
		at := 0
		for _, g := range p.graphs {
			out.repeat(int32(at), 1)
			from, to := span(ptr, g)
			at += to - from
		}
		out.repeat(int32(at), 1)
		out.repeat(int32(all), graphs-len(p.graphs))
	}
}

// owners writes the graph of each item.
func owners(ptr graph.Index, all int) func(*emitter, *packed) {
	return func(out *emitter, p *packed) {
		left := all
		for i, g := range p.graphs {
			from, to := span(ptr, g)
			out.repeat(int32(i), to-from)
			left -= to - from
		}
		out.repeat(int32(len(p.graphs)), left)
	}
}

// ends writes the ends of edges, as nodes of a type.
func (a *padder) ends(e *graph.CollectionEdges, of graph.Index, nodeType string, all int) func(*emitter, *packed) {
	var nodes graph.Index
	for _, n := range a.c.Nodes {
		if n.Type == nodeType {
			nodes = n.GraphPtr
		}
	}
	return func(out *emitter, p *packed) {
		left, at := all, 0
		for _, g := range p.graphs {
			from, to := span(e.GraphPtr, g)
			if of.U32 != nil {
				shifted(out, of.U32[from:to], int32(at))
			} else {
				shifted(out, of.U64[from:to], int32(at))
			}
			left -= to - from
			first, last := span(nodes, g)
			at += last - first
		}
		out.repeat(int32(at), left)
	}
}

// width is the dtype of a list.
func width(x graph.Index) graph.DType {
	if x.U32 != nil {
		return graph.Uint32
	}
	return graph.Uint64
}

// part returns the bytes of [from, to) of a list.
func part(x graph.Index, from, to int) []byte {
	if x.U32 != nil {
		return graph.Bytes(x.U32[from:to])
	}
	return graph.Bytes(x.U64[from:to])
}

// ids writes a list of ids unchanged.
func ids(x, ptr graph.Index, all int) func(*emitter, *packed) {
	return func(out *emitter, p *packed) {
		left := all
		for _, g := range p.graphs {
			from, to := span(ptr, g)
			out.bytes(part(x, from, to))
			left -= to - from
		}
		out.fill(0, left*width(x).Size())
	}
}
