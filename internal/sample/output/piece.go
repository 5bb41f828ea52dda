package output

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Elsewhere makes the batches of a job in other processes.
type Elsewhere interface {
	// Shares is how many of them write the output of a job: with 1 this process does, by Make, and else they do, by Write.
	Shares(job sample.Job) int
	// Make calls join with a piece for each run of batches of the job, from Job.From on, in order. A piece may begin with
	// batches before Job.From. Make returns the error of join.
	Make(ctx context.Context, job sample.Job, join Join) error
	// Write has an output of the job alone written, and calls take with what each process wrote, and the folder of its files. Write returns the error of take.
	Write(ctx context.Context, job sample.Job, take func(folder string, part *Written) error) error
}

// Join adds a piece to the output. saved is the number of batches of the job, from the first on, that a checkpoint has: the output keeps these if the process is killed, and
// needs the pieces of all later ones again.
type Join func(piece vfs.File) (saved uint64, err error)

// Pieces makes pieces: the encoded subgraphs of consecutive batches of a job, for the processes that write the output.
// It is safe for concurrent use, with a PieceWriter per goroutine.
type Pieces struct {
	s     *sample.Sampler
	job   sample.Job
	begin func() (out parcel, encode func(b *sample.Batch, sub *sample.Subgraph) error)
	// write writes a share of the output.
	write func(ctx context.Context, w *store.Writer, share store.Share, ends []*pieceEnd, open openPiece) error
}

// RecordPieces makes pieces for the Records of the same sampler, options and job.
func RecordPieces(s *sample.Sampler, opt RecordsOptions, job sample.Job) (*Pieces, error) {
	r, err := newRecords(nil, s, opt)
	if err != nil {
		return nil, err
	}
	job, encode, err := r.encoder(job)
	if err != nil {
		return nil, err
	}
	return &Pieces{s, job, func() (parcel, func(*sample.Batch, *sample.Subgraph) error) {
		c := r.newChunk()
		return c, func(b *sample.Batch, sub *sample.Subgraph) error { return encode(c, b, sub) }
	}, r.writeShare}, nil
}

// CollectionPieces makes pieces for the Collection of the same sampler, options and job.
func CollectionPieces(s *sample.Sampler, opt CollectionOptions, job sample.Job) (*Pieces, error) {
	c := newCollection(s, opt)
	return &Pieces{s, job, func() (parcel, func(*sample.Batch, *sample.Subgraph) error) {
		g := c.newGraphs()
		return g, func(b *sample.Batch, sub *sample.Subgraph) error { return c.encode(g, b, sub) }
	}, func(ctx context.Context, w *store.Writer, _ store.Share, ends []*pieceEnd, open openPiece) error {
		return newCollection(s, opt).writeShare(ctx, w, ends, open)
	}}, nil
}

// Job is the job in the batches that pieces are made of. Its batch size may differ from the job that was given.
func (p *Pieces) Job() sample.Job { return p.job }

// parcel is the encoded subgraphs of a batch, as sections, which are read one by one.
type parcel interface {
	// appendTo appends the sections of the parcel to b, and the offset in b of the end of each to ends. It empties the parcel, except for its counts.
	appendTo(b []byte, ends []int) ([]byte, []int, error)
	// readFrom replaces the parcel by what appendTo has appended. It keeps the bytes until the parcel is emptied.
	readFrom(sections []section) error
	// sections is the number of sections.
	sections() int
	// counted is the counts of the batch.
	counted() *tally
	// files is the range of the files that the parcel goes to, where it goes to files one after the other.
	files() (from, to int)
}

// A piece has frames, one for each batch, and an end. A frame is the sections of a parcel. The end has an index, with the length of each section as a varint and its checksum; the sums;
// and the foot. All numbers are little-endian.
//
//	sums  the bytes of all frames by section, 8 bytes each; the range of files, 2 x 8 bytes; the counts of all batches
//	foot  the offsets of the index and the sums, the first batch, the number of batches, the number of sections, the checksums of the index, and of the sums
//	      and the foot before it; magic
const (
	pieceMagic = "GMPIECE3"
	pieceFoot  = 8 * 8
	// pieceTail is read at once: the foot, and most times the sums.
	pieceTail = 4 << 10
)

