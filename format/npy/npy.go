package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
)

// HeaderSize is the length of every header that this package writes. It is enough for shapes of up to five
// dimensions, and a multiple of 64, so that mapped data are aligned.
const HeaderSize = 128

// maxHeader bounds the length of a header that is read. NumPy itself refuses to evaluate more than 10,000 bytes.
const maxHeader = 10000

// ErrFormat is wrapped by every error about the bytes of a header.
var ErrFormat = errors.New("not a usable .npy file")

// Header describes the array of a file.
type Header struct {
	// Descr is NumPy's type string without the byte order: "u4", "f8", "b1".
	Descr string
	Shape []int
	// Offset is the byte offset of the data.
	Offset int64
}

// Values is the number of values, the product of the shape.
func (h Header) Values() int {
	n := 1
	for _, d := range h.Shape {
		n *= d
	}
	return n
}

// Size is the number of bytes of a value.
func (h Header) Size() int {
	n, _ := strconv.Atoi(h.Descr[1:])
	return n
}

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFormat}, a...)...)
}

// Layout says how the data of an array differ from what Read accepts.
type Layout struct {
	// BigEndian: the bytes of each value are in the other order.
	BigEndian bool
	// Fortran: the first index varies fastest. It is false for arrays of one dimension, where it makes no difference.
	Fortran bool
}

// Read reads the header at the start of a file of size bytes, and checks that the file holds exactly the data that
// the header promises.
func Read(r io.ReaderAt, size int64) (Header, error) {
	h, l, err := ReadLayout(r, size)
	switch {
	case err != nil:
	case l.Fortran:
		err = bad("found Fortran order, expected C order; save numpy.ascontiguousarray(a)")
	case l.BigEndian:
		err = bad("found big-endian dtype \">%s\", expected little-endian; save a.astype(a.dtype.newbyteorder('<'))", h.Descr)
	}
	if err != nil {
		return Header{}, err
	}
	return h, nil
}

// ReadGrown is Read for a file to which rows were added, which its header does not count: it counts the rows of the file. An array without dimensions has
// none to count.
func ReadGrown(r io.ReaderAt, size int64) (Header, error) {
	text, offset, err := readText(r, size)
	if err != nil {
		return Header{}, err
	}
	h, l, err := parse(text)
	if err != nil {
		return Header{}, err
	}
	if l.Fortran || l.BigEndian || len(h.Shape) == 0 {
		return Header{}, bad("found %s %v in another layout, expected little-endian rows", h.Descr, h.Shape)
	}
	h.Offset = offset
	row, data := uint64(h.Size()), uint64(size-offset)
	for _, d := range h.Shape[1:] {
		hi, lo := bits.Mul64(row, uint64(d))
		if hi != 0 {
			return Header{}, bad("found shape %v, expected at most as many values as a file can hold", h.Shape)
		}
		row = lo
	}
	if row == 0 || data%row != 0 {
		return Header{}, bad("found %d bytes of data, expected whole rows of %s %v; the file is cut or was changed", data, h.Descr, h.Shape[1:])
	}
	h.Shape[0] = int(data / row)
	return h, nil
}

// ReadLayout is Read for arrays of any layout, for callers that convert the data.
func ReadLayout(r io.ReaderAt, size int64) (Header, Layout, error) {
	h, l, err := readLayout(r, size)
	if err != nil {
		return Header{}, Layout{}, err
	}
	return h, l, nil
}

func readLayout(r io.ReaderAt, size int64) (h Header, l Layout, err error) {
	text, offset, err := readText(r, size)
	if err != nil {
		return h, l, err
	}
	if h, l, err = parse(text); err != nil {
		return h, l, err
	}
	h.Offset = offset
	want := uint64(h.Size())
	for _, d := range h.Shape {
		hi, lo := bits.Mul64(want, uint64(d))
		if hi != 0 || lo > 1<<62 {
			return h, l, bad("found shape %v, expected at most as many values as a file can hold", h.Shape)
		}
		want = lo
	}
	if got := uint64(size - h.Offset); got != want {
		return h, l, bad("found %d bytes of data, expected %d for %s %v; the file is cut or was changed", got, want, h.Descr, h.Shape)
	}
	return h, l, nil
}

// ReadText returns the text of a file that holds one string of bytes.
func ReadText(b []byte) (string, error) {
	text, offset, err := readText(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return "", err
	}
	h, _, err := parseDict(text)
	if err != nil {
		return "", err
	}
	if data := b[offset:]; len(h.Shape) == 0 && h.Descr == fmt.Sprintf("|S%d", len(data)) {
		return strings.TrimRight(string(data), "\x00"), nil
	}
	return "", bad("found dtype %q and shape %v with %d bytes, expected one string of bytes", h.Descr, h.Shape, int64(len(b))-offset)
}

// readText returns the text of a header and the offset of the data after it.
func readText(r io.ReaderAt, size int64) (string, int64, error) {
	var start [12]byte
	if size < 10 {
		return "", 0, bad("found %d bytes, expected at least 10", size)
	}
	n := min(size, 12)
	if _, err := r.ReadAt(start[:n], 0); err != nil && !(errors.Is(err, io.EOF)) {
		return "", 0, err
	}
	if !bytes.Equal(start[:6], []byte("\x93NUMPY")) {
		return "", 0, bad("found magic %q, expected \"\\x93NUMPY\"", start[:6])
	}
	var length, at int64
	switch start[6] {
	case 1:
		length, at = int64(binary.LittleEndian.Uint16(start[8:])), 10
	case 2, 3:
		if size < 12 {
			return "", 0, bad("found %d bytes, expected at least 12", size)
		}
		length, at = int64(binary.LittleEndian.Uint32(start[8:])), 12
	default:
		return "", 0, bad("found version %d.%d, expected 1.0, 2.0 or 3.0", start[6], start[7])
	}
	if length > maxHeader || at+length > size {
		return "", 0, bad("found a header of %d bytes in a file of %d, expected at most %d", length, size, maxHeader)
	}
	text := make([]byte, length)
	if _, err := r.ReadAt(text, at); err != nil && !errors.Is(err, io.EOF) {
		return "", 0, err
	}
	return string(text), at + length, nil
}

