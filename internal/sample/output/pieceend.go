package output

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/vfs"
)

// errPiece is the error of a piece that is not what PieceWriter.Write has written.
var errPiece = errors.New("found a damaged piece, expected the subgraphs that a worker wrote; remove the partial output and sample again")

// pieceEnd is what the end of a piece says.
type pieceEnd struct {
	first, batches uint64
	totals         []int64 // bytes of all frames, by section
	from, to       int     // the files that the piece goes to, of parcels that go to files
	tally
	index, sums int64 // offsets in the piece; the index is after the frames
	indexSum    uint64
}

// append appends the end of a piece to its index.
func (e *pieceEnd) append(index []byte) ([]byte, error) {
	e.indexSum, e.sums = xxh3.Hash(index), e.index+int64(len(index))
	b := index
	for _, n := range e.totals {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(e.from))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.to))
	b, err := e.tally.appendTo(b)
	for _, n := range []uint64{uint64(e.index), uint64(e.sums), e.first, e.batches, uint64(len(e.totals)), e.indexSum} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint64(b, xxh3.Hash(b[len(index):]))
	return append(b, pieceMagic...), err
}

// readEnd reads the end of a piece of size bytes.
func readEnd(piece io.ReaderAt, size int64) (*pieceEnd, error) {
	tail := make([]byte, min(size, pieceTail))
	if err := readExact(piece, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	if len(tail) < pieceFoot || string(tail[len(tail)-len(pieceMagic):]) != pieceMagic {
		return nil, errPiece
	}
	foot := tail[len(tail)-pieceFoot:]
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(foot[8*i:]) }
	e := &pieceEnd{first: number(2), batches: number(3), indexSum: number(5)}
	index, sums, sections := number(0), number(1), number(4)
	if end := uint64(size - pieceFoot); index > sums || sums > end || (end-sums)/8 < sections || sections == 0 && e.batches > 0 || e.first+e.batches < e.first || e.batches > (sums-index)/9 {
		return nil, errPiece
	}
	e.index, e.sums = int64(index), int64(sums)
	if long := size - e.sums; long > int64(len(tail)) {
		tail = make([]byte, long)
		if err := readExact(piece, tail, e.sums); err != nil {
			return nil, err
		}
	}
	b := tail[int64(len(tail))-(size-e.sums):]
	if body := b[:len(b)-2*8]; xxh3.Hash(body) != number(6) {
		return nil, errPiece
	}
	b = b[:len(b)-pieceFoot]
	for range sections {
		n := int64(binary.LittleEndian.Uint64(b))
		if n < 0 || n > e.index {
			return nil, errPiece
		}
		e.totals, b = append(e.totals, n), b[8:]
	}
	if len(b) < 16 {
		return nil, errPiece
	}
	from, to := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if from > to || to > math.MaxInt32 {
		return nil, errPiece
	}
	e.from, e.to = int(from), int(to)
	if err := e.tally.readAll(b[16:]); err != nil {
		return nil, errors.Join(errPiece, err)
	}
	e.Stats.Batches = e.batches
	return e, nil
}

// frames reads the index of a piece, and calls fn with the sections of each frame, which are not read.
func (e *pieceEnd) frames(piece io.ReaderAt, fn func(batch uint64, sections []section) error) error {
	index := make([]byte, e.sums-e.index)
	if err := readExact(piece, index, e.index); err != nil {
		return err
	}
	if xxh3.Hash(index) != e.indexSum {
		return errPiece
	}
	at, sections, left := int64(0), make([]section, len(e.totals)), slices.Clone(e.totals)
	for i := range e.batches {
		for s := range sections {
			n, width := binary.Uvarint(index)
			if width <= 0 || len(index) < width+8 || n > uint64(left[s]) || n > uint64(e.index-at) {
				return errPiece
			}
			left[s] -= int64(n)
			sections[s] = section{at: at, n: int64(n), sum: binary.LittleEndian.Uint64(index[width:])}
			at, index = at+int64(n), index[width+8:]
		}
		if err := fn(e.first+i, sections); err != nil {
			return err
		}
	}
	if at != e.index || len(index) > 0 {
		return errPiece
	}
	return nil
}

