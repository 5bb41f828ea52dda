package examplefiles

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// exampleDecoder makes chunks from runs of frames. It belongs to one worker.
//
// Most rows have the form that TensorFlow writes, with one packed list per feature, and most scans ask for a few
// single values. Their features are found and appended without a general decoder, which handles all other rows.
type exampleDecoder struct {
	decoder example.Decoder
	cols    []builder.Column
	wanted  []wanted
	guess   [32]int // index in wanted of each feature of the last row; -1: not wanted
	chunk   table.Chunk
	absent  []bool
	ints    []int64
	floats  []float32
	texts   [][]byte
}

// wanted is a feature that is asked for.
type wanted struct {
	key   string
	seen  bool // found in this row
	kind  example.Kind
	list  []byte // the list message
	cells []byte // values of a column that is appended fast
	cell  uint64 // or the single integer
}

func (t *TFRecord) decoder(columns []table.Column) (*exampleDecoder, error) {
	d := &exampleDecoder{}
	d.chunk.Columns = make([]table.Vector, len(columns))
	for _, a := range columns {
		c, err := builder.New(a)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", t.paths[0], a.Name, err)
		}
		d.cols = append(d.cols, c)
		// Column i is wanted[i]. Lengths follow after all columns.
		d.wanted = append(d.wanted, wanted{key: a.Name})
	}
	for i := range d.cols {
		for _, key := range d.cols[i].Keys {
			d.wanted = append(d.wanted, wanted{key: key})
		}
	}
	return d, nil
}

// width returns about the number of bytes of a row without values.
func (d *exampleDecoder) width() int {
	n := 1
	for i := range d.cols {
		n += d.cols[i].Values * max(d.cols[i].DType.Size(), 4)
	}
	return min(n, chunkValues)
}

// rows decodes a run and passes it to fn.
func (d *exampleDecoder) rows(b *frames, worker int, fn func(worker int, c *table.Chunk) error) error {
	for i := range d.cols {
		d.cols[i].Reset()
	}
	d.absent = d.absent[:0]
	marked := false
	for i, at := 0, 0; i < b.rows; i++ {
		record, next, err := b.record(i, at)
		if err != nil {
			return err
		}
		absent := false
		if !d.fast(record) {
			if absent, err = d.row(record); err != nil {
				return badf("%s: %w", b.place(i, at), err)
			}
		}
		d.absent = append(d.absent, absent)
		marked = marked || absent
		at = next
	}
	d.chunk.First, d.chunk.Rows, d.chunk.Bytes, d.chunk.Absent, d.chunk.File = b.first, b.rows, 0, nil, b.path
	if !b.checked {
		d.chunk.Bytes = int64(b.end)
	}
	if marked {
		d.chunk.Absent = d.absent
	}
	for i := range d.cols {
		c := &d.cols[i]
		if c.Wide {
			scalar.Narrow(c.Data.W[:b.rows], c.DType) // each value was checked
		}
		d.chunk.Columns[i] = c.Vector(b.rows)
	}
	return fn(worker, &d.chunk)
}

// row appends the values of any Example.
func (d *exampleDecoder) row(record []byte) (absent bool, err error) {
	if err := d.decoder.Decode(record); err != nil {
		return false, err
	}
	if key := d.repeated(record); key != "" {
		return false, fmt.Errorf("found the feature %q twice, expected it once; remove one", key)
	}
	for i := range d.cols {
		c := &d.cols[i]
		none, found, expected := d.put(c, d.decoder.Find(c.Name))
		if expected != "" {
			return false, fmt.Errorf("found %s in feature %q, expected %s; write the feature again, or correct the schema", found, c.Name, expected)
		}
		absent = absent || none
	}
	return absent, nil
}

// repeated returns a feature that is asked for and that a record has twice. The record is an Example.
func (d *exampleDecoder) repeated(record []byte) (key string) {
	for i := range d.wanted {
		d.wanted[i].seen = false
	}
	fields(record, func(features []byte) {
		fields(features, func(entry []byte) {
			var name []byte
			fields(entry, func(b []byte) { name = b })
			for i := range d.wanted {
				w := &d.wanted[i]
				if string(name) != w.key {
					continue
				}
				if w.seen {
					key = w.key
				}
				w.seen = true
				break
			}
		})
	})
	return key
}

// fields calls fn for each field 1 of a valid message.
func fields(msg []byte, fn func([]byte)) {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		k := protowire.ConsumeFieldValue(num, typ, msg[n:])
		if num == 1 && typ == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(msg[n:])
			fn(value)
		}
		msg = msg[n+k:]
	}
}

// The tags of the messages' fields, all of wire type bytes.
const (
	tag1 = 1<<3 | 2
	tag2 = 2<<3 | 2
)

