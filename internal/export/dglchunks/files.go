package dglchunks

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// delimiter separates the ends of an edge in CSV files; DGL's dispatch assumes it.
const delimiter = " "

// series is the files of the edges of a type, or of a feature.
type series struct {
	w      *store.Writer
	name   string // name of the files, without number and extension
	format string
	chunks []uint64 // rows of each chunk

	of     string           // owner, for errors
	column *widening.Column // nil: edges
	dtype  graph.DType      // dtype in the files
	shape  []int            // shape of a row

	chunk   int    // index of the chunk that is being written
	done    uint64 // rows of it that were written
	file    vfs.File
	parquet *parquet.Writer
}

func newSeries(w *store.Writer, name, format string, chunks []uint64) *series {
	return &series{w: w, name: name, format: format, chunks: chunks}
}

var extensions = map[string]string{dglchunks.CSV: "csv", dglchunks.Numpy: "npy", dglchunks.Parquet: "parquet"}

func (s *series) path(chunk int) string {
	return fmt.Sprintf("%s-%05d.%s", s.name, chunk, extensions[s.format])
}

// spec returns the description of the files for the metadata.
func (s *series) spec() dglchunks.Files {
	f := dglchunks.Files{Format: s.format}
	if s.format == dglchunks.CSV {
		f.Delimiter = delimiter
	}
	for i := range s.chunks {
		f.Paths = append(f.Paths, s.path(i))
	}
	return f
}

// values returns the number of values in a row.
func (s *series) values() int {
	n := 1
	for _, d := range s.shape {
		n *= d
	}
	return n
}

// fields returns the columns of a Parquet file. DGL's tools read a table of single values and make rows of the shape
// that the file names.
func (s *series) fields() []parquet.Field {
	fields := make([]parquet.Field, s.values())
	for i := range fields {
		fields[i] = parquet.Field{Name: strconv.Itoa(i), Type: parquetTypes[s.dtype]}
	}
	return fields
}

var parquetTypes = map[graph.DType]parquet.Type{
	graph.Int8: parquet.Int8, graph.Int32: parquet.Int32, graph.Int64: parquet.Int64, graph.Uint8: parquet.Uint8,
	graph.Float16: parquet.Float16, graph.Float32: parquet.Float32, graph.Float64: parquet.Float64,
}

// begin opens the file of the current chunk.
func (s *series) begin() (err error) {
	if s.file, err = s.w.Create(s.path(s.chunk)); err != nil {
		return err
	}
	shape := append([]int{int(s.chunks[s.chunk])}, s.shape...)
	switch s.format {
	case dglchunks.Numpy:
		h, err := npy.AppendHeader(nil, store.Descr(s.dtype), shape)
		if err != nil {
			return err
		}
		_, err = s.file.Write(h)
		return err
	case dglchunks.Parquet:
		s.parquet, err = parquet.NewWriter(s.file, s.fields())
		if err == nil && s.column != nil {
			s.parquet.Meta = []parquet.Pair{{Key: "shape", Value: tuple(shape)}}
		}
	}
	return err
}

// tuple returns a shape as Python writes it.
func tuple(shape []int) string {
	b := []byte{'('}
	for i, d := range shape {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	if len(shape) == 1 {
		b = append(b, ',')
	}
	return string(append(b, ')'))
}

// segment is a run of encoded rows of one chunk.
type segment struct {
	rows  int
	bytes []byte
	pages []parquet.Page
}

// write appends a segment, whose rows must fit into the current chunk.
func (s *series) write(g *segment) error {
	if s.file == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	var err error
	if s.parquet != nil {
		err = s.parquet.Add(g.pages)
	} else {
		_, err = s.file.Write(g.bytes)
	}
	if err != nil {
		return err
	}
	if s.done += uint64(g.rows); s.done < s.chunks[s.chunk] {
		return nil
	}
	s.chunk, s.done = s.chunk+1, 0
	return s.close(true)
}

// close closes the file of the current chunk, if one is open. whole says that all rows of the chunk were written.
func (s *series) close(whole bool) error {
	if s.file == nil {
		return nil
	}
	var err error
	if s.parquet != nil && whole {
		err = s.parquet.Close()
	}
	err = errors.Join(err, s.file.Close())
	s.file, s.parquet = nil, nil
	return err
}
