package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// table is the table of a task.
func (s *Site) table(t *Task) table.Table {
	if t.Nodes {
		return s.share.Type(t.Index).Table
	}
	return s.share.Part(t.Index).Table
}

// measure is the job Measure.
func (s *Site) measure(ctx context.Context, key int64) error {
	t, err := s.task(key)
	if err != nil {
		return err
	}
	m, err := table.Measure(ctx, s.table(t), t.Part)
	if err != nil {
		return err
	}
	return workfolder.WriteJSON(s.fs, statsFile(s.Dir, key), m)
}

// looked is what the job Look finds out about a part of a table.
type looked struct {
	RowNumbers bool   `json:"row_numbers,omitempty"` // the ids of nodes equal the row numbers
	Src        uint64 `json:"src,omitempty"`         // one more than the largest id
	Dst        uint64 `json:"dst,omitempty"`
}

func (s *Site) look(ctx context.Context, key int64) error {
	t, err := s.task(key)
	if err != nil {
		return err
	}
	var l looked
	if t.Nodes {
		l.RowNumbers, err = s.share.RowNumbers(ctx, t.Index, t.Part)
	} else {
		l.Src, l.Dst, err = s.share.Look(ctx, t.Index, t.Part)
	}
	if err != nil {
		return err
	}
	return workfolder.WriteJSON(s.fs, statsFile(s.Dir, key), l)
}

// bucket is the key of the bucket of a key of a node type.
func (s *Site) bucket(t int, hash uint64) int64 {
	return s.keys.buckets[t] + int64(store.Bucket(hash, s.Work.Top[t]))
}

// scan reads a part of a table for its keys. It writes the rows of nodes.
func (s *Site) scan(ctx context.Context, key int64, emit stages.Emit) error {
	if key == s.keys.all() {
		for b := range s.keys.total() {
			emit(s.at(matchStage), b, nil)
		}
		emit(s.at(edgesStage), key, nil)
		return nil
	}
	t, err := s.task(key)
	if err != nil {
		return err
	}
	if t.Nodes {
		return s.scanNodes(ctx, key, t, emit)
	}
	emit(s.at(edgesStage), key, nil)
	if number := s.at(numberStage); number >= 0 {
		emit(number, key, nil)
	}
	if c := s.share.KeyColumns(t.Index); len(c.Ask) > 0 {
		return s.scanKeys(ctx, key, t, &c, emit)
	}
	return nil
}

func (s *Site) scanNodes(ctx context.Context, key int64, t *Task, emit stages.Emit) error {
	columns := s.share.Columns(t.Index)
	keyed := s.Work.Top[t.Index] >= 0
	out := newOutbox(emit, s.at(matchStage))
	last := map[int64]uint64{} // row of the last key of the record of a bucket
	return vfs.WriteWhole(s.fs, chunkFile(s.Dir, key), func(f vfs.File) error {
		b := bufio.NewWriterSize(f, 1<<18)
		w := assemble.NewChunkWriter(b)
		_, err := t.Part.Of(s.table(t)).Scan(ctx, columns, 1, func(_ int, c *table.Chunk) error {
			if keyed {
				ids := &c.Columns[len(columns)-1]
				for i := range c.Rows {
					k := s.share.Key(t.Index, ids, i)
					to, row := s.bucket(t.Index, hash(k)), c.First+uint64(i)
					if out.open[to] == nil {
						last[to] = 0
					}
					r := out.of(to, []byte{nodeKeys})
					r = binary.AppendUvarint(r, uint64(len(k)))
					r = append(r, k...)
					r = binary.AppendUvarint(r, row-last[to])
					last[to] = row
					out.put(to, r)
				}
			}
			return w.Write(c)
		})
		out.flush()
		if err != nil {
			return err
		}
		return errors.Join(w.Close(), b.Flush())
	})
}

// noKey stands in the file of ends for a row that gives no edge.
const noKey = 1<<32 - 1

// scanKeys reads the ends of edges that are keys. The file of ends has, after two counts, the place of each key in the list
// of the distinct keys of the task. A list belongs to a node type.
func (s *Site) scanKeys(ctx context.Context, key int64, t *Task, columns *assemble.KeyColumns, emit stages.Emit) error {
	src, dst := s.share.Ends(t.Index)
	dicts := map[int]*dict{src: {}, dst: {}}
	out := newOutbox(emit, s.at(matchStage))
	head := binary.AppendUvarint([]byte{edgeKeys}, uint64(key))
	type end struct{ t, at int }
	var ends []end
	if columns.Src >= 0 {
		ends = append(ends, end{src, columns.Src})
	}
	if columns.Dst >= 0 {
		ends = append(ends, end{dst, columns.Dst})
	}
	return vfs.WriteWhole(s.fs, endsFile(s.Dir, key), func(f vfs.File) error {
		w := bufio.NewWriterSize(f, 1<<18)
		var counts assemble.EdgesResult
		if _, err := w.Write(make([]byte, 16)); err != nil {
			return err
		}
		var places []uint32
		_, err := t.Part.Of(s.table(t)).Scan(ctx, columns.Ask, 1, func(_ int, c *table.Chunk) error {
			places = places[:0]
			for i := range c.Rows {
				if !columns.Gives(c, i, &counts) {
					for range ends {
						places = append(places, noKey)
					}
					continue
				}
				for _, e := range ends {
					k := s.share.Key(e.t, &c.Columns[e.at], i)
					h := hash(k)
					n, isNew := dicts[e.t].add(k, h)
					places = append(places, n)
					if !isNew {
						continue
					}
					to := s.bucket(e.t, h)
					r := out.of(to, head)
					r = binary.AppendUvarint(r, uint64(len(k)))
					r = append(r, k...)
					out.put(to, binary.AppendUvarint(r, uint64(n)))
				}
			}
			_, err := w.Write(graph.Bytes(places))
			return err
		})
		out.flush()
		if err != nil {
			return err
		}
		for _, d := range dicts {
			if len(d.hashes) >= noKey {
				return fmt.Errorf("found %d keys in a part of %s, expected fewer than 2^32", len(d.hashes), s.table(t).Files()[0])
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err = f.WriteAt(graph.Bytes([]uint64{counts.Filtered, counts.Absent}), 0)
		return err
	})
}
