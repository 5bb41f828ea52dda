package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// makeEdges makes the records of the edges of a task, by range of the primary end.
func (s *Site) makeEdges(ctx context.Context, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	if err := s.place(ctx); err != nil {
		return err
	}
	switch {
	case key == s.keys.all():
		for r := range s.keys.ranges[0][len(s.keys.ranges[0])-1] {
			emit(s.at(sortStage), r, nil)
		}
		for share := range s.Work.Shards {
			emit(s.at(writeStage), int64(share), nil)
		}
		return nil
	case key > s.keys.all():
		return s.makeIndex(key, records)
	}
	t, err := s.task(key)
	if err != nil {
		return err
	}
	if t.Nodes {
		return fmt.Errorf("found task %d of nodes, expected one of edges; use the same version on all machines", key)
	}
	columns := s.share.KeyColumns(t.Index)
	src, dst := s.share.Ends(t.Index)
	ids := map[int][]uint64{}
	for r, ok := records(); ok; r, ok = records() {
		if len(r) == 0 {
			continue
		}
		c := cursor{b: r[1:]}
		typ := int(c.number())
		if r[0] != answers || typ != src && typ != dst {
			return errRecord
		}
		most, err := s.places(key)
		if err != nil {
			return err
		}
		list := ids[typ]
		for c.more() {
			place, n := c.number(), c.node()
			if place >= most || c.bad {
				return errRecord
			}
			for uint64(len(list)) <= place {
				list = append(list, make([]uint64, max(len(list), 1024))...)
			}
			if list[place], err = s.id(typ, n); err != nil {
				return err
			}
		}
		ids[typ] = list
	}
	var counts assemble.EdgesResult
	var resolve assemble.Resolve
	if len(columns.Ask) > 0 {
		e, err := s.openEnds(key, &columns, ids[src], ids[dst])
		if err != nil {
			return err
		}
		defer func() { _ = e.f.Close() }() // read only
		counts, resolve = e.counts, e.resolve
	}
	g := s.share.GroupOf(t.Index)
	first := s.keys.ranges[0][g]
	stats, err := s.share.ScanEdges(ctx, t.Index, t.Part, s.Work.Ranges[g][0], counts, resolve, func(bucket int, records []byte) error {
		emit(s.at(sortStage), first+int64(bucket), records)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return workfolder.WriteJSON(s.fs, statsFile(s.Dir, key), stats)
}

// makeIndex writes the index of the ids of a bucket.
func (s *Site) makeIndex(key int64, records func() ([]byte, bool)) error {
	bucket := key - s.keys.index(0)
	t, at, err := findList(s.keys.buckets, bucket)
	if err != nil {
		return err
	}
	var list []assemble.IndexKey
	for r, ok := records(); ok; r, ok = records() {
		if len(r) == 0 {
			continue
		}
		c := cursor{b: r[1:]}
		for c.more() {
			h := c.bytes(8)
			n := c.node()
			if c.bad {
				return errRecord
			}
			id, err := s.id(t, n)
			if err != nil {
				return err
			}
			list = append(list, assemble.IndexKey{Hash: binary.LittleEndian.Uint64(h), ID: id})
		}
	}
	return s.writeIndex(t, at, bucket, list)
}

// ends reads the file of ends of a task.
type ends struct {
	f        vfs.File
	r        *bufio.Reader
	counts   assemble.EdgesResult
	at       [2]int // places in a row; -1: no key
	stride   int
	ids      [2][]uint64
	next     uint64
	started  bool
	buf      []byte
	src, dst []uint64
}

// places bounds the places in the lists of a task: each of its keys is in its file of ends.
func (s *Site) places(task int64) (uint64, error) {
	info, err := s.fs.Stat(endsFile(s.Dir, task))
	if err != nil {
		return 0, err
	}
	return min(uint64(info.Size())/4, noKey), nil
}

func (s *Site) openEnds(task int64, columns *assemble.KeyColumns, src, dst []uint64) (*ends, error) {
	f, err := s.fs.Open(endsFile(s.Dir, task))
	if err != nil {
		return nil, fmt.Errorf("a worker cannot read what another one wrote: %w; put the output on storage that all workers reach at this path", err)
	}
	e := &ends{f: f, r: bufio.NewReaderSize(f, 1<<18), at: [2]int{-1, -1}, ids: [2][]uint64{src, dst}}
	if columns.Src >= 0 {
		e.at[0], e.stride = 0, 1
	}
	if columns.Dst >= 0 {
		e.at[1], e.stride = e.stride, e.stride+1
	}
	var head [16]byte
	if _, err := io.ReadFull(e.r, head[:]); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", endsFile(s.Dir, task), err), f.Close())
	}
	e.counts.Filtered, e.counts.Absent = binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
	return e, nil
}

// resolve implements assemble.Resolve for consecutive rows.
func (e *ends) resolve(first uint64, n int) (src, dst []uint64, err error) {
	if e.started && first != e.next {
		return nil, nil, fmt.Errorf("found row %d, expected row %d", first, e.next)
	}
	e.started, e.next = true, first+uint64(n)
	if need := 4 * n * e.stride; cap(e.buf) < need {
		e.buf = make([]byte, need)
	}
	e.buf = e.buf[:4*n*e.stride]
	if _, err := io.ReadFull(e.r, e.buf); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", e.f.Name(), err)
	}
	places := graph.View[uint32](e.buf)
	if cap(e.src) < n {
		e.src, e.dst = make([]uint64, n), make([]uint64, n)
	}
	out := [2][]uint64{e.src[:n], e.dst[:n]}
	for k, at := range e.at {
		if at < 0 {
			continue
		}
		list := e.ids[k]
		for i := range n {
			switch p := places[i*e.stride+at]; {
			case p == noKey:
				out[k][i] = assemble.NoEnd
			case int(p) >= len(list):
				return nil, nil, errTask
			default:
				out[k][i] = list[p]
			}
		}
	}
	return out[0], out[1], nil
}

