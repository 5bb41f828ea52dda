package tfgnn

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// textIndex finds the places of fields in the text form of a message, which package prototext does not report. It
// takes any bytes; the places are right for text that prototext accepts. Its time is linear in the text, however many
// fields are looked up.
type textIndex struct {
	text  []byte
	lines []int // offset of the start of each line
	root  []textNode
}

// textNode is a field as written in the text. Each element of a list in brackets is a node of its own.
type textNode struct {
	name  string
	at    int    // offset of the field's name, or of the element in a list
	value string // of a scalar, without quotes and escapes
	kids  []textNode
}

// maxDepth is more than the messages of this package can nest.
const maxDepth = 64

func indexText(text []byte) *textIndex {
	s := &textScanner{text: text}
	x := &textIndex{text: text, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			x.lines = append(x.lines, i+1)
		}
	}
	for s.at < len(text) { // a stray bracket ends s.fields before the end of the text
		x.root = append(x.root, s.fields(0)...)
	}
	return x
}

// find returns the offset of each path of a message, or of its longest prefix that the text contains.
func (x *textIndex) find(desc protoreflect.MessageDescriptor, paths []fieldPath) []int {
	at := map[string]int{}
	for _, p := range paths {
		for n := range p {
			at[p[:n+1].String()] = -1
		}
	}
	locate(x.root, desc, nil, at)
	offsets := make([]int, len(paths))
	for i, p := range paths {
		for n := len(p); n > 0; n-- {
			if offset := at[p[:n].String()]; offset >= 0 {
				offsets[i] = offset
				break
			}
		}
	}
	return offsets
}

// locate records in at the offsets of the paths that at contains, among the fields of a message. The keys of at are
// paths as strings.
func locate(nodes []textNode, desc protoreflect.MessageDescriptor, prefix fieldPath, at map[string]int) {
	last, counts := lastEntries(nodes, desc), map[string]int{}
	for i := range nodes {
		n := &nodes[i]
		f := desc.Fields().ByName(protoreflect.Name(n.name))
		if f == nil {
			continue
		}
		p, kids, inner := prefix.field(n.name), n.kids, f.Message()
		switch {
		case f.IsMap():
			key := n.key()
			if last[[2]string{n.name, key}] != i {
				continue
			}
			p, inner, kids = prefix.entry(n.name, key), f.MapValue().Message(), n.mapped()
		case f.IsList():
			p = prefix.element(n.name, counts[n.name])
			counts[n.name]++
		}
		path := p.String()
		if _, wanted := at[path]; !wanted {
			continue
		}
		at[path] = n.at
		if inner != nil {
			locate(kids, inner, p, at)
		}
	}
}

// lastEntries maps field and key of each map entry to its index in nodes. For a repeated key it is the last entry,
// which counts.
func lastEntries(nodes []textNode, desc protoreflect.MessageDescriptor) map[[2]string]int {
	last := map[[2]string]int{}
	for i := range nodes {
		if f := desc.Fields().ByName(protoreflect.Name(nodes[i].name)); f != nil && f.IsMap() {
			last[[2]string{nodes[i].name, nodes[i].key()}] = i
		}
	}
	return last
}

// twice lists the sets that are given more than once, in a message of the type.
func (x *textIndex) twice(desc protoreflect.MessageDescriptor) []fieldPath {
	var again []fieldPath
	last := lastEntries(x.root, desc)
	told := map[[2]string]bool{}
	for i := range x.root {
		entry := [2]string{x.root[i].name, x.root[i].key()}
		if n, ok := last[entry]; ok && n != i && !told[entry] {
			told[entry] = true
			again = append(again, fieldPath{}.entry(entry[0], entry[1]))
		}
	}
	return again
}

// position returns the line and column of an offset.
func (x *textIndex) position(at int) (line, column int) {
	line, found := slices.BinarySearch(x.lines, at)
	if !found {
		line--
	}
	return line + 1, 1 + utf8.RuneCount(x.text[x.lines[line]:at])
}

// key returns the key of a map entry.
func (n *textNode) key() string {
	key := ""
	for i := range n.kids {
		if n.kids[i].name == "key" {
			key = n.kids[i].value
		}
	}
	return key
}

// mapped returns the fields of the value of a map entry.
func (n *textNode) mapped() []textNode {
	var kids []textNode
	for i := range n.kids {
		if n.kids[i].name == "value" {
			kids = append(kids, n.kids[i].kids...)
		}
	}
	return kids
}

