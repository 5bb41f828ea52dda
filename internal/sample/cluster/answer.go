package cluster

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/wordmap"
)

// Records of answers consist of sections. A section has a header and its answers:
//
//	u16 op, u32 first node of the range, u32 bytes of the answers
//	varint number of the subgraph in the group, less the number in the answer before; varint node, less the first; varint n;
//	n far ends in as many bytes as the largest of the type takes; n edge ids in the same way; for each answer
//
// In a section the numbers of subgraphs ascend. Edge ids are there for the ops of which the output needs them. They take 3 bytes for a type of
// 2^24 edges and 5 for one of 2^40. Differences of variable length take 1.8 where ids are positions, and as many elsewhere, but three to nine times the time.
const answerHead = 10

// answerBuffer collects answers of a group.
type answerBuffer struct {
	s     *Site
	emit  stages.Emit
	b     []byte
	group uint64
	op    int
	first uint32
	sub   uint32 // of the last answer
	head  int    // place of the header of the last section, -1 before it
}

func (a *answerBuffer) begin(emit stages.Emit) { a.emit, a.b, a.head = emit, a.b[:0], -1 }

// section begins the answers of a group to an op for a range.
func (a *answerBuffer) section(group uint64, op int, first uint32) {
	a.end()
	if group != a.group || len(a.b) >= flushBytes {
		a.flush()
	}
	a.group, a.op, a.first = group, op, first
}

// open writes the header of a section.
func (a *answerBuffer) open() {
	a.head, a.sub = len(a.b), 0
	a.b = binary.LittleEndian.AppendUint16(a.b, uint16(a.op))
	a.b = binary.LittleEndian.AppendUint32(a.b, a.first)
	a.b = append(a.b, 0, 0, 0, 0)
}

// end completes the header of the last section.
func (a *answerBuffer) end() {
	if a.head >= 0 {
		binary.LittleEndian.PutUint32(a.b[a.head+6:], uint32(len(a.b)-a.head-answerHead))
		a.head = -1
	}
}

func (a *answerBuffer) add(sub, v uint32, far []uint32, ids graph.Index) {
	if len(a.b) >= flushBytes {
		a.flush()
	}
	if a.head < 0 || sub < a.sub {
		a.end()
		a.open()
	}
	b := binary.AppendUvarint(a.b, uint64(sub-a.sub))
	b = binary.AppendUvarint(b, uint64(v-a.first))
	b = binary.AppendUvarint(b, uint64(len(far)))
	a.sub = sub
	b = appendNumbers(b, far, a.s.steps.width[a.op])
	if width := a.s.steps.idWidth[a.op]; width > 0 {
		b = appendNumbers(appendNumbers(b, ids.U32, width), ids.U64, width)
	}
	a.b = b
}