// message returns the first field of b and the bytes after it. It returns nil if the field has another tag or is not
// whole.
func message(b []byte, tag byte) (field, rest []byte) {
	if len(b) < 2 || b[0] != tag {
		return nil, nil
	}
	n, k := uint64(b[1]), 2
	if n >= 0x80 {
		v, m := binary.Uvarint(b[1:])
		if m <= 0 {
			return nil, nil
		}
		n, k = v, 1+m
	}
	if n > uint64(len(b)-k) {
		return nil, nil
	}
	end := k + int(n)
	return b[k:end:end], b[end:]
}

// fast appends a row if all columns are single values, or vectors of float32 of a fixed shape, in the form that
// TensorFlow writes. Otherwise it appends nothing.
func (d *exampleDecoder) fast(record []byte) bool {
	if !d.find(record) {
		return false
	}
	for i := range d.cols {
		if !d.wanted[i].simple(&d.cols[i]) {
			return false
		}
	}
	for i := range d.cols {
		c, w := &d.cols[i], &d.wanted[i]
		if c.Wide {
			binary.LittleEndian.PutUint64(c.Data.Add(8), w.cell)
			continue
		}
		copy(c.Data.Add(len(w.cells)), w.cells)
		if c.DType == graph.String {
			c.Ends = append(c.Ends, uint32(c.Data.N))
		}
	}
	return true
}

// find finds the lists of the wanted features. It returns false if the record has another form, or has a feature
// twice.
func (d *exampleDecoder) find(record []byte) bool {
	for i := range d.wanted {
		d.wanted[i].seen = false
	}
	rest, behind := message(record, tag1)
	if rest == nil || len(behind) > 0 {
		return false
	}
	for place := 0; len(rest) > 0; place++ {
		if k := d.guess[place%len(d.guess)]; k < len(d.wanted) {
			if n := d.wanted[k].short(rest); n > 0 {
				rest = rest[n:]
				continue
			}
		}
		var entry []byte
		if entry, rest = message(rest, tag1); entry == nil {
			return false
		}
		key, value := message(entry, tag1)
		feature, behind := message(value, tag2)
		if key == nil || feature == nil || len(behind) > 0 {
			return false
		}
		g := &d.guess[place%len(d.guess)]
		if k := *g; k >= len(d.wanted) || string(key) != d.wanted[k].key {
			*g = d.index(key)
			if *g == len(d.wanted) {
				continue
			}
		}
		w := &d.wanted[*g]
		if w.seen || len(feature) < 2 || feature[0]&7 != 2 {
			return false
		}
		w.kind = example.Kind(feature[0] >> 3)
		if w.list, behind = message(feature, feature[0]); w.list == nil || len(behind) > 0 {
			return false
		}
		w.seen = true
	}
	return true
}

// short finds the list of the feature at the start of the entries of a record, if it is this feature, was not found before
// and has a list of fewer than 128 bytes: then the length of each message is one byte. It returns the number of bytes of
// the entry. It returns 0, and finds nothing, if the entry is of another form.
func (w *wanted) short(entries []byte) int {
	if len(entries) < 2 || entries[0] != tag1 || entries[1] >= 0x80 || int(entries[1]) > len(entries)-2 || w.seen {
		return 0
	}
	entry := entries[2 : 2+int(entries[1])]
	if len(entry) < len(w.key)+6 || entry[0] != tag1 || int(entry[1]) != len(w.key) || string(entry[2:2+len(w.key)]) != w.key {
		return 0
	}
	value := entry[2+len(w.key):]
	if value[0] != tag2 || int(value[1]) != len(value)-2 || value[2]&7 != 2 || int(value[3]) != len(value)-4 {
		return 0
	}
	w.kind, w.list, w.seen = example.Kind(value[2]>>3), value[4:], true
	return 2 + len(entry)
}

// index returns the index of a wanted feature, or len(d.wanted) if the feature is not wanted.
func (d *exampleDecoder) index(key []byte) int {
	for i := range d.wanted {
		if string(key) == d.wanted[i].key {
			return i
		}
	}
	return len(d.wanted)
}

// simple says whether the feature can be appended fast, and keeps its values.
func (w *wanted) simple(c *builder.Column) bool {
	if !w.seen {
		return false
	}
	value, behind := message(w.list, tag1)
	if value == nil || len(behind) > 0 {
		return false
	}
	switch {
	case c.DType == graph.String:
		w.cells = value
		return w.kind == example.BytesList && len(c.Shape) == 0 && (len(value) > 0 || !c.ID)
	case c.Wide:
		v, n := binary.Uvarint(value)
		w.cell = v
		least, largest := scalar.Bounds(c.DType)
		return w.kind == example.Int64List && n == len(value) && n > 0 &&
			(c.DType == graph.Uint64 || int64(v) >= least && (int64(v) < 0 || v <= largest))
	case c.DType == graph.Float32:
		w.cells = value
		return w.kind == example.FloatList && !c.Ragged && len(value) == 4*c.Values
	}
	return false
}

