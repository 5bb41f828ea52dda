package cluster

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/stages"
)

// Records of requests consist of sections. A section has a header and its requests:
//
//	u32 group, u16 op, u32 bytes of the requests
//	varint number of the subgraph in the group, less the number in the request before; varint node, less the first of the
//	range; for each request
//
// In a section the numbers of subgraphs ascend.
const sectionHead = 10

// flushBytes is the size from which a record is emitted.
const flushBytes = 64 << 10

// held bounds the bytes of records that wait, over all keys of a Hand.
const held = 16 << 20

// requests collects requests, by stage and key.
type requests struct {
	s     *Site
	open  map[stageKey]*requestBuffer
	free  []*requestBuffer
	bytes int
	added uint64 // requests since the last emitted record
	emit  stages.Emit
}

type stageKey struct {
	stage int
	key   int64
}

type requestBuffer struct {
	b     []byte
	head  int // place of the header of the last section
	group uint32
	op    uint16
	sub   uint32 // of the last request
	first uint32 // node of the range
}

func (r *requests) init(s *Site) { r.s, r.open = s, map[stageKey]*requestBuffer{} }

// add adds a request for an op (from 1).
func (r *requests) add(group uint64, op int, sub, v uint32) {
	ofRange, first := r.s.key(op, v, group)
	key := stageKey{r.s.steps.stage[op], ofRange}
	b := r.open[key]
	if b == nil {
		b = r.take()
		b.first = first
		r.open[key] = b
	}
	before := len(b.b)
	if before == 0 || b.group != uint32(group) || b.op != uint16(op) || sub < b.sub {
		b.end()
		b.begin(group, op)
	}
	b.b = binary.AppendUvarint(b.b, uint64(sub-b.sub))
	b.b = binary.AppendUvarint(b.b, uint64(v-first))
	b.sub = sub
	r.bytes += len(b.b) - before
	r.added++
	switch {
	case len(b.b) >= flushBytes:
		r.flushKey(key, b)
	case r.bytes >= held:
		r.flush()
	}
}

func (b *requestBuffer) begin(group uint64, op int) {
	b.group, b.op, b.sub, b.head = uint32(group), uint16(op), 0, len(b.b)
	b.b = binary.LittleEndian.AppendUint32(b.b, b.group)
	b.b = binary.LittleEndian.AppendUint16(b.b, b.op)
	b.b = append(b.b, 0, 0, 0, 0)
}

// end completes the header of the last section.
func (b *requestBuffer) end() {
	if len(b.b) > 0 {
		binary.LittleEndian.PutUint32(b.b[b.head+6:], uint32(len(b.b)-b.head-sectionHead))
	}
}

func (r *requests) take() *requestBuffer {
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		return b
	}
	return &requestBuffer{}
}

// flush emits all records.
func (r *requests) flush() {
	for key, b := range r.open {
		r.flushKey(key, b)
	}
}

func (r *requests) flushKey(key stageKey, b *requestBuffer) {
	b.end()
	r.bytes -= len(b.b)
	r.s.counts.requests.Add(r.added)
	r.added = 0
	r.emit(key.stage, key.key, b.b)
	b.b = b.b[:0]
	delete(r.open, key)
	r.free = append(r.free, b)
}

// groupKey is the key of a group. Those of ranges are not negative.
func groupKey(group uint64) int64 { return -1 - int64(group) }

// groupOf is the group of a key, and false for the key of a range.
func groupOf(key int64) (group uint64, ok bool) { return uint64(-1 - key), key < 0 }

// section is the requests of a group to an op.
type section struct {
	group uint32
	op    uint16
	b     []byte
}

// sections appends the sections of a record to list.
func sections(list []section, record []byte, ops int) ([]section, error) {
	for len(record) > 0 {
		if len(record) < sectionHead {
			return list, errRecord("requests")
		}
		s := section{group: binary.LittleEndian.Uint32(record), op: binary.LittleEndian.Uint16(record[4:])}
		n := int(binary.LittleEndian.Uint32(record[6:]))
		record = record[sectionHead:]
		if len(record) < n || int(s.op) > ops {
			return list, errRecord("requests")
		}
		s.b, record = record[:n], record[n:]
		list = append(list, s)
	}
	return list, nil
}

// each calls fn with each request of a section to a range of n nodes from first on.
func (s *section) each(first, n int, fn func(sub, v uint32) error) error {
	sub := uint64(0)
	for b := s.b; len(b) > 0; {
		more, k := binary.Uvarint(b)
		if k <= 0 {
			return errRecord("requests")
		}
		at, l := binary.Uvarint(b[k:])
		if sub += more; l <= 0 || more > math.MaxUint32 || sub > math.MaxUint32 || at >= uint64(n) {
			return errRecord("requests")
		}
		b = b[k+l:]
		if err := fn(uint32(sub), uint32(first)+uint32(at)); err != nil {
			return err
		}
	}
	return nil
}

func errRecord(what string) error {
	return fmt.Errorf("found a damaged record of %s, expected whole sections; use the same version on all machines", what)
}
