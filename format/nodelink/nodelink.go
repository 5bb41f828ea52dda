package nodelink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/graphmill/graphmill/internal/tagged"
)

// maxItem is the number of bytes of a node, an edge or another member.
const maxItem = 16 << 20

// ErrFormat is the kind of errors about the content of a document.
var ErrFormat = errors.New("bad node-link JSON")

// Kind is the kind of a value.
type Kind uint8

// The kinds of values, as bits.
const (
	Null Kind = 1 << iota
	Bool
	Integer
	Number // that is not an integer
	String
	Nested // a list or an object
)

// Value is a value of a node or an edge. Text is its text, of a string without quotes and escapes.
type Value struct {
	Kind Kind
	Text []byte
}

// Item is a node or an edge.
type Item struct {
	Line   int
	Edge   bool
	Values map[string]Value
}

// Header says what the document states about the graph.
type Header struct {
	// Directed is "true" or "false", or empty if the document does not say it.
	Directed     string
	Nodes, Edges bool // there are lists of them
}

// lines is an input of which the lines are counted, and which ends with an error after too many bytes for one item.
type lines struct {
	io.Reader
	left   int
	read   int64
	failed error   // of the input
	ends   []int64 // offsets of line ends that have not been passed
	line   int     // number of line ends that have been passed
	split  []byte  // the bytes of a character that ends in the next read
}

// encodingError is a byte that is not UTF-8. The decoder would put U+FFFD in its place, and so make two names one.
type encodingError struct {
	line int // from 1
	byte byte
}

func (e *encodingError) Error() string {
	return fmt.Sprintf("found the byte %#02x, expected UTF-8; convert the file, for example with iconv -f latin1 -t utf8 FILE", e.byte)
}

var errLong = fmt.Errorf("found more than %d bytes in one value, expected fewer", maxItem)

func (l *lines) Read(p []byte) (int, error) {
	switch {
	case l.failed != nil: // the decoder forgets an error that came with enough bytes
		return 0, l.failed
	case l.left <= 0:
		return 0, errLong
	}
	n, err := l.Reader.Read(p[:min(len(p), l.left)])
	for at := 0; ; {
		i := bytes.IndexByte(p[at:n], '\n')
		if i < 0 {
			break
		}
		l.ends = append(l.ends, l.read+int64(at+i))
		at += i + 1
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.failed = err
	}
	if at, found := l.encoding(p[:n], err != nil); found != nil {
		n, err, l.failed = at, nil, found
	}
	l.left -= n
	l.read += int64(n)
	return n, err
}

// encoding finds the first byte of the next text that is not UTF-8, and returns its offset. last says that no other text follows.
func (l *lines) encoding(text []byte, last bool) (int, error) {
	before := len(l.split)
	if before == 0 && utf8.Valid(text) {
		return len(text), nil
	}
	line := l.line + len(l.ends) + 1 - bytes.Count(text, []byte("\n"))
	all := append(l.split, text...)
	l.split = nil
	for at := 0; at < len(all); {
		r, n := utf8.DecodeRune(all[at:])
		switch {
		case r == '\n':
			line++
		case r != utf8.RuneError || n > 1:
		case last || utf8.FullRune(all[at:]):
			return max(at-before, 0), &encodingError{line, all[at]}
		default:
			l.split = bytes.Clone(all[at:])
			return len(text), nil
		}
		at += n
	}
	return len(text), nil
}

// at returns the line of an offset. Offsets of later calls are not before offsets of earlier ones.
func (l *lines) at(offset int64) int {
	n := 0
	for n < len(l.ends) && l.ends[n] < offset {
		n++
	}
	l.line += n
	l.ends = l.ends[:copy(l.ends, l.ends[n:])]
	return l.line + 1
}

// reader is the state of Read.
type reader struct {
	Header
	in   *lines
	json *json.Decoder
	name string
}

// Read reads a document and calls fn for each node and edge, in order. name is the name of the file, for errors. The error of
// fn ends it.
func Read(in io.Reader, name string, fn func(*Item) error) (Header, error) {
	r := &reader{in: &lines{Reader: in, left: maxItem}, name: name}
	r.json = json.NewDecoder(r.in)
	r.json.UseNumber()
	err := r.read(fn)
	return r.Header, err
}

func (r *reader) bad(format string, a ...any) error {
	return tagged.Errorf(ErrFormat, "%s:%d: "+format, append([]any{r.name, r.in.at(r.json.InputOffset())}, a...)...)
}

