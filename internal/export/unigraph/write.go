package unigraph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// errInexpressible is the kind of errors about a value that the format cannot hold, for errors.Is. Their texts start
// with the place of the row.
var errInexpressible = errors.New("a value that the format cannot hold")

// Format is a format of table files.
type Format uint8

// The formats.
const (
	CSV Format = iota
	TFRecord
	Parquet
)

var formatNames = []string{"csv", "tfrecord", "parquet"}

// Formats lists the names of the formats.
func Formats() []string { return slices.Clone(formatNames) }

// ParseFormat parses "csv", "tfrecord" or "parquet".
func ParseFormat(s string) (Format, error) {
	i := slices.Index(formatNames, s)
	if i < 0 {
		return 0, fmt.Errorf("found format %q, expected csv, tfrecord or parquet", s)
	}
	return Format(i), nil
}

// String returns the name of the format.
func (f Format) String() string { return formatNames[f] }

// maxShards is the number of shards that the five digits in a file name can count.
const maxShards = 99999

// Options say how tables are written.
type Options struct {
	Format Format
	// Shards is the number of files of a table, NAME-00000-of-00008 and so on. 0 means one file NAME.
	Shards int
	// Gzip compresses CSV and TFRecord files.
	Gzip bool
	// RoundDoubles rounds float64 to float32 in TFRecords. Without it, a loss of digits is an error. A number beyond
	// the range of float32 is an error in either case.
	RoundDoubles bool
	Threads      int // 0: 1

	dgf bool // the tables are DGF's, in its formats and under its names of shards
	// Progress, if not nil, receives the number of rows of each step.
	Progress func(rows int)
}

// Check checks that the options are valid together.
func (o Options) Check() error {
	switch {
	case o.Shards < 0 || o.Shards > maxShards:
		return fmt.Errorf("found %d shards, expected 1 to %d", o.Shards, maxShards)
	case o.Gzip && o.Format == Parquet:
		return errors.New("found gzip for Parquet tables, which are compressed already, expected it with csv or tfrecord; leave `Gzip` out")
	case o.RoundDoubles && o.Format != TFRecord:
		return fmt.Errorf("found rounding of doubles for %s tables, which can hold doubles, expected it with tfrecord; leave it out", o.Format)
	}
	return nil
}

// fileName is the file name of a table without shards.
func (o Options) fileName(stem string) string {
	name := stem + "." + o.Format.String()
	if o.Gzip {
		name += ".gz"
	}
	return name
}

// pattern returns the name of a table in a schema. TF-GNN reads NAME@SHARDS only for TFRecords; for CSV files it
// reads the equivalent pattern.
func (o Options) pattern(stem string) string {
	switch {
	case o.Shards == 0:
		return o.fileName(stem)
	case o.Format == CSV:
		return fmt.Sprintf("%s-?????-of-%05d", o.fileName(stem), o.Shards)
	}
	return fmt.Sprintf("%s@%d", o.fileName(stem), o.Shards)
}

// tableColumn is a column of the input table, and its name in the output table.
type tableColumn struct {
	Name string
	From table.Column
}

// Stats counts what was written.
type Stats struct {
	Rows  uint64
	Bytes int64
	// Narrowed counts the doubles that lost digits as float32, by "table: column x".
	examplecolumns.Narrowed
}

// maxWaiting bounds the bytes of encoded rows that may wait in memory for the rows before them. Tests make it small.
var maxWaiting int64 = 64 << 20

// writer writes the files of one table.
type writer struct {
	fsys    vfs.FS
	w       *store.Writer
	stem    string
	t       table.Table
	columns []tableColumn
	opt     Options
	total   uint64 // number of rows, if there are shards

	mu      sync.Mutex
	next    uint64 // the next row to write
	waiting map[uint64]*piece
	held    int64 // bytes of waiting pieces in memory
	spill   *extsort.Spill
	free    []*piece
	err     error

	shard   int // index of the shard that is open; -1 before the first
	file    vfs.File
	parquet *parquetFile // the Parquet content of file
	bytes   int64
	closing guard.Group // closes files that are written

	narrowed examplecolumns.Narrowed
}

