package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fsx"
)

// TFRecord is a table of tf.train.Examples, a row each, whose features are the
// columns: int64_list for integers and bools, float_list for floats, bytes_list
// for strings. A feature that a row does not have, or that has no values, is an
// empty cell.
type TFRecord struct {
	fsys   fsx.FS
	paths  []string
	bytes  int64
	fields []Field
}

// OpenTFRecord opens the shards of a table, in order, plain or compressed with
// gzip. The first record of the first shard that has one gives the fields.
func OpenTFRecord(fsys fsx.FS, paths []string) (*TFRecord, error) {
	t := &TFRecord{fsys: fsys, paths: paths}
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	for _, path := range paths {
		info, err := fsx.Regular(fsys, path)
		if err != nil {
			return nil, badf("%w", err)
		}
		t.bytes += info.Size()
		if t.fields != nil {
			continue
		}
		stop := errors.New("enough")
		err = t.records(path, func(record []byte) error {
			var d example.Decoder
			if err := d.Decode(record); err != nil {
				return t.corrupt(path, 0, err)
			}
			t.fields = []Field{}
			for _, f := range d.Features() {
				field := Field{Name: string(f.Key), DType: dtypeOf(f.Kind)}
				if f.Count != 1 {
					field.Shape = []int{-1}
				}
				t.fields = append(t.fields, field)
			}
			return stop
		})
		if err != nil && err != stop { //nolint:errorlint // joined with that of a close it is an error
			return nil, err
		}
	}
	return t, nil
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

func (t *TFRecord) corrupt(path string, record uint64, err error) error {
	return badf("%s: %w", recordPlace(path, record), err)
}

func recordPlace(path string, record uint64) string {
	return fmt.Sprintf("%s: record %d", path, record)
}

// records calls fn for each record of a file.
func (t *TFRecord) records(path string, fn func(record []byte) error) (err error) {
	f, err := t.fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() {
		if bad := f.Close(); bad != nil { // else err stays what fn returned
			err = errors.Join(err, bad)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := tfrecord.Open(f, path, info.Size())
	for err == nil {
		var record []byte
		if record, err = r.Next(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(record)
		}
	}
	if errors.Is(err, tfrecord.ErrCorrupt) {
		err = badf("%w", err)
	}
	return err
}

// Fields implements Table. Names are the features' keys; a feature with one
// value in the first record is declared as a scalar, any other as a vector of
// variable length.
func (t *TFRecord) Fields() []Field { return t.fields }

// Files implements Table.
func (t *TFRecord) Files() []string { return t.paths }

// Bytes implements Table.
func (t *TFRecord) Bytes() int64 { return t.bytes }

// Where implements Table: "nodes.tfrecord: record 17".
func (t *TFRecord) Where(row uint64, _ string) string {
	first := uint64(0)
	stop := errors.New("enough")
	for _, path := range t.paths {
		n := uint64(0)
		err := t.records(path, func([]byte) error {
			if n++; first+n > row {
				return stop
			}
			return nil
		})
		if err != nil {
			return recordPlace(path, row-first)
		}
		first += n
	}
	return recordPlace(t.paths[len(t.paths)-1], row)
}

// batch is a run of records of one file.
type batch struct {
	seq   int
	path  string
	first uint64 // in the table
	local uint64 // in the file
	buf   []byte
	ends  []int
	err   error // instead of records
}

// Scan implements Table. One goroutine reads and checks the frames, the workers
// decode. Memory: threads + 2 times 1 MiB, or one record where that is more.
func (t *TFRecord) Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	threads = max(threads, 1)
	decoders := make([]exampleDecoder, threads)
	for i := range decoders {
		d := &decoders[i]
		d.chunk.Columns = make([]Vector, len(columns))
		for _, a := range columns {
			c, err := newColumn(a)
			if err != nil {
				return 0, fmt.Errorf("%s: column %q: %w", t.paths[0], a.Name, err)
			}
			d.cols = append(d.cols, c)
		}
	}
	if len(t.fields) > 0 {
		for _, a := range columns {
			// A feature that rows may lack can be missing in the first one.
			if a.Empty == EmptyError && !slices.ContainsFunc(t.fields, func(f Field) bool { return f.Name == a.Name }) {
				return 0, badf("%s: found the features %s, expected %q among them", t.paths[0], strings.Join(t.names(), ", "), a.Name)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Both have room for all batches and for the one that carries an error.
	batches, free := make(chan *batch, threads+3), make(chan *batch, threads+3)
	for range threads + 2 {
		free <- new(batch)
	}
	var group sync.WaitGroup
	var rows uint64
	group.Go(func() {
		defer close(batches)
		rows = t.frames(ctx, batches, free)
	})
	var mu sync.Mutex
	var first error
	firstSeq := 0
	for worker := range threads {
		group.Go(func() {
			// All batches are taken in order, so that those before a bad one end.
			for b := range batches {
				mu.Lock()
				skip := first != nil && b.seq > firstSeq
				mu.Unlock()
				if !skip {
					if err := decoders[worker].batch(t, worker, b, fn); err != nil {
						mu.Lock()
						if first == nil || b.seq < firstSeq {
							first, firstSeq = err, b.seq
						}
						mu.Unlock()
						cancel(err)
					}
				}
				free <- b
			}
		})
	}
	group.Wait()
	if first != nil {
		return 0, first
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return rows, nil
}

func (t *TFRecord) names() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.Name
	}
	return names
}

// frames fills batches until the files or ctx end; it returns the number of
// records.
func (t *TFRecord) frames(ctx context.Context, batches chan<- *batch, free <-chan *batch) uint64 {
	rows, seq := uint64(0), 0
	var b *batch
	for _, path := range t.paths {
		local := uint64(0)
		take := func() error {
			select {
			case b = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			b.seq, b.path, b.first, b.local, b.err = seq, path, rows, local, nil
			b.buf, b.ends = b.buf[:0], b.ends[:0]
			seq++
			return nil
		}
		if take() != nil {
			return rows
		}
		err := t.records(path, func(record []byte) error {
			if len(b.buf)+len(record) > chunkSize && len(b.ends) > 0 {
				batches <- b
				if err := take(); err != nil {
					b = nil
					return err
				}
			}
			b.buf = append(b.buf, record...)
			b.ends = append(b.ends, len(b.buf))
			rows++
			local++
			return nil
		})
		if b == nil {
			return rows
		}
		batches <- b
		if err != nil {
			batches <- &batch{seq: seq, err: err}
			return rows
		}
	}
	return rows
}

// exampleDecoder makes chunks of batches; it belongs to one worker.
type exampleDecoder struct {
	decoder example.Decoder
	cols    []column
	chunk   Chunk
	absent  []bool
	ints    []int64
	floats  []float32
	texts   [][]byte
}

func (d *exampleDecoder) batch(t *TFRecord, worker int, b *batch, fn func(worker int, c *Chunk) error) error {
	if b.err != nil || len(b.ends) == 0 {
		return b.err
	}
	for i := range d.cols {
		d.cols[i].reset()
	}
	d.absent = d.absent[:0]
	marked := false
	start := 0
	for i, end := range b.ends {
		if err := d.decoder.Decode(b.buf[start:end]); err != nil {
			return t.corrupt(b.path, b.local+uint64(i), err)
		}
		start = end
		absent := false
		for j := range d.cols {
			c := &d.cols[j]
			none, found, expected := d.put(c, d.decoder.Find(c.Name))
			if expected != "" {
				return badf("%s: found %s in feature %q, expected %s", recordPlace(b.path, b.local+uint64(i)), found, c.Name, expected)
			}
			absent = absent || none
		}
		d.absent = append(d.absent, absent)
		marked = marked || absent
	}
	d.chunk.First, d.chunk.Rows, d.chunk.Absent = b.first, len(b.ends), nil
	if marked {
		d.chunk.Absent = d.absent
	}
	for i := range d.cols {
		c := &d.cols[i]
		if c.wide {
			narrow(c.data.w[:len(b.ends)], c.DType) // each value was checked
		}
		d.chunk.Columns[i] = c.vector(len(b.ends))
	}
	return fn(worker, &d.chunk)
}

// put appends the values of a feature to a column.
func (d *exampleDecoder) put(c *column, f *example.Feature) (absent bool, found, expected string) {
	if c.ragged {
		if found, expected = d.lengths(c, f); expected != "" {
			return false, found, expected
		}
		if f == nil || f.Count == 0 {
			return false, "", ""
		}
	} else if f == nil || f.Count == 0 {
		absent, expected = c.put(nil)
		return absent, "no value", expected
	} else if f.Count != c.values {
		return false, fmt.Sprintf("%d values", f.Count), c.expected()
	}
	switch f.Kind {
	case example.Int64List:
		d.ints = f.AppendInts(d.ints[:0])
		for _, v := range d.ints {
			if !c.integer(v) {
				return false, strconv.FormatInt(v, 10), c.expected()
			}
		}
	case example.FloatList:
		d.floats = f.AppendFloats(d.floats[:0])
		if c.DType == graph.Float32 {
			b := c.data.add(4 * len(d.floats))
			for i, v := range d.floats {
				binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
			}
			break
		}
		for _, v := range d.floats {
			if !c.DType.IsFloat() {
				return false, "a float_list", c.expected()
			}
			if !putFloat(c.data.add(c.DType.Size()), c.DType, float64(v)) {
				return false, fmt.Sprint(v), c.expected()
			}
		}
	case example.BytesList:
		d.texts = f.AppendTexts(d.texts[:0])
		for _, v := range d.texts {
			if c.ID && len(v) == 0 {
				absent, expected = c.put(nil)
				return absent, `""`, expected
			}
			if !c.one(v) {
				return false, quote(v), c.expected()
			}
		}
	}
	return false, "", ""
}

// lengths appends the lengths of a row of a shape with variable dimensions. They
// are features of their own, as in an Example of one item: <name>.d<i> for
// dimension i, counted from 1. Where they follow from the number of values they
// can be left out, and all of them where there is no value.
func (d *exampleDecoder) lengths(c *column, f *example.Feature) (found, expected string) {
	count := 0
	if f != nil {
		count = f.Count
	}
	n, k := 1, 0
	for i, dim := range c.Shape {
		if dim > 0 {
			// A product this large is not the number of the values of a record.
			n = min(n, math.MaxInt64/dim) * dim
			continue
		}
		of := d.decoder.Find(c.keys[k])
		switch {
		case of != nil && of.Kind == example.Int64List && of.Count == n:
			d.ints = of.AppendInts(d.ints[:0])
			sum := int64(0)
			for _, v := range d.ints {
				if v < 0 || v > math.MaxUint32 {
					return fmt.Sprintf("the length %d in dimension %d (%s)", v, i+1, c.keys[k]), "lengths of 0 and more"
				}
				c.lengths[k] = append(c.lengths[k], uint32(v))
				sum += v
			}
			n = int(sum)
		case (of == nil || of.Count == 0) && !c.deep:
			if count%c.values != 0 {
				return fmt.Sprintf("%d values", count), fmt.Sprintf("a multiple of %d", c.values)
			}
			c.row(count)
			n = count / c.values
		case (of == nil || of.Count == 0) && count == 0 && (k == 0 || n == 0):
			for range n {
				c.lengths[k] = append(c.lengths[k], 0)
			}
			n = 0
		case of == nil || of.Kind == example.None:
			return "no lengths", fmt.Sprintf("%d lengths of dimension %d in %q", n, i+1, c.keys[k])
		case of.Kind != example.Int64List:
			return fmt.Sprintf("a %s in %q", of.Kind, c.keys[k]), "an int64_list of lengths"
		default:
			return fmt.Sprintf("%d lengths in %q", of.Count, c.keys[k]), fmt.Sprint(n)
		}
		k++
	}
	if n != count {
		return fmt.Sprintf("%d values", count), fmt.Sprintf("%d, as the lengths say", n)
	}
	return "", ""
}

// integer appends a value of an int64_list. Uint64 takes its bits, as
// TensorFlow does.
func (c *column) integer(v int64) bool {
	switch d := c.DType; {
	case d == graph.String:
		return c.one(strconv.AppendInt(nil, v, 10))
	case d.IsFloat():
		return putFloat(c.data.add(d.Size()), d, float64(v))
	case d == graph.Bool:
		c.data.add(1)[0] = byte(v)
		return v == 0 || v == 1
	default:
		size := d.Size()
		if c.wide {
			size = 8
		}
		putInt(c.data.add(size), uint64(v))
		least, largest := bounds(d)
		return d == graph.Uint64 || v >= least && (v < 0 || uint64(v) <= largest)
	}
}