// parse reads the Python dict literal of a header, and takes the byte order off the type string.
func parse(s string) (h Header, l Layout, err error) {
	if h, l, err = parseDict(s); err != nil {
		return h, l, err
	}
	order, kind := h.Descr[:min(1, len(h.Descr))], h.Descr[min(1, len(h.Descr)):]
	switch kind {
	case "b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8":
	default:
		if strings.Contains(h.Descr, "O") {
			return h, l, bad("found an object array (a pickle), expected plain numbers; it is never loaded")
		}
		return h, l, bad("found dtype %q, expected bool, int8..int64, uint8..uint64 or float16..float64", h.Descr)
	}
	if order == "" || !strings.Contains("<|=>", order) {
		return h, l, bad("found dtype %q, expected a byte order first", h.Descr)
	}
	h.Descr = kind
	l.BigEndian = order == ">" && kind[1] != '1'
	l.Fortran = l.Fortran && len(h.Shape) > 1
	return h, l, nil
}

// parseDict reads the Python dict literal of a header.
func parseDict(s string) (h Header, l Layout, err error) {
	p := parser{s: s}
	var haveDescr, haveOrder, haveShape bool
	p.want("{")
	for p.err == nil && !p.take("}") {
		key := p.str()
		p.want(":")
		switch key {
		case "descr":
			if p.peek() == '[' {
				return h, l, bad("found a structured array, expected plain numbers; save each field as its own array")
			}
			haveDescr = true
			h.Descr = p.str()
		case "fortran_order":
			haveOrder = true
			l.Fortran = p.boolean()
		case "shape":
			haveShape = true
			h.Shape = p.tuple()
		default:
			p.fail("found key %q, expected descr, fortran_order or shape", key)
		}
		if !p.take(",") {
			p.want("}")
			break
		}
	}
	if p.err != nil {
		return h, l, p.err
	}
	if !haveDescr || !haveOrder || !haveShape {
		return h, l, bad("found header %q, expected descr, fortran_order and shape", s)
	}
	return h, l, nil
}

type parser struct {
	s   string
	err error
}

func (p *parser) fail(format string, a ...any) {
	if p.err == nil {
		p.err = bad(format, a...)
	}
}

func (p *parser) space() { p.s = strings.TrimLeft(p.s, " \n\t") }

func (p *parser) peek() byte {
	p.space()
	if p.s == "" {
		return 0
	}
	return p.s[0]
}

func (p *parser) take(t string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.s, t)
	if ok {
		p.s = rest
	}
	return ok
}

func (p *parser) want(t string) {
	if p.err == nil && !p.take(t) {
		p.fail("found %q in the header, expected %q", head(p.s), t)
	}
}

func head(s string) string { return s[:min(len(s), 20)] }

func (p *parser) str() string {
	q := p.peek()
	if q != '\'' && q != '"' {
		p.fail("found %q in the header, expected a quoted string", head(p.s))
		return ""
	}
	end := strings.IndexByte(p.s[1:], q)
	if end < 0 {
		p.fail("found %q in the header, expected a closing quote", head(p.s))
		return ""
	}
	v := p.s[1 : 1+end]
	p.s = p.s[end+2:]
	return v
}

func (p *parser) boolean() bool {
	switch {
	case p.take("True"):
		return true
	case p.take("False"):
		return false
	}
	p.fail("found %q in the header, expected True or False", head(p.s))
	return false
}

// ParseShape parses a Python tuple of integers: "(100,)", "(100, 16)".
func ParseShape(s string) ([]int, error) {
	p := parser{s: s}
	shape := p.tuple()
	if p.space(); p.err == nil && p.s != "" {
		p.fail("found %q after the shape, expected its end", head(p.s))
	}
	return shape, p.err
}

func (p *parser) tuple() []int {
	shape := []int{}
	p.want("(")
	for p.err == nil && !p.take(")") {
		p.space()
		end := 0
		for end < len(p.s) && p.s[end] >= '0' && p.s[end] <= '9' {
			end++
		}
		n, err := strconv.ParseInt(p.s[:end], 10, 63)
		if err != nil {
			p.fail("found %q in the header, expected a dimension", head(p.s))
			return nil
		}
		p.s = strings.TrimPrefix(p.s[end:], "L")
		shape = append(shape, int(n))
		if !p.take(",") {
			p.want(")")
			break
		}
	}
	return shape
}

// AppendHeader appends a version 1.0 header of HeaderSize bytes. It fails if the text of the shape does not fit,
// which takes far more dimensions than real arrays have.
func AppendHeader(b []byte, descr string, shape []int) ([]byte, error) {
	order := "<"
	if strings.HasSuffix(descr, "1") {
		order = "|"
	}
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.Itoa(d)
	}
	tuple := strings.Join(dims, ", ")
	if len(shape) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, descr, tuple)
	pad := HeaderSize - 10 - len(text) - 1
	if pad < 0 {
		return b, fmt.Errorf("found shape %v, expected one whose header fits %d bytes", shape, HeaderSize)
	}
	b = append(b, "\x93NUMPY\x01\x00"...)
	b = binary.LittleEndian.AppendUint16(b, HeaderSize-10)
	b = append(b, text...)
	b = append(b, strings.Repeat(" ", pad)...)
	return append(b, '\n'), nil
}