// section is a part of a frame.
type section struct {
	at, n int64 // in the piece
	sum   uint64
	b     []byte // nil if it is not read
}

// PieceWriter writes pieces, one after the other. It belongs to one goroutine.
type PieceWriter struct {
	p       *Pieces
	batches *sample.Batches
	out     parcel
	encode  func(*sample.Batch, *sample.Subgraph) error
	batch   sample.Batch
	frame   []byte
	ends    []int // of the sections of frame
	index   []byte
}

// NewWriter makes the buffers of a goroutine.
func (p *Pieces) NewWriter() (*PieceWriter, error) {
	job := p.job
	job.From = 0
	batches, err := p.s.Batches(&job)
	if err != nil {
		return nil, err
	}
	w := &PieceWriter{p: p, batches: batches}
	w.out, w.encode = p.begin()
	return w, nil
}

// Write writes the piece of n batches from first on, counted over the job, to to. take makes the i-th subgraph of a batch.
func (w *PieceWriter) Write(ctx context.Context, to io.Writer, first, n uint64, take func(b *sample.Batch, i int) (*sample.Subgraph, error)) error {
	buf := bufio.NewWriterSize(to, 1<<18)
	w.index = w.index[:0]
	end := pieceEnd{first: first, batches: n}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.batches.Get(first+i, &w.batch)
		for at := range w.p.s.Subgraphs(&w.batch) {
			w.batch.At = at
			sub, err := take(&w.batch, at)
			if err != nil {
				return err
			}
			if err := w.encode(&w.batch, sub); err != nil {
				return err
			}
		}
		if from, to := w.out.files(); from < to {
			if end.from == end.to {
				end.from, end.to = from, to
			}
			end.from, end.to = min(end.from, from), max(end.to, to)
		}
		var err error
		if w.frame, w.ends, err = w.out.appendTo(w.frame[:0], w.ends[:0]); err != nil {
			return err
		}
		end.take(w.out.counted())
		if end.totals == nil {
			end.totals = make([]int64, len(w.ends))
		}
		at := 0
		for i, to := range w.ends {
			w.index = binary.LittleEndian.AppendUint64(binary.AppendUvarint(w.index, uint64(to-at)), xxh3.Hash(w.frame[at:to]))
			end.totals[i] += int64(to - at)
			at = to
		}
		end.index += int64(len(w.frame))
		if _, err := buf.Write(w.frame); err != nil {
			return err
		}
	}
	tail, err := end.append(w.index)
	if err != nil {
		return err
	}
	w.index = tail
	if _, err := buf.Write(tail); err != nil {
		return err
	}
	return buf.Flush()
}

// join adds the batches of a job that other processes make.
func join[T parcel](ctx context.Context, c *course, job sample.Job, from Elsewhere, out T, sink func(T) error) error {
	batch, before := job.From, c.all.Stats.Batches-job.From // batches of earlier jobs
	return from.Make(ctx, job, func(piece vfs.File) (saved uint64, err error) {
		e, err := sizedPiece(piece)
		if err == nil {
			batch, err = joinPiece(piece, e, out, batch, sink)
		}
		return max(c.saved, before) - before, err
	})
}

// sections implements parcel: a chunk has its counts, and its records.
func (c *chunk) sections() int { return 2 }

// appendTo implements parcel.
func (c *chunk) appendTo(b []byte, ends []int) ([]byte, []int, error) {
	b, err := c.tally.appendTo(b)
	ends = append(ends, len(b))
	b = c.records.AppendTo(b)
	return b, append(ends, len(b)), err
}

// readFrom implements parcel.
func (c *chunk) readFrom(sections []section) error {
	return errors.Join(c.tally.readAll(sections[0].b), c.records.ReadFrom(sections[1].b))
}

// files implements parcel.
func (c *chunk) files() (from, to int) { return c.records.Span() }

// The sections of graphs: the counts, the epoch and the batch, and then the values of each stream.
const (
	countSection = iota
	batchSection
	firstStream
)

