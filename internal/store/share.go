package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Share is the part of an output that one of several Writers writes: each runs the same code, and keeps the bytes of its shards alone. Arrays of which the size is known
// (Sized, SizedColumn) are divided; everything else is the rest.
//
// An array of some bytes has as many shards as there are Writers, as far as each has Least bytes, and a Writer has at most one of them, in the same order for all arrays. An
// array with one shard has no number in its name. So the shards follow from the sizes of the arrays, Of and Least.
type Share struct {
	Index int // from 0; Rest writes no shard, but everything else
	Of    int
	Least int64 // 0: 64 MiB
}

// Rest is the index of the Writer that writes what is not divided.
const Rest = -1

const leastShard = 64 << 20

// shard is a part of a file: bytes from to to, shard number of n.
type shard struct {
	number, n int
	from, to  int64
}

// of is the shard of a file of size bytes; ok says whether the share has one.
func (s *Share) of(name string, size int64) (_ shard, ok bool) {
	least := s.Least
	if least == 0 {
		least = leastShard
	}
	n := max(min(size/least, int64(s.Of)), 1)
	align := limits.ShardAlign
	step := (size/n + align) / align * align
	n = max((size+step-1)/step, 1)
	if s.Index == Rest {
		return shard{}, false
	}
	at := (int64(s.Index)*n + int64(s.Of) - 1) / int64(s.Of)
	if n == 1 { // files of one shard are spread over all Writers
		at = 0
		if xxh3.HashString(name)%uint64(s.Of) != uint64(s.Index) {
			return shard{}, false
		}
	} else if at >= n || at*int64(s.Of)/n != int64(s.Index) {
		return shard{}, false
	}
	return shard{int(at), int(n), at * step, min((at+1)*step, size)}, true
}

// window is the shard of an array that an Array writes.
type window struct {
	shard
	at   int64      // where Write goes on: the byte in the whole file
	file *shareFile // nil where no byte is wanted
}

// shareFile is a file of the Writer of a share.
type shareFile struct {
	*vfs.Whole
	w    *Writer
	name string // in the output
}

// Close gives the file its name and notes its checksum, unless the Writer abandons its files.
func (f *shareFile) Close() error { return f.end(-1) }

// end is Close of a file that must have a number of bytes; a negative number is any.
func (f *shareFile) end(bytes int64) error {
	if f.w.abandoned.Load() {
		return f.Whole.Close()
	}
	sum, err := hashOpen(context.Background(), f.Whole, make([]byte, hashBuffer))
	if err == nil && bytes >= 0 && sum.Bytes != bytes {
		err = fmt.Errorf("%s: wrote %d bytes of a shard, expected %d", f.Name(), sum.Bytes, bytes)
	}
	if err != nil {
		return errors.Join(err, f.Whole.Close())
	}
	if err := f.Commit(); err != nil {
		return err
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.linked[f.name] = sum
	return nil
}

// wants says whether bytes of the whole file are in the shard.
func (x *window) wants(from, to int64) bool { return from < x.to && to > x.from }

// write writes what lies in the shard of bytes of the whole file.
func (x *window) write(f vfs.File, b []byte, at int64) error {
	from, to := max(at, x.from), min(at+int64(len(b)), x.to)
	if from >= to {
		return nil
	}
	_, err := f.WriteAt(b[from-at:to-at], from-x.from)
	return err
}

// OpenShare makes the Writer of a share, whose files are written to the folder dir: each gets its name when it is whole. Others may write to the folder at the same time, also the same files.
// A file of another kind than an array, which Create makes, is written whole by the Writer that begins it. The caller calls Sums at the end; it does not call Seal, Publish or Abort.
func OpenShare(fsys vfs.FS, dir string, share Share) *Writer {
	return &Writer{fs: fsys, out: dir, dir: dir, share: &share, files: map[string]bool{}, dirs: map[string]bool{".": true}, linked: map[string]ManifestFor{}}
}

// LeaveShares makes w the Writer of the rest.
func (w *Writer) LeaveShares(of int, least int64) { w.share = &Share{Rest, of, least} }

// Sums are the sizes and checksums of the files that the Writer of a share has written.
func (w *Writer) Sums() map[string]ManifestFor { return w.linked }

// LinkShares makes files that Writers of shares wrote to the folder from files of the output (Link). sums is what their Sums say.
func (w *Writer) LinkShares(ctx context.Context, from string, sums map[string]ManifestFor) error {
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(linkFiles)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			_, err := w.Link(ctx, name, from, sums[name])
			return err
		})
	}
	return g.Wait()
}

// linkFiles is the number of files that LinkShares makes at a time: in an object store, and on a disk of a network, each waits for some answers.
const linkFiles = 16

// createShared begins a file of the Writer of a share.
func (w *Writer) createShared(name string) (*shareFile, error) {
	if err := checkLocal(name); err != nil {
		return nil, err
	}
	at := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := w.fs.MkdirAll(filepath.Dir(at)); err != nil {
		return nil, err
	}
	f, err := vfs.CreateWhole(w.fs, at)
	if err != nil {
		return nil, err
	}
	return &shareFile{f, w, name}, nil
}