// failed turns an error of the decoder into one about the document.
func (r *reader) failed(err error) error {
	syntax, encoding := (*json.SyntaxError)(nil), (*encodingError)(nil)
	switch {
	case errors.As(err, &encoding):
		return tagged.Errorf(ErrFormat, "%s:%d: %w", r.name, encoding.line, encoding)
	case errors.Is(err, errLong):
		return r.bad("%w", errLong)
	case errors.As(err, &syntax):
		return r.bad("found text that is not JSON (%s), expected a document of nodes and links", syntax.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.bad("found the end of the file within the document, expected a whole one")
	}
	if r.in.failed != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return r.bad("found text that is not read (%w), expected a document of nodes and links", err)
}

// token reads a delimiter or a key.
func (r *reader) token() (json.Token, error) {
	r.in.left = maxItem
	t, err := r.json.Token()
	if err != nil {
		return nil, r.failed(err)
	}
	return t, nil
}

// more says whether there are more elements.
func (r *reader) more() bool {
	r.in.left = maxItem
	return r.json.More()
}

func (r *reader) open(delim json.Delim, what string) error {
	t, err := r.token()
	if err != nil {
		return err
	}
	if t != delim {
		return r.bad("found %.40q, expected %q: %s", fmt.Sprint(t), delim.String(), what)
	}
	return nil
}

func (r *reader) read(fn func(*Item) error) error {
	if err := r.open('{', "an object with nodes and links"); err != nil {
		return err
	}
	for r.more() {
		key, err := r.token()
		if err != nil {
			return err
		}
		switch key {
		case "nodes":
			if r.Nodes {
				return r.bad("found nodes twice, expected one list of them")
			}
			r.Nodes, err = true, r.list(false, fn)
		case "links", "edges":
			if r.Edges {
				return r.bad("found links or edges twice, expected one list of them")
			}
			r.Edges, err = true, r.list(true, fn)
		default:
			var raw json.RawMessage
			if raw, err = r.value(); key == "directed" && err == nil {
				if r.Directed = string(raw); r.Directed != "true" && r.Directed != "false" {
					return r.bad("found directed %.40q, expected true or false", r.Directed)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := r.token(); err != nil {
		return err
	}
	r.in.left = maxItem
	if _, err := r.json.Token(); !errors.Is(err, io.EOF) {
		if r.in.failed != nil {
			return r.failed(r.in.failed)
		}
		return r.bad("found text after the document, expected none")
	}
	return nil
}

// value reads a value of any kind.
func (r *reader) value() (raw json.RawMessage, err error) {
	r.in.left = maxItem
	if err := r.json.Decode(&raw); err != nil {
		return nil, r.failed(err)
	}
	return raw, nil
}

// list reads a list of nodes or edges.
func (r *reader) list(edges bool, fn func(*Item) error) error {
	if err := r.open('[', "a list of objects"); err != nil {
		return err
	}
	for r.more() {
		raw, err := r.value()
		if err != nil {
			return err
		}
		if surrogate(raw) {
			return r.bad(`found an escape that is half a character (\ud800 to \udfff without the other half), expected whole ones`)
		}
		x := &Item{Line: r.in.at(r.json.InputOffset()), Edge: edges, Values: map[string]Value{}}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(raw, &values); err != nil || values == nil {
			return r.bad("found %.40q, expected an object", raw)
		}
		for name, v := range values {
			value, err := parse(v)
			if err != nil {
				return r.bad("found %.40q, expected a value (%w)", v, err)
			}
			x.Values[name] = value
		}
		if err := fn(x); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// surrogate says whether a text of JSON escapes one half of a surrogate pair without the other. The decoder would put U+FFFD in its place.
func surrogate(raw []byte) bool {
	unit := func(at int) rune { // the escape \uXXXX at an offset, or 0
		if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
			return 0
		}
		v, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
		if err != nil {
			return 0
		}
		return rune(v)
	}
	for at := 0; ; {
		n := bytes.IndexByte(raw[at:], '\\')
		if n < 0 {
			return false
		}
		at += n
		u := unit(at)
		switch {
		case !utf16.IsSurrogate(u):
			at += 2
		case utf16.DecodeRune(u, unit(at+6)) == utf8.RuneError:
			return true
		default:
			at += 12
		}
	}
}

// parse reads a value.
func parse(raw json.RawMessage) (Value, error) {
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return Value{String, []byte(s)}, err
	case 'n':
		return Value{Kind: Null}, nil
	case 't', 'f':
		return Value{Bool, raw}, nil
	case '[', '{':
		return Value{Kind: Nested}, nil
	}
	if bytes.ContainsAny(raw, ".eE") {
		return Value{Number, raw}, nil
	}
	return Value{Integer, raw}, nil
}