// appendNumbers appends the lowest bytes of numbers.
func appendNumbers[T uint32 | uint64](b []byte, list []T, width int) []byte {
	switch width {
	case 1:
		for _, x := range list {
			b = append(b, byte(x))
		}
	case 2:
		for _, x := range list {
			b = append(b, byte(x), byte(x>>8))
		}
	case 3:
		for _, x := range list {
			b = append(b, byte(x), byte(x>>8), byte(x>>16))
		}
	case 4:
		for _, x := range list {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
	default:
		at, end := len(b), len(b)+width*len(list)
		b = slices.Grow(b, end-at+8)[:end+8]
		for ; len(list) > 0; list = list[1:] { // each number overwrites what is beyond the one before
			binary.LittleEndian.PutUint64(b[at:], uint64(list[0]))
			at += width
		}
		b = b[:end]
	}
	return b
}

func (a *answerBuffer) flush() {
	a.end()
	if len(a.b) > 0 {
		a.emit(a.s.groups, groupKey(a.group), a.b)
	}
	a.b = a.b[:0]
}

// answers is the answers of a group, by subgraph.
type answers struct {
	h       *Hand
	records [][]byte
	starts  []uint32   // by subgraph: its first answer in all, and the end
	all     []answerAt // by subgraph

	rows *groupRows // nil without a stage Rows

	in   sample.Input
	fed  []fed // by op, op 0 included
	find wordmap.Map
	err  error
}

// answerAt is an answer, and the place of its far ends.
type answerAt struct {
	node   uint32
	n      uint32
	record uint32
	at     uint32
	op     uint16
}

// fed is what Counts found for an op and Ends has to give.
type fed struct {
	far []uint32
	ids graph.Index
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
	if a.rows = nil; len(a.h.s.tables) > 0 {
		a.rows = newGroupRows(a.h.s)
	}
	for b, ok := records(); ok; b, ok = records() {
		if len(b) == 0 {
			continue
		}
		if len(b) > 1 && binary.LittleEndian.Uint16(b) == rowsRecord {
			if a.rows == nil {
				return errRecord("answers")
			}
			if err := a.rows.add(b); err != nil {
				return err
			}
			continue
		}
		if err := a.h.s.eachAnswer(b, func(sub uint32, _ answerAt) error {
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
		_ = a.h.s.eachAnswer(b, func(sub uint32, x answerAt) error {
			x.record = uint32(i)
			a.all[a.starts[sub+1]] = x
			a.starts[sub+1]++
			return nil
		})
	}
	return nil
}

// eachAnswer calls fn with each answer of a record, and the number of its subgraph.
func (s *Site) eachAnswer(b []byte, fn func(sub uint32, x answerAt) error) error {
	if uint64(len(b)) > math.MaxUint32 {
		return errRecord("answers")
	}
	for at := 0; at < len(b); {
		if len(b)-at < answerHead {
			return errRecord("answers")
		}
		op, first, size := int(binary.LittleEndian.Uint16(b[at:])), binary.LittleEndian.Uint32(b[at+2:]), int(binary.LittleEndian.Uint32(b[at+6:]))
		at += answerHead
		if op == 0 || op >= len(s.steps.stage) || size > len(b)-at {
			return errRecord("answers")
		}
		width := s.steps.width[op] + s.steps.idWidth[op]
		sub := uint64(0)
		for end := at + size; at < end; {
			var field [3]uint64
			for i := range field {
				x, k := binary.Uvarint(b[at:end])
				if k <= 0 || x > math.MaxUint32 {
					return errRecord("answers")
				}
				field[i] = x
				at += k
			}
			sub += field[0]
			node, n := uint64(first)+field[1], field[2]
			if sub > math.MaxUint32 || node > math.MaxUint32 || n > uint64((end-at)/width) {
				return errRecord("answers")
			}
			if err := fn(uint32(sub), answerAt{node: uint32(node), n: uint32(n), at: uint32(at), op: uint16(op)}); err != nil {
				return err
			}
			at += int(n) * width
		}
	}
	return nil
}

// begin makes the answers of a subgraph ready for the kernel.
func (a *answers) begin(in sample.Input, sub uint32) {
	a.in, a.err = in, nil
	a.find.Clear()
	for i := a.starts[sub]; i < a.starts[sub+1]; i++ {
		x := &a.all[i]
		a.find.Put(uint64(x.op)<<32|uint64(x.node), i)
	}
}

// Counts implements sample.Given.
func (a *answers) Counts(op int, nodes, counts []uint32) {
	s, f := a.h.s, &a.fed[op]
	f.far, f.ids = f.far[:0], sample.EmptyIDs(f.ids)
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
		place, ok := a.find.Get(uint64(op)<<32 | uint64(v))
		if !ok {
			a.err = fmt.Errorf("found no answer for node %d of op %d, expected one for each node that an op expands: a record was lost", v, op)
			continue
		}
		x := &a.all[place]
		b, n, width := a.records[x.record][x.at:], int(x.n), s.steps.width[op]
		counts[i] = x.n
		before := len(f.far)
		f.far = readNumbers(f.far, b, n, width)
		for j, x := range f.far[before:] {
			if int(x) >= s.steps.farCount[op] {
				a.err = errRecord("answers")
				f.far[before+j] = 0
			}
		}
		switch idWidth := s.steps.idWidth[op]; {
		case idWidth == 0:
		case s.steps.wide[op]:
			f.ids.U64 = readNumbers(f.ids.U64, b[n*width:], n, idWidth)
		default:
			f.ids.U32 = readNumbers(f.ids.U32, b[n*width:], n, idWidth)
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
		f.far, f.ids = append(f.far, far...), sample.AppendIDs(f.ids, ids)
	}
}

// Ends implements sample.Given.
func (a *answers) Ends(op int, _, far []uint32, ids graph.Index) {
	f := &a.fed[op]
	copy(far, f.far)
	if f.ids.Len() < ids.Len() { // the output does not need them
		clear(ids.U32)
		clear(ids.U64)
		return
	}
	copy(ids.U32, f.ids.U32)
	copy(ids.U64, f.ids.U64)
}

// readNumbers appends n numbers of appendNumbers.
func readNumbers[T uint32 | uint64](to []T, b []byte, n, width int) []T {
	switch width {
	case 1:
		for i := range n {
			to = append(to, T(b[i]))
		}
	case 2:
		for i := range n {
			to = append(to, T(binary.LittleEndian.Uint16(b[2*i:])))
		}
	case 3:
		for i := range n {
			x := b[3*i : 3*i+3]
			to = append(to, T(x[0])|T(x[1])<<8|T(x[2])<<16)
		}
	case 4:
		for i := range n {
			to = append(to, T(binary.LittleEndian.Uint32(b[4*i:])))
		}
	default:
		var last [8]byte // the end of b may be less than 8 bytes away
		for i, mask := 0, uint64(1)<<(8*width)-1; i < n; i++ {
			x := b[i*width:]
			if len(x) < 8 {
				copy(last[:], x)
				x = last[:]
			}
			to = append(to, T(binary.LittleEndian.Uint64(x)&mask))
		}
	}
	return to
}