// Abandon has the files that are still open leave nothing when they are closed, since what they hold is not whole.
func (w *Writer) Abandon() { w.abandoned.Store(true) }

// Sized is Array of a known number of rows. Of an output that is divided (Share) it writes the shard of w alone.
func (w *Writer) Sized(name string, rows uint64, dtype graph.DType, row ...int) (*Array, error) {
	if w.share == nil {
		return w.Array(name, dtype, row...)
	}
	a, err := newArray(name, dtype, row)
	if err != nil {
		return nil, err
	}
	head, err := npy.AppendHeader(nil, a.descr, append([]int{int(rows)}, row...))
	if err != nil {
		return nil, err
	}
	size := int64(len(head)) + int64(rows)*a.width
	a.part = &window{at: int64(len(head))}
	mine, ok := w.share.of(name, size)
	if !ok {
		return a, nil
	}
	a.part.shard = mine
	if mine.n > 1 {
		name = shardName(name, mine.number, mine.n)
	}
	f, err := w.createShared(name)
	if err != nil {
		return nil, err
	}
	a.file, a.part.file = f, f
	if err := a.part.write(a.file, head, 0); err != nil {
		return nil, errors.Join(err, f.Whole.Close())
	}
	return a, nil
}

// Wants says whether the n bytes at an offset from the first value are written: a caller need not make others.
func (a *Array) Wants(off, n int64) bool {
	return a.part == nil || a.file != nil && a.part.wants(npy.HeaderSize+off, npy.HeaderSize+off+n)
}

// next is the byte of the whole file that Write would write next.
func (a *Array) next() int64 { return a.part.at + int64(len(a.buf)) }

// WantsNext is Wants of the n bytes that Write would write next.
func (a *Array) WantsNext(n int64) bool {
	return a.part == nil || a.file != nil && a.part.wants(a.next(), a.next()+n)
}

// Skip leaves out the n bytes that Write would write next, which must not be wanted.
func (a *Array) Skip(n int64) error {
	err := a.Flush()
	a.part.at += n
	return err
}

// closeShard ends an array of a share. Its file gets its name if all of its bytes were written, and else is gone.
func (a *Array) closeShard(failed error) error {
	p := a.part
	switch {
	case p.file == nil:
		return failed
	case failed != nil:
		return errors.Join(failed, p.file.Whole.Close())
	}
	return p.file.end(p.to - p.from)
}

// SizedColumn is Column of rows with a known extent. Of an output that is divided (Share) it writes the shards of w alone.
func (w *Writer) SizedColumn(dir, name string, dtype graph.DType, shape []int, rows *Extent) (*ColumnWriter, error) {
	return w.newColumn(dir, name, dtype, shape, rows)
}

// Extent is how many values rows of a column of variable size have in the files of the column.
type Extent struct {
	// Lengths are, by variable dimension, the numbers of lists, and Elements of values in them.
	Lengths, Elements []uint64
	Strings           uint64 // texts
	Bytes             uint64 // of values, or of texts
}

// length is the number of lists of a dimension.
func (e *Extent) length(k int) uint64 {
	if k < len(e.Lengths) {
		return e.Lengths[k]
	}
	return 0
}

// Take counts rows that ColumnWriter.Append takes.
func (e *Extent) Take(data []byte, ends []uint32, lengths ...[]uint32) {
	for len(e.Lengths) < len(lengths) {
		e.Lengths, e.Elements = append(e.Lengths, 0), append(e.Elements, 0)
	}
	for k, list := range lengths {
		e.Lengths[k] += uint64(len(list))
		for _, n := range list {
			e.Elements[k] += uint64(n)
		}
	}
	e.Strings += uint64(len(ends))
	e.Bytes += uint64(len(data))
}

// Plus adds n times the values of another extent of the same column.
func (e *Extent) Plus(x *Extent, n uint64) {
	for len(e.Lengths) < len(x.Lengths) {
		e.Lengths, e.Elements = append(e.Lengths, 0), append(e.Elements, 0)
	}
	for k := range x.Lengths {
		e.Lengths[k] += n * x.Lengths[k]
		e.Elements[k] += n * x.Elements[k]
	}
	e.Strings += n * x.Strings
	e.Bytes += n * x.Bytes
}

// Wants says whether a part of rows with an extent is written, which Append would take next.
func (c *ColumnWriter) Wants(e *Extent) bool {
	for k, a := range c.offsets {
		if k < len(e.Lengths) && a.WantsNext(int64(8*e.Lengths[k])) {
			return true
		}
	}
	return c.strings != nil && c.strings.WantsNext(int64(8*e.Strings)) || c.values.WantsNext(int64(e.Bytes))
}

// Skip leaves out rows with an extent, which Append would take next and which must not be wanted.
func (c *ColumnWriter) Skip(e *Extent) (err error) {
	for k, a := range c.offsets {
		if k < len(e.Lengths) {
			err = errors.Join(err, a.Skip(int64(8*e.Lengths[k])))
			c.ends[k] += e.Elements[k]
		}
	}
	if c.strings != nil {
		err = errors.Join(err, c.strings.Skip(int64(8*e.Strings)))
		c.nbytes += e.Bytes
	}
	return errors.Join(err, c.values.Skip(int64(e.Bytes)))
}