// textScanner scans the text format: fields "name: value", "name { fields }", "name < fields >", "name: [ value,
// value ]", separated by space, comma or semicolon, with comments from # to the end of the line.
type textScanner struct {
	text []byte
	at   int
}

func (s *textScanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// skip skips space, comments, and separators of fields.
func (s *textScanner) skip() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', ';':
			s.at++
		case ' ', '\t', '\n', '\r', '\v', '\f', '#':
			s.skipSpace()
		default:
			return
		}
	}
}

// fields reads fields up to and including a closing bracket, or to the end of the text.
func (s *textScanner) fields(depth int) []textNode {
	var nodes []textNode
	for s.skip(); s.at < len(s.text); s.skip() {
		if c := s.peek(); c == '}' || c == '>' {
			s.at++
			return nodes
		}
		at := s.at
		name := s.word()
		if name == "" {
			s.at++ // no field begins with this byte
			continue
		}
		s.skip()
		if s.peek() == ':' {
			s.at++
			s.skip()
		}
		if s.peek() != '[' {
			nodes = append(nodes, s.node(name, at, depth))
			continue
		}
		for s.at++; ; {
			s.skip()
			if c := s.peek(); s.at == len(s.text) || c == ']' || c == '}' || c == '>' {
				break
			}
			nodes = append(nodes, s.node(name, s.at, depth))
		}
		if s.peek() == ']' {
			s.at++
		}
	}
	return nodes
}

// node reads a value. It always takes at least one byte, if there is one.
func (s *textScanner) node(name string, at, depth int) textNode {
	n := textNode{name: name, at: at}
	switch c := s.peek(); {
	case s.at == len(s.text):
	case c == '{' || c == '<':
		s.at++
		if depth == maxDepth {
			s.at = len(s.text)
			break
		}
		n.kids = s.fields(depth + 1)
	case c == '"' || c == '\'':
		for c := s.peek(); c == '"' || c == '\''; c = s.peek() {
			n.value += s.quoted()
			s.skipSpace()
		}
	default:
		if n.value = s.word(); n.value == "-" { // "- 1" is a number
			s.skipSpace()
			n.value += s.word()
		}
		if n.value == "" {
			s.at++
		}
	}
	return n
}

// skipSpace skips the space and comments that may separate two parts of a value. It stops at separators of fields.
func (s *textScanner) skipSpace() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r', '\v', '\f':
			s.at++
		case '#':
			s.comment()
		default:
			return
		}
	}
}

// comment skips the rest of a line.
func (s *textScanner) comment() {
	if n := bytes.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n + 1
	} else {
		s.at = len(s.text)
	}
}

// word reads a name, a number or a constant.
func (s *textScanner) word() string {
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if c >= utf8.RuneSelf || bytes.IndexByte([]byte(" \t\n\r\v\f,;:#[]{}<>\"'"), c) >= 0 {
			break
		}
	}
	return string(s.text[start:s.at])
}

// quoted reads one string literal. A line break ends it, as a quote does.
func (s *textScanner) quoted() string {
	quote := s.text[s.at]
	s.at++
	var b []byte
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == quote || c == '\n':
			return string(b)
		case c == '\\' && s.at < len(s.text):
			b = s.escape(b)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// escape reads the characters after a backslash.
func (s *textScanner) escape(b []byte) []byte {
	c := s.text[s.at]
	s.at++
	switch c {
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		return append(b, "\a\b\f\n\r\t\v"[bytes.IndexByte([]byte("abfnrtv"), c)])
	case 'x', 'X':
		n, _ := s.number(16, 2)
		return append(b, byte(n))
	case 'u', 'U':
		digits := 4
		if c == 'U' {
			digits = 8
		}
		n, _ := s.number(16, digits)
		return utf8.AppendRune(b, rune(n))
	case '0', '1', '2', '3', '4', '5', '6', '7':
		s.at--
		n, _ := s.number(8, 3)
		return append(b, byte(n))
	}
	return append(b, c)
}

// number reads at most n digits of a base.
func (s *textScanner) number(base, n int) (uint64, error) {
	end := s.at
	for end < len(s.text) && end-s.at < n {
		if _, err := strconv.ParseUint(string(s.text[end]), base, 8); err != nil {
			break
		}
		end++
	}
	word := string(s.text[s.at:end])
	s.at = end
	return strconv.ParseUint(word, base, 32)
}
