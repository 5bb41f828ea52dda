package arrayfiles

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// listModel is a random column of lists or strings: its arrays, and its rows as text.
type listModel struct {
	column NpyColumn
	shape  []int
	dtype  graph.DType
	want   []string
}

func drawLists(t *testing.T, rt *rapid.T, dir string, n int) listModel {
	m := listModel{dtype: rapid.SampledFrom([]graph.DType{graph.Int16, graph.String}).Draw(rt, "dtype")}
	m.shape = rapid.SampledFrom([][]int{{-1}, {-1, 2}, {2, -1}, {-1, -1}, {-1, 2, -1}, {3, -1, 2}}).Draw(rt, "shape")
	if m.dtype == graph.String {
		m.shape = rapid.SampledFrom([][]int{nil, {2}, {-1}, {-1, 2}, {2, -1, -1}}).Draw(rt, "shape of strings")
	}
	l := &Lists{DType: m.dtype, Shape: m.shape}
	offsets := make([][]int64, 0, len(m.shape))
	var values []int16
	var text []byte
	ends := []int64{0}
	for range m.shape {
		offsets = append(offsets, []int64{0})
	}
	// element draws an element of a dimension, as the helper rows shows it.
	var element func(level int) string
	element = func(level int) string {
		if level == len(m.shape) {
			if m.dtype == graph.String {
				s := rapid.SampledFrom([]string{"", "a", "bc", "ü"}).Draw(rt, "text")
				text = append(text, s...)
				ends = append(ends, int64(len(text)))
				return s
			}
			values = append(values, int16(len(values)))
			return fmt.Sprint(len(values) - 1)
		}
		d := m.shape[level]
		if d == -1 {
			d = rapid.SampledFrom([]int{0, 0, 1, 2, 40}).Draw(rt, "length")
			if level > 0 {
				d = min(d, 3)
			}
			offsets[level] = append(offsets[level], offsets[level][len(offsets[level])-1]+int64(d))
		}
		var parts []string
		for range d {
			parts = append(parts, element(level+1))
		}
		if level == len(m.shape)-1 {
			return strings.Join(parts, " ")
		}
		return "[" + strings.Join(parts, "][") + "]"
	}
	for range n {
		m.want = append(m.want, element(0))
	}
	number := 0
	save := func(x []int64) string {
		number++
		return tabletest.WriteNpy(t, dir, fmt.Sprintf("o%d.npy", number), "i8", []int{len(x)}, x)
	}
	for i, d := range m.shape {
		if d == -1 {
			l.Rows = append(l.Rows, save(offsets[i]))
		}
	}
	m.column = NpyColumn{Name: "v", Lists: l}
	if m.dtype == graph.String {
		l.Strings = save(ends)
		m.column.Path = tabletest.WriteNpy(t, dir, "v.npy", "u1", []int{len(text)}, text)
		return m
	}
	tail := []int{}
	for i := len(m.shape) - 1; i >= 0 && m.shape[i] != -1; i-- {
		tail = append([]int{m.shape[i]}, tail...)
	}
	width := 1
	for _, d := range tail {
		width *= d
	}
	m.column.Path = tabletest.WriteNpy(t, dir, "v.npy", "i2", append([]int{len(values) / width}, tail...), values)
	return m
}

// A table of lists and strings equals a model, whatever the chunks and the threads, alone and beside a table.
func TestLists(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 30}).Draw(rt, "rows")
		m := drawLists(t, rt, dir, n)
		numbers := make([]int32, n)
		for i := range numbers {
			numbers[i] = int32(i)
		}
		arrays, err := OpenNpy(vfs.OS, []NpyColumn{m.column, {Name: "n", Path: tabletest.WriteNpy(t, dir, "n.npy", "i4", []int{n}, numbers)}})
		if err != nil {
			rt.Fatal(err)
		}
		arrays.chunk = rapid.IntRange(1, 400).Draw(rt, "chunk")
		beside, err := OpenNpy(vfs.OS, []NpyColumn{{Name: "a", Path: tabletest.WriteNpy(t, dir, "a.npy", "i4", []int{n}, numbers)}})
		if err != nil {
			rt.Fatal(err)
		}
		beside.chunk = rapid.IntRange(1, 50).Draw(rt, "chunk of beside")
		ask := []table.Column{{Name: "n", DType: graph.Int64}, {Name: "v", DType: m.dtype, Shape: m.shape}}
		var want []string
		for i, row := range m.want {
			want = append(want, fmt.Sprintf("%d|%s", i, row))
		}
		for _, tab := range []table.Table{arrays, Beside(beside, arrays)} {
			for _, threads := range []int{1, 4} {
				got, err := tabletest.Rows(tab, ask, threads)
				if err != nil {
					rt.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					rt.Fatal(d)
				}
			}
		}
	})
}

