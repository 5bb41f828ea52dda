package output

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/vfs"
)

// openPiece opens the piece of a group.
type openPiece func(group int) (vfs.File, error)

// Written is what one of several processes wrote of an output.
type Written struct {
	Files map[string]store.ManifestFor `json:"files"`
	// Whole is about all pieces; of the first process alone.
	Whole *Whole `json:"whole,omitempty"`
}

// Whole is what all pieces of an output have.
type Whole struct {
	tally
	Batches uint64  `json:"batches"`
	Totals  []int64 `json:"totals"` // bytes of all frames, by section
}

// endReads is the number of pieces whose ends are read at a time: they may be on another machine.
const endReads = 16

// WriteShare writes a share of the output of the pieces of groups 0 to n - 1, which are in their order, to the folder dir. It reads the ends of all pieces, and of
// the others what it writes.
func (p *Pieces) WriteShare(ctx context.Context, fsys vfs.FS, dir string, share store.Share, n int, open func(group int) (vfs.File, error)) (*Written, error) {
	out, _ := p.begin()
	ends := make([]*pieceEnd, n)
	g, reading := guard.WithContext(ctx)
	g.SetLimit(endReads)
	for group := range n {
		if reading.Err() != nil {
			break
		}
		g.Go(func() error {
			return withPiece(open, group, func(piece vfs.File) (err error) {
				if ends[group], err = sizedPiece(piece); err != nil {
					return err
				}
				if share.Index > 0 {
					ends[group].tally = tally{}
				}
				return ends[group].fits(out)
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	next := uint64(0)
	for group, e := range ends {
		if e.first != next {
			return nil, fmt.Errorf("%w: piece %d has the batches from %d on, expected those from %d on", errPiece, group, e.first, next)
		}
		next += e.batches
	}
	w := store.OpenShare(fsys, dir, share)
	if err := p.write(ctx, w, share, ends, open); err != nil {
		return nil, err
	}
	if share.Index > 0 {
		return &Written{Files: w.Sums()}, nil
	}
	whole := &Whole{Totals: sumTotals(ends, out.sections())}
	for _, e := range ends {
		whole.Batches += e.batches
		whole.take(&e.tally)
	}
	return &Written{w.Sums(), whole}, nil
}

// sumTotals is the bytes of the frames of all pieces, by section.
func sumTotals(ends []*pieceEnd, sections int) []int64 {
	totals := make([]int64, sections)
	for _, e := range ends {
		for i, n := range e.totals {
			totals[i] += n
		}
	}
	return totals
}

// withPiece calls fn with the piece of a group.
func withPiece(open openPiece, group int, fn func(vfs.File) error) error {
	f, err := open(group)
	if err != nil {
		return err
	}
	return errors.Join(fn(f), f.Close())
}

// writeShare writes the shards of the arrays that w has.
func (c *Collection) writeShare(ctx context.Context, w *store.Writer, ends []*pieceEnd, open openPiece) (err error) {
	g := c.newGraphs()
	defer func() {
		if err != nil {
			w.Abandon()
		}
		err = errors.Join(err, c.Close())
	}()
	if err := c.beginArrays(w, c.rows(sumTotals(ends, g.sections()))); err != nil {
		return err
	}
	r := sectionReader{wants: make([]bool, g.sections())}
	unread := make([]section, g.sections())
	for group, e := range ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, n := range e.totals {
			unread[i] = section{n: n}
		}
		if e.batches == 0 {
			continue
		}
		if !c.wants(unread, r.wants) {
			if err := g.readFrom(unread); err != nil {
				return err
			}
			if err := c.sink(g); err != nil {
				return err
			}
			continue
		}
		if err := withPiece(open, group, func(piece vfs.File) error {
			return e.frames(piece, func(_ uint64, sections []section) error {
				if c.wants(sections, r.wants) {
					if err := r.read(piece, sections); err != nil {
						return err
					}
				}
				if err := g.readFrom(sections); err != nil {
					return errors.Join(errPiece, err)
				}
				return c.sink(g)
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// rows is the number of rows of each array, of an output whose frames have totals bytes by section.
func (c *Collection) rows(totals []int64) []uint64 {
	rows := make([]uint64, len(c.streams))
	for i, s := range c.streams {
		rows[i] = uint64(totals[firstStream+i]) / uint64(4*s.words)
	}
	for _, l := range c.lists() {
		rows[l.ptr.number]++
	}
	graphs := rows[c.seeds.ptr.number] - 1
	rows[c.epoch.number], rows[c.batch.number] = graphs, graphs
	return rows
}

// wants sets the sections of which values are written next, and says whether there are any.
func (c *Collection) wants(sections []section, wants []bool) (some bool) {
	want := func(section int, s *stream, bytes int64) {
		wants[section] = wants[section] || bytes > 0 && s.array.WantsNext(bytes)
		some = some || wants[section]
	}
	clear(wants)
	for i, s := range c.streams {
		n := sections[firstStream+i].n
		if s.counts {
			n *= 2 // the sums have 8 bytes each
		}
		want(firstStream+i, s, n)
	}
	graphs := sections[firstStream+c.seeds.ptr.number].n / 4
	want(batchSection, c.epoch, 8*graphs)
	want(batchSection, c.batch, 8*graphs)
	return some
}

// sectionReader reads the wanted sections of frames.
type sectionReader struct {
	wants []bool
	buf   []byte
}

// fewBytes is the share of a frame below which sections are read alone. More is read as bytes that follow one another, which is what a file on another machine
// fetches early.
const fewBytes = 8

// read reads the wanted sections of a frame. Those that follow one another are read at once.
func (r *sectionReader) read(piece vfs.File, sections []section) error {
	frame, wanted := bytesOf(sections), int64(0)
	for i, s := range sections {
		if r.wants[i] {
			wanted += s.n
		}
	}
	r.buf = resize(r.buf, wanted)
	at := int64(0)
	for i := 0; i < len(sections); {
		j := i
		for j < len(sections) && r.wants[j] {
			j++
		}
		if i == j {
			i++
			continue
		}
		n := bytesOf(sections[i:j])
		b := r.buf[at : at+n]
		at += n
		if wanted < frame/fewBytes {
			if err := readExact(piece, b, sections[i].at); err != nil {
				return err
			}
		} else if k, err := piece.ReadAt(b, sections[i].at); k < len(b) {
			return errors.Join(errPiece, err)
		}
		if err := setBytes(sections[i:j], b); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// writeShare writes the files of a share.
func (r *Records) writeShare(ctx context.Context, w *store.Writer, share store.Share, ends []*pieceEnd, open openPiece) (err error) {
	opt := r.shards.Options()
	opt.Index, opt.Of = share.Index, share.Of
	files, err := shards.New(w, opt)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.Abandon()
			err = errors.Join(err, files.Close())
		}
	}()
	out := r.newChunk()
	from, to := files.Span()
	for group, e := range ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.to <= from || e.from >= to {
			continue
		}
		if err := withPiece(open, group, func(piece vfs.File) error {
			_, err := joinPiece(piece, e, out, e.first, func(c *chunk) error { return files.Write(c.records) })
			return err
		}); err != nil {
			return err
		}
	}
	return files.Finish()
}

// takeShare takes what another process wrote into the output.
func (c *course) takeShare(ctx context.Context, folder string, part *Written) error {
	if part.Whole != nil {
		whole := part.Whole
		c.all.take(&whole.tally)
		c.all.Stats.Batches += whole.Batches - 1
		c.tell(c.all.Stats.Subgraphs)
	}
	return c.w.LinkShares(ctx, folder, part.Files)
}

// fresh refuses an output of which this process has written some.
func (c *course) fresh(job *sample.Job) error {
	if c.all.Stats.Batches > 0 || job.From > 0 {
		return errors.New("found an output of which one process wrote the first batches, expected none; remove the partial output and sample again")
	}
	return nil
}
