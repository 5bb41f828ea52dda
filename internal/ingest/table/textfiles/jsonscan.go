package textfiles

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// jsonKind is a kind of values.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber // also NaN and Infinity
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is a value. The text of a string is its content, of true and false 1 and 0, and of null
// empty.
type jsonValue struct {
	kind jsonKind
	text []byte
}

// maxNesting bounds the depth of arrays and objects.
const maxNesting = 64

// jsonScanner reads values from a line. A line end ends it, so that no value goes beyond its line.
type jsonScanner struct {
	b       []byte
	at      int
	bad     *badText
	scratch []byte
}

func (s *jsonScanner) fail(at int, format string, a ...any) {
	if s.bad == nil {
		s.bad = &badText{at, fmt.Sprintf(format, a...)}
	}
}

func skipBlanks(b []byte, at int) int {
	for b[at] == ' ' || b[at] == '\t' {
		at++
	}
	return at
}

func (s *jsonScanner) blanks() { s.at = skipBlanks(s.b, s.at) }

// rest is the start of what follows, for errors.
func (s *jsonScanner) rest() string {
	b := s.b[s.at:]
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		b = b[:n]
	}
	if b = bytes.TrimSuffix(b, []byte("\r")); len(b) == 0 {
		return "the end of the line"
	}
	return scalar.Quote(b)
}

// string reads a string, of which s.at is the first quote. Its content is valid until the next string with an escape.
func (s *jsonScanner) string() []byte {
	start := s.at
	s.at++
	begin, high := s.at, byte(0)
	for {
		c := s.b[s.at]
		if c == '"' {
			text := s.b[begin:s.at]
			s.at++
			if high >= 0x80 && !utf8.Valid(text) {
				s.fail(start, "found a string that is not UTF-8, expected UTF-8; convert the file")
			}
			return text
		}
		if c == '\\' {
			break
		}
		if c < 0x20 {
			s.control(start)
			return nil
		}
		high |= c
		s.at++
	}
	out := append(s.scratch[:0], s.b[begin:s.at]...)
	for {
		c := s.b[s.at]
		switch {
		case c == '"':
			s.at++
			s.scratch = out
			if !utf8.Valid(out) {
				s.fail(start, "found a string that is not UTF-8, expected UTF-8; convert the file")
			}
			return out
		case c < 0x20:
			s.control(start)
			return nil
		case c != '\\':
			out = append(out, c)
			s.at++
			continue
		}
		escape := s.at
		s.at += 2
		switch e := s.b[escape+1]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := s.hex()
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if s.b[s.at] == '\\' && s.b[s.at+1] == 'u' {
					s.at += 2
					low = s.hex()
				}
				r = utf16.DecodeRune(r, low)
				if r == utf8.RuneError {
					r = -1
				}
			}
			if r < 0 {
				s.fail(escape, "found an escape that is no character, expected \\u and 4 hexadecimal digits, or two of them for one character")
				return nil
			}
			out = utf8.AppendRune(out, r)
		default:
			s.fail(escape, "found an unknown escape in a string, expected one of JSON")
			return nil
		}
	}
}

func (s *jsonScanner) control(start int) {
	if c := s.b[s.at]; c == '\n' || c == '\r' {
		s.fail(start, "found a string that is not closed, expected a quote on the same line; write one object per line")
	} else {
		s.fail(s.at, "found the control character %#02x in a string, expected it as an escape", c)
	}
}

// hex reads 4 hexadecimal digits. It returns -1 if there are none.
func (s *jsonScanner) hex() rune {
	r := rune(0)
	for range 4 {
		c := s.b[s.at]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
		s.at++
	}
	return r
}

// literals are the values that are words. Python writes the last three.
var literals = []struct {
	word  string
	value jsonValue
}{
	{"true", jsonValue{jsonBool, []byte("1")}}, {"false", jsonValue{jsonBool, []byte("0")}}, {"null", jsonValue{}},
	{"NaN", jsonValue{jsonNumber, []byte("NaN")}}, {"Infinity", jsonValue{jsonNumber, []byte("Infinity")}},
	{"-Infinity", jsonValue{jsonNumber, []byte("-Infinity")}},
}

