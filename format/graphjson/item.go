package graphjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

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
	raw  json.RawMessage // of a list or an object
}

// Item is a node or an edge.
type Item struct {
	Line int
	Edge bool
	// Directed is "true" or "false", or empty if the edge does not say it.
	Directed string
	Values   map[string]Value
}

// Header says what the document states about the graph.
type Header struct {
	// Directed is "true" or "false", or empty if the document does not say it.
	Directed     string
	Nodes, Edges bool // there are lists of them
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

// eachMember calls fn for the name and the value of each member of an object, which is valid JSON, until fn returns an error.
func eachMember(raw []byte, fn func(name string, value json.RawMessage) error) error {
	at := skipBlanks(raw, 1)
	for raw[at] != '}' {
		end := endOfValue(raw, at)
		name, err := unquoted(raw[at:end])
		if err != nil {
			return err
		}
		at = skipBlanks(raw, skipBlanks(raw, end)+1) // after the colon
		end = endOfValue(raw, at)
		if err := fn(string(name), raw[at:end:end]); err != nil {
			return err
		}
		if at = skipBlanks(raw, end); raw[at] == ',' {
			at = skipBlanks(raw, at+1)
		}
	}
	return nil
}

func skipBlanks(raw []byte, at int) int {
	for raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r' {
		at++
	}
	return at
}

// endOfValue returns the offset after the value at an offset in an object that is valid JSON.
func endOfValue(raw []byte, at int) int {
	for depth := 0; ; at++ {
		switch raw[at] {
		case '"':
			for at++; raw[at] != '"'; at++ {
				if raw[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 { // of the object around a number or a word
				return at
			}
			if depth == 0 {
				return at + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return at
			}
		}
	}
}

// unquoted is the content of a string of JSON.
func unquoted(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return []byte(s), err
}

// parse reads a value.
func parse(raw json.RawMessage) (Value, error) {
	switch raw[0] {
	case '"':
		text, err := unquoted(raw)
		return Value{Kind: String, Text: text}, err
	case 'n':
		return Value{Kind: Null}, nil
	case 't', 'f':
		return Value{Kind: Bool, Text: raw}, nil
	case '[', '{':
		return Value{Kind: Nested, raw: raw}, nil
	}
	if bytes.ContainsAny(raw, ".eE") {
		return Value{Kind: Number, Text: raw}, nil
	}
	return Value{Kind: Integer, Text: raw}, nil
}
