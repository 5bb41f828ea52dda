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
)

// Elsewhere makes the batches of a job in other processes.
type Elsewhere interface {
	// Make calls join with a piece for each run of batches of the job, from Job.From on, in order. A piece may begin with
	// batches before Job.From. Make returns the error of join.
	Make(ctx context.Context, job sample.Job, join Join) error
}

// Join adds a piece to the output. saved is the number of batches of the job, from the first on, that a checkpoint has: the output keeps these if the process is killed, and
// needs the pieces of all later ones again.
type Join func(piece io.Reader) (saved uint64, err error)

// Pieces makes pieces: the encoded subgraphs of consecutive batches of a job, for the process that writes the output.
// It is safe for concurrent use, with a PieceWriter per goroutine.
type Pieces struct {
	s     *sample.Sampler
	job   sample.Job
	begin func() (out parcel, encode func(b *sample.Batch, sub *sample.Subgraph) error)
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
	}}, nil
}

// CollectionPieces makes pieces for the Collection of the same sampler, options and job.
func CollectionPieces(s *sample.Sampler, opt CollectionOptions, job sample.Job) (*Pieces, error) {
	c := &Collection{s: s, opt: opt}
	if err := c.open(nil); err != nil {
		return nil, err
	}
	return &Pieces{s, job, func() (parcel, func(*sample.Batch, *sample.Subgraph) error) {
		g := c.newGraphs()
		return g, func(b *sample.Batch, sub *sample.Subgraph) error { return c.encode(g, b, sub) }
	}}, nil
}

// Job is the job in the batches that pieces are made of. Its batch size may differ from the job that was given.
func (p *Pieces) Job() sample.Job { return p.job }

// parcel is the encoded subgraphs of a batch.
type parcel interface {
	// appendTo appends the parcel to b and empties it.
	appendTo(b []byte) ([]byte, error)
	// readFrom replaces the parcel by what appendTo has appended.
	readFrom(b []byte) error
}

// A piece has a header, a frame for each batch (its length in 4 bytes, and the parcel), and the checksum of all of this.
const (
	pieceMagic  = "GMPIECE2"
	pieceHeader = len(pieceMagic) + 16 // the first batch, the number of batches
	// maxFrame bounds a frame. An Example has at most 2 GiB, and a batch one Example or many small ones.
	maxFrame = 1<<32 - 1
)

// PieceWriter writes pieces, one after the other. It belongs to one goroutine.
type PieceWriter struct {
	p       *Pieces
	batches *sample.Batches
	out     parcel
	encode  func(*sample.Batch, *sample.Subgraph) error
	batch   sample.Batch
	frame   []byte
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
	sum := xxh3.New()
	buf := bufio.NewWriterSize(io.MultiWriter(to, sum), 1<<18)
	head := binary.LittleEndian.AppendUint64([]byte(pieceMagic), first)
	if _, err := buf.Write(binary.LittleEndian.AppendUint64(head, n)); err != nil {
		return err
	}
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
		var err error
		if w.frame, err = w.out.appendTo(append(w.frame[:0], 0, 0, 0, 0)); err != nil {
			return err
		}
		size := len(w.frame) - 4
		if size > maxFrame {
			return fmt.Errorf("found %d bytes in a batch, expected less than 4 GiB; take smaller batches", size)
		}
		binary.LittleEndian.PutUint32(w.frame, uint32(size))
		if _, err := buf.Write(w.frame); err != nil {
			return err
		}
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	_, err := to.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
	return err
}

// errPiece is the error of a piece that is not what PieceWriter.Write has written.
var errPiece = errors.New("found a damaged piece, expected the subgraphs that a worker wrote; remove the partial output and sample again")

// joinPiece reads a piece into parcels, and hands the parcels of the batches from from on to sink. It returns the batch after
// its last one.
func joinPiece[T parcel](piece io.Reader, out T, from uint64, sink func(T) error) (uint64, error) {
	sum := xxh3.New()
	in := bufio.NewReaderSize(piece, 1<<18)
	r := io.TeeReader(in, sum)
	head := make([]byte, pieceHeader)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:len(pieceMagic)]) != pieceMagic {
		return from, errors.Join(errPiece, err)
	}
	first, n := binary.LittleEndian.Uint64(head[len(pieceMagic):]), binary.LittleEndian.Uint64(head[len(pieceMagic)+8:])
	if first > from || first+n < first {
		return from, fmt.Errorf("%w: batches %d to %d, expected batch %d", errPiece, first, first+n, from)
	}
	var frame []byte
	for batch := first; batch < first+n; batch++ {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return from, errors.Join(errPiece, err)
		}
		var err error
		if frame, err = readFrame(r, frame, int(binary.LittleEndian.Uint32(size[:]))); err != nil {
			return from, errors.Join(errPiece, err)
		}
		if batch < from {
			continue
		}
		if err := out.readFrom(frame); err != nil {
			return from, errors.Join(errPiece, err)
		}
		if err := sink(out); err != nil {
			return from, err
		}
	}
	var check [8]byte
	if _, err := io.ReadFull(in, check[:]); err != nil || binary.LittleEndian.Uint64(check[:]) != sum.Sum64() {
		return from, errors.Join(errPiece, err)
	}
	return max(from, first+n), nil
}

