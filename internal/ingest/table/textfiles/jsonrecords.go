package textfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// The columns of an object of lists by ids, such as {"0": [1, 2]}.
const (
	RecordID     = "id"
	RecordValues = "values"
)

// The beginnings of an array of objects, and of an object whose names are whole numbers and whose values are lists.
var (
	arrayOfObjects = regexp.MustCompile(`^[ \t\r\n]*\[[ \t\r\n]*\{`)
	objectOfLists  = regexp.MustCompile(`^[ \t\r\n]*\{[ \t\r\n]*"[0-9]+"[ \t\r\n]*:[ \t\r\n]*\[`)
)

// isRecords says whether a text of JSON is not lines but one value with a record for each element: an array of objects, or lists by
// numbers.
func isRecords(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte(table.ByteOrderMark))
	return arrayOfObjects.Match(text) || IsLists(text)
}

// IsLists says whether a text, without a byte order mark, begins like an object of lists by whole numbers: {"0": [1, 2]}.
func IsLists(text []byte) bool { return objectOfLists.Match(text) }

// recordLines turns one value of JSON into lines of JSON: the objects of an array, or an object with id and values for each list of an
// object of lists. Its lines have the numbers of those on which the records start, if no two start on one.
type recordLines struct {
	in   io.Reader
	path string
	buf  []byte
	out  []byte // that is made, of which read bytes are read
	read int
	err  error // that follows out

	state  recordState
	lists  bool // an object of lists
	line   int  // line ends that were read
	depth  int  // of the value
	quoted bool // within a text, and after a backslash in one
	escape bool
	key    []byte
	inner  int // line ends within the record
	ahead  int // line ends that are made and were not read
}

// recordState says which part of an array of records comes next.
type recordState uint8

const (
	beforeRecords recordState = iota // [ or {
	beforeFirst                      // a record, or the end
	beforeRecord                     // a record
	inKey
	afterKey   // :
	beforeList // [
	inRecord
	afterRecord // a comma, or the end
	afterRecords
)

// newRecordLines reads a text that isRecords accepts.
func newRecordLines(in io.Reader, path string) *recordLines {
	return &recordLines{in: unmarked(in), path: path, buf: make([]byte, 64<<10)}
}

func (r *recordLines) Read(p []byte) (int, error) {
	for r.read == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		r.out, r.read = r.out[:0], 0
		n, err := r.in.Read(r.buf)
		if failed := r.turn(r.buf[:n]); failed != nil {
			err = failed
		} else if errors.Is(err, io.EOF) && r.state != afterRecords {
			err = r.bad("found the end of the file within a list of records, expected a whole one")
		}
		r.err = err
	}
	n := copy(p, r.out[r.read:])
	r.read += n
	return n, nil
}

func (r *recordLines) bad(format string, a ...any) error {
	return badf("%s:%d: %w", r.path, r.line+1, fmt.Errorf(format, a...))
}

// lineEnd takes a line end of the input.
func (r *recordLines) lineEnd() {
	if r.ahead > 0 {
		r.ahead--
	} else {
		r.out = append(r.out, '\n')
	}
}

// turn reads a part of the text.
func (r *recordLines) turn(text []byte) error {
	for _, c := range text {
		if c == '\n' {
			r.line++
		}
		var problem error
		switch r.state {
		case inRecord:
			problem = r.inRecord(c)
		case inKey:
			problem = r.inKey(c)
		default:
			problem = r.between(c)
		}
		if problem != nil {
			return problem
		}
	}
	return nil
}

// inRecord takes a byte of a record.
func (r *recordLines) inRecord(c byte) error {
	switch {
	case c == '\n' && r.quoted:
		r.line--
		return r.bad("found a text that is not closed on its line, expected a quote")
	case c == '\n':
		r.inner++
		c = ' '
	case r.escape:
		r.escape = false
	case r.quoted:
		r.escape, r.quoted = c == '\\', c != '"'
	case c == '"':
		r.quoted = true
	case c == '{' || c == '[':
		r.depth++
	case c == '}' || c == ']':
		r.depth--
	case c == '\r':
		c = ' '
	}
	r.out = append(r.out, c)
	if r.depth > 0 {
		return nil
	}
	if r.lists {
		r.out = append(r.out, '}')
	}
	r.out, r.state = append(r.out, '\n'), afterRecord
	for r.ahead++; r.inner > 0; r.inner-- {
		r.lineEnd()
	}
	return nil
}

// inKey takes a byte of the name of a list.
func (r *recordLines) inKey(c byte) error {
	switch {
	case c >= '0' && c <= '9' && len(r.key) < 20:
		r.key = append(r.key, c)
	case c == '"' && len(r.key) > 0 && (r.key[0] != '0' || len(r.key) == 1):
		r.state = afterKey
	default:
		return r.bad("found a name that is no whole number in an object of lists by numbers, expected one such as \"17\"; name the nodes by numbers")
	}
	return nil
}

// between takes a byte that is in no record.
func (r *recordLines) between(c byte) error {
	switch c {
	case '\n':
		r.lineEnd()
		return nil
	case ' ', '\t', '\r':
		return nil
	}
	closing := byte(']')
	if r.lists {
		closing = '}'
	}
	begins := r.state == beforeFirst || r.state == beforeRecord
	switch {
	case r.state == beforeRecords && (c == '[' || c == '{'):
		r.lists, r.state = c == '{', beforeFirst
	case (r.state == beforeFirst || r.state == afterRecord) && c == closing:
		r.state = afterRecords
	case r.state == afterRecord && c == ',':
		r.state = beforeRecord
	case begins && !r.lists && c == '{':
		r.out, r.depth, r.state = append(r.out, c), 1, inRecord
	case begins && r.lists && c == '"':
		r.key, r.state = r.key[:0], inKey
	case r.state == afterKey && c == ':':
		r.state = beforeList
	case r.state == beforeList && c == '[':
		r.out = append(append(append(r.out, `{"`+RecordID+`":`...), r.key...), `,"`+RecordValues+`":[`...)
		r.depth, r.state = 1, inRecord
	case r.state == afterRecords:
		return r.bad("found %q after the list of records, expected the end of the file", c)
	default:
		return r.bad("found %q, expected %s", c, r.expected())
	}
	return nil
}

// expected says what the state expects.
func (r *recordLines) expected() string {
	switch {
	case r.state == beforeRecords:
		return "[ or {"
	case r.state == afterKey:
		return "a colon after the name"
	case r.state == beforeList:
		return "a list"
	case r.state == afterRecord:
		return "a comma, or the end of the list of records"
	case r.lists:
		return "a name in quotes"
	}
	return "an object: a list of records has an object for each"
}