// piece is the encoded rows of a chunk.
type piece struct {
	rows  uint64
	buf   []byte
	parts []part
	// early: the bytes wait in the spill instead of in buf.
	early extsort.Extent
}

// part is the part of a piece that belongs to one shard: the bytes up to end and, for Parquet, the pages in them, one
// per column.
type part struct {
	shard, end int
	pages      []page
}

// maxClosing bounds the files that are synced and closed while others are written.
const maxClosing = 16

// writeTable writes columns of a table, all rows in order, as files named after stem. fsys is the file system of w. The
// files are not usable before w is published.
func writeTable(ctx context.Context, fsys vfs.FS, w *store.Writer, stem string, t table.Table, columns []tableColumn, opt Options) (stats Stats, err error) {
	if err := opt.Check(); err != nil {
		return stats, err
	}
	opt.Threads = max(opt.Threads, 1)
	tw := &writer{fsys: fsys, w: w, stem: stem, t: t, columns: columns, opt: opt, waiting: map[uint64]*piece{}, shard: -1}
	tw.spill = extsort.NewSpill(fsys, w.Dir(), 0)
	tw.closing.SetLimit(maxClosing)
	defer func() { err = errors.Join(err, tw.close(), tw.spill.Close()) }()
	ask := make([]table.Column, len(columns))
	var underflows table.Underflows // counts doubles that are read as float32
	for i, c := range columns {
		ask[i] = c.From
		underflows.WatchOne(stem, &ask[i])
	}
	if opt.Shards > 1 {
		// Contiguous shards require the number of rows first.
		if tw.total, err = t.Scan(ctx, nil, opt.Threads, func(int, *table.Chunk) error { return nil }); err != nil {
			return stats, err
		}
	}
	encoders := make([]*encoder, opt.Threads)
	for i := range encoders {
		if encoders[i], err = newEncoder(tw); err != nil {
			return stats, fmt.Errorf("%s: %w", stem, err)
		}
	}
	rows, err := t.Scan(ctx, ask, opt.Threads, func(worker int, c *table.Chunk) error {
		p, err := encoders[worker].encode(c)
		if err != nil {
			return err
		}
		return tw.put(c.First, p)
	})
	if err != nil {
		return stats, err
	}
	if opt.Shards > 1 && rows != tw.total {
		return stats, fmt.Errorf("%s: found %d rows, expected %d, as in the first scan; the table changed", stem, rows, tw.total)
	}
	for tw.shard+1 < max(opt.Shards, 1) {
		if err := tw.open(); err != nil {
			return stats, err
		}
	}
	if err := tw.close(); err != nil {
		return stats, err
	}
	tw.narrowed.Add(underflows.Counts())
	return Stats{rows, tw.bytes, tw.narrowed}, nil
}

// shardOf returns the shard of a row, and shardEnd the row after a shard.
func (w *writer) shardOf(row uint64) int {
	if w.opt.Shards < 2 {
		return 0
	}
	return sort.Search(w.opt.Shards, func(s int) bool { return w.shardEnd(s) > row })
}

func (w *writer) shardEnd(shard int) uint64 {
	if w.opt.Shards < 2 {
		return 1<<64 - 1
	}
	k := uint64(w.opt.Shards)
	return w.total/k*uint64(shard+1) + min(w.total%k, uint64(shard+1))
}

// take returns an empty piece for a worker.
func (w *writer) take() *piece {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.free); n > 0 {
		p := w.free[n-1]
		w.free = w.free[:n-1]
		return p
	}
	return &piece{}
}

