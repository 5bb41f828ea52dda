package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// firsts are the keys that a task names first, as a set of places in its list of keys.
type firsts struct {
	base  uint64 // number of such keys of earlier tasks
	words []uint64
	ranks []uint64 // of each word: members before it
}

// rank is the number of members before a place.
func (f *firsts) rank(place uint64) uint64 {
	return f.ranks[place/64] + uint64(bits.OnesCount64(f.words[place/64]&(1<<(place&63)-1)))
}

func (f *firsts) count() (n uint64) {
	for _, w := range f.words {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}

// number writes the keys that a task names first.
func (s *Site) number(ctx context.Context, key int64, records func() ([]byte, bool)) error {
	type text struct {
		place uint64
		key   []byte
	}
	texts := make([][]text, s.share.Types())
	for r, ok := records(); ok; r, ok = records() {
		if len(r) == 0 {
			continue
		}
		c := cursor{b: r[1:]}
		t := c.number()
		if r[0] != firstKeys || t >= uint64(len(texts)) || key >= s.keys.tasks {
			return errRecord
		}
		most, err := s.places(key)
		if err != nil {
			return err
		}
		for c.more() {
			place := c.number()
			if place >= most {
				return errRecord
			}
			texts[t] = append(texts[t], text{place, c.bytes(c.number())})
		}
		if err := c.err(); err != nil {
			return err
		}
	}
	if key >= s.keys.tasks {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	for _, t := range s.adding(key) {
		list := texts[t]
		slices.SortFunc(list, func(x, y text) int { return int(int64(x.place) - int64(y.place)) })
		var words []uint64
		if n := len(list); n > 0 {
			words = make([]uint64, list[n-1].place/64+1)
		}
		for _, x := range list {
			words[x.place/64] |= 1 << (x.place & 63)
		}
		if err := vfs.WriteWhole(s.fs, firstsFile(s.Dir, t, key), func(f vfs.File) error {
			_, err := f.Write(graph.Bytes(words))
			return err
		}); err != nil {
			return err
		}
		if err := vfs.WriteWhole(s.fs, textsFile(s.Dir, t, key), func(f vfs.File) error {
			b := bufio.NewWriterSize(f, 1<<18)
			w := assemble.NewChunkWriter(b)
			for rows := range slices.Chunk(list, 1<<13) {
				c := table.Chunk{Rows: len(rows), Columns: make([]table.Vector, 1)}
				v := &c.Columns[0]
				for _, x := range rows {
					v.Data = append(v.Data, x.key...)
					v.Ends = append(v.Ends, uint32(len(v.Data)))
				}
				if err := w.Write(&c); err != nil {
					return err
				}
			}
			return errors.Join(w.Close(), b.Flush())
		}); err != nil {
			return err
		}
	}
	return nil
}

// adding are the node types to which the edges of a task add nodes.
func (s *Site) adding(task int64) (types []int) {
	x := &s.Work.Tasks[task]
	if x.Nodes {
		return nil
	}
	c := s.share.KeyColumns(x.Index)
	src, dst := s.share.Ends(x.Index)
	if c.Src >= 0 && adds(s.share, &s.Work.Rules, src) {
		types = append(types, src)
	}
	if c.Dst >= 0 && (src != dst || c.Src < 0) && adds(s.share, &s.Work.Rules, dst) {
		types = append(types, dst)
	}
	return types
}

// place gives nodes and edges their places, once the keys that edges add are known.
func (s *Site) place(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.placed {
		return nil
	}
	err := s.doPlace(ctx)
	s.placed = err == nil
	return err
}

func (s *Site) doPlace(ctx context.Context) error {
	added := make([]uint64, s.share.Types())
	s.firsts = make([][]firsts, s.share.Types())
	for task := range s.keys.tasks {
		for _, t := range s.adding(task) {
			if s.firsts[t] == nil {
				s.firsts[t] = make([]firsts, s.keys.tasks)
			}
			f := &s.firsts[t][task]
			if err := f.read(s.fs, firstsFile(s.Dir, t, task)); err != nil {
				return err
			}
			f.base = added[t]
			added[t] += f.count()
		}
	}
	s.added = added
	return s.share.Place(ctx, added)
}

func (f *firsts) read(fsys vfs.FS, name string) error {
	info, err := fsys.Stat(name)
	if err != nil {
		return fmt.Errorf("a worker cannot read what another one wrote: %w; put the output on storage that all workers reach at this path", err)
	}
	b, err := vfs.ReadFile(fsys, name, info.Size()+1)
	if err != nil {
		return err
	}
	if len(b)%8 != 0 {
		return fmt.Errorf("%s: found %d bytes, expected words of 8; the file is damaged", name, len(b))
	}
	f.words = make([]uint64, len(b)/8)
	copy(graph.Bytes(f.words), b)
	f.ranks = make([]uint64, len(f.words))
	n := uint64(0)
	for i, w := range f.words {
		f.ranks[i] = n
		n += uint64(bits.OnesCount64(w))
	}
	return nil
}

// id is the type-wise id of a node of an answer.
func (s *Site) id(t int, n node) (uint64, error) {
	switch {
	case n.known:
		return n.id, nil
	case !n.first:
		return assemble.Dangling, nil
	}
	if s.firsts[t] == nil || n.task >= uint64(len(s.firsts[t])) {
		return 0, errTask
	}
	f := &s.firsts[t][n.task]
	if n.place/64 >= uint64(len(f.words)) || f.words[n.place/64]>>(n.place&63)&1 == 0 {
		return 0, errTask
	}
	return s.share.Known(t) + f.base + f.rank(n.place), nil
}
