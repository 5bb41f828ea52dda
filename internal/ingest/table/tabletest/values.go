package tabletest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Values reads all columns as their fields declare them, and returns their rows as JSON has them. An empty cell is nil
// where the shape is fixed, and an empty list otherwise. An empty string is nil.
func Values(tab table.Table, threads int) (map[string][]any, error) {
	var columns []table.Column
	for _, f := range tab.Fields() {
		c := table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Empty: table.EmptyAbsent, ID: f.DType == graph.String}
		if c.DType == graph.Invalid {
			c.DType, c.ID = graph.String, true
		}
		columns = append(columns, c)
	}
	out := map[string][]any{}
	for _, c := range columns { // each alone: Absent does not say in which column
		rows := map[uint64][]any{}
		var mu sync.Mutex
		total, err := tab.Scan(context.Background(), []table.Column{c}, threads, func(_ int, chunk *table.Chunk) error {
			values, err := rowsOfChunk(chunk, c)
			mu.Lock()
			defer mu.Unlock()
			rows[chunk.First] = values
			return err
		})
		if err != nil {
			return nil, err
		}
		list := []any{}
		for uint64(len(list)) < total {
			next := rows[uint64(len(list))]
			if len(next) == 0 {
				return nil, fmt.Errorf("found no chunk of column %q from row %d on, expected %d rows", c.Name, len(list), total)
			}
			list = append(list, next...)
		}
		out[c.Name] = list
	}
	return out, nil
}

func rowsOfChunk(chunk *table.Chunk, c table.Column) ([]any, error) {
	v := chunk.Columns[0]
	at, level := 0, make([]int, len(v.Lengths))
	var read func(shape []int, k int) any
	read = func(shape []int, k int) any {
		if len(shape) == 0 {
			at++
			return scalarOf(&v, c.DType, at-1)
		}
		n := shape[0]
		if n < 0 {
			n = int(v.Lengths[k][level[k]])
			level[k]++
			k++
		}
		list := []any{}
		for range n {
			list = append(list, read(shape[1:], k))
		}
		return list
	}
	var rows []any
	for row := range chunk.Rows {
		value := read(c.Shape, 0)
		if chunk.Absent != nil && chunk.Absent[row] {
			value = nil
		}
		rows = append(rows, value)
	}
	size := len(v.Ends)
	if c.DType != graph.String {
		size = len(v.Data) / c.DType.Size()
	}
	if at != size {
		return nil, fmt.Errorf("found %d values in %d rows of column %q, expected %d", size, chunk.Rows, c.Name, at)
	}
	return rows, nil
}

func scalarOf(v *table.Vector, d graph.DType, i int) any {
	if d == graph.String {
		start := uint32(0)
		if i > 0 {
			start = v.Ends[i-1]
		}
		return string(v.Data[start:v.Ends[i]])
	}
	b := v.Data[i*d.Size() : (i+1)*d.Size()]
	switch {
	case d == graph.Bool:
		return b[0] == 1
	case d.IsFloat():
		return scalar.Float(b, d)
	}
	var w [8]byte
	copy(w[:], b)
	n := binary.LittleEndian.Uint64(w[:])
	if shift := 64 - 8*d.Size(); d < graph.Uint8 {
		return json.Number(fmt.Sprint(int64(n<<shift) >> shift))
	}
	return json.Number(fmt.Sprint(n))
}

// SameValues compares rows with those that Python printed.
func SameValues(t *testing.T, what string, found map[string][]any, expected map[string][]any) {
	t.Helper()
	for name := range found {
		if _, ok := expected[name]; !ok {
			t.Errorf("%s: found the column %q, expected no such column", what, name)
		}
	}
	for name, want := range expected {
		have, ok := found[name]
		if !ok || len(have) != len(want) {
			t.Errorf("%s: found %d rows of column %q, expected %d", what, len(have), name, len(want))
			continue
		}
		for i := range want {
			if !sameValue(have[i], want[i]) {
				t.Errorf("%s: column %q: row %d: found %v, expected %v", what, name, i, have[i], want[i])
				break
			}
		}
	}
}

func sameValue(a, b any) bool {
	if a == "" {
		a = nil
	}
	if b == "" {
		b = nil
	}
	if l, ok := a.([]any); ok && b == nil {
		return len(l) == 0
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, sameValue)
	case float64:
		n, ok := b.(json.Number)
		if !ok {
			return b == nil && math.IsNaN(x)
		}
		y, err := n.Float64()
		return err == nil && (x == y || float64(float32(y)) == x)
	case json.Number:
		y, ok := b.(json.Number)
		return ok && x == y
	case string:
		if n, ok := b.(json.Number); ok {
			return x == string(n)
		}
	}
	return a == b
}

// ParseValues reads what Python printed.
func ParseValues(t *testing.T, b []byte) (files map[string]map[string][]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&files); err != nil {
		t.Fatal(err)
	}
	return files
}

// GuessedDType is the dtype of a guess.
func GuessedDType(g table.Guess) graph.DType {
	switch {
	case g.Seen && g.Integer:
		return graph.Int64
	case g.Seen && g.Number:
		return graph.Float64
	}
	return graph.String
}
