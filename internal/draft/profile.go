package draft

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// reading says how the cells of a column are read.
type reading uint8

const (
	asText reading = iota
	asInt64
	asUint64
	asFloat
	asBool
	asTime
	asList // of any length, of which only the length is read
	unread // other lists
)

// readingOf returns how a field is read.
func readingOf(f *Field) reading {
	switch {
	case len(f.Shape) == 1 && f.Shape[0] < 0 && f.DType != graph.Invalid && f.Unit == "":
		return asList
	case len(f.Shape) > 0:
		return unread
	case f.Unit != "":
		return asTime
	case f.DType == graph.Invalid, f.DType == graph.String:
		return asText
	case f.DType == graph.Bool:
		return asBool
	case f.DType == graph.Uint64:
		return asUint64
	case f.DType.IsInt():
		return asInt64
	}
	return asFloat
}

// asked is the column that reads the cells.
func asked(f *Field) table.Column {
	c := table.Column{Name: f.Name, Empty: table.EmptyFill, Fill: "0"}
	switch readingOf(f) {
	case asInt64:
		c.DType = graph.Int64
	case asUint64:
		c.DType = graph.Uint64
	case asFloat:
		c.DType = graph.Float64
	case asBool:
		c.DType = graph.Bool
	case asTime:
		c.DType, c.Unit = graph.Int64, f.Unit
	case asList:
		c = table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape}
	default:
		// As ids, texts without quotes lose the blanks around them.
		c.DType, c.ID, c.Fill = graph.String, true, ""
	}
	return c
}

// mayRefer says whether the values of a column may be ids or keys, or texts to count, by its first cells.
func mayRefer(f *Field, guess *table.Guess) bool {
	switch readingOf(f) {
	case asBool, asTime, asList, unread:
		return false
	case asText:
		return guess == nil || !guess.Seen || !guess.Number || guess.Integer || guess.Unsigned || guess.Whole
	}
	return true
}

// guesses are the guesses of the first cells of a table, by field; nil: it declares its columns.
func guesses(t table.Table) (map[string]*table.Guess, error) {
	g, ok := t.(interface{ Guess() ([]table.Guess, error) })
	if !ok {
		return nil, nil
	}
	all, err := g.Guess()
	if err != nil {
		return nil, err
	}
	by := map[string]*table.Guess{}
	for i, f := range t.Fields() {
		by[f.Name] = &all[i]
	}
	return by, nil
}

// tableScan reads a table for its profile.
type tableScan struct {
	t       *Table
	v       *values
	read    []*column // those that are read, with the places of their vectors in a chunk, and of the marks of empty cells
	at      []int
	empty   []int
	workers []scanWorker
}

// scanWorker has the counts of one goroutine.
type scanWorker struct {
	cells  []cells // by read
	ragged seen
	text   []byte
	_      [64]byte // keeps the counts of two workers apart
}

// profileTable reads a table. A table that cannot be read to its end is a fault, and keeps what was counted.
func (d *drafter) profileTable(ctx context.Context, v *values, t *Table) error {
	if t.Data == nil {
		return nil
	}
	guess, err := guesses(t.Data)
	if err != nil {
		return err
	}
	t.text = guess != nil && d.Address == ""
	s := &tableScan{t: t, v: v, workers: make([]scanWorker, d.o.Threads)}
	var columns []table.Column
	for _, c := range t.columns {
		r := readingOf(&c.Field)
		if r == unread {
			continue
		}
		c.hashed = mayRefer(&c.Field, guess[c.Name])
		s.read, s.at = append(s.read, c), append(s.at, len(columns))
		ask := asked(&c.Field)
		columns = append(columns, ask)
		mark := -1
		if r != asText && r != asList {
			mark = len(columns)
			columns = append(columns, table.Column{Name: c.Name + " is empty", DType: graph.Bool, Missing: &ask})
		}
		s.empty = append(s.empty, mark)
	}
	for i := range s.workers {
		s.workers[i].cells = make([]cells, len(s.read))
		for k := range s.workers[i].cells {
			s.workers[i].cells[k].tags.most = min(mostTags, sharedTags/len(s.read))
		}
	}
	if err := v.begin(s.read); err != nil {
		return err
	}
	rows, err := t.Data.Scan(ctx, columns, d.o.Threads, func(worker int, c *table.Chunk) error {
		if d.o.Progress != nil {
			d.o.Progress(c.Bytes)
		}
		return s.chunk(worker, c)
	})
	if err != nil && !errors.Is(err, table.ErrFormat) {
		return err
	}
	if err != nil {
		// What the workers saw before the error depends on their number, so nothing of it counts.
		t.Faults = append(t.Faults, Fault{Table: t.Name, Found: err.Error(), Do: "correct the table, and draft again", Open: true})
		t.Data = nil
		for _, c := range t.columns {
			c.hashed = false
		}
		return v.end()
	}
	t.rows = rows
	for i := range s.workers {
		w := &s.workers[i]
		t.ragged.merge(&w.ragged)
		for k, c := range s.read {
			c.cells.merge(&w.cells[k])
		}
	}
	return v.end()
}

