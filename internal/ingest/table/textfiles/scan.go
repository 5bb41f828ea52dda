package textfiles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// scan hands out units (a chunk of a plain file, or a block of a compressed one) in order, numbered from 0. Two
// values pass from unit to unit in that order: whether the number of quotes before it is odd, and the number of rows.
// A worker holds at most one unit and units are begun in order, so some worker is always working on the unit that all
// others wait for.
type scan struct {
	t      *CSV
	ctx    context.Context
	cancel context.CancelFunc
	fn     func(worker int, u *unit, c *table.Chunk) error
	group  sync.WaitGroup

	quotes, rows turns

	mu    sync.Mutex // guards the fields that next changes
	units int
	file  int
	at    int64     // offset in a plain file
	z     *inflater // set for a compressed file
	free  chan *block

	errMu  sync.Mutex
	err    error
	errSeq int
}

// unit is a piece of the input and its number in the order.
type unit struct {
	seq   int
	file  int
	at    int64  // offset of the chunk of a plain file
	block *block // block of a compressed one
	last  bool   // the last chunk of a plain file
}

// recordParser makes chunks from blocks. It belongs to one worker.
type recordParser interface {
	// parse reads all records of a block. The chunk is valid until the next call.
	parse(b *block) (*table.Chunk, *badText)
}

// turns passes a value from unit to unit, in order.
type turns struct {
	mu      sync.Mutex
	changed *sync.Cond
	next    int
	value   uint64
	stopped bool
}

// wait blocks until the units before seq have passed the value on. It returns false if the scan has ended.
func (t *turns) wait(seq int) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != seq && !t.stopped {
		t.changed.Wait()
	}
	return t.value, t.next == seq
}

func (t *turns) pass(value uint64) {
	t.mu.Lock()
	t.next++
	t.value = value
	t.mu.Unlock()
	t.changed.Broadcast()
}

func (t *turns) stop() {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.changed.Broadcast()
}

// Scan implements Table. Its memory per thread is 1 MiB of text and the vectors made from it; for compressed files, as
// much as for two more threads.
func (t *CSV) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *CSV) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return t.scan(ctx, columns, threads, func(w int, _ *unit, c *table.Chunk) error { return fn(w, c) })
}

func (t *CSV) scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, u *unit, c *table.Chunk) error) (uint64, error) {
	if limit := table.RecordLimit(ctx, t.record); limit < t.record {
		x := *t
		x.record = limit
		t = &x
	}
	threads = max(threads, 1)
	parsers := make([]recordParser, threads)
	for i := range parsers {
		p, err := t.parser(columns)
		if err != nil {
			return 0, err
		}
		parsers[i] = p
	}
	s := &scan{t: t, fn: fn, free: make(chan *block, threads+2)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()
	s.quotes.changed, s.rows.changed = sync.NewCond(&s.quotes.mu), sync.NewCond(&s.rows.mu)
	for range cap(s.free) {
		s.free <- new(block)
	}
	if len(t.files) == 1 && t.files[0].quoted {
		s.quotes.value = 1
	}
	defer context.AfterFunc(s.ctx, func() { s.quotes.stop(); s.rows.stop() })()
	for i, p := range parsers {
		s.group.Go(func() { s.work(i, p) })
	}
	s.group.Wait()
	if s.err != nil {
		return 0, s.err
	}
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	return s.rows.value, nil
}

// fail ends the scan. It keeps the error of the earliest unit; the units before it have begun and will finish.
func (s *scan) fail(seq int, err error) {
	s.errMu.Lock()
	if s.err == nil || seq < s.errSeq {
		s.err, s.errSeq = err, seq
	}
	s.errMu.Unlock()
	s.cancel()
}

// next returns the next unit, or nil at the end.
func (s *scan) next() *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.file < len(s.t.files) && s.ctx.Err() == nil {
		f := s.t.files[s.file]
		u := &unit{seq: s.units, file: s.file}
		if f.comp == plain {
			u.at = max(s.at, f.start())
			if u.at >= f.end() {
				s.file, s.at = s.file+1, 0
				continue
			}
			s.at = u.at + int64(s.t.chunk)
			u.last = s.at >= f.end()
		} else {
			if s.z == nil {
				s.z = &inflater{t: s.t, file: s.file, blocks: make(chan *block, cap(s.free)), free: s.free}
				z := s.z
				s.group.Go(func() { z.run(s.ctx) })
			}
			select {
			case u.block = <-s.z.blocks:
			case <-s.ctx.Done():
				return nil
			}
			if u.block == nil {
				s.file, s.z = s.file+1, nil
				continue
			}
		}
		s.units++
		return u
	}
	return nil
}

