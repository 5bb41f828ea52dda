package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

// match finds the nodes of the keys of a bucket that edges name, and answers the tasks. It writes the index of the ids if
// edges add none.
func (s *Site) match(ctx context.Context, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	t, at, err := findList(s.keys.buckets, key)
	if err != nil {
		return err
	}
	var nodes dict
	var rows []uint64
	var edges [][]byte
	for r, ok := records(); ok; r, ok = records() {
		switch {
		case len(r) == 0:
		case r[0] == edgeKeys:
			edges = append(edges, r)
		case r[0] == nodeKeys:
			if rows, err = s.keep(t, &nodes, rows, r[1:]); err != nil {
				return err
			}
		default:
			return errRecord
		}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m := &matcher{s: s, t: t, key: key, nodes: nodes, rows: rows, out: newOutbox(emit, s.at(edgesStage))}
	if adds(s.share, &s.Work.Rules, t) {
		return m.add(edges)
	}
	list := make([]assemble.IndexKey, len(rows))
	for i, row := range rows {
		list[i] = assemble.IndexKey{Hash: nodes.hashes[i], ID: row}
	}
	if err := s.writeIndex(t, at, key, list); err != nil {
		return err
	}
	return m.answer(edges)
}

// keep adds the keys of nodes of a record.
func (s *Site) keep(t int, nodes *dict, rows []uint64, record []byte) ([]uint64, error) {
	c := cursor{b: record}
	row := uint64(0)
	for c.more() {
		k := c.bytes(c.number())
		row += c.number()
		if c.bad {
			break
		}
		n, isNew := nodes.add(k, hash(k))
		if !isNew {
			return nil, s.share.Twice(t, k, min(rows[n], row), max(rows[n], row))
		}
		rows = append(rows, row)
	}
	return rows, c.err()
}

func (s *Site) writeIndex(t, bucket int, key int64, list []assemble.IndexKey) error {
	return vfs.WriteWhole(s.fs, indexFile(s.Dir, key), func(f vfs.File) error {
		w := bufio.NewWriterSize(f, 1<<18)
		if err := assemble.WriteIndex(w, list, s.share.Count(t), uint64(bucket), s.Work.Top[t]); err != nil {
			return err
		}
		return w.Flush()
	})
}

// matcher answers the keys of edges in a bucket.
type matcher struct {
	s     *Site
	t     int
	key   int64
	nodes dict
	rows  []uint64
	out   *outbox
}

// each calls fn for the keys of a record of edges.
func (m *matcher) each(record []byte, fn func(task uint64, key []byte, place uint64)) error {
	c := cursor{b: record[1:]}
	task := c.number()
	for c.more() {
		k := c.bytes(c.number())
		place := c.number()
		if !c.bad {
			fn(task, k, place)
		}
	}
	return c.err()
}

func (m *matcher) tell(task, place uint64, n node) {
	r := m.out.of(int64(task), binary.AppendUvarint([]byte{answers}, uint64(m.t)))
	r = binary.AppendUvarint(r, place)
	m.out.put(int64(task), n.append(r))
}

// answer answers from the table alone.
func (m *matcher) answer(edges [][]byte) error {
	for _, r := range edges {
		if err := m.each(r, func(task uint64, key []byte, place uint64) {
			var n node
			if i, ok := m.nodes.find(key, hash(key)); ok {
				n.known, n.id = true, m.rows[i]
			}
			m.tell(task, place, n)
		}); err != nil {
			return err
		}
	}
	m.out.flush()
	return nil
}

// add answers keys that the table lacks by the task that names them first.
func (m *matcher) add(edges [][]byte) error {
	var seen dict
	var firsts []node
	for _, r := range edges {
		if err := m.each(r, func(task uint64, key []byte, place uint64) {
			h := hash(key)
			if _, ok := m.nodes.find(key, h); ok {
				return
			}
			i, isNew := seen.add(key, h)
			switch {
			case isNew:
				firsts = append(firsts, node{first: true, task: task, place: place})
			case task < firsts[i].task || task == firsts[i].task && place < firsts[i].place:
				firsts[i].task, firsts[i].place = task, place
			}
		}); err != nil {
			return err
		}
	}
	for _, r := range edges {
		if err := m.each(r, func(task uint64, key []byte, place uint64) {
			h := hash(key)
			if i, ok := m.nodes.find(key, h); ok {
				m.tell(task, place, node{known: true, id: m.rows[i]})
				return
			}
			i, _ := seen.find(key, h)
			m.tell(task, place, firsts[i])
		}); err != nil {
			return err
		}
	}
	m.out.flush()
	texts := newOutbox(m.out.emit, m.s.at(numberStage))
	for i, n := range firsts {
		k := seen.key(uint32(i))
		r := texts.of(int64(n.task), binary.AppendUvarint([]byte{firstKeys}, uint64(m.t)))
		r = binary.AppendUvarint(r, n.place)
		r = binary.AppendUvarint(r, uint64(len(k)))
		texts.put(int64(n.task), append(r, k...))
	}
	texts.flush()
	index := newOutbox(m.out.emit, m.out.to)
	to := m.s.keys.index(m.key)
	m.out.emit(m.out.to, to, nil)
	put := func(h uint64, n node) {
		index.put(to, n.append(binary.LittleEndian.AppendUint64(index.of(to, []byte{hashes}), h)))
	}
	for i, row := range m.rows {
		put(m.nodes.hashes[i], node{known: true, id: row})
	}
	for i, n := range firsts {
		put(seen.hashes[i], n)
	}
	index.flush()
	return nil
}

var errTask = fmt.Errorf("%w: an answer to an unknown key", errRecord)
