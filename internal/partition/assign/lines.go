package assign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/graphmill/graphmill/internal/vfs"
)

// buffer is the number of bytes that are read or written at a time. No line is longer.
const buffer = 256 << 10

// WriteLines writes one part per line.
func WriteLines(w io.Writer, parts []uint16) error {
	b := make([]byte, 0, buffer)
	for _, p := range parts {
		if p < 10 {
			b = append(b, '0'+byte(p), '\n')
		} else {
			b = append(strconv.AppendUint(b, uint64(p), 10), '\n')
		}
		if len(b) > buffer-8 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}

// lines reads a file of one or two numbers per line.
type lines struct {
	file  string
	what  string // "part" or "trainer"
	below int    // bound of the numbers; 0: MaxParts
	want  uint64 // expected number of lines
	of    string // what the lines describe, for errors
	ids   bool   // an id precedes each number

	line uint64   // lines read so far
	seen []uint64 // a bit per id
}

// read appends the numbers of the file. The size of the file bounds the memory that it allocates.
func (l *lines) read(ctx context.Context, fsys vfs.FS, to []uint16) (_ []uint16, err error) {
	if l.below == 0 {
		l.below = MaxParts
	}
	info, err := vfs.Regular(fsys, l.file)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(l.file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// The shortest lines have two bytes, or four with ids. The last line need not end in a newline.
	most := uint64(info.Size())/2 + 1
	if l.ids {
		if most = uint64(info.Size())/4 + 1; most < l.want {
			return nil, l.wrongLength(most)
		}
		l.seen = make([]uint64, (l.want+63)/64)
	}
	first := len(to)
	n := int(min(most, l.want))
	all := make([]uint16, first, first+n)
	copy(all, to)
	if l.ids {
		all = all[:first+n]
	}
	buf := make([]byte, buffer)
	for have, eof := 0, false; !eof; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.Read(buf[have:])
		if eof = errors.Is(err, io.EOF); err != nil && !eof {
			return nil, err
		}
		have += n
		end := bytes.LastIndexByte(buf[:have], '\n') + 1
		if eof {
			end = have
		} else if end == 0 && have == len(buf) {
			return nil, badf("%s:%d: found a line of more than %d bytes, expected a %s; the file is no assignment", l.file, l.line+1, have, l.what)
		}
		if all, err = l.parse(all, first, buf[:end]); err != nil {
			return nil, err
		}
		have = copy(buf, buf[end:have])
	}
	if l.line != l.want {
		return nil, l.wrongLength(l.line)
	}
	return all, nil
}

func (l *lines) wrongLength(lines uint64) error {
	return badf("%s: found %d lines, expected %d, one for each of %s; is this the assignment of another graph?", l.file, lines, l.want, l.of)
}

// parse parses whole lines; the last line of the file need not end in a newline.
func (l *lines) parse(all []uint16, first int, b []byte) ([]uint16, error) {
	for len(b) > 0 {
		if !l.ids && len(b) > 1 && b[1] == '\n' && b[0]-'0' < 10 && int(b[0]-'0') < l.below && l.line < l.want {
			all = append(all, uint16(b[0]-'0'))
			l.line++
			b = b[2:]
			continue
		}
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		l.line++
		rest := bytes.TrimSpace(line)
		if len(rest) == 0 && len(bytes.TrimSpace(b)) == 0 && l.line > l.want {
			l.line-- // empty lines at the end do not count
			return all, nil
		}
		if l.line > l.want {
			return all, badf("%s:%d: found %s, expected the end of the file after %d lines, one for each of %s; is this the assignment of another graph?", l.file, l.line, quote(rest), l.want, l.of)
		}
		at := uint64(0)
		if l.ids {
			id, n, ok := number(rest)
			if !ok || n == len(rest) || rest[n] != ' ' && rest[n] != '\t' {
				return all, badf("%s:%d: found %s, expected an id and a %s; correct the line", l.file, l.line, quote(rest), l.what)
			}
			if id >= l.want {
				return all, badf("%s:%d: found id %d, expected one below %d, the number of %s; the assignment is of another graph, or the line is wrong", l.file, l.line, id, l.want, l.of)
			}
			if l.seen[id/64]>>(id%64)&1 == 1 {
				return all, badf("%s:%d: found id %d a second time, expected each id once; remove the line", l.file, l.line, id)
			}
			l.seen[id/64] |= 1 << (id % 64)
			at, rest = id, bytes.TrimLeft(rest[n:], " \t")
		}
		p, n, ok := number(rest)
		if !ok || n < len(rest) || p >= uint64(l.below) {
			return all, badf("%s:%d: found %s, expected a %s in 0..%d%s", l.file, l.line, quote(rest), l.what, l.below-1, l.hint(ok && n == len(rest)))
		}
		if l.ids {
			all[uint64(first)+at] = uint16(p)
		} else {
			all = append(all, uint16(p))
		}
	}
	return all, nil
}

// hint suggests what to check if a number is too large.
func (l *lines) hint(isNumber bool) string {
	if !isNumber {
		return ""
	}
	return "; is the number of parts right?"
}

// number parses the decimal number at the start of b, and returns its number of digits.
func number(b []byte) (v uint64, n int, ok bool) {
	for n < len(b) && b[n]-'0' < 10 {
		if v > 1<<59 {
			return 0, n, false
		}
		v = v*10 + uint64(b[n]-'0')
		n++
	}
	return v, n, n > 0
}

func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
