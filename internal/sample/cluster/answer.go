package cluster

import (
	"encoding/binary"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// Records of answers consist of sections. A section has a header and its answers:
//
//	u16 op, u32 bytes of the answers
//	u32 number of the subgraph in the group, u32 node, u8 n, n times u32 far end, n times u32 edge id; for each answer
//
// An n of 255 is followed by the number in a u32. Edge ids are there for the ops of which the output needs them.
const (
	answerHead = 6
	manyEdges  = 255
)

// answerBuffer collects answers of a group.
type answerBuffer struct {
	emit  Emit
	b     []byte
	group uint64
	op    int
	head  int // place of the header of the last section
}

func (a *answerBuffer) begin(emit Emit) { a.emit, a.b, a.op = emit, a.b[:0], 0 }

func (a *answerBuffer) add(group uint64, op int, sub, v uint32, far, ids []uint32) {
	if group != a.group || len(a.b) >= flushBytes {
		a.flush()
		a.group = group
	}
	if op != a.op {
		a.end()
		a.head, a.op = len(a.b), op
		a.b = binary.LittleEndian.AppendUint16(a.b, uint16(op))
		a.b = append(a.b, 0, 0, 0, 0)
	}
	a.b = binary.LittleEndian.AppendUint32(a.b, sub)
	a.b = binary.LittleEndian.AppendUint32(a.b, v)
	if len(far) < manyEdges {
		a.b = append(a.b, byte(len(far)))
	} else {
		a.b = binary.LittleEndian.AppendUint32(append(a.b, manyEdges), uint32(len(far)))
	}
	a.b = append(a.b, graph.Bytes(far)...)
	a.b = append(a.b, graph.Bytes(ids)...)
}

// end completes the header of the last section.
func (a *answerBuffer) end() {
	if a.op > 0 {
		binary.LittleEndian.PutUint32(a.b[a.head+2:], uint32(len(a.b)-a.head-answerHead))
	}
}

func (a *answerBuffer) flush() {
	a.end()
	if len(a.b) > 0 {
		a.emit(int64(a.group), append([]byte(nil), a.b...))
	}
	a.b, a.op = a.b[:0], 0
}

// answers is the answers of a group, by subgraph.
type answers struct {
	h       *Hand
	records [][]byte
	starts  []uint32   // by subgraph: its first answer in all, and the end
	all     []answerAt // by subgraph

	in   sample.Input
	fed  []fed // by op, op 0 included
	find table
	err  error
}

// answerAt is the place of an answer.
type answerAt struct {
	op     uint16
	record uint32
	at     uint32
}

// fed is what Counts found for an op and Ends has to give.
type fed struct {
	far, ids []uint32
}

func (a *answers) init(h *Hand) { a.h, a.fed = h, make([]fed, len(h.s.steps.stage)) }

// read sorts the answers of a group with n subgraphs by subgraph, in two passes.
func (a *answers) read(records func() ([]byte, bool), n int) error {
	a.records = a.records[:0]
	if cap(a.starts) < n+2 {
		a.starts = make([]uint32, n+2)
	}
	a.starts = a.starts[:n+2]
	clear(a.starts)
	total := 0
	for b, ok := records(); ok; b, ok = records() {
		if len(b) == 0 {
			continue
		}
		if err := a.h.s.eachAnswer(b, func(_ int, sub, _ uint32, _ int) error {
			if int(sub) >= n {
				return errRecord("answers")
			}
			a.starts[sub+2]++
			total++
			return nil
		}); err != nil {
			return err
		}
		a.records = append(a.records, b)
	}
	for i := range n {
		a.starts[i+2] += a.starts[i+1]
	}
	if cap(a.all) < total {
		a.all = make([]answerAt, total)
	}
	a.all = a.all[:total]
	for i, b := range a.records {
		_ = a.h.s.eachAnswer(b, func(op int, sub, _ uint32, at int) error {
			a.all[a.starts[sub+1]] = answerAt{uint16(op), uint32(i), uint32(at)}
			a.starts[sub+1]++
			return nil
		})
	}
	return nil
}

// eachAnswer calls fn with each answer of a record, and its place.
func (s *Site) eachAnswer(b []byte, fn func(op int, sub, v uint32, at int) error) error {
	for at := 0; at < len(b); {
		if len(b)-at < answerHead {
			return errRecord("answers")
		}
		op, size := int(binary.LittleEndian.Uint16(b[at:])), int(binary.LittleEndian.Uint32(b[at+2:]))
		at += answerHead
		if op == 0 || op >= len(s.steps.stage) || size > len(b)-at {
			return errRecord("answers")
		}
		for end := at + size; at < end; {
			if end-at < 9 {
				return errRecord("answers")
			}
			next := at + 9
			n := int(b[at+8])
			if n == manyEdges {
				if end-at < 13 {
					return errRecord("answers")
				}
				n, next = int(binary.LittleEndian.Uint32(b[at+9:])), at+13
			}
			if s.steps.ids[op] {
				n *= 2
			}
			if (end-next)/4 < n {
				return errRecord("answers")
			}
			if err := fn(op, binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint32(b[at+4:]), at); err != nil {
				return err
			}
			at = next + 4*n
		}
	}
	return nil
}

// begin makes the answers of a subgraph ready for the kernel.
func (a *answers) begin(in sample.Input, sub uint32) {
	a.in, a.err = in, nil
	a.find.begin()
	for i := a.starts[sub]; i < a.starts[sub+1]; i++ {
		x := &a.all[i]
		a.find.put(uint64(x.op)<<32|uint64(binary.LittleEndian.Uint32(a.records[x.record][x.at+4:])), i)
	}
}

// Counts implements sample.Given.
func (a *answers) Counts(op int, nodes, counts []uint32) {
	s, f := a.h.s, &a.fed[op]
	f.far, f.ids = f.far[:0], f.ids[:0]
	if s.steps.stage[op] == 0 {
		a.draw(op, nodes, counts)
		return
	}
	take := s.sampler.Plan().Ops[op-1].Take
	for i, v := range nodes {
		counts[i] = 0
		if take == 0 {
			continue
		}
		place, ok := a.find.get(uint64(op)<<32 | uint64(v))
		if !ok {
			a.err = fmt.Errorf("found no answer for node %d of op %d, expected one for each node that an op expands: the engine lost a record", v, op)
			continue
		}
		x := &a.all[place]
		b := a.records[x.record][x.at+8:]
		n := int(b[0])
		if b = b[1:]; n == manyEdges {
			n, b = int(binary.LittleEndian.Uint32(b)), b[4:]
		}
		counts[i] = uint32(n)
		f.far = appendWords(f.far, b, n)
		if s.steps.ids[op] {
			f.ids = appendWords(f.ids, b[4*n:], n)
		}
	}
}

// draw draws for the nodes of a near op.
func (a *answers) draw(op int, nodes, counts []uint32) {
	s, f := a.h.s, &a.fed[op]
	key := s.sampler.Key(a.in, op)
	for i, v := range nodes {
		counts[i] = 0
		r, err := s.near(op, v)
		if err != nil {
			a.err = err
			continue
		}
		far, ids := a.h.draws.Take(r, op, key, a.in.Time, v)
		counts[i] = uint32(len(far))
		f.far, f.ids = append(f.far, far...), append(f.ids, ids...)
	}
}

// Ends implements sample.Given.
func (a *answers) Ends(op int, _, far, ids []uint32) {
	f := &a.fed[op]
	copy(far, f.far)
	if len(f.ids) < len(ids) {
		clear(ids)
		return
	}
	copy(ids, f.ids)
}

func appendWords(to []uint32, b []byte, n int) []uint32 {
	for i := range n {
		to = append(to, binary.LittleEndian.Uint32(b[4*i:]))
	}
	return to
}
