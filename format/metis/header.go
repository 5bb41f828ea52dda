package metis

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/graphmill/graphmill/internal/vfs"
)

// blockSize is the number of bytes that a goroutine parses at a time. A longer line makes a longer block. A comment
// before the header must be shorter.
const blockSize = 1 << 20

// maxConstraints bounds the number of weights per node.
const maxConstraints = 1000

// header is the content of the header line.
type header struct {
	nodes, edges         uint64
	size, weights, edged bool // parts of the lines, according to fmt
	constraints          int
	line                 uint64 // line number
}

// values is the number of values before the neighbours in a line.
func (h *header) values() int {
	n := 0
	if h.size {
		n++
	}
	if h.weights {
		n += h.constraints
	}
	return n
}

// text is an open file.
type text struct {
	file  vfs.File
	name  string
	in    *bufio.Reader
	line  uint64 // number of line ends that were read
	carry []byte // start of a line, which belongs to the next block
	ended bool
	block int // bytes; tests make it small
	// most is the maximum length of a line. A line of a compressed file has at most 16 MiB, or as many bytes as the file.
	most int64
}

// inflatedLine bounds a line of a compressed file that is longer than the file.
const inflatedLine = 16 << 20

func openText(fsys vfs.FS, name string) (_ *text, err error) {
	info, err := vfs.Regular(fsys, name)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	t := &text{file: f, name: name, in: bufio.NewReaderSize(f, blockSize), block: blockSize, most: math.MaxInt64}
	magic, err := t.in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) { // Peek forgets the error, and reading would go on after it
		return nil, errors.Join(t.broken(err), f.Close())
	}
	if bytes.Equal(magic, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(t.in)
		if err != nil {
			return nil, errors.Join(t.broken(err), f.Close())
		}
		t.in, t.most = bufio.NewReaderSize(z, blockSize), max(inflatedLine, info.Size())
	}
	return t, nil
}

// broken returns the error of a read.
func (t *text) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return badf("%s: found damaged gzip data after line %d (%w), expected a whole file", t.name, t.line, err)
	}
	return fmt.Errorf("%s: %w", t.name, err)
}

// header reads up to the end of the first line that is not a comment.
func (t *text) header() (h header, err error) {
	for {
		b, err := t.in.ReadSlice('\n')
		t.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			return h, badf("%s:%d: found a line of more than %d bytes, expected \"nodes edges\"; is this a METIS graph?", t.name, t.line, blockSize)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return h, t.broken(err)
		}
		if len(b) > 0 && b[0] == '%' && err == nil {
			continue
		}
		return t.parse(string(bytes.TrimSpace(b)))
	}
}

func (t *text) parse(line string) (h header, err error) {
	bad := func(format string, a ...any) (header, error) {
		return h, badf("%s:%d: found the first line %q, expected %s", t.name, t.line, line[:min(len(line), 80)], fmt.Sprintf(format, a...))
	}
	fields := bytes.Fields([]byte(line))
	if len(fields) < 2 || len(fields) > 4 {
		return bad("the number of nodes and the number of edges, optionally followed by fmt and the number of weights")
	}
	h = header{constraints: 1, line: t.line}
	for i, to := range []*uint64{&h.nodes, &h.edges} {
		if *to, err = strconv.ParseUint(string(fields[i]), 10, 64); err != nil {
			return bad("two numbers first; is this a METIS graph?")
		}
	}
	// Offsets and node numbers are 32-bit.
	if h.nodes >= 1<<32-1 || h.edges >= 1<<31 {
		return bad("fewer than 2^32 - 1 nodes and 2^31 edges")
	}
	if len(fields) > 2 {
		digits := fields[2]
		if len(digits) > 3 || len(bytes.Trim(digits, "01")) > 0 {
			return bad("fmt of up to three digits 0 or 1")
		}
		digits = append(bytes.Repeat([]byte{'0'}, 3-len(digits)), digits...)
		h.size, h.weights, h.edged = digits[0] == '1', digits[1] == '1', digits[2] == '1'
	}
	if len(fields) > 3 {
		n, err := strconv.Atoi(string(fields[3]))
		if err != nil || n < 0 || n > maxConstraints || n == 0 && h.weights || n > 1 && !h.weights {
			return bad("1 to %d weights per node if fmt says that there are weights, and otherwise none", maxConstraints)
		}
		h.constraints = max(n, 1)
	}
	return h, nil
}

// next reads whole lines into b and returns it, or io.EOF if there are none. The last byte is a line end, even if the
// file does not end with one.
func (t *text) next(b []byte) ([]byte, error) {
	b = append(b[:0], t.carry...)
	t.carry = t.carry[:0]
	for want := t.block; !t.ended; want *= 2 {
		have := len(b)
		if cap(b) < want+1 {
			b = append(make([]byte, 0, want+1), b...)
		}
		for have < want && !t.ended {
			n, err := t.in.Read(b[have:want])
			have += n
			if t.ended = errors.Is(err, io.EOF); err != nil && !t.ended {
				return nil, t.broken(err)
			}
		}
		b = b[:have]
		if t.ended {
			break
		}
		if int64(len(b)) > t.most && bytes.IndexByte(b, '\n') < 0 {
			return nil, badf("%s:%d: found a line of more than %d bytes in a compressed file, expected at most 16 MiB or the size of the compressed file; decompress the file first if you trust it", t.name, t.line+1, t.most)
		}
		if end := bytes.LastIndexByte(b, '\n') + 1; end > 0 {
			t.carry = append(t.carry, b[end:]...)
			return b[:end], nil
		}
	}
	if len(b) == 0 {
		return nil, io.EOF
	}
	if b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	return b, nil
}
