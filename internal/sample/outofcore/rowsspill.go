package outofcore

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
)

const (
	// mostRowExtent and leastRowExtent bound the bytes of the writes of a pack.
	mostRowExtent, leastRowExtent = 1 << 20, 16 << 10
	// mostStripe is the most bytes of a stripe. Two stripes are in memory.
	mostStripe = 32 << 20
)

// rowSpill is the rows of packs on their way through a scratch file: read once, in the order of the files of the
// columns, and written pack by pack.
type rowSpill struct {
	p      *pipeline
	file   *direct.Scratch
	extent int          // bytes
	next   atomic.Int64 // the first free extent
	free   func()
	stripe [2][]byte
	bufs   [][]byte // one per pack
}

// spillRows writes the rows of packs to a scratch file.
func (p *pipeline) spillRows(ctx context.Context, tables []*Rows, packs []*pack) (_ *rowSpill, err error) {
	s := &rowSpill{p: p, free: func() {}}
	if s.file, err = direct.NewScratch(p.tables.fsys, p.tables.scratch); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	defer guard.Catch(&err)()
	// Half of the room is for stripes and half for extents.
	room := mostStripe * 4
	if p.share.limit > 0 {
		room = int(min(int64(room), p.share.lists/3))
	}
	block := rowBlock(tables)
	stripe := max(min(room/4, mostStripe)/block, 1) * block
	s.extent = min(max(room/2/len(packs), leastRowExtent), mostRowExtent) / direct.Align * direct.Align
	buf, free, err := direct.Alloc(2*stripe + len(packs)*s.extent)
	if err != nil {
		return nil, err
	}
	s.free = free
	s.stripe[0], s.stripe[1] = buf[:stripe], buf[stripe:2*stripe]
	for i := range packs {
		s.bufs = append(s.bufs, buf[2*stripe+i*s.extent:2*stripe+(i+1)*s.extent])
	}
	for t, r := range tables {
		r.reset()
		for _, k := range packs {
			r.set(&k.rows[t])
			k.spilled = append(k.spilled, make([][]uint32, len(r.columns)))
		}
		r.order()
		for i, c := range r.columns {
			if err := s.column(ctx, r, c, packs, t, i); err != nil {
				return nil, err
			}
		}
	}
	s.free()
	return s, nil
}

func (s *rowSpill) close() error {
	s.free()
	s.p.counts.spillRead.Add(s.file.Read())
	s.p.counts.spillWritten.Add(s.file.Written())
	return s.file.Close()
}

// stripe is some blocks of a column.
type stripe struct {
	first, end int // rows
	buf        []byte
	base       []uint64 // of each block: the byte offset in the file of its part of buf
}

// column writes the rows of one column to the file: while a stripe is read, the rows of the stripe before go to the
// packs.
func (s *rowSpill) column(ctx context.Context, r *Rows, c *rowColumn, packs []*pack, t, number int) error {
	size := c.rowBuffer()
	per := len(s.stripe[0]) / size
	outs := make([]packOut, len(packs))
	for i, k := range packs {
		outs[i] = packOut{next: k.rows[t].cursor(), buf: s.bufs[i]}
	}
	var stripes [2]stripe
	for first := 0; ; first += per {
		cur, last := &stripes[first/per%2], &stripes[(first/per+1)%2]
		*cur = stripe{first: first * c.per, end: min((first+per)*c.per, r.count), buf: s.stripe[first/per%2]}
		g, ctx := guard.WithContext(ctx)
		if first < c.blocks {
			g.Go(func() error { return s.readStripe(ctx, r, c, cur, min(per, c.blocks-first), first) })
		}
		if first > 0 {
			g.Go(func() error { return s.scatter(ctx, c, last, outs) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if first >= c.blocks {
			break
		}
	}
	for i := range outs {
		if err := s.flush(&outs[i]); err != nil {
			return err
		}
		packs[i].spilled[t][number] = outs[i].extents
	}
	return ctx.Err()
}

// readStripe reads n blocks of a column, except those without wanted rows.
func (s *rowSpill) readStripe(ctx context.Context, r *Rows, c *rowColumn, st *stripe, n, block int) error {
	size := c.rowBuffer()
	st.base = make([]uint64, n)
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for range min(len(s.p.readers), n) {
		rd := &rowReader{disk: &s.p.tables.disk, pages: make([]bool, size/direct.Align)}
		g.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return nil
				}
				rd.buf = st.buf[i*size : (i+1)*size]
				var err error
				if st.base[i], _, err = rd.read(r, c, block+i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// packOut is the part of a column that a pack wants, on its way to the file.
type packOut struct {
	next    rowCursor
	buf     []byte
	n       int // bytes in buf
	extents []uint32
}

// scatter copies the rows of a stripe to the packs that want them.
func (s *rowSpill) scatter(ctx context.Context, c *rowColumn, st *stripe, outs []packOut) error {
	size := c.rowBuffer()
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for range s.p.threads {
		g.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= len(outs) {
					return nil
				}
				out := &outs[i]
				for v := out.next.row; v < st.end; v = out.next.row {
					block := (v - st.first) / c.per
					from := block*size + int(c.byteOf(v)-st.base[block])
					if err := s.add(out, st.buf[from:from+c.row]); err != nil {
						return err
					}
					out.next.step()
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// add appends a row to a pack.
func (s *rowSpill) add(out *packOut, row []byte) error {
	for {
		n := copy(out.buf[out.n:], row)
		out.n += n
		if row = row[n:]; len(row) == 0 {
			return nil
		}
		if err := s.flush(out); err != nil {
			return err
		}
	}
}

func (s *rowSpill) flush(out *packOut) error {
	if out.n == 0 {
		return nil
	}
	number := s.next.Add(1) - 1
	out.extents = append(out.extents, uint32(number))
	whole := (out.n + direct.Align - 1) / direct.Align * direct.Align
	out.n = 0
	return s.file.WriteAt(out.buf[:whole], number*int64(s.extent))
}

// load reads the rows of a pack from the file into the tables.
func (s *rowSpill) load(ctx context.Context, tables []*Rows, k *pack) error {
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(len(s.p.readers))
	for t, r := range tables {
		for i, c := range r.columns {
			bytes := r.marked * c.row
			for e, number := range k.spilled[t][i] {
				g.Go(func() error {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					from := e * s.extent
					to := (min(from+s.extent, bytes) + direct.Align - 1) / direct.Align * direct.Align
					return s.file.ReadAt(c.table[from:to], int64(number)*int64(s.extent))
				})
			}
		}
	}
	return g.Wait()
}
