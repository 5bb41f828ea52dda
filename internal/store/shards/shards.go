package shards

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"sort"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// maxShards is the most shards that the five digits in the name of a shard can count.
const maxShards = 99999

// maxClosing is the number of files that are closed at a time. Each stays open until it is synced, and many small
// shards are written faster than that.
const maxClosing = 16

// Options says how records are divided into files.
type Options struct {
	// Name is the first part of the names of the files: NAME-00000-of-00008. Empty means "samples.tfrecord", or
	// "samples.tfrecord.gz".
	Name   string
	Shards int // 0 means 1
	Gzip   bool
	// Records is the number of all records.
	Records uint64
	// Of, if it is not 0, has each of so many Writers make some of the files; Index is the number of this one. All are given all chunks that have a record
	// of their files.
	Index, Of int
}

// Writer writes the files.
type Writer struct {
	w       *store.Writer
	opt     Options
	first   int      // shard of this Writer
	end     int      // of its shards
	shard   int      // the shard that file is
	file    vfs.File // nil before the first
	written uint64   // records
	bytes   int64

	closing guard.Group // files whose writing is done
}

// Position is the position of a Writer between two chunks, for checkpoints.
type Position struct {
	Shard   int    `json:"shard"` // the shard that is being written, -1 before the first
	Records uint64 `json:"records"`
	Bytes   int64  `json:"bytes"`
}

// Checkpoint is the position of s. It waits until all completed files are closed.
func (s *Writer) Checkpoint() (Position, error) {
	return Position{s.shard, s.written, s.bytes}, s.closing.Wait()
}

// Resume sets s to the position of a Writer with the same Options at the checkpoint that the output resumes from. It
// must be called before the first Write.
func (s *Writer) Resume(p Position) (err error) {
	if p.Shard < -1 || p.Shard >= s.opt.Shards || p.Records > s.opt.Records {
		return fmt.Errorf("found shard %d and %d records in the checkpoint, expected at most %d and %d", p.Shard, p.Records, s.opt.Shards-1, s.opt.Records)
	}
	s.shard, s.written, s.bytes = p.Shard, p.Records, p.Bytes
	if p.Shard >= 0 {
		s.file, err = s.w.Create(s.name(p.Shard))
	}
	return err
}

// New begins the files of an output in w. The caller closes it.
func New(w *store.Writer, opt Options) (*Writer, error) {
	if opt.Shards == 0 {
		opt.Shards = 1
	}
	if opt.Shards < 1 || opt.Shards > maxShards {
		return nil, fmt.Errorf("found %d shards, expected 1 to %d", opt.Shards, maxShards)
	}
	if opt.Name == "" {
		opt.Name = "samples.tfrecord"
		if opt.Gzip {
			opt.Name += ".gz"
		}
	}
	if opt.Name != filepath.Base(opt.Name) || strings.HasPrefix(opt.Name, ".") {
		return nil, fmt.Errorf("found name %q of the records, expected a plain file name; leave folders out of it", opt.Name)
	}
	s := &Writer{w: w, opt: opt, end: opt.Shards}
	if opt.Of != 0 {
		s.first, s.end = opt.Index*opt.Shards/opt.Of, (opt.Index+1)*opt.Shards/opt.Of
	}
	s.shard = s.first - 1
	s.closing.SetLimit(maxClosing)
	return s, nil
}

// Options are the options, with their defaults.
func (s *Writer) Options() Options { return s.opt }

// Bytes is the size of the files so far.
func (s *Writer) Bytes() int64 { return s.bytes }

// Chunk is framed records that follow one another.
type Chunk struct {
	opt   *Options
	buf   []byte
	parts []part

	zip    *gzip.Writer
	zipped sliceWriter
}

// part is the bytes of a chunk that go to one shard, which are some records. They end at end.
type part struct {
	shard, end int
	records    uint64
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// NewChunk makes an empty chunk.
func (s *Writer) NewChunk() *Chunk {
	c := &Chunk{opt: &s.opt}
	if s.opt.Gzip {
		c.zip = gzip.NewWriter(&c.zipped)
	}
	return c
}

// Append adds a record. number counts all records from 0.
func (c *Chunk) Append(record []byte, number uint64) error {
	if len(record) > math.MaxInt32 {
		return fmt.Errorf("found a record of %d bytes, expected at most 2 GiB, the limit of an Example; take a smaller fanout, or fewer features", len(record))
	}
	shard := shardOf(number, c.opt.Records, c.opt.Shards)
	if n := len(c.parts); n == 0 || c.parts[n-1].shard != shard {
		c.parts = append(c.parts, part{shard: shard})
	}
	c.buf = tfrecord.AppendFrame(c.buf, record)
	last := &c.parts[len(c.parts)-1]
	last.end = len(c.buf)
	last.records++
	return nil
}

// End completes a chunk. Where it is compressed, each part is a gzip member. A sequence of members is a gzip file, so
// the workers compress and Write only writes.
func (c *Chunk) End() error {
	if c.zip == nil {
		return nil
	}
	c.zipped.b = c.zipped.b[:0]
	at := 0
	for i := range c.parts {
		c.zip.Reset(&c.zipped)
		if _, err := c.zip.Write(c.buf[at:c.parts[i].end]); err != nil {
			return err
		}
		if err := c.zip.Close(); err != nil {
			return err
		}
		at, c.parts[i].end = c.parts[i].end, len(c.zipped.b)
	}
	c.buf, c.zipped.b = c.zipped.b, c.buf
	return nil
}

// Span is the first shard that has records of the chunk, and the one after the last; from is not below to if it has none.
func (c *Chunk) Span() (from, to int) {
	if len(c.parts) == 0 {
		return 0, 0
	}
	return c.parts[0].shard, c.parts[len(c.parts)-1].shard + 1
}

// partBytes is the bytes of a part in AppendTo: its shard, end and records.
const partBytes = 20

// AppendTo appends a chunk that End completed to b, for ReadFrom of a chunk of another process, and empties it.
func (c *Chunk) AppendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.parts)))
	for _, p := range c.parts {
		b = binary.LittleEndian.AppendUint32(b, uint32(p.shard))
		b = binary.LittleEndian.AppendUint64(b, uint64(p.end))
		b = binary.LittleEndian.AppendUint64(b, p.records)
	}
	b = append(b, c.buf...)
	c.buf, c.parts = c.buf[:0], c.parts[:0]
	return b
}

