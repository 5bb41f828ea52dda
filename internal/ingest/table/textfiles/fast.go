package textfiles

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes of text are handled as one word: the number of leading digits comes from the trailing zeros of a mask,
// and their value from two multiplications.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func load(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// digitsOf returns the number of digits that the text w starts with, 0 to 8, and their value, which is undefined for
// 0 digits.
func digitsOf(w uint64) (v uint64, n int) {
	t := w ^ '0'*ones
	other := (t + 0x76*ones | t) & highs // bytes that are not digits; exact for the first
	k := bits.TrailingZeros64(other)     // 8n + 7, or 64
	t <<= uint(-(k &^ 7)) & 63           // move the digits to the high end, with zeros before them
	t = t*10 + t>>8
	v = (t&0x000000ff000000ff*(100+1000000<<32) + t>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
	return v, k >> 3
}

var powers = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// number parses 1 to 15 digits at b[at:] and returns the offset after them. It returns 0 if there are none or more, or zeros before
// the first other digit, which a column may refuse.
func number(b []byte, at int) (uint64, int) {
	v, n := digitsOf(load(b, at))
	if n == 0 || n > 1 && b[at] == '0' {
		return 0, 0
	}
	at += n
	if n == 8 {
		w, m := digitsOf(load(b, at))
		if m == 8 {
			return 0, 0
		}
		if m > 0 {
			v = v*powers[m] + w
		}
		at += m
	}
	return v, at
}

// lineEnd returns the offset after LF at b[at:], which may follow CRs, or 0 if there is none.
func lineEnd(b []byte, at int) int {
	switch b[at] {
	case '\n':
		return at + 1
	case '\r':
		return lineEndAfterCR(b, at)
	}
	return 0
}

// lineEndAfterCR is lineEnd where b[at] is CR.
func lineEndAfterCR(b []byte, at int) int {
	for b[at] == '\r' && at+1 < len(b) {
		at++
	}
	if b[at] == '\n' {
		return at + 1
	}
	return 0
}

// pairs parses records of two integers into x and y until the end, until x and y are full, or until a record that
// needs the general parser. It returns the start of the next record and the number of records.
func pairs(b []byte, at, end int, d, d2 byte, x, y []uint64) (int, int) {
	y = y[:len(x)]
	for i := range x {
		if at >= end {
			return at, i
		}
		v, n := digitsOf(load(b, at))
		p := at + n
		if n == 0 || n == 8 || b[at] == '0' {
			if v, p = number(b, at); p == 0 {
				return at, i
			}
		}
		if c := b[p]; c != d && c != d2 {
			return at, i
		}
		p++
		w, n := digitsOf(load(b, p))
		q := p + n
		if n == 0 || n == 8 || b[p] == '0' {
			if w, q = number(b, p); q == 0 {
				return at, i
			}
		}
		if b[q] == '\n' {
			q++
		} else if q = lineEnd(b, q); q == 0 {
			return at, i
		}
		x[i], y[i] = v, w
		at = q
	}
	return at, len(x)
}

// integers is pairs for any number of columns. out is nil for fields that are not asked for.
func integers(b []byte, at, end int, d, d2 byte, out [][]uint64, rows int) (int, int) {
	last := len(out) - 1
	for i := range rows {
		if at >= end {
			return at, i
		}
		p := at
		for f, o := range out {
			v, q := number(b, p)
			if q == 0 {
				return at, i
			}
			if f == last {
				q = lineEnd(b, q)
			} else if b[q] == d || b[q] == d2 {
				q++
			} else {
				q = 0
			}
			if q == 0 {
				return at, i
			}
			if o != nil {
				o[i] = v
			}
			p = q
		}
		at = p
	}
	return at, rows
}

// stops are the bytes that may end a field: the delimiter, a quote, each repeated eight times, and the control characters before 0x0e,
// among them tab, LF and CR.
type stops struct{ delim uint64 }

func stopsOf(s syntax) stops {
	if s.runs {
		return stops{' ' * ones}
	}
	return stops{uint64(s.delim) * ones}
}

// find returns the offset of the first stop in b[at:], where there must be one.
func (s *stops) find(b []byte, at int) int {
	for {
		w := load(b, at)
		x, y := w^s.delim, w^'"'*ones
		m := ((w-0x0e*ones)&^w | (x-ones)&^x | (y-ones)&^y) & highs
		if m != 0 {
			return at + bits.TrailingZeros64(m)>>3
		}
		at += 8
	}
}
