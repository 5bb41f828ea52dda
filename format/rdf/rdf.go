package rdf

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Triple is the content of a line. The terms are views of the line or of a buffer, valid until the next Parse.
type Triple struct {
	Subject, Predicate, Object []byte
	// Literal says that the object is a literal; Object is nil then.
	Literal bool
	// Graph says that the line has the label of a graph.
	Graph bool
	// Some says that the line has a triple at all.
	Some bool

	buf [3][]byte
}

// Parse reads a line without its end. It returns what is wrong with the line, as "found X, expected Y", and the offset
// of that in the line; the text is empty if the line is right.
func (t *Triple) Parse(line []byte) (problem string, at int) {
	t.Some, t.Literal, t.Graph = false, false, false
	p := parser{line: line}
	if p.space(); p.ended() {
		return "", 0
	}
	t.Subject = p.node(&t.buf[0], "a subject: an IRI in angle brackets, or a blank node")
	p.space()
	if p.peek() == '_' {
		p.fail("a predicate: an IRI in angle brackets")
	}
	t.Predicate = p.node(&t.buf[1], "a predicate: an IRI in angle brackets")
	p.space()
	if p.peek() == '"' {
		t.Literal, t.Object = true, nil
		p.literal()
	} else {
		t.Object = p.node(&t.buf[2], "an object: an IRI in angle brackets, a blank node or a literal in quotes")
	}
	if p.space(); p.peek() == '<' || p.peek() == '_' {
		t.Graph = true
		p.skip()
		p.space()
	}
	if p.problem == "" && p.peek() != '.' {
		p.fail("a full stop at the end of the triple")
	}
	p.at++
	if p.space(); p.problem == "" && !p.ended() {
		p.fail("nothing after the full stop")
	}
	t.Some = p.problem == ""
	return p.problem, p.bad
}

// parser is at a place in a line. After the first problem it stays there.
type parser struct {
	line    []byte
	at      int
	problem string
	bad     int
}

func (p *parser) fail(expected string) {
	if p.problem != "" {
		return
	}
	rest := p.line[min(p.at, len(p.line)):]
	found := "the end of the line"
	if len(rest) > 0 {
		n := bytes.IndexAny(rest, " \t")
		if n <= 0 {
			n = len(rest)
		}
		found = strconv.Quote(string(rest[:min(n, 40)]))
	}
	p.problem, p.bad = fmt.Sprintf("found %s, expected %s", found, expected), min(p.at, len(p.line))
}

// peek is the next byte, 0 at the end and after a problem.
func (p *parser) peek() byte {
	if p.problem != "" || p.at >= len(p.line) {
		return 0
	}
	return p.line[p.at]
}

func (p *parser) space() {
	for c := p.peek(); c == ' ' || c == '\t' || c == '\r'; c = p.peek() {
		p.at++
	}
}

// ended says whether the rest of the line is empty or a comment.
func (p *parser) ended() bool { return p.peek() == 0 && p.at >= len(p.line) || p.peek() == '#' }

// skip passes a term that nobody asks for.
func (p *parser) skip() {
	var buf []byte
	p.node(&buf, "the label of a graph")
}

// node reads an IRI or a blank node.
func (p *parser) node(buf *[]byte, expected string) []byte {
	switch p.peek() {
	case '<':
		return p.iri(buf, expected)
	case '_':
		start := p.at
		if p.at++; p.peek() != ':' {
			p.at = start
			break
		}
		for p.at++; p.label(); p.at++ {
		}
		for p.line[p.at-1] == '.' { // a full stop ends the triple
			p.at--
		}
		if p.at > start+2 {
			return p.line[start:p.at]
		}
		p.at = start
	}
	p.fail(expected)
	return nil
}

// label says whether the next byte belongs to the label of a blank node.
func (p *parser) label() bool {
	c := p.peek()
	return c >= utf8.RuneSelf || c == '.' || c == '-' || c == '_' || c == ':' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// iri reads an IRI. Where it has escapes, it is written to buf.
func (p *parser) iri(buf *[]byte, expected string) []byte {
	p.at++
	if p.peek() == '<' {
		p.at--
		p.fail(expected + "; triples within triples are not read")
		return nil
	}
	start := p.at
	end := bytes.IndexByte(p.line[p.at:], '>')
	if end <= 0 {
		p.at = start - 1
		p.fail(expected + ", with a '>' at its end")
		return nil
	}
	text := p.line[start : start+end]
	escaped := false
	for i, c := range text {
		if c <= ' ' || c == '<' || c == '"' {
			p.at = start + i
			p.fail("an IRI without spaces, quotes and control characters")
			return nil
		}
		escaped = escaped || c == '\\'
	}
	p.at += end + 1
	if !escaped {
		return text
	}
	*buf = (*buf)[:0]
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			*buf = append(*buf, text[i])
			i++
			continue
		}
		r, n := escape(text[i:])
		if n == 0 || r <= ' ' || r == '<' || r == '>' {
			p.at = start + i
			p.fail(`\u and four, or \U and eight hexadecimal digits of a character that IRIs can have`)
			return nil
		}
		*buf = utf8.AppendRune(*buf, r)
		i += n
	}
	return *buf
}

// escape reads \uXXXX or \UXXXXXXXX. n is 0 if there is neither.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case 'u':
		n = 6
	case 'U':
		n = 10
	default:
		return 0, 0
	}
	if len(b) < n {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(b[2:n]), 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), n
}

// literal passes a literal, with its language or type.
func (p *parser) literal() {
	start := p.at
	for p.at++; p.peek() != '"'; p.at++ {
		switch p.peek() {
		case 0:
			if p.at >= len(p.line) {
				p.at = start
				p.fail("a literal that ends in quotes")
				return
			}
		case '\\':
			n := 2
			if p.at+1 < len(p.line) && (p.line[p.at+1] == 'u' || p.line[p.at+1] == 'U') {
				_, n = escape(p.line[p.at:])
			} else if p.at+1 >= len(p.line) || bytes.IndexByte([]byte(`tbnrf"'\`), p.line[p.at+1]) < 0 {
				n = 0
			}
			if n == 0 {
				p.fail(`one of the escapes \t \b \n \r \f \" \' \\ \u \U`)
				return
			}
			p.at += n - 1
		}
	}
	p.at++
	switch p.peek() {
	case '@':
		from := p.at + 1
		for p.at++; p.label() && p.peek() < utf8.RuneSelf && p.peek() != '.'; p.at++ {
		}
		if p.at == from {
			p.fail("a language after the @")
		}
	case '^':
		if p.at++; p.peek() != '^' {
			p.fail("^^ and the IRI of a type")
			return
		}
		p.at++
		if p.peek() != '<' {
			p.fail("the IRI of a type")
			return
		}
		p.skip()
	}
}