func (s *scan) work(worker int, p recordParser) {
	own := new(block)
	var r vfs.File
	open := -1
	closeFile := func() error {
		if open < 0 {
			return nil
		}
		open = -1
		return r.Close()
	}
	seq := 0
	for u := s.next(); u != nil; u = s.next() {
		seq = u.seq
		b, err := u.block, error(nil)
		if b == nil {
			b = own
			if open != u.file {
				if err = closeFile(); err == nil {
					if r, err = s.t.fsys.Open(s.t.files[u.file].path); err == nil {
						open = u.file
					}
				}
			}
		}
		if !s.unit(worker, p, u, b, r, err) {
			break
		}
		if b != own {
			s.free <- b // has capacity for all blocks
		}
	}
	if err := closeFile(); err != nil {
		s.fail(seq, err)
	}
}

// unit reads, parses and passes on one unit. It returns false if the scan has ended.
func (s *scan) unit(worker int, p recordParser, u *unit, b *block, r vfs.File, err error) bool {
	f := s.t.files[u.file]
	if err == nil {
		err = b.err
	}
	parity := func(odd bool) (bool, bool) {
		value, ok := s.quotes.wait(u.seq)
		if !ok {
			return false, false
		}
		before := value == 1
		after := uint64(0)
		if before != odd && !u.last {
			after = 1
		}
		s.quotes.pass(after)
		return before, true
	}
	if u.block == nil && err == nil {
		var ok bool
		if ok, err = b.load(r, s.t, f, u.at, parity); !ok && err == nil {
			return false
		}
	} else if _, ok := parity(false); !ok { // blocks are cut outside quotes
		return false
	}
	var chunk *table.Chunk
	if err == nil {
		var bad *badText
		if chunk, bad = p.parse(b); bad != nil {
			err = bad.error(b.place(r, f, bad.at))
		}
	}
	first, ok := s.rows.wait(u.seq)
	if !ok {
		return false
	}
	if err != nil {
		s.fail(u.seq, err)
		return false
	}
	s.rows.pass(first + uint64(chunk.Rows))
	if chunk.Rows == 0 {
		return true
	}
	chunk.First, chunk.Bytes, chunk.File = first, 0, f.path
	if b.origin >= 0 {
		chunk.Bytes = int64(b.end - b.at)
	}
	u.block = b
	if err := guard.Do(func() error { return s.fn(worker, u, chunk) }); err != nil {
		s.fail(u.seq, err)
		return false
	}
	return true
}

// Where implements Table: "edges.csv:17".
func (t *CSV) Where(row uint64, column string) string {
	where := t.files[0].path
	field := slices.IndexFunc(t.fields, func(f table.Field) bool { return f.Name == column && !t.syntax.lines })
	_, err := t.scan(context.Background(), nil, 1, func(_ int, u *unit, c *table.Chunk) error {
		if row >= c.First+uint64(c.Rows) {
			return nil
		}
		at := t.syntax.skip(u.block, int(row-c.First))
		if field > 0 {
			at = t.syntax.fieldAt(u.block.buf, at, u.block.end, field)
		}
		f := t.files[u.file]
		r, err := t.fsys.Open(f.path)
		if err != nil {
			return err
		}
		where = u.block.place(r, f, at)
		if field < 0 {
			where = where[:strings.LastIndexByte(where, ':')]
		}
		return errors.Join(errFound, r.Close())
	})
	if !errors.Is(err, errFound) {
		return fmt.Sprintf("%s: row %d", where, row+1)
	}
	return where
}
