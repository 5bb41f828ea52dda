package graphml

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// charset reads text in an encoding other than UTF-8 as UTF-8.
func charset(label string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "iso-8859-1", "latin1", "iso_8859-1", "us-ascii", "ascii":
		return &latin1{in: in}, nil
	}
	return nil, fmt.Errorf("the encoding %q", label)
}

// latin1 turns ISO-8859-1, in which a byte is the character of its number, into UTF-8.
type latin1 struct {
	in   io.Reader
	left []byte // the rest of a character
	buf  [4]byte
}

func (l *latin1) Read(p []byte) (int, error) {
	if len(l.left) > 0 {
		n := copy(p, l.left)
		l.left = l.left[n:]
		return n, nil
	}
	if len(p) < utf8.UTFMax {
		n, err := l.in.Read(l.buf[utf8.UTFMax-1:])
		if n == 0 {
			return 0, err
		}
		l.left = utf8.AppendRune(l.buf[:0], rune(l.buf[utf8.UTFMax-1]))
		n = copy(p, l.left)
		l.left = l.left[n:]
		return n, err
	}
	// The bytes are read into the second half, and the characters, of at most two bytes each, never catch up with them.
	half := p[(len(p)+1)/2:]
	n, err := l.in.Read(half)
	out := p[:0]
	for _, b := range half[:n] {
		out = utf8.AppendRune(out, rune(b))
	}
	return len(out), err
}
