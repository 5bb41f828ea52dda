package dispatch

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// memoryFile is a file in memory.
type memoryFile struct{ b []byte }

func (f *memoryFile) WriteAt(b []byte, at int64) (int, error) {
	if int(at) != len(f.b) {
		return 0, io.ErrShortWrite
	}
	f.b = append(f.b, b...)
	return len(b), nil
}

// Rows of a feature in pieces come to their parts in order, of any width, as rows of any other column.
func TestRowsAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const parts, room = 3, 256
		width := 2 * rapid.SampledFrom([]int{1, 2, 3, 50, 64, 127, 128, 129, 300}).Draw(t, "numbers")
		row := func(r uint64) []byte { return bytes.Repeat([]byte{byte(r), byte(r >> 8)}, width/2) }
		x := &tensor{width: width, from: 1, wide: func(dst []byte, rows graph.Index) {
			if rows.Len() > mostAhead || len(dst) != rows.Len()*width {
				t.Fatalf("found %d rows in %d bytes", rows.Len(), len(dst))
			}
			for i := range rows.Len() {
				copy(dst[i*width:], row(rows.At(i)))
			}
		}}
		w := newRowWriter(parts, room)
		for range 2 { // the buffers serve several tensors
			var files [parts]memoryFile
			var want [parts][]byte
			w.begin(x, []io.WriterAt{&files[0], &files[1], &files[2]}, func(int) int64 { return 0 })
			for _, r := range rapid.SliceOfN(rapid.IntRange(0, 1<<16-1), 0, 400).Draw(t, "rows") {
				p := r % parts
				want[p] = append(want[p], row(uint64(r))...)
				if err := w.row(p, r); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.end(); err != nil {
				t.Fatal(err)
			}
			for p := range files {
				if !bytes.Equal(files[p].b, want[p]) {
					t.Fatalf("part %d: found %d bytes, expected %d of the rows", p, len(files[p].b), len(want[p]))
				}
			}
		}
	})
}