func TestListErrors(t *testing.T) {
	dir := t.TempDir()
	ints := func(name string, x ...int64) string {
		return tabletest.WriteNpy(t, t.TempDir(), name, "i8", []int{len(x)}, x)
	}
	values := tabletest.WriteNpy(t, dir, "values.npy", "i2", []int{3}, []int16{1, 2, 300})
	bytes := tabletest.WriteNpy(t, dir, "bytes.npy", "u1", []int{3}, []byte("abc"))
	for _, c := range []struct {
		path  string
		lists Lists
		ask   table.Column
		want  string
	}{
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 1, 3)}, ""}, tabletest.Column("v", graph.Int32, -1), ""},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 1, 3)}, ""}, tabletest.Column("v", graph.Int16), "values.npy: found rows of shape [-1], expected [] for column \"v\""},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 1, 3)}, ""}, tabletest.Column("v", graph.String, -1), "values.npy: found int16, expected a dtype that can be read as string"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 1, 3)}, ""}, tabletest.Column("v", graph.Int8, -1), "values.npy[2]: found 300, expected an integer from -128 to 127"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 2, 1, 3)}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy[2]: found 1, expected an offset from 2 to 3"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, -1, 3)}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy[1]: found -1, expected an offset from 0 to 3"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 4, 4)}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy[2]: found 4, expected an offset from 0 to 3"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0, 2)}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy[1]: found 2, expected 3, the end of the last list or string"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 1, 3)}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy[0]: found 1, expected 0, the first offset"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy", 0)}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy: found one offset, expected the offsets of 3 values"},
		{values, Lists{graph.Int16, []int{-1}, []string{ints("o.npy")}, ""}, tabletest.Column("v", graph.Int16, -1), "o.npy: found int64 [0], expected a list of integers"},
		{values, Lists{graph.Int16, []int{2, -1}, []string{ints("o.npy", 0, 3)}, ""}, tabletest.Column("v", graph.Int16, 2, -1), "o.npy: found 2 offsets, expected one more than a multiple of 2"},
		{values, Lists{graph.Int16, []int{-1, 2}, []string{ints("o.npy", 0, 3)}, ""}, tabletest.Column("v", graph.Int16, -1, 2), "values.npy: found rows of shape [], expected [2], the last dimensions of [-1 2]"},
		{values, Lists{graph.Int16, []int{-1, -1}, []string{ints("o.npy", 0, 3)}, ""}, tabletest.Column("v", graph.Int16, -1, -1), "values.npy: found 1 arrays of offsets for shape [-1 -1] of int16, expected one per variable dimension"},
		{bytes, Lists{graph.String, nil, nil, ""}, tabletest.Column("v", graph.String), "bytes.npy: found 0 arrays of offsets"},
		{values, Lists{graph.String, nil, nil, ints("o.npy", 0, 3)}, tabletest.Column("v", graph.String), "values.npy: found int16 [], expected the bytes of strings, uint8"},
		{bytes, Lists{graph.String, nil, nil, filepath.Join(dir, "none.npy")}, tabletest.Column("v", graph.String), "no such file"},
		{bytes, Lists{graph.String, nil, nil, values}, tabletest.Column("v", graph.String), "values.npy[0]: found 1, expected 0, the first offset"},
	} {
		tab, err := OpenNpy(vfs.OS, []NpyColumn{{Name: "v", Path: c.path, Lists: &c.lists}})
		if err == nil {
			_, err = tabletest.Rows(tab, []table.Column{c.ask}, 2)
		}
		text := fmt.Sprint(err)
		if c.want == "" && err != nil || !strings.Contains(text, c.want) {
			t.Errorf("%v: error %v, want %q", c.lists, err, c.want)
		}
	}
}

// No offsets make a scan fail in another way than with an error, or read beyond the values.
func FuzzLists(f *testing.F) {
	f.Add([]byte{0, 1, 3}, []byte{0, 2, 3, 3}, []byte("abc"), false)
	f.Add([]byte{0, 2}, []byte{0, 1, 3}, []byte("abc"), true)
	f.Add([]byte{3, 1, 0}, []byte{0}, []byte{}, false)
	f.Fuzz(func(t *testing.T, rowOffsets, stringOffsets, data []byte, fixed bool) {
		fuzzing.Check(t, len(rowOffsets)+len(stringOffsets)+len(data), func() {
			dir := t.TempDir()
			shape := []int{-1}
			if fixed {
				shape = []int{2, -1}
			}
			l := &Lists{DType: graph.String, Shape: shape, Rows: []string{tabletest.WriteNpy(t, dir, "r.npy", "i1", []int{len(rowOffsets)}, rowOffsets)},
				Strings: tabletest.WriteNpy(t, dir, "s.npy", "u1", []int{len(stringOffsets)}, stringOffsets)}
			tab, err := OpenNpy(vfs.OS, []NpyColumn{{Name: "v", Path: tabletest.WriteNpy(t, dir, "v.npy", "u1", []int{len(data)}, data), Lists: l}})
			if err != nil {
				return
			}
			tab.chunk = 8
			one, errOne := tabletest.Rows(tab, []table.Column{{Name: "v", DType: graph.String, Shape: shape}}, 1)
			four, errFour := tabletest.Rows(tab, []table.Column{{Name: "v", DType: graph.String, Shape: shape}}, 4)
			if (errOne == nil) != (errFour == nil) || errOne == nil && !slices.Equal(one, four) {
				t.Fatalf("found %q, %v with one thread and %q, %v with four, expected the same", one, errOne, four, errFour)
			}
		})
	})
}
