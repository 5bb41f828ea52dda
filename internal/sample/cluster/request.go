package cluster

import (
	"encoding/binary"
	"fmt"
)

// Records of requests consist of sections. A section has a header and its requests:
//
//	u32 group, u16 op, u32 number of requests
//	u32 number of the subgraph in the group, u32 node; for each request
//
// A header without requests and with op 0 tells that a group exists, so that a group without requests is assembled too.
const (
	sectionHead = 10
	requestSize = 8
)

// flushBytes is the size from which a record is emitted.
const flushBytes = 64 << 10

// held bounds the bytes of records that wait, over all keys of a Hand.
const held = 64 << 20

// Emit takes a record. The bytes belong to the engine from then on.
type Emit func(key int64, record []byte)

// requests collects requests, by key.
type requests struct {
	s     *Site
	open  map[int64]*requestBuffer
	free  []*requestBuffer
	bytes int
	added uint64 // requests since the last emitted record
	emit  Emit
}

type requestBuffer struct {
	b     []byte
	count int // place of the number of requests of the last section
	group uint32
	op    uint16
}

func (r *requests) init(s *Site) { r.s, r.open = s, map[int64]*requestBuffer{} }

// add adds a request for an op (from 1).
func (r *requests) add(group uint64, op int, sub, v uint32) {
	key := r.s.key(op, v, group)
	b := r.open[key]
	if b == nil {
		b = r.take()
		r.open[key] = b
	}
	before := len(b.b)
	if before == 0 || b.group != uint32(group) || b.op != uint16(op) {
		b.begin(group, op)
	}
	b.b = binary.LittleEndian.AppendUint32(b.b, sub)
	b.b = binary.LittleEndian.AppendUint32(b.b, v)
	binary.LittleEndian.PutUint32(b.b[b.count:], binary.LittleEndian.Uint32(b.b[b.count:])+1)
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
	b.group, b.op = uint32(group), uint16(op)
	b.b = binary.LittleEndian.AppendUint32(b.b, b.group)
	b.b = binary.LittleEndian.AppendUint16(b.b, b.op)
	b.count = len(b.b)
	b.b = append(b.b, 0, 0, 0, 0)
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

func (r *requests) flushKey(key int64, b *requestBuffer) {
	r.bytes -= len(b.b)
	r.s.counts.requests.Add(r.added)
	r.added = 0
	r.emit(key, append([]byte(nil), b.b...))
	b.b = b.b[:0]
	delete(r.open, key)
	r.free = append(r.free, b)
}

// exists emits a record that tells that a group exists.
func (r *requests) exists(group uint64) {
	var b requestBuffer
	b.begin(group, 0)
	r.emit(-1-int64(group), b.b)
}

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
		if len(record)/requestSize < n || int(s.op) > ops {
			return list, errRecord("requests")
		}
		s.b, record = record[:n*requestSize], record[n*requestSize:]
		list = append(list, s)
	}
	return list, nil
}

func (s *section) len() int { return len(s.b) / requestSize }

func (s *section) at(i int) (sub, v uint32) {
	b := s.b[i*requestSize:]
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
}

func errRecord(what string) error {
	return fmt.Errorf("found a damaged record of %s, expected whole sections; use the same version on all machines", what)
}
