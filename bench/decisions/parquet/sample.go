package main

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"

	pq "github.com/parquet-go/parquet-go"
)

// byPyarrow is written by testdata/make.py.
//
//go:embed testdata/pyarrow.parquet
var byPyarrow []byte

// row has the kinds of columns that graph tables have.
type row struct {
	ID    string    `parquet:"id,delta"`
	Type  string    `parquet:"type,dict,zstd"`
	Time  int64     `parquet:"time,delta"`
	Score float64   `parquet:"score"`
	Maybe *int64    `parquet:"maybe,optional,snappy"`
	List  []float32 `parquet:"list,list"`
}

// writeSamples writes three valid files of 2 to 4 KB: with columns of numbers and texts, with nulls and lists too, and the
// file of pyarrow.
func writeSamples(dir string) ([]string, error) {
	var plain []flat
	var nested []row
	for i := range int64(56) {
		plain = append(plain, flat{string(rune('a' + i%26)), i, i << 33, float32(i) / 3, float64(i) / 7, i%3 == 0})
		r := row{ID: "node-" + string(rune('a'+i%26)), Type: []string{"author", "paper"}[i%2], Time: i << 20, Score: float64(i) / 7, List: []float32{1, 2, 3}[:i%4]}
		if i%3 != 0 {
			r.Maybe = &i
		}
		nested = append(nested, r)
	}
	a, b, c := filepath.Join(dir, "plain.parquet"), filepath.Join(dir, "nested.parquet"), filepath.Join(dir, "pyarrow.parquet")
	if err := errors.Join(writeSample(a, plain), writeSample(b, nested), os.WriteFile(c, byPyarrow, 0o666)); err != nil {
		return nil, err
	}
	return []string{a, b, c}, nil
}

type flat struct {
	ID    string  `parquet:"id"`
	Src   int64   `parquet:"src"`
	Dst   int64   `parquet:"dst,zstd"`
	Score float32 `parquet:"score"`
	Time  float64 `parquet:"time,snappy"`
	Train bool    `parquet:"train"`
}

func writeSample[T any](path string, rows []T) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := pq.NewGenericWriter[T](f)
	if _, err := w.Write(rows); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
