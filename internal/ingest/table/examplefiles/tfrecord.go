package examplefiles

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TFRecord is a table of tf.train.Examples, one row per Example, whose features are the columns. A missing feature,
// or one without values, is an empty cell.
type TFRecord struct {
	fsys   vfs.FS
	paths  []string
	bytes  int64
	fields []table.Field
}

// OpenTFRecord opens the shards of a table, in order, plain or compressed with gzip. The fields are the fields of the
// first record.
func OpenTFRecord(fsys vfs.FS, paths []string) (*TFRecord, error) {
	t := &TFRecord{fsys: fsys, paths: paths}
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	for _, path := range paths {
		info, err := vfs.Regular(fsys, path)
		if err != nil {
			return nil, badf("%w", err)
		}
		t.bytes += info.Size()
	}
	err := t.walk(1, func(b *frames) (bool, error) {
		record, _, err := b.record(0, 0)
		if err != nil {
			return false, err
		}
		var d example.Decoder
		if err := d.Decode(record); err != nil {
			return false, badf("%s: %w", b.place(0, 0), err)
		}
		t.fields = []table.Field{}
		for _, f := range d.Features() {
			field := table.Field{Name: string(f.Key), DType: dtypeOf(f.Kind)}
			if f.Count != 1 {
				field.Shape = []int{-1}
			}
			t.fields = append(t.fields, field)
		}
		return false, nil
	})
	return t, err
}

// walk calls fn for runs of at most the given number of rows, as long as fn returns true.
func (t *TFRecord) walk(most int, fn func(b *frames) (bool, error)) error {
	s := &framer{t: t, ctx: context.Background(), most: most}
	var b frames
	for {
		err := s.run(&b)
		more := false
		if err == nil {
			more, err = fn(&b)
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
		if !more || err != nil {
			return errors.Join(err, s.close())
		}
	}
}

func dtypeOf(k example.Kind) graph.DType {
	switch k {
	case example.BytesList:
		return graph.String
	case example.FloatList:
		return graph.Float32
	case example.Int64List:
		return graph.Int64
	}
	return graph.Invalid
}

// Fields implements Table. Names are the keys of the features. A feature with one value in the first record is
// declared as a scalar, and any other as a vector of variable length.
func (t *TFRecord) Fields() []table.Field { return t.fields }

// Files implements Table.
func (t *TFRecord) Files() []string { return t.paths }

// Bytes implements Table.
func (t *TFRecord) Bytes() int64 { return t.bytes }

// Where implements Table: "nodes.tfrecord: record 17 (byte 1224)".
func (t *TFRecord) Where(row uint64, _ string) string {
	place := fmt.Sprintf("%s: record %d", t.paths[0], row)
	err := t.walk(math.MaxInt, func(b *frames) (bool, error) {
		if row >= b.first+uint64(b.rows) {
			return true, nil
		}
		at := 0
		for range row - b.first {
			at += frameHead + int(binary.LittleEndian.Uint64(b.buf[at:])) + frameFoot
		}
		place = b.place(int(row-b.first), at)
		return false, nil
	})
	if err != nil {
		return fmt.Sprintf("%s (%v)", place, err)
	}
	return place
}

// chunkValues bounds the bytes of columns of fixed shape in a chunk. Rows that lack a large feature take few bytes of
// a file, but their default values take memory.
const chunkValues = 4 << 20

// Scan implements Table. One worker at a time reads a run of frames; the workers check and decode them concurrently.
// The memory per thread is 1 MiB, or one record if that is more, and the vectors made from it.
func (t *TFRecord) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *TFRecord) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	threads = max(threads, 1)
	decoders := make([]*exampleDecoder, threads)
	for i := range decoders {
		d, err := t.decoder(columns)
		if err != nil {
			return 0, err
		}
		decoders[i] = d
	}
	if len(t.fields) > 0 {
		for _, a := range columns {
			// A feature that rows may lack can be missing in the first row.
			if a.Empty == table.EmptyError && !slices.Contains(a.Shape, -1) && !slices.ContainsFunc(t.fields, func(f table.Field) bool { return f.Name == a.Name }) {
				return 0, badf("%s: found the features %s, expected %q among them; correct the name", t.paths[0], table.List(t.names()), a.Name)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &framer{t: t, ctx: ctx, most: chunkValues / decoders[0].width()}
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	firstSeq := 0
	for worker, d := range decoders {
		group.Go(func() {
			var b frames
			for {
				err := s.run(&b)
				if errors.Is(err, io.EOF) {
					return
				}
				if err == nil {
					err = guard.Do(func() error { return d.rows(&b, worker, fn) })
				}
				if err == nil {
					continue
				}
				// Runs are handed out in order, so the runs before this one will finish.
				mu.Lock()
				if first == nil || b.seq < firstSeq {
					first, firstSeq = err, b.seq
				}
				mu.Unlock()
				cancel(err)
				return
			}
		})
	}
	group.Wait()
	if err := errors.Join(first, s.close()); err != nil {
		return 0, err
	}
	return s.rows, nil
}

// Divide implements Divisible: between files.
func (t *TFRecord) Divide(int64) []table.Part {
	parts := make([]table.Part, len(t.paths))
	for i := range parts {
		parts[i].File = i
	}
	return parts
}

// Cut implements Divisible.
func (t *TFRecord) Cut(p table.Part) table.Table {
	x := *t
	x.paths = t.paths[p.File : p.File+1]
	return &x
}

// Measure implements Measurer.
func (t *TFRecord) Measure(ctx context.Context, p table.Part) (table.Measured, error) {
	return table.CountRows(ctx, t.Cut(p))
}

func (t *TFRecord) names() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.Name
	}
	return names
}
