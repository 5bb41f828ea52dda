package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
)

// BenchmarkLists reads integers in lists of several depths and lengths.
func BenchmarkLists(b *testing.B) {
	const values = 1 << 19
	for _, c := range []struct {
		name         string
		outer, inner int // lengths of lists; no outer ones: 0
	}{
		{"one", 0, 1},
		{"four", 0, 4},
		{"many", 0, 32},
		{"nested-short", 4, 2},
		{"nested-long", 4, 16},
	} {
		f := parquet.Field{Name: "x", Type: parquet.Int64, Lists: 1}
		var rows parquet.Rows
		inner := make([]uint32, values/c.inner)
		for i := range inner {
			inner[i] = uint32(c.inner)
		}
		rows.N, rows.Lengths = len(inner), [][]uint32{inner}
		if c.outer > 0 {
			f.Lists, rows.N = 2, len(inner)/c.outer
			outer := make([]uint32, rows.N)
			for i := range outer {
				outer[i] = uint32(c.outer)
			}
			rows.Lengths = [][]uint32{outer, inner}
		}
		numbers := make([]int64, values)
		for i := range numbers {
			numbers[i] = int64(i)
		}
		rows.Data = graph.Bytes(numbers)
		var out bytes.Buffer
		e, err := parquet.NewPageEncoder()
		if err != nil {
			b.Fatal(err)
		}
		encoded, page, err := e.Append(nil, &f, &rows)
		if err != nil {
			b.Fatal(err)
		}
		page.Bytes = encoded
		w, err := parquet.NewWriter(&out, []parquet.Field{f})
		if err == nil {
			err = errors.Join(w.Add([]parquet.Page{page}), w.Close())
		}
		if err != nil {
			b.Fatal(err)
		}
		file := bytes.NewReader(out.Bytes())
		p, err := parquet.Open(file, int64(out.Len()))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r := p.Reader(file, 0, 0)
				for err = nil; err == nil; {
					rows.Reset()
					err = r.Read(&rows, 1<<12, 1<<20)
				}
				r.Close()
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(values*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
		})
	}
}