// value reads a value. The text of an array or object is all of it.
func (s *jsonScanner) value(depth int) jsonValue {
	start := s.at
	switch c := s.b[s.at]; {
	case c == '"':
		return jsonValue{jsonString, s.string()}
	case c == '[' || c == '{':
		if depth == maxNesting {
			s.fail(start, "found arrays or objects deeper than %d, expected fewer", maxNesting)
			return jsonValue{}
		}
		kind, closing := jsonArray, byte(']')
		if c == '{' {
			kind, closing = jsonObject, '}'
		}
		s.at++
		s.blanks()
		for first := true; s.b[s.at] != closing; first = false {
			if !first {
				if s.b[s.at] != ',' {
					s.fail(s.at, "found %s, expected a comma or %c", s.rest(), closing)
					return jsonValue{}
				}
				s.at++
				s.blanks()
			}
			if kind == jsonObject && s.key() == nil {
				return jsonValue{}
			}
			s.value(depth + 1)
			if s.bad != nil {
				return jsonValue{}
			}
			s.blanks()
		}
		s.at++
		return jsonValue{kind, s.b[start:s.at]}
	case c >= '0' && c <= '9' || c == '-' && s.b[s.at+1] != 'I':
		s.number()
		return jsonValue{jsonNumber, s.b[start:s.at]}
	}
	for _, l := range literals {
		if bytes.HasPrefix(s.b[s.at:], []byte(l.word)) {
			s.at += len(l.word)
			return l.value
		}
	}
	s.fail(s.at, "found %s, expected a value of JSON", s.rest())
	return jsonValue{}
}

// key reads a key and the colon after it. It returns nil if there is none.
func (s *jsonScanner) key() []byte {
	if s.b[s.at] != '"' {
		s.fail(s.at, "found %s, expected a key in quotes", s.rest())
		return nil
	}
	key := s.string()
	s.blanks()
	if s.bad == nil && s.b[s.at] != ':' {
		s.fail(s.at, "found %s, expected a colon after the key", s.rest())
	}
	if s.bad != nil {
		return nil
	}
	s.at++
	s.blanks()
	if key == nil {
		key = []byte{}
	}
	return key
}

// number passes a number.
func (s *jsonScanner) number() {
	start := s.at
	digits := func() bool {
		from := s.at
		for s.b[s.at] >= '0' && s.b[s.at] <= '9' {
			s.at++
		}
		return s.at > from
	}
	if s.b[s.at] == '-' {
		s.at++
	}
	zero := s.b[s.at] == '0'
	whole := s.at
	ok := digits() && (!zero || s.at == whole+1)
	if ok && s.b[s.at] == '.' {
		s.at++
		ok = digits()
	}
	if ok && s.b[s.at]|0x20 == 'e' {
		s.at++
		if s.b[s.at] == '+' || s.b[s.at] == '-' {
			s.at++
		}
		ok = digits()
	}
	if !ok {
		s.at = start
		s.fail(start, "found %s, expected a number of JSON", s.rest())
	}
}

// elements returns the elements of a valid array.
func elements(b []byte) []jsonValue {
	var out []jsonValue
	text := append(bytes.Clone(b[1:]), make([]byte, padding)...)
	s := &jsonScanner{b: text}
	for s.blanks(); text[s.at] != ']'; s.blanks() {
		if text[s.at] == ',' {
			s.at++
			s.blanks()
		}
		v := s.value(0)
		v.text = bytes.Clone(v.text)
		out = append(out, v)
	}
	return out
}

// eachKey calls fn for each key of the object at b[at:] with its value, until fn returns a problem. It returns the start of
// the next line.
func eachKey(b []byte, at, end int, fn func(key []byte, v jsonValue) string) (int, *badText) {
	s := &jsonScanner{b: b[:end+padding/2], at: at}
	var own []byte
	next := s.object(func() string {
		start := s.at
		key := s.key()
		if key == nil {
			return ""
		}
		own = append(own[:0], key...) // a value may overwrite it
		v := s.value(0)
		if s.bad != nil {
			return ""
		}
		if problem := fn(own, v); problem != "" {
			s.fail(start, "%s", problem)
		}
		return ""
	})
	return next, s.bad
}

// object reads the object of a line. member reads a key with its value, and returns what is wrong. It returns the start of
// the next line.
func (s *jsonScanner) object(member func() string) int {
	if s.b[s.at] == '[' {
		s.fail(s.at, "found an array, expected one object per line; convert the file, for example with jq -c '.[]'")
		return 0
	}
	if s.b[s.at] != '{' {
		s.fail(s.at, "found %s, expected an object per line", s.rest())
		return 0
	}
	s.at++
	s.blanks()
	for first := true; s.b[s.at] != '}'; first = false {
		if !first {
			if s.b[s.at] != ',' {
				s.fail(s.at, "found %s, expected a comma or }; write one object per line", s.rest())
				return 0
			}
			s.at++
			s.blanks()
		}
		start := s.at
		if problem := member(); problem != "" {
			s.fail(start, "%s", problem)
		}
		if s.bad != nil {
			return 0
		}
		s.blanks()
	}
	s.at++
	s.blanks()
	next := lineEnd(s.b, s.at)
	if next == 0 {
		s.fail(s.at, "found %s after an object, expected the end of the line; write one object per line", s.rest())
	}
	return next
}