// sort sorts the edges of a range, and passes them on to the ranges of the other direction.
func (s *Site) sort(ctx context.Context, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	if err := s.place(ctx); err != nil {
		return err
	}
	g, at, err := findList(s.keys.ranges[0], key)
	if err != nil {
		return err
	}
	var other func(bucket int, records []byte) error
	if s.Work.Rules.Both {
		first := s.keys.ranges[1][g]
		if at == 0 {
			for b := range s.Work.Ranges[g][1] {
				emit(s.at(otherStage), first+int64(b), nil)
			}
		}
		other = func(bucket int, records []byte) error {
			r := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(records)), uint32(at))
			emit(s.at(otherStage), first+int64(bucket), append(r, records...))
			return ctx.Err()
		}
	}
	r := s.share.Range(g, at, s.Work.Ranges[g][0], nil)
	return s.finish(ctx, r, records, 0, rangeFile(s.Dir, 0, key), s.Work.Ranges[g][1], other)
}

// sortOther sorts the edges of a range of the other direction.
func (s *Site) sortOther(ctx context.Context, key int64, records func() ([]byte, bool)) error {
	if err := s.place(ctx); err != nil {
		return err
	}
	g, at, err := findList(s.keys.ranges[1], key)
	if err != nil {
		return err
	}
	bases, err := s.basesOf(g)
	if err != nil {
		return err
	}
	return s.finish(ctx, s.share.Range(g, at, s.Work.Ranges[g][1], bases), records, 4, rangeFile(s.Dir, 1, key), 0, nil)
}

// finish writes the piece of a range from records that begin with head bytes, the number of the range that sent them.
func (s *Site) finish(ctx context.Context, r *assemble.Range, records func() ([]byte, bool), head int, name string, ranges int, other func(bucket int, records []byte) error) (err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	for b, ok := records(); ok; b, ok = records() {
		if len(b) == 0 {
			continue
		}
		from := 0
		if head > 0 {
			if len(b) < head {
				return errRecord
			}
			from = int(binary.LittleEndian.Uint32(b))
		}
		if err := r.Add(b[head:], from); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
	return vfs.WriteWhole(s.fs, name, func(f vfs.File) error { return r.Write(ctx, f, ranges, other) })
}

// basesOf is the number of edges before each range of an edge type of the store, and of all.
func (s *Site) basesOf(g int) ([]uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bases[g] != nil {
		return s.bases[g], nil
	}
	bases := []uint64{0}
	for at := range s.Work.Ranges[g][0] {
		kept, err := assemble.Kept(s.fs, rangeFile(s.Dir, 0, s.keys.ranges[0][g]+int64(at)))
		if err != nil {
			return nil, fmt.Errorf("a worker cannot read what another one wrote: %w; put the output on storage that all workers reach at this path", err)
		}
		bases = append(bases, bases[at]+kept)
	}
	s.bases[g] = bases
	return bases, nil
}