// setBytes gives sections that follow one another their bytes, and checks them.
func setBytes(sections []section, b []byte) error {
	for i := range sections {
		s := &sections[i]
		s.b, b = b[:s.n:s.n], b[s.n:]
		if xxh3.Hash(s.b) != s.sum {
			return errPiece
		}
	}
	return nil
}

// bytesOf is the bytes of sections.
func bytesOf(sections []section) (n int64) {
	for _, s := range sections {
		n += s.n
	}
	return n
}

// resize is b with n bytes of any values.
func resize(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n, max(n, 2*int64(cap(b))))
	}
	return b[:n]
}

// readExact reads all of b at an offset, and of a file on another machine nothing else.
func readExact(f io.ReaderAt, b []byte, at int64) error {
	if r, ok := f.(vfs.Remote); ok {
		return r.ReadRange(context.Background(), b, at)
	}
	if n, err := f.ReadAt(b, at); n < len(b) {
		return errors.Join(errPiece, err)
	}
	return nil
}

// frameReader reads the frames of a piece from front to back.
type frameReader struct {
	in    *bufio.Reader
	frame []byte
}

func newFrameReader(piece io.ReaderAt, from, to int64) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(io.NewSectionReader(piece, from, to-from), 1<<18)}
}

// read reads the next sections.
func (r *frameReader) read(sections []section) error {
	r.frame = resize(r.frame, bytesOf(sections))
	if _, err := io.ReadFull(r.in, r.frame); err != nil {
		return errors.Join(errPiece, err)
	}
	return setBytes(sections, r.frame)
}

// sizedPiece is the end of a piece and its file.
func sizedPiece(piece vfs.File) (*pieceEnd, error) {
	info, err := piece.Stat()
	if err != nil {
		return nil, err
	}
	return readEnd(piece, info.Size())
}

// joinPiece reads a piece into parcels, and hands the parcels of the batches from from on to sink. It returns the batch after
// its last one.
func joinPiece[T parcel](piece io.ReaderAt, e *pieceEnd, out T, from uint64, sink func(T) error) (uint64, error) {
	if e.first > from {
		return from, fmt.Errorf("%w: batches %d to %d, expected batch %d", errPiece, e.first, e.first+e.batches, from)
	}
	if err := e.fits(out); err != nil {
		return from, err
	}
	var r *frameReader
	err := e.frames(piece, func(batch uint64, sections []section) error {
		if batch < from {
			return nil
		}
		if r == nil {
			r = newFrameReader(piece, sections[0].at, e.index)
		}
		if err := r.read(sections); err != nil {
			return err
		}
		if err := out.readFrom(sections); err != nil {
			return errors.Join(errPiece, err)
		}
		return sink(out)
	})
	return max(from, e.first+e.batches), err
}

// fits says whether a piece has the sections of a parcel.
func (e *pieceEnd) fits(out parcel) error {
	if e.batches > 0 && len(e.totals) != out.sections() {
		return fmt.Errorf("%w: %d sections in a frame, expected %d", errPiece, len(e.totals), out.sections())
	}
	return nil
}

// CheckPiece reads the end of a piece, and where whole is set all of it, and compares it with its checksums.
func CheckPiece(piece vfs.File, whole bool) error {
	e, err := sizedPiece(piece)
	if err != nil || !whole {
		return err
	}
	return e.check(piece)
}

// check compares the frames of a piece with their checksums.
func (e *pieceEnd) check(piece io.ReaderAt) error {
	r := newFrameReader(piece, 0, e.index)
	return e.frames(piece, func(_ uint64, sections []section) error { return r.read(sections) })
}
