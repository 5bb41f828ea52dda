package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// summedFile is a file that is written from its start on. Its bytes are summed as they come, so that Seal does not read them.
type summedFile struct {
	vfs.File
	x     *appending
	name  string
	hash  *xxh3.Hasher
	bytes int64
}

// create makes a file of the segment.
func (x *appending) create(name string) (*summedFile, error) {
	f, err := x.w.Create(name)
	if err != nil {
		return nil, err
	}
	return &summedFile{f, x, name, xxh3.New(), 0}, nil
}

// Write implements io.Writer.
func (f *summedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	_, _ = f.hash.Write(b[:n]) // a hash never fails
	f.bytes += int64(n)
	return n, err
}

// Close syncs and closes.
func (f *summedFile) Close() error {
	err := f.File.Close()
	if err == nil {
		f.x.w.Summed(f.name, ManifestFor{Bytes: f.bytes, XXH3: fmt.Sprintf("%016x", f.hash.Sum64())})
	}
	return err
}

// writeArray writes an array of uint32, or of uint64 for wide.
func (x *appending) writeArray(name string, b []byte, wide bool) error {
	dtype := graph.Uint32
	if wide {
		dtype = graph.Uint64
	}
	head, err := npy.AppendHeader(nil, Descr(dtype), []int{len(b) / dtype.Size()})
	if err != nil {
		return err
	}
	return x.writeParts(name, head, b)
}

// writeParts writes a file of parts.
func (x *appending) writeParts(name string, parts ...[]byte) error {
	f, err := x.create(name)
	if err != nil {
		return err
	}
	for _, b := range parts {
		if err == nil {
			_, err = f.Write(b)
		}
	}
	return errors.Join(err, f.Close())
}

// indexBlock is the number of values of an index that are written at a time.
const indexBlock = 1 << 16

// writeIndex writes the values of an index of another store, each with a number added, as uint32, or as uint64 for wide. It holds little of them in memory.
func (x *appending) writeIndex(name string, from *Store, of graph.Index, plus uint64, wide bool) (err error) {
	dtype := graph.Uint32
	if wide {
		dtype = graph.Uint64
	}
	head, err := npy.AppendHeader(nil, Descr(dtype), []int{of.Len()})
	if err != nil {
		return err
	}
	f, err := x.create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(head); err != nil {
		return err
	}
	var buf []byte
	for at := 0; at < of.Len(); at += indexBlock {
		if err := context.Cause(x.ctx); err != nil {
			return err
		}
		part := indexPart(of, at, min(at+indexBlock, of.Len()))
		var b []byte
		switch {
		case plus == 0 && wide && part.U64 != nil:
			b = graph.Bytes(part.U64)
		case plus == 0 && !wide && part.U32 != nil:
			b = graph.Bytes(part.U32)
		default:
			buf = appendIndex(buf[:0], part, plus, wide)
			b = buf
		}
		if _, err := f.Write(b); err != nil {
			return err
		}
		if err := from.Touched(part.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// appendIndex appends the values of an index, each with a number added.
func appendIndex(b []byte, x graph.Index, plus uint64, wide bool) []byte {
	for i := range x.Len() {
		if v := x.At(i) + plus; wide {
			b = binary.LittleEndian.AppendUint64(b, v)
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return b
}

// openArray opens an array file, and returns its size and where its values begin.
func (x *appending) openArray(name string) (f vfs.File, size, start int64, err error) {
	path, start := x.ArrayFile(name)
	if f, err = x.fs.Open(path); err != nil {
		return nil, 0, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), start, nil
}

// writeRest writes the file that goes on with another: the bytes of it from restFrom on, and more.
func (x *appending) writeRest(before, to string, more []byte) (err error) {
	old, size, _, err := x.openArray(before)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	at := restFrom(size)
	head := make([]byte, size-at)
	if _, err := io.ReadFull(io.NewSectionReader(old, at, int64(len(head))), head); err != nil {
		return err
	}
	return x.writeParts(to, head, more)
}

// copyFile copies a file of another store.
func (x *appending) copyFile(from *Store, file, to string) (err error) {
	if err := context.Cause(x.ctx); err != nil {
		return err
	}
	path, _ := from.ArrayFile(file)
	in, err := from.fs.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := x.create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(out, in, make([]byte, copyBuffer))
	return errors.Join(err, out.Close())
}

// copyBuffer fits a cache.
const copyBuffer = 256 << 10
