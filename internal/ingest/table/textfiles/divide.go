package textfiles

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Divide implements Divisible: plain files at any place, and compressed ones whole.
func (t *CSV) Divide(size int64) []table.Part {
	var parts []table.Part
	for i := range t.files {
		f := &t.files[i]
		if f.comp != plain {
			parts = append(parts, table.Part{File: i})
			continue
		}
		n := max((f.size-f.body+size-1)/size, 1)
		for k := range n {
			p := table.Part{File: i, From: f.body + (f.size-f.body)/n*k, To: f.body + (f.size-f.body)/n*(k+1)}
			if k == n-1 {
				p.To = f.size
			}
			if p.From < p.To {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// Cut implements Divisible.
func (t *CSV) Cut(p table.Part) table.Table {
	x := *t
	f := t.files[p.File]
	f.from, f.to, f.quoted = p.From, p.To, p.Quoted
	x.files = []csvFile{f}
	return &x
}

// Measure implements Measurer.
func (t *CSV) Measure(ctx context.Context, p table.Part) (m table.Measured, err error) {
	if p.To == 0 {
		return table.CountRows(ctx, t.Cut(p))
	}
	f := t.files[p.File]
	r, err := t.fsys.Open(f.path)
	if err != nil {
		return m, err
	}
	m, err = t.measureText(ctx, r, f, p)
	return m, errors.Join(err, r.Close())
}

// measureText counts the records that start in a part of a plain file: those after a line end outside quotes, without empty
// lines.
func (t *CSV) measureText(ctx context.Context, r vfs.File, f csvFile, p table.Part) (m table.Measured, err error) {
	const most = 1 << 20
	buf := make([]byte, min(most, p.To-p.From)+marginSize)
	odd := 0
	for at := p.From; at < p.To; {
		if err := ctx.Err(); err != nil {
			return m, context.Cause(ctx)
		}
		own := int(min(most, p.To-at))
		b := buf[:min(int64(own+marginSize), f.size-at)]
		if n, err := r.ReadAt(b, at); n < len(b) {
			if err == nil || errors.Is(err, io.EOF) {
				err = badf("%s: found %d bytes, expected %d; the file was cut while it was read", f.path, at+int64(n), f.size)
			}
			return m, err
		}
		starts := func(i int) bool { return i < len(b) && !t.blank(b[i:]) }
		if at == p.From {
			first, err := startsRecord(r, f, at)
			if err != nil {
				return m, err
			}
			if first && starts(0) {
				m.Rows[0]++
			}
		}
		// A record starts after a line end. That of the last byte of the part starts in the next one.
		last := own
		if at+int64(own) == p.To {
			last--
		}
		odd = countStarts(&m, b[:own], last, odd, starts)
		at += int64(own)
	}
	m.Odd = odd == 1
	return m, nil
}

// startsRecord says whether the byte at a place of a plain file is the first one of a line.
func startsRecord(r vfs.File, f csvFile, at int64) (bool, error) {
	if at == f.body {
		return true, nil
	}
	var before [1]byte
	if _, err := r.ReadAt(before[:], at-1); err != nil {
		return false, err
	}
	return before[0] == '\n', nil
}

// countStarts counts the records that start after a line end in b[:last]. odd is 1 if the quotes before b are odd; it returns that
// with the quotes of b.
func countStarts(m *table.Measured, b []byte, last, odd int, starts func(i int) bool) int {
	quotes := bytes.IndexByte(b, '"') >= 0
	for i := 0; i < len(b); i++ {
		if !quotes {
			n := bytes.IndexByte(b[i:last], '\n')
			if n < 0 {
				break
			}
			i += n
		}
		switch b[i] {
		case '"':
			odd ^= 1
		case '\n':
			if i < last && starts(i+1) {
				m.Rows[odd]++
			}
		}
	}
	return odd
}

// blank says whether a line that starts at b is empty. The end of the file ends a line.
func (t *CSV) blank(b []byte) bool {
	if t.syntax.runs {
		b = bytes.TrimLeft(b, " \t")
	}
	return len(b) == 0 || b[0] == '\n' || b[0] == '\r' && (len(b) == 1 || b[1] == '\n')
}
