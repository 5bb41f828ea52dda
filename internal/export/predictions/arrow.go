package predictions

import (
	"io"

	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
)

// arrowSink writes a file of Arrow IPC, a record batch per block.
type arrowSink struct {
	columns []column
	fields  []arrow.Field
	out     *arrow.Writer
}

func newArrowSink(w io.Writer, t *table, origin string) (*arrowSink, error) {
	s := &arrowSink{columns: t.columns}
	for _, c := range t.columns {
		s.fields = append(s.fields, arrow.Field{Name: c.name, Type: parquetTypes[c.dtype], Nullable: c.nullable, Width: c.width, Unit: string(c.unit)})
	}
	var err error
	if s.out, err = arrow.NewWriter(w, s.fields); err != nil {
		return nil, err
	}
	s.out.Meta = metadata(t, origin)
	return s, nil
}

// encode makes the record batch of a block.
func (s *arrowSink) encode(w *worker, b *block) (err error) {
	values := make([]arrow.Values, len(s.columns))
	wide := 0
	for i, c := range s.columns {
		x := &b.cells[i]
		values[i] = arrow.Values{Data: x.data, Ends: x.ends, Null: x.null}
		if c.dtype == graph.Float16 || c.dtype == graph.BFloat16 {
			if wide == len(w.wide) {
				w.wide = append(w.wide, nil)
			}
			w.wide[wide] = float32s(w.wide[wide], x.data, c.dtype)
			values[i].Data = w.wide[wide]
			wide++
		}
	}
	b.bytes, err = arrow.AppendBatch(b.bytes[:0], s.fields, len(b.rows), values)
	return err
}

// add takes a block.
func (s *arrowSink) add(b *block) error { return s.out.Add(b.bytes) }

// close writes the end of the file.
func (s *arrowSink) close() error { return s.out.Close() }

// metadata is the type of the rows of a file and, if it is known, the fingerprint of its store.
func metadata(t *table, origin string) []parquet.Pair {
	meta := []parquet.Pair{{Key: "graphmill.type", Value: t.name()}}
	if origin != "" {
		meta = append(meta, parquet.Pair{Key: "graphmill.store", Value: origin})
	}
	return meta
}
