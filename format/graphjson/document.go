package graphjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/internal/tagged"
)

// maxItem is the number of bytes of a node, an edge or another member.
const maxItem = 16 << 20

// ErrFormat is the kind of errors about the content of a document.
var ErrFormat = errors.New("bad JSON of a graph")

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

// reader is the state of a function that reads a document.
type reader struct {
	Header
	in   *lines
	json *json.Decoder
	name string
	fn   func(*Item) error
}

// readDocument reads a document by a function that reads its one value.
func readDocument(in io.Reader, name string, fn func(*Item) error, document func(r *reader) error) (Header, error) {
	r := &reader{in: &lines{Reader: in, left: maxItem}, name: name, fn: fn}
	r.json = json.NewDecoder(r.in)
	r.json.UseNumber()
	err := document(r)
	if err == nil {
		err = r.end()
	}
	return r.Header, err
}

// end expects the end of the input.
func (r *reader) end() error {
	r.in.left = maxItem
	if _, err := r.json.Token(); !errors.Is(err, io.EOF) {
		if r.in.failed != nil {
			return r.failed(r.in.failed)
		}
		return r.bad("found text after the document, expected none")
	}
	return nil
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
		return r.bad("found text that is not JSON (%s), expected a document of nodes and edges", syntax.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.bad("found the end of the file within the document, expected a whole one")
	}
	if r.in.failed != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return r.bad("found text that is not read (%w), expected a document of nodes and edges", err)
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

// open reads the start of an object or array.
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

// members calls fn for each key of the object that is open. fn reads the value.
func (r *reader) members(fn func(key string) error) error {
	for r.more() {
		t, err := r.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if strings.ContainsRune(key, utf8.RuneError) {
			return r.bad("found the name %.40q with U+FFFD, which stands for a broken character, expected whole ones", key)
		}
		if err := fn(key); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// elements calls fn for each element of the array that is open. fn reads it.
func (r *reader) elements(fn func() error) error {
	for r.more() {
		if err := fn(); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// items reads an array of nodes or edges. finish, if not nil, changes each.
func (r *reader) items(edges bool, finish func(x *Item) error) error {
	if edges {
		r.Edges = true
	} else {
		r.Nodes = true
	}
	if err := r.open('[', "a list of objects"); err != nil {
		return err
	}
	return r.elements(func() error {
		x, err := r.item(edges)
		if err == nil && finish != nil {
			err = finish(x)
		}
		if err != nil {
			return err
		}
		return r.fn(x)
	})
}

// item reads an object as a node or an edge.
func (r *reader) item(edge bool) (*Item, error) {
	raw, err := r.value()
	if err != nil {
		return nil, err
	}
	if surrogate(raw) {
		return nil, r.bad(`found an escape that is half a character (\ud800 to \udfff without the other half), expected whole ones`)
	}
	x := &Item{Line: r.in.at(r.json.InputOffset()), Edge: edge}
	x.Values, err = r.object(raw)
	return x, err
}

// object parses an object.
func (r *reader) object(raw json.RawMessage) (map[string]Value, error) {
	if raw[0] != '{' {
		return nil, r.bad("found %.40q, expected an object", raw)
	}
	values := map[string]Value{}
	err := eachMember(raw, func(name string, v json.RawMessage) error {
		if _, twice := values[name]; twice {
			return r.bad("found the name %.40q twice in the object %.40q, expected it once", name, raw)
		}
		value, err := parse(v)
		if err != nil {
			return r.bad("found %.40q, expected a value (%w)", v, err)
		}
		values[name] = value
		return nil
	})
	return values, err
}

// merge puts the members of the object that an item has under a name in its place.
func (r *reader) merge(x *Item, name string) error {
	v, ok := x.Values[name]
	switch {
	case ok && v.Kind == Null:
		delete(x.Values, name)
		return nil
	case !ok || v.Kind != Nested || v.raw[0] != '{':
		return nil
	}
	members, err := r.object(v.raw)
	if err != nil {
		return err
	}
	delete(x.Values, name)
	for key, v := range members {
		if _, twice := x.Values[key]; twice {
			return r.bad("found %.40q in %s and beside it, expected it once; rename one of the two", key, name)
		}
		x.Values[key] = v
	}
	return nil
}

// direction takes what an edge says of its direction under a name.
func (r *reader) direction(x *Item, name, yes, no string) error {
	v, ok := x.Values[name]
	if !ok {
		return nil
	}
	delete(x.Values, name)
	switch {
	case v.Kind == Null:
	case v.Kind != Bool:
		return r.bad("found %s %.40q, expected true or false", name, v.Text)
	case string(v.Text) == "true":
		x.Directed = yes
	default:
		x.Directed = no
	}
	return nil
}

// directed reads whether the graph is directed.
func (r *reader) directed() error {
	raw, err := r.value()
	if err != nil {
		return err
	}
	if r.Directed = string(raw); r.Directed != "true" && r.Directed != "false" {
		return r.bad("found directed %.40q, expected true or false", r.Directed)
	}
	return nil
}

// skip passes over a value.
func (r *reader) skip() error {
	_, err := r.value()
	return err
}

// value reads a value of any kind.
func (r *reader) value() (raw json.RawMessage, err error) {
	r.in.left = maxItem
	if err := r.json.Decode(&raw); err != nil {
		return nil, r.failed(err)
	}
	return raw, nil
}
