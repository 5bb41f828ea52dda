package textfiles

import (
	"bytes"
	"errors"

	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// ValueKind is a kind of values of JSON.
type ValueKind uint8

// The kinds.
const (
	NullValue ValueKind = iota
	BoolValue
	NumberValue // also NaN and Infinity
	StringValue
	ArrayValue
	ObjectValue
)

// kindsOfValues are the names of the kinds in errors.
var kindsOfValues = [...]string{"null", "true or false", "a number", "a text", "an array", "an object"}

// String returns the name of a kind.
func (k ValueKind) String() string { return kindsOfValues[k] }

// Value is a value of JSON. Its bytes are valid until the next value is read.
type Value struct {
	Kind ValueKind
	// Text is the content of a string, and a number, true, false, an array or an object as it is written; nil for null.
	Text []byte
	// Raw is the value as it is written.
	Raw []byte
}

// Objects reads objects of JSON as JSON lines have them, by their keys. It reuses its buffers.
type Objects struct {
	scan jsonScanner
	buf  []byte
	key  []byte
}

// Each calls fn for each key of the one object of a line, with its value, until fn returns an error. Errors about the line have no place.
func (o *Objects) Each(line []byte, fn func(key []byte, v Value) error) error {
	line = bytes.TrimLeft(line, " \t")
	n := len(line)
	if cap(o.buf) < n+padding {
		o.buf = make([]byte, n+padding)
	}
	o.buf = o.buf[:n+padding]
	copy(o.buf, line)
	clear(o.buf[n:])
	o.buf[n] = '\n'
	s := &o.scan
	s.b, s.at, s.bad = o.buf, 0, nil
	var failed error
	s.object(func() string {
		key := s.key()
		if key == nil {
			return ""
		}
		o.key = append(o.key[:0], key...) // the value may overwrite it
		start := s.at
		v := s.value(0)
		if s.bad != nil {
			return ""
		}
		value := Value{Kind: ValueKind(v.kind), Text: v.text, Raw: s.b[start:s.at]}
		if v.kind == jsonBool {
			value.Text = value.Raw
		}
		if failed = fn(o.key, value); failed != nil {
			return failed.Error()
		}
		return ""
	})
	switch {
	case failed != nil:
		return failed
	case s.bad != nil:
		return errors.New(s.bad.text)
	}
	return nil
}

// QuoteValue quotes a text for an error, and cuts a long one.
func QuoteValue(text []byte) string { return scalar.Quote(text) }