// ReadFrom replaces the chunk by one that AppendTo has appended. The chunk keeps b until Write.
func (c *Chunk) ReadFrom(b []byte) error {
	c.parts = c.parts[:0]
	if len(b) < 4 {
		return io.ErrUnexpectedEOF
	}
	n := int(binary.LittleEndian.Uint32(b))
	if b = b[4:]; len(b)/partBytes < n {
		return io.ErrUnexpectedEOF
	}
	data, at, last := b[partBytes*n:], uint64(0), -1
	for ; n > 0; n-- {
		shard, end, records := int(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint64(b[4:]), binary.LittleEndian.Uint64(b[12:])
		if shard >= c.opt.Shards || shard <= last || end < at || end > uint64(len(data)) {
			return fmt.Errorf("found a part of shard %d that ends at %d, expected parts of ascending shards up to %d, in %d bytes", shard, end, c.opt.Shards-1, len(data))
		}
		c.parts = append(c.parts, part{shard: shard, end: int(end), records: records})
		at, last, b = end, shard, b[partBytes:]
	}
	if at != uint64(len(data)) {
		return fmt.Errorf("found %d bytes of records, expected %d", len(data), at)
	}
	c.buf = data
	return nil
}

// Span is the shards of this Writer: the first, and the one after the last.
func (s *Writer) Span() (from, to int) { return s.first, s.end }

// Write writes a chunk that End completed, and empties it. Records of other Writers are left out.
func (s *Writer) Write(c *Chunk) error {
	at := 0
	for _, p := range c.parts {
		from := at
		if at = p.end; p.shard < s.first || p.shard >= s.end {
			continue
		}
		for s.shard < p.shard {
			if err := s.next(); err != nil {
				return err
			}
		}
		if _, err := s.file.Write(c.buf[from:at]); err != nil {
			return err
		}
		s.bytes += int64(at - from)
		s.written += p.records
	}
	c.buf, c.parts = c.buf[:0], c.parts[:0]
	return nil
}

// next closes the current shard and begins the next one. Closing syncs, which takes time, so it runs while later shards
// are written.
func (s *Writer) next() error {
	s.closeFile()
	s.shard++
	file, err := s.w.Create(s.name(s.shard))
	if err != nil {
		return err
	}
	s.file = file
	if !s.opt.Gzip || shardEnd(s.shard, s.opt.Records, s.opt.Shards) > shardEnd(s.shard-1, s.opt.Records, s.opt.Shards) {
		return nil
	}
	// A compressed file without records has an empty member.
	var empty sliceWriter
	if err := gzip.NewWriter(&empty).Close(); err != nil {
		return err
	}
	n, err := file.Write(empty.b)
	s.bytes += int64(n)
	return err
}

// File is the name of the file that has a record.
func (s *Writer) File(number uint64) string {
	return s.name(shardOf(number, s.opt.Records, s.opt.Shards))
}

func (s *Writer) name(shard int) string {
	return fmt.Sprintf("%s-%05d-of-%05d", s.opt.Name, shard, s.opt.Shards)
}

func (s *Writer) closeFile() {
	if s.file != nil {
		s.closing.Go(s.file.Close)
		s.file = nil
	}
}

// Finish completes the files. It also makes the files without records.
func (s *Writer) Finish() error {
	if want := shardEnd(s.end-1, s.opt.Records, s.opt.Shards) - shardEnd(s.first-1, s.opt.Records, s.opt.Shards); s.written != want {
		return fmt.Errorf("found %d records, expected the %d that the shards were planned for", s.written, want)
	}
	for s.shard+1 < s.end {
		if err := s.next(); err != nil {
			return err
		}
	}
	return s.Close()
}

// Close closes the open files and waits for them. It does nothing after Finish.
func (s *Writer) Close() error {
	s.closeFile()
	return s.closing.Wait()
}

// shardOf is the shard of record number i of total.
func shardOf(i, total uint64, shards int) int {
	return sort.Search(shards, func(s int) bool { return shardEnd(s, total, shards) > i })
}

// shardEnd is the number of the first record after a shard.
func shardEnd(shard int, total uint64, shards int) uint64 {
	k := uint64(shards)
	return total/k*uint64(shard+1) + min(total%k, uint64(shard+1))
}