// give returns a piece for reuse.
func (w *writer) give(p *piece) {
	p.rows, p.buf, p.parts, p.early = 0, p.buf[:0], p.parts[:0], extsort.Extent{}
	w.free = append(w.free, p)
}

// put writes the rows from first on, or keeps them until the rows before them are written. It never blocks to wait
// for the rows of another worker, since a scan that fails would never deliver them.
func (w *writer) put(first uint64, p *piece) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if first != w.next {
		if w.held += int64(len(p.buf)); w.held > maxWaiting {
			w.held -= int64(len(p.buf))
			if p.early, w.err = w.spill.Put(p.buf); w.err != nil {
				return w.err
			}
			p.buf = nil
		}
		w.waiting[first] = p
		return nil
	}
	for p != nil {
		if w.err = w.write(p); w.err != nil {
			return w.err
		}
		w.next += p.rows
		w.give(p)
		p = w.waiting[w.next]
		if p == nil {
			break
		}
		delete(w.waiting, w.next)
		if n := p.early.Len(); n > 0 {
			p.buf = make([]byte, n)
			if w.err = w.spill.Get(p.early, p.buf); w.err != nil {
				return w.err
			}
			w.spill.Free(p.early)
		} else {
			w.held -= int64(len(p.buf))
		}
	}
	return nil
}

// write appends a piece to its shards.
func (w *writer) write(p *piece) error {
	at := 0
	for _, part := range p.parts {
		for w.shard < part.shard {
			if err := w.open(); err != nil {
				return err
			}
		}
		b := p.buf[at:part.end]
		var err error
		if w.parquet != nil {
			err = w.parquet.add(b, at, part.pages)
		} else {
			err = w.append(b)
		}
		if err != nil {
			return err
		}
		at = part.end
	}
	if w.opt.Progress != nil {
		w.opt.Progress(int(p.rows))
	}
	return nil
}

func (w *writer) append(b []byte) error {
	n, err := w.file.Write(b)
	w.bytes += int64(n)
	return err
}

// open completes the current file and begins the next one.
func (w *writer) open() error {
	if err := w.end(); err != nil {
		return err
	}
	w.shard++
	name := w.opt.fileName(w.stem)
	switch {
	case w.opt.dgf:
		name = fmt.Sprintf("%s-%05d-of-%05d%s", w.stem, w.shard, w.opt.Shards, dgf.ParquetSuffix)
	case w.opt.Shards > 0:
		name = fmt.Sprintf("%s-%05d-of-%05d", name, w.shard, w.opt.Shards)
	}
	var err error
	if w.file, err = w.w.Create(name); err != nil {
		return err
	}
	switch w.opt.Format {
	case CSV:
		b := appendHeader(nil, w.columns)
		if w.opt.Gzip {
			b, err = member(b)
		}
		return errors.Join(err, w.append(b))
	case TFRecord:
		if w.opt.Gzip { // a compressed file without records still needs a member
			b, err := member(nil)
			return errors.Join(err, w.append(b))
		}
	case Parquet:
		w.parquet, err = newParquetFile(w)
		return err
	}
	return nil
}

// end completes the current file. Closing syncs, which runs while the next files are written.
func (w *writer) end() error {
	if w.file == nil {
		return nil
	}
	var err error
	if w.parquet != nil {
		err = w.parquet.close()
		w.parquet = nil
	}
	w.closing.Go(w.file.Close)
	w.file = nil
	return err
}

// close completes the last file and waits until all files are closed.
func (w *writer) close() error {
	if w.parquet != nil && w.err != nil {
		w.parquet = nil // do not complete half a file
	}
	return errors.Join(w.end(), w.closing.Wait())
}

// inexpressible returns the error about a value in a row of the input.
func (w *writer) inexpressible(row uint64, column int, found, expected string) error {
	c := w.columns[column]
	return tagged.Errorf(errInexpressible, "%s: found %s in column %q, expected %s", w.t.Where(row, c.From.Name), found, c.Name, expected)
}
