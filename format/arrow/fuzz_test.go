package arrow_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

// FuzzRead reads some rows of each column of any bytes, as a file or a stream.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"deltas.arrows", "polars.arrow", "polars-lz4.arrow", "slices.arrows", "empty.arrow"} {
		b, err := os.ReadFile(filepath.Join("../../internal/ingest/table/columnfiles/testdata/arrow", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := read(t, b); err != nil && !errors.Is(err, parquet.ErrCorrupt) && !errors.Is(err, parquet.ErrUnsupported) {
				t.Fatal(err)
			}
		})
	})
}

// read returns the first error.
func read(t *testing.T, b []byte) error {
	in := bytes.NewReader(b)
	f, err := arrow.Open(in, int64(len(b)))
	if err != nil {
		return err
	}
	for batch := range min(len(f.Batches), 4) {
		for i := range min(len(f.Columns), 20) {
			r := f.Reader(in, batch, i)
			var rows parquet.Rows
			for n := 0; n < 4 && err == nil; n++ {
				rows.Reset()
				if err = r.Read(&rows, 100, 1<<16); err == nil {
					shapes(t, &f.Columns[i], &rows)
				}
			}
			r.Close()
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			err = nil
		}
	}
	return nil
}

// shapes checks that rows are as parquet.Rows documents.
func shapes(t *testing.T, c *parquet.Column, r *parquet.Rows) {
	n := r.N
	for level := range c.Lists {
		if len(r.Lengths[level]) != n {
			t.Fatalf("%s: found %d lists on level %d, expected %d", c.Name, len(r.Lengths[level]), level, n)
		}
		n = 0
		for _, k := range r.Lengths[level] {
			n += int(k)
		}
	}
	if c.Type != parquet.Bytes && len(r.Data) != n*c.Width || c.Type == parquet.Bytes && len(r.Ends) != n || r.Null != nil && len(r.Null) != r.N {
		t.Fatalf("%s: found %d bytes, %d ends, %d nulls of %d rows, expected %d values", c.Name, len(r.Data), len(r.Ends), len(r.Null), r.N, n)
	}
}