// chunk counts the cells of a chunk.
func (s *tableScan) chunk(worker int, c *table.Chunk) error {
	w := &s.workers[worker]
	for _, r := range c.Ragged {
		w.ragged.add(c.First+uint64(r), nil)
	}
	for i, col := range s.read {
		v := &c.Columns[s.at[i]]
		if readingOf(&col.Field) == asList {
			w.cells[i].addLists(c.First, v.Lengths[0])
			continue
		}
		if s.empty[i] < 0 {
			if err := s.texts(worker, i, c.First, v); err != nil {
				return err
			}
			continue
		}
		if err := s.numbers(worker, i, c.First, v.Data, c.Columns[s.empty[i]].Data, readingOf(&col.Field)); err != nil {
			return err
		}
	}
	return nil
}

// texts counts cells of text.
func (s *tableScan) texts(worker, i int, row uint64, v *table.Vector) error {
	cells, hashed := &s.workers[worker].cells[i], s.read[i].hashed
	from := uint32(0)
	for _, to := range v.Ends {
		text := v.Data[from:to]
		from = to
		cells.add(row, text)
		if hashed && len(text) > 0 {
			if err := s.v.add(worker, i, scalar.WholeDigits(text), row); err != nil {
				return err
			}
		}
		row++
	}
	return nil
}

// numbers counts cells of numbers that a file declares.
func (s *tableScan) numbers(worker, i int, first uint64, data, empty []byte, r reading) error {
	w := &s.workers[worker]
	cells, hashed := &w.cells[i], s.read[i].hashed
	for k := range empty {
		row := first + uint64(k)
		if empty[k] != 0 {
			cells.empty.add(row, nil)
			continue
		}
		w.text = w.text[:0]
		switch r {
		case asBool:
			cells.bools.add(row, nil)
		case asTime:
			if t := graph.View[int64](data)[k]; t == graph.NoTime {
				cells.empty.add(row, nil)
			} else {
				cells.times.add(row, nil)
			}
		case asInt64:
			n := graph.View[int64](data)[k]
			w.text = strconv.AppendInt(w.text, n, 10)
			cells.addNumber(row, n, nil)
			if n < 0 {
				cells.signed.add(row, w.text)
			}
		case asUint64:
			n := graph.View[uint64](data)[k]
			w.text = strconv.AppendUint(w.text, n, 10)
			if n <= math.MaxInt64 {
				cells.addNumber(row, int64(n), nil)
			} else {
				cells.ints.add(row, w.text)
				cells.big.add(row, w.text)
			}
		default:
			x := graph.View[float64](data)[k]
			if x != math.Trunc(x) || math.Abs(x) >= 1<<53 {
				cells.nonwhole = true
				cells.floats.add(row, nil)
				cells.addPower(x)
				continue
			}
			cells.floats.add(row, nil)
			cells.whole++
			cells.addPower(x)
			if x < 0 {
				cells.signed.add(row, nil)
			}
			w.text = strconv.AppendInt(w.text, int64(x), 10)
		}
		if hashed && len(w.text) > 0 {
			if err := s.v.add(worker, i, w.text, row); err != nil {
				return err
			}
		}
	}
	return nil
}
