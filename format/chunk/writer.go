package chunk

import (
	"encoding/binary"
	"fmt"
	"io"
)

// bufferBytes is the size of a Writer's buffer.
const bufferBytes = 256 << 10

// Writer writes the chunks of an edge type, one after the other. The caller calls Begin for each chunk, then
// Neighbours for all neighbours of its nodes, and Close after the last chunk. After an error the Writer must not be
// used.
type Writer struct {
	w     io.Writer
	bytes int64
	buf   []byte
	rows  []Row
	due   uint64 // neighbours of the chunk that were not written yet
}

// NewWriter begins a file of chunks of the given number of bytes.
func NewWriter(w io.Writer, bytes int64) *Writer {
	return &Writer{w: w, bytes: bytes, buf: make([]byte, 0, bufferBytes)}
}

// Begin begins the next chunk. It has nodes nodes, the first of which follows the last chunk's last node. offset(i)
// is where the neighbours of the chunk's node i begin, counted from any origin. It is called for 0 to nodes and must
// ascend.
func (w *Writer) Begin(nodes int, offset func(i int) uint64) error {
	r := Row{Nodes: uint32(nodes), Edges: offset(nodes) - offset(0)}
	if n := len(w.rows); n > 0 {
		last := &w.rows[n-1]
		r.Start = last.Start + last.Nodes
		last.pad(w.bytes, false)
		if err := w.end(last); err != nil {
			return err
		}
	}
	if nodes < 1 || r.Edges > uint64(w.bytes)/4 || 4*Words(uint64(nodes), r.Edges) > uint64(w.bytes) {
		return fmt.Errorf("chunk %d: found %d nodes with %d neighbours, expected as many as %d bytes hold", len(w.rows), nodes, r.Edges, w.bytes)
	}
	w.rows, w.due = append(w.rows, r), r.Edges
	base, first := Words(uint64(nodes), 0), offset(0)
	if err := w.words(r.Nodes, r.Start); err != nil {
		return err
	}
	before := first
	for i := range nodes + 1 {
		at := offset(i)
		if at < before || at-first > r.Edges {
			return fmt.Errorf("node %d: found neighbours at offset %d after offset %d, expected offsets that ascend", uint64(r.Start)+uint64(i), at, before)
		}
		before = at
		if err := w.words(uint32(base + at - first)); err != nil {
			return err
		}
	}
	return nil
}

// Neighbours writes the next neighbours of the chunk, in order.
func (w *Writer) Neighbours(ids []uint32) error {
	if uint64(len(ids)) > w.due {
		return fmt.Errorf("chunk %d: found %d neighbours, expected at most the %d that are left", len(w.rows)-1, len(ids), w.due)
	}
	w.due -= uint64(len(ids))
	return w.words(ids...)
}

// Close ends the last chunk. It does not close the file.
func (w *Writer) Close() error {
	if n := len(w.rows); n > 0 {
		w.rows[n-1].pad(w.bytes, true)
		if err := w.end(&w.rows[n-1]); err != nil {
			return err
		}
	}
	return w.flush()
}

// Rows are the chunks written so far.
func (w *Writer) Rows() []Row { return w.rows }

// Info returns the bytes of the chunk-info file.
func (w *Writer) Info() []byte {
	var b []byte
	for _, r := range w.rows {
		b = binary.LittleEndian.AppendUint32(b, r.Start)
	}
	return b
}

// end pads a chunk.
func (w *Writer) end(r *Row) error {
	if w.due > 0 {
		return fmt.Errorf("chunk %d: found %d neighbours, expected %d more", len(w.rows)-1, r.Edges-w.due, w.due)
	}
	for left := r.Padding; left > 0; {
		n := min(left, uint64(len(zeros)))
		if err := w.words(zeros[:n]...); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

var zeros [4096]uint32

func (w *Writer) words(v ...uint32) error {
	for len(v) > 0 {
		if len(w.buf) == bufferBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
		n := min(len(v), (bufferBytes-len(w.buf))/4)
		at := len(w.buf)
		w.buf = w.buf[:at+4*n]
		for i, x := range v[:n] {
			binary.LittleEndian.PutUint32(w.buf[at+4*i:], x)
		}
		v = v[n:]
	}
	return nil
}

func (w *Writer) flush() error {
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}
