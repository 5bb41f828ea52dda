package arrow

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graphmill/graphmill/format/parquet"
)

// dictionary is the values of a dictionary.
type dictionary struct {
	rows    parquet.Rows
	longest int // bytes of the longest string
}

// dictionary returns the values of a dictionary after a number of chunks.
func (f *File) dictionary(r io.ReaderAt, id int64, chunks int) (*dictionary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := &dictionary{}
	first := -1
	for i := chunks - 1; i >= 0 && first < 0; i-- {
		switch c := f.chunks[i]; {
		case c.id != id:
		case c.values != nil:
			d, first = c.values, i+1
		case !c.delta:
			first = i
		}
	}
	for i := max(first, 0); i < chunks; i++ {
		c := f.chunks[i]
		if c.id != id {
			continue
		}
		if !c.delta {
			d = &dictionary{}
		}
		next := &dictionary{longest: d.longest}
		next.rows.N, next.rows.Data, next.rows.Ends, next.rows.Null = d.rows.N, slices.Clone(d.rows.Data), slices.Clone(d.rows.Ends), slices.Clone(d.rows.Null)
		if err := f.chunk(r, i, next); err != nil {
			return nil, fmt.Errorf("dictionary %d: %w", id, err)
		}
		for _, old := range f.chunks[:i] { // batches are read about in order
			if old.id == id {
				old.values = nil
			}
		}
		c.values, d = next, next
	}
	return d, nil
}

// chunk appends the values of a chunk.
func (f *File) chunk(r io.ReaderAt, i int, d *dictionary) error {
	c := f.chunks[i]
	m, ok, err := f.message(r, c.at)
	if err != nil || !ok {
		return errors.Join(err, corruptf("byte %d: found no message, expected one", c.at))
	}
	data, _ := m.head.table(1)
	l, err := m.layout(data)
	if err != nil {
		return err
	}
	var p places
	x, err := f.cursor(r, f.dictionaries[c.id], &p, &l, i)
	if err != nil {
		return err
	}
	defer x.close()
	if x.n.reason != "" || x.n.layout == layoutNull || x.child != nil {
		return unsupportedf("found a dictionary of values that are no numbers or strings, expected them")
	}
	if x.left != l.rows {
		return corruptf("found %d values, expected %d; the file is damaged", x.left, l.rows)
	}
	for x.left > 0 {
		k, err := x.room(int(min(x.left, piece)), ahead)
		if err == nil {
			err = x.take(k, &d.rows, 0, false)
		}
		if err != nil {
			return err
		}
		if len(d.rows.Data) > maxDictionary {
			return unsupportedf("found values of more than %d bytes, expected fewer", maxDictionary)
		}
	}
	for d.rows.Null != nil && len(d.rows.Null) < d.rows.N {
		d.rows.Null = append(d.rows.Null, false)
	}
	start := uint32(0)
	for _, end := range d.rows.Ends {
		d.longest = max(d.longest, int(end-start))
		start = end
	}
	return nil
}
