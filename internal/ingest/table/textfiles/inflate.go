package textfiles

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

type compression uint8

const (
	plain compression = iota
	gz
	zst
	// records, besides one of these, says that the text is one value of JSON, which is turned into lines.
	records compression = 1 << 4
)

// extension returns the extension and the compression, which the extension does not contain.
func extension(path string) (string, compression) {
	ext, compressed := table.SplitExtension(path)
	switch compressed {
	case ".gz":
		return ext, gz
	case ".zst":
		return ext, zst
	}
	return ext, plain
}

// zstdWindow is the memory that the header of a zstd frame can ask for: freeWindow, or the size of the file if that is more, up
// to the default limit of the zstd program.
const (
	zstdWindow = 128 << 20
	freeWindow = 32 << 20
)

// compressionOf recognises a compression by the first bytes of a file. No text in UTF-8 has them.
func compressionOf(first []byte) compression {
	switch {
	case bytes.HasPrefix(first, []byte("\x1f\x8b\x08")):
		return gz
	case bytes.HasPrefix(first, []byte("\x28\xb5\x2f\xfd")):
		return zst
	}
	return plain
}

// inflated is an open file, read through its decompressor.
type inflated struct {
	io.Reader
	file vfs.File
	comp compression
	stop func()
}

func (r *inflated) Close() error {
	r.stop()
	return r.file.Close()
}

// openInflated opens a file whose name says its compression. The first bytes of one that seems plain tell, too.
func openInflated(fsys vfs.FS, path string, comp compression) (*inflated, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	form := comp & records
	if comp &^= records; comp == plain {
		var first [4]byte
		n, err := f.ReadAt(first[:], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, errors.Join(err, f.Close())
		}
		comp = compressionOf(first[:n])
	}
	r := &inflated{Reader: f, file: f, comp: comp, stop: func() {}}
	switch comp {
	case gz:
		z, err := gzip.NewReader(f)
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			return nil, errors.Join(err, f.Close())
		} else if err != nil {
			return nil, errors.Join(badf("%s: found data that are not gzip (%w), expected gzip; correct the extension, or compress the file again", path, err), f.Close())
		}
		r.Reader = z
	case zst:
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		window := uint64(min(max(freeWindow, info.Size()), zstdWindow))
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, errors.Join(badf("%s: found data that are not zstd (%w), expected zstd; correct the extension, or compress the file again", path, err), f.Close())
		}
		r.Reader, r.stop = z, z.Close
	}
	if form == records {
		r.Reader, r.comp = newRecordLines(r.Reader, path), comp|records
	}
	return r, nil
}

// readHead reads the first bytes of a file of size bytes into buf. whole says that the file has no more bytes, and comp is its
// compression, which its name need not say.
func readHead(fsys vfs.FS, path string, size int64, named compression, buf []byte) (b []byte, whole bool, comp compression, err error) {
	r, err := openInflated(fsys, path, named)
	if err != nil {
		return nil, false, named, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	want := headSize
	if comp = r.comp; comp == plain { // many small files then have small buffers
		want = int(min(headSize, size+1))
	}
	if cap(buf) < want {
		buf = make([]byte, want)
	}
	n, err := fill(r, buf[:want])
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, comp, cannotInflate(path, err)
	}
	return buf[:n], errors.Is(err, io.EOF), comp, nil
}

// fill reads until b is full or the reader ends. It then returns io.EOF, which differs from the error about a cut
// compressed file; io.ReadFull returns the same error for both.
func fill(r io.Reader, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		m, err := r.Read(b[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func cannotInflate(path string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) || errors.Is(err, table.ErrFormat) {
		return err
	}
	return badf("%s: found damaged or cut compressed data, expected a whole file; copy or download it again: %w", path, err)
}

// inflater cuts a decompressed file into blocks of whole records.
type inflater struct {
	t      *CSV
	file   int
	blocks chan *block // in order; closed at the end of the file
	free   chan *block // blocks to reuse
}

// run fills blocks until the end of the file, an error (which goes into the last block), or the end of ctx.
func (z *inflater) run(ctx context.Context) {
	defer close(z.blocks)
	f := z.t.files[z.file]
	send := func(b *block) bool {
		select {
		case z.blocks <- b:
			return true
		case <-ctx.Done():
			return false
		}
	}
	r, err := openInflated(z.t.fsys, f.path, f.comp)
	if err != nil {
		send(&block{err: err})
		return
	}
	err = z.cut(ctx, r, f, send)
	if err = errors.Join(err, r.Close()); err != nil {
		send(&block{err: err})
	}
}

func (z *inflater) cut(ctx context.Context, r io.Reader, f csvFile, send func(*block) bool) error {
	if _, err := io.CopyN(io.Discard, r, f.body); err != nil {
		return cannotInflate(f.path, err)
	}
	var rest []byte // start of a record that continues after the last block
	line := f.line
	for eof := false; !eof; {
		var b *block
		select {
		case b = <-z.free:
		case <-ctx.Done():
			return nil
		}
		limit := max(z.t.chunk, 2*len(rest))
		b.grow(limit, 0)
		n := copy(b.buf, rest)
		end := -1
		for end < 0 && !eof {
			m, err := fill(r, b.buf[n:limit])
			n += m
			if err != nil && !errors.Is(err, io.EOF) {
				return cannotInflate(f.path, err)
			}
			eof = errors.Is(err, io.EOF)
			if end = z.t.syntax.lastRecordEnd(b.buf[:n]); end < 0 && !eof {
				if n > z.t.record {
					return badf("%s:%d: %s", f.path, line+1, tooLong(z.t.record))
				}
				limit *= 2
				b.grow(limit, n)
			}
		}
		if eof {
			end = b.finish(n)
		}
		b.at, b.end, b.line, b.origin = 0, end, line, -1
		line += uint64(bytes.Count(b.buf[:end], []byte("\n")))
		if !eof {
			rest = append(rest[:0], b.buf[end:n]...)
		}
		if end == 0 {
			z.free <- b // has room for all blocks
		} else if !send(b) {
			return nil
		}
	}
	return nil
}

// lastRecordEnd returns the offset after the last line end of b that is outside quotes, or -1. b starts outside
// quotes.
func (s syntax) lastRecordEnd(b []byte) int {
	odd := s.odd(b)
	for end := len(b); ; {
		nl := bytes.LastIndexByte(b[:end], '\n')
		if nl < 0 {
			return -1
		}
		odd = odd != s.odd(b[nl:end])
		if !odd {
			return nl + 1
		}
		end = nl
	}
}