// put appends the values of a feature to a column.
func (d *exampleDecoder) put(c *builder.Column, f *example.Feature) (absent bool, found, expected string) {
	if c.Ragged {
		if found, expected = d.lengths(c, f); expected != "" {
			return false, found, expected
		}
		if f == nil || f.Count == 0 {
			return false, "", ""
		}
	} else if f == nil || f.Count == 0 {
		absent, expected = c.Put(nil)
		return absent, "no value", expected
	} else if f.Count != c.Values {
		return false, fmt.Sprintf("%d values", f.Count), c.Expected()
	}
	switch f.Kind {
	case example.Int64List:
		d.ints = f.AppendInts(d.ints[:0])
		for _, v := range d.ints {
			if !integer(c, v) {
				return false, strconv.FormatInt(v, 10), c.Expected()
			}
		}
	case example.FloatList:
		d.floats = f.AppendFloats(d.floats[:0])
		if c.DType == graph.Float32 {
			b := c.Data.Add(4 * len(d.floats))
			for i, v := range d.floats {
				binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
			}
			break
		}
		for _, v := range d.floats {
			if !c.DType.IsFloat() {
				return false, "a float_list", c.Expected()
			}
			if !scalar.PutFloat(c.Data.Add(c.DType.Size()), c.DType, float64(v)) {
				return false, fmt.Sprint(v), c.Expected()
			}
		}
	case example.BytesList:
		d.texts = f.AppendTexts(d.texts[:0])
		for _, v := range d.texts {
			if c.ID && len(v) == 0 {
				absent, expected = c.Put(nil)
				return absent, `""`, expected
			}
			if !c.One(v) {
				return false, scalar.Quote(v), c.Expected()
			}
		}
	}
	return false, "", ""
}

// lengths appends the row lengths of a shape with variable dimensions. They are features of their own, as in an
// Example of one item: <name>.d<i> for dimension i, counted from 1. They may be omitted if they follow from the
// number of values, and if there are no values.
func (d *exampleDecoder) lengths(c *builder.Column, f *example.Feature) (found, expected string) {
	count := 0
	if f != nil {
		count = f.Count
	}
	n, k := 1, 0
	for i, dim := range c.Shape {
		if dim > 0 {
			// A product this large cannot be the number of values of a record.
			n = min(n, math.MaxInt64/dim) * dim
			continue
		}
		of := d.decoder.Find(c.Keys[k])
		switch {
		case of != nil && of.Kind == example.Int64List && of.Count == n:
			d.ints = of.AppendInts(d.ints[:0])
			sum := int64(0)
			for _, v := range d.ints {
				if v < 0 || v > math.MaxUint32 {
					return fmt.Sprintf("the length %d in dimension %d (%s)", v, i+1, c.Keys[k]), "lengths of at least 0"
				}
				c.Lengths[k] = append(c.Lengths[k], uint32(v))
				sum += v
			}
			n = int(sum)
		case (of == nil || of.Count == 0) && !c.Deep:
			if count%c.Values != 0 {
				return fmt.Sprintf("%d values", count), fmt.Sprintf("a multiple of %d", c.Values)
			}
			c.Row(count)
			n = count / c.Values
		case (of == nil || of.Count == 0) && count == 0 && (k == 0 || n == 0):
			for range n {
				c.Lengths[k] = append(c.Lengths[k], 0)
			}
			n = 0
		case of == nil || of.Kind == example.None:
			return "no lengths", fmt.Sprintf("%d lengths of dimension %d in %q", n, i+1, c.Keys[k])
		case of.Kind != example.Int64List:
			return fmt.Sprintf("a %s in %q", of.Kind, c.Keys[k]), "an int64_list of lengths"
		default:
			return fmt.Sprintf("%d lengths in %q", of.Count, c.Keys[k]), fmt.Sprint(n)
		}
		k++
	}
	if n != count {
		return fmt.Sprintf("%d values", count), fmt.Sprintf("%d, as the lengths say", n)
	}
	return "", ""
}

// integer appends a value of an int64_list. Uint64 takes its bits, as TensorFlow does.
func integer(c *builder.Column, v int64) bool {
	switch d := c.DType; {
	case d == graph.String:
		return c.One(strconv.AppendInt(nil, v, 10))
	case d.IsFloat():
		return scalar.PutFloat(c.Data.Add(d.Size()), d, float64(v))
	case d == graph.Bool:
		c.Data.Add(1)[0] = byte(v)
		return v == 0 || v == 1
	default:
		size := d.Size()
		if c.Wide {
			size = 8
		}
		scalar.PutInt(c.Data.Add(size), uint64(v))
		least, largest := scalar.Bounds(d)
		return d == graph.Uint64 || v >= least && (v < 0 || uint64(v) <= largest)
	}
}