// appendTo implements parcel.
func (g *graphs) appendTo(b []byte, ends []int) ([]byte, []int, error) {
	b, err := g.tally.appendTo(b)
	ends = append(ends, len(b))
	b = binary.LittleEndian.AppendUint64(b, uint64(g.epoch))
	b = binary.LittleEndian.AppendUint64(b, uint64(g.batch))
	ends = append(ends, len(b))
	for i, v := range g.values {
		b = append(b, graph.Bytes(v)...)
		ends = append(ends, len(b))
		g.values[i] = v[:0]
	}
	return b, ends, err
}

// readFrom implements parcel. Of sections that were not read the graphs have the lengths.
func (g *graphs) readFrom(sections []section) error {
	if s := &sections[countSection]; s.b != nil {
		if err := g.tally.readAll(s.b); err != nil {
			return err
		}
	}
	if s := &sections[batchSection]; s.b != nil {
		if len(s.b) != 16 {
			return io.ErrUnexpectedEOF
		}
		g.epoch, g.batch = int64(binary.LittleEndian.Uint64(s.b)), int64(binary.LittleEndian.Uint64(s.b[8:]))
	}
	for i := range g.values {
		s := &sections[firstStream+i]
		if s.n%4 != 0 {
			return fmt.Errorf("found %d bytes of an array, expected words", s.n)
		}
		g.unread[i] = 0
		if s.b == nil {
			g.unread[i] = s.n / 4
		}
		g.values[i] = append(g.values[i][:0], make([]uint32, len(s.b)/4)...)
		copy(graph.Bytes(g.values[i]), s.b)
	}
	return nil
}

// sections implements parcel.
func (g *graphs) sections() int { return firstStream + len(g.values) }

// files implements parcel: graphs go to all arrays.
func (g *graphs) files() (from, to int) { return 0, 0 }

// counted implements parcel.
func (t *tally) counted() *tally { return t }

// appendTo appends the counts of batches: those of Stats and of underflows as varints, each of the latter after the length and
// the name of its feature.
func (t *tally) appendTo(b []byte) ([]byte, error) {
	for _, n := range t.counts() {
		b = binary.AppendUvarint(b, *n)
	}
	b, err := t.Nodes.AppendBinary(b)
	b, err2 := t.Edges.AppendBinary(b)
	b = binary.AppendUvarint(b, uint64(len(t.Underflows)))
	for _, name := range slices.Sorted(maps.Keys(t.Underflows)) {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
		b = binary.AppendUvarint(b, t.Underflows[name])
	}
	return b, errors.Join(err, err2)
}

// counts are the counts of Stats that a batch has.
func (t *tally) counts() [7]*uint64 {
	s := &t.Stats
	return [...]*uint64{&s.Seeds, &s.Subgraphs, &s.Nodes, &s.Edges, &s.Drawn, &s.Negatives, &s.NegativeEdges}
}

// readAll sets the counts to all that appendTo has appended.
func (t *tally) readAll(b []byte) error {
	b, err := t.readFrom(b)
	if err == nil && len(b) > 0 {
		err = fmt.Errorf("found %d bytes after the counts", len(b))
	}
	return err
}

// readFrom sets the counts, and returns what follows them.
func (t *tally) readFrom(b []byte) (_ []byte, err error) {
	*t = tally{}
	number := func() (x uint64) {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			err = io.ErrUnexpectedEOF
			return 0
		}
		b = b[n:]
		return x
	}
	for _, n := range t.counts() {
		*n = number()
	}
	if err != nil {
		return nil, err
	}
	if b, err = t.Nodes.ReadBinary(b); err != nil {
		return nil, err
	}
	if b, err = t.Edges.ReadBinary(b); err != nil {
		return nil, err
	}
	for n := number(); n > 0 && err == nil; n-- {
		size := number()
		if size > uint64(len(b)) {
			return nil, io.ErrUnexpectedEOF
		}
		name := string(b[:size])
		b = b[size:]
		if t.Underflows == nil {
			t.Underflows = map[string]uint64{}
		}
		t.Underflows[name] = number()
	}
	return b, err
}