// CheckPiece reads a piece, and compares it with its checksum.
func CheckPiece(piece io.Reader) error {
	sum := xxh3.New()
	in := bufio.NewReaderSize(piece, 1<<18)
	for {
		b, err := in.Peek(1<<16 + 8)
		if len(b) < 8 {
			return errors.Join(errPiece, err)
		}
		if errors.Is(err, io.EOF) {
			_, _ = sum.Write(b[:len(b)-8]) // a hash never fails
			if binary.LittleEndian.Uint64(b[len(b)-8:]) != sum.Sum64() {
				return errPiece
			}
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = sum.Write(b[:1<<16])
		if _, err := in.Discard(1 << 16); err != nil {
			return err
		}
	}
}

// readFrame reads n bytes into b, which it reuses. It allocates no more than twice what is there to read.
func readFrame(r io.Reader, b []byte, n int) ([]byte, error) {
	b = b[:0]
	for len(b) < n {
		if cap(b) == len(b) {
			grown := make([]byte, len(b), min(n, max(2*len(b), 1<<20)))
			copy(grown, b)
			b = grown
		}
		part := b[len(b):min(n, cap(b))]
		k, err := io.ReadFull(r, part)
		b = b[:len(b)+k]
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// join adds the batches of a job that other processes make.
func join[T parcel](ctx context.Context, c *course, job sample.Job, from Elsewhere, out T, sink func(T) error) error {
	batch, before := job.From, c.all.Stats.Batches-job.From // batches of earlier jobs
	return from.Make(ctx, job, func(piece io.Reader) (saved uint64, err error) {
		batch, err = joinPiece(piece, out, batch, sink)
		return max(c.saved, before) - before, err
	})
}

// appendTo implements parcel.
func (c *chunk) appendTo(b []byte) ([]byte, error) {
	b, err := c.tally.appendTo(b)
	return c.records.AppendTo(b), err
}

// readFrom implements parcel.
func (c *chunk) readFrom(b []byte) error {
	b, err := c.tally.readFrom(b)
	if err != nil {
		return err
	}
	return c.records.ReadFrom(b)
}

// appendTo implements parcel.
func (g *graphs) appendTo(b []byte) ([]byte, error) {
	b, err := g.tally.appendTo(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(g.epoch))
	b = binary.LittleEndian.AppendUint64(b, uint64(g.batch))
	for i, v := range g.values {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, graph.Bytes(v)...)
		g.values[i] = v[:0]
	}
	return b, err
}

// readFrom implements parcel.
func (g *graphs) readFrom(b []byte) error {
	b, err := g.tally.readFrom(b)
	if err != nil {
		return err
	}
	if len(b) < 16 {
		return io.ErrUnexpectedEOF
	}
	g.epoch, g.batch = int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	b = b[16:]
	for i := range g.values {
		if len(b) < 4 {
			return io.ErrUnexpectedEOF
		}
		n := int(binary.LittleEndian.Uint32(b))
		if b = b[4:]; len(b)/4 < n {
			return io.ErrUnexpectedEOF
		}
		g.values[i] = append(g.values[i][:0], make([]uint32, n)...)
		copy(graph.Bytes(g.values[i]), b)
		b = b[4*n:]
	}
	if len(b) > 0 {
		return fmt.Errorf("found %d bytes after the last array", len(b))
	}
	return nil
}

// appendTo appends the counts of a batch, and resets them: those of Stats and of underflows as varints, each of the latter after the length and
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
	new(tally).take(t)
	return b, errors.Join(err, err2)
}

// counts are the counts of Stats that a batch has.
func (t *tally) counts() [7]*uint64 {
	s := &t.Stats
	return [...]*uint64{&s.Seeds, &s.Subgraphs, &s.Nodes, &s.Edges, &s.Drawn, &s.Negatives, &s.NegativeEdges}
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
