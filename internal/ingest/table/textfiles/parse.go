package textfiles

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// badText describes what was found at an offset of a block, what was expected and what to do.
type badText struct {
	at   int
	text string
}

func (e *badText) error(place string) error {
	return badf("%s: %s", place, e.text)
}

// parser makes chunks from blocks. It belongs to one worker.
type parser struct {
	syntax
	stops   stops
	fields  []table.Field
	targets []int // per field: index of the first column that asks for it, or -1
	cols    []builder.Column
	quick   []int      // per field: targets where one column asks for it, and for integers; otherwise -1
	fast    [][]uint64 // one per field while all fields are integers; otherwise nil
	texts   bool       // some column has texts
	void    []bool     // per field: it has no name, and no values in the head; nil: there are none
	chunk   table.Chunk
	absent  []bool
	marked  bool // a row of the chunk is absent
	keeps   bool // rows with another number of fields
	missing missingTexts
	ragged  []uint32
	scratch []byte
	_       [64]byte // keeps what changes per row out of the cache line of another worker's parser
}

func newParser(t *CSV, asked []table.Column) (*parser, error) {
	p := &parser{syntax: t.syntax, stops: stopsOf(t.syntax), fields: t.fields, keeps: t.ragged, missing: t.missing}
	numbers := make(map[string]int, len(t.fields))
	for i, f := range t.fields {
		p.targets = append(p.targets, -1)
		if _, twice := numbers[f.Name]; !twice {
			numbers[f.Name] = i
		}
	}
	p.cols = make([]builder.Column, len(asked), len(asked)+1) // the last keeps them out of the cache lines of another worker's
	p.chunk.Columns = make([]table.Vector, len(asked))
	slow := t.missing.digits() // texts of digits may be no numbers
	integers := len(asked) > 0 && !slow
	for i, a := range asked {
		f, found := numbers[a.Name]
		if !found || a.Name == "" {
			return nil, badf("%s: found the columns %s, expected %q among them; correct the name", t.files[0].path, table.List(t.names()), a.Name)
		}
		c, err := builder.New(a)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", t.files[0].path, a.Name, err)
		}
		c.Next = p.targets[f]
		p.cols[i] = c
		p.targets[f] = i
		integers = integers && c.Wide && c.Next < 0
		p.texts = p.texts || a.DType == graph.String
	}
	for f, i := range p.targets {
		p.quick = append(p.quick, -1)
		if i >= 0 && p.cols[i].Wide && p.cols[i].Next < 0 && !slow {
			p.quick[f] = i
		}
	}
	for i, f := range t.fields {
		if f.Name == "" && !slices.Contains(t.unnamed, i+1) {
			p.void = append(p.void, make([]bool, len(t.fields)-len(p.void))...)
			p.void[i], integers = true, false
		}
	}
	if integers {
		p.fast = make([][]uint64, len(t.fields))
	}
	return p, nil
}

// parse reads all records of a block. The chunk is valid until the next call.
func (p *parser) parse(b *block) (*table.Chunk, *badText) {
	bad := p.records(b.buf, b.at, b.end, p.fast != nil)
	if p.texts && !utf8.Valid(b.buf[b.at:b.end]) {
		if at := b.at + invalid(b.buf[b.at:b.end]); bad == nil || at < bad.at {
			bad = &badText{at, notUTF8(b.buf[at])}
		}
	}
	if bad != nil {
		return nil, bad
	}
	for i := range p.cols {
		if c := &p.cols[i]; c.Wide && c.DType.Size() < 8 && scalar.Narrow(c.Data.W[:p.chunk.Rows], c.DType) >= 0 {
			// The fast path examines digits only: find the place with the general parser.
			return nil, p.records(b.buf, b.at, b.end, false)
		}
	}
	for i := range p.cols {
		p.chunk.Columns[i] = p.cols[i].Vector(p.chunk.Rows)
	}
	p.chunk.Absent, p.chunk.Ragged = nil, p.ragged
	if p.marked {
		p.chunk.Absent = p.absent
	}
	return &p.chunk, nil
}

// slowRun is the number of records after which the fast path is tried again.
const slowRun = 64

func (p *parser) records(b []byte, at, end int, fast bool) *badText {
	p.chunk.Rows, p.marked = 0, false
	p.absent, p.ragged = p.absent[:0], p.ragged[:0]
	for i := range p.cols {
		p.cols[i].Reset()
	}
	for at < end {
		if fast {
			at = p.integers(b, at, end)
		}
		for n := 0; at < end && (!fast || n < slowRun); n++ {
			next, bad := p.record(b, at, end)
			if bad != nil {
				return bad
			}
			at = next
		}
	}
	return nil
}

// integers runs the fast path as far as possible.
func (p *parser) integers(b []byte, at, end int) int {
	d, d2 := p.delim, p.delim
	if p.runs {
		d, d2 = ' ', '\t'
	}
	for at < end {
		// Estimate the number of remaining rows. If it is too low, the loop repeats.
		rows := (end-at)/(4*len(p.fields)) + 1
		for i := range p.cols {
			c := &p.cols[i]
			c.Data.Add(8 * rows)
			c.Data.N -= 8 * rows
		}
		for f, i := range p.targets {
			if i >= 0 {
				p.fast[f] = p.cols[i].Data.W[p.chunk.Rows : p.chunk.Rows+rows]
			}
		}
		var next, n int
		if len(p.fast) == 2 && p.fast[0] != nil && p.fast[1] != nil {
			next, n = pairs(b, at, end, d, d2, p.fast[0], p.fast[1])
		} else {
			next, n = integers(b, at, end, d, d2, p.fast, rows)
		}
		p.chunk.Rows += n
		for i := range p.cols {
			p.cols[i].Data.N = 8 * p.chunk.Rows
		}
		p.absent = append(p.absent, make([]bool, n)...)
		at = next
		if n < rows {
			break
		}
	}
	return at
}

// record parses one record, or skips an empty line, and returns the start of the next one. What a cell needs most often is in the loop
// itself, because a call for each cell takes a tenth more time.
func (p *parser) record(b []byte, at, end int) (int, *badText) {
	at = p.blanks(b, at)
	if next := lineEnd(b, at); next > 0 {
		return next, nil
	}
	absent := false
	var next int
	f := 0
	for ; ; f++ {
		if f == len(p.quick) {
			next, bad := p.beyond(b, at, end)
			return p.noted(next, absent), bad
		}
		begin := at
		if i := p.quick[f]; i >= 0 {
			v, q := number(b, opened(b, at))
			q = closed(b, at, q)
			if q > 0 && p.ends(b, q) && p.cols[i].Fits(v) {
				scalar.PutInt(p.cols[i].Data.Add(8), v)
				at = q
			}
		}
		if at == begin { // no integer that can be read without a search for its end
			cell, after, bad := p.field(b, at, end)
			if bad != nil {
				next, bad := p.unclear(b, at, end, f, bad)
				return p.noted(next, absent), bad
			}
			gone := p.missing.has(cell)
			if p.nameless(f) && !gone && len(scalar.Trim(cell)) > 0 {
				return 0, badNameless(at, cell)
			}
			for i := p.targets[f]; i >= 0; i = p.cols[i].Next {
				c := &p.cols[i]
				none, problem := c.Put(textOf(c, cell, gone, b[at] == '"'))
				if problem != "" {
					return 0, badCell(at, cell, c.Name, problem)
				}
				absent = absent || none
			}
			at = after
		}
		at = p.blanks(b, at)
		if next = lineEnd(b, at); next > 0 {
			break
		}
		if !p.runs {
			at++ // the delimiter
		}
	}
	if f+1 < len(p.quick) {
		if bad := p.short(at, f+1); bad != nil {
			return 0, bad
		}
	}
	return p.noted(next, absent), nil
}

// noted counts a record before an offset, and returns the offset.
func (p *parser) noted(next int, absent bool) int {
	p.chunk.Rows++
	p.absent = append(p.absent, absent)
	p.marked = p.marked || absent
	return next
}

// opened is the offset of the text of the field at b[at:], after its opening quote if it has one.
func opened(b []byte, at int) int {
	if b[at] == '"' {
		return at + 1
	}
	return at
}

// closed is the offset after an integer of a field at b[at:] that ends at q, and after its closing quote if the field has an opening one;
// 0 if there is no integer, or no closing quote.
func closed(b []byte, at, q int) int {
	if q == 0 || b[at] != '"' {
		return q
	}
	if b[q] != '"' {
		return 0
	}
	return q + 1
}

// textOf returns the text of a field as a column reads it: without blanks at the ends where it is an unquoted id; nil where it is missing.
func textOf(c *builder.Column, cell []byte, gone, quoted bool) []byte {
	if gone {
		return nil
	}
	if c.ID && !quoted && blankEnds(cell) {
		return unquotedText(cell)
	}
	return cell
}

// nameless says whether a column has no name, and had no values in the first lines.
func (p *parser) nameless(field int) bool { return p.void != nil && p.void[field] }

// badNameless is the error of a value of a nameless column.
func badNameless(at int, cell []byte) *badText {
	return &badText{at, fmt.Sprintf("found %s in a column without a name, expected nothing, as in the first lines; name the column in the header, or put a field that contains a delimiter in quotes", scalar.Quote(cell))}
}

// beyond handles a record whose fields do not end with the columns, but go on at b[at:]. It returns the start of the next record.
func (p *parser) beyond(b []byte, at, end int) (int, *badText) {
	if p.keeps {
		return p.surplus(b, at, end), nil
	}
	return 0, &badText{at, fmt.Sprintf("found more than %d fields, expected %s; put a field that contains a delimiter in quotes", len(p.fields), p.expected())}
}

// unclear handles a record with a field at b[at:] that cannot be read. It returns the start of the next record.
func (p *parser) unclear(b []byte, at, end, field int, bad *badText) (int, *badText) {
	if !p.keeps {
		return 0, bad
	}
	return afterLine(b, at, end), p.lacking(at, field)
}

// short handles a record that ends at an offset, with fewer fields than columns.
func (p *parser) short(at, fields int) *badText {
	if p.keeps {
		return p.lacking(at, fields)
	}
	return &badText{at, fmt.Sprintf("found %d fields, expected %s; write each of them, also empty ones", fields, p.expected())}
}

// surplus notes a row with more fields than columns, whose other fields begin at b[at:], and returns the start of the next record.
func (p *parser) surplus(b []byte, at, end int) int {
	p.ragged = append(p.ragged, uint32(p.chunk.Rows))
	for {
		_, next, bad := p.field(b, at, end)
		if bad != nil {
			return afterLine(b, at, end)
		}
		at = p.blanks(b, next)
		if next := lineEnd(b, at); next > 0 {
			return next
		}
		if !p.runs {
			at++
		}
	}
}

// afterLine returns the offset after the line of b[at:end], or end.
func afterLine(b []byte, at, end int) int {
	if n := bytes.IndexByte(b[at:end], '\n'); n >= 0 {
		return at + n + 1
	}
	return end
}

// lacking notes a row whose fields end at an offset, or cannot be told apart from there on, and makes the cells from a field on empty.
func (p *parser) lacking(at, field int) *badText {
	p.ragged = append(p.ragged, uint32(p.chunk.Rows))
	for f := field; f < len(p.fields); f++ {
		for i := p.targets[f]; i >= 0; i = p.cols[i].Next {
			if _, problem := p.cols[i].Put(nil); problem != "" {
				return badCell(at, nil, p.cols[i].Name, problem)
			}
		}
	}
	return nil
}

// badCell is the error of a cell that a column cannot have.
func badCell(at int, cell []byte, name, problem string) *badText {
	if !strings.Contains(problem, ";") {
		problem += "; correct it, or read the column as another dtype"
	}
	return &badText{at, fmt.Sprintf("found %s in column %q, expected %s", scalar.Quote(cell), name, problem)}
}

func (p *parser) expected() string {
	names := make([]string, len(p.fields))
	for i, f := range p.fields {
		names[i] = f.Name
	}
	return fmt.Sprintf("%d (%s)", len(names), table.List(names))
}

// blanks skips spaces and tabs if runs of them separate fields.
func (s syntax) blanks(b []byte, at int) int {
	for (s.runs || s.lines) && (b[at] == ' ' || b[at] == '\t') {
		at++
	}
	return at
}

// ends says whether a field can end at b[at].
func (s syntax) ends(b []byte, at int) bool {
	c := b[at]
	return c == s.delim || s.runs && c == '\t' || lineEnd(b, at) > 0
}

// field returns the text of the field at b[at:] and the offset after it. The text is valid until the next call.
func (p *parser) field(b []byte, at, end int) ([]byte, int, *badText) {
	if b[at] == '"' {
		return p.quoted(b, at, end)
	}
	stop := p.stops.find(b, at)
	for !p.ends(b, stop) {
		switch b[stop] {
		case '"':
			return nil, 0, &badText{stop, `found a quote inside a field, expected quotes around all of it; write it as "...""..."`}
		case '\r':
			return nil, 0, &badText{stop, "found a carriage return within a cell, expected one only before a line end; put the cell in quotes, or convert the file: tr '\\r' '\\n' < FILE"}
		}
		stop = p.stops.find(b, stop+1) // another control character
	}
	return b[at:stop], stop, nil
}

// unquotedText is the text of a field without quotes, around which blanks do not count.
func unquotedText(cell []byte) []byte { return bytes.Trim(cell, " \t") }

// blankEnds says whether a blank or a control character begins or ends a cell.
func blankEnds(cell []byte) bool {
	n := len(cell)
	return n > 0 && (cell[0] <= ' ' || cell[n-1] <= ' ')
}

func (p *parser) quoted(b []byte, at, end int) ([]byte, int, *badText) {
	p.scratch = p.scratch[:0]
	begin := at
	at++
	for {
		n := bytes.IndexByte(b[at:end], '"')
		if n < 0 {
			return nil, 0, &badText{begin, "found a quote that is never closed, expected another at the end of the field"}
		}
		at += n
		if b[at+1] != '"' || at+1 >= end {
			break
		}
		at += 2
		p.scratch = append(p.scratch, b[begin+1:at-1]...)
		begin = at - 1
	}
	cell := b[begin+1 : at]
	if len(p.scratch) > 0 {
		p.scratch = append(p.scratch, cell...)
		cell = p.scratch
	}
	at++
	if !p.ends(b, at) {
		return nil, 0, &badText{at, fmt.Sprintf("found %s after a closing quote, expected a delimiter or the end of the line; write a quote inside quotes twice", scalar.Quote(b[at:at+1]))}
	}
	return cell, at, nil
}

// cells returns the cells of one record, which has no line end.
func (s syntax) cells(line []byte) ([]string, *badText) {
	b := append(append(make([]byte, 0, len(line)+1+padding), line...), '\n')
	return s.split(b[:len(b)+padding], len(b))
}

// split returns the fields of the first record of b[:end].
func (s syntax) split(b []byte, end int) ([]string, *badText) {
	p := &parser{syntax: s, stops: stopsOf(s)}
	var cells []string
	for at := s.blanks(b, 0); ; {
		cell, next, bad := p.field(b, at, end)
		if bad != nil {
			return nil, bad
		}
		if b[at] != '"' {
			cell = unquotedText(cell)
		}
		cells = append(cells, string(cell))
		if at = s.blanks(b, next); lineEnd(b, at) > 0 {
			return cells, nil
		}
		if !s.runs {
			at++
		}
	}
}

// skip returns the offset in a block of the record with a number.
func (s syntax) skip(b *block, n int) int {
	for at := b.at; ; {
		if lineEnd(b.buf, s.blanks(b.buf, at)) == 0 {
			if n == 0 {
				return at
			}
			n--
		}
		at, _ = s.recordEnd(b.buf, at, b.end, false)
	}
}

// fieldAt returns the offset of field n of the record at b[at:], or of the record if it has no such field.
func (s syntax) fieldAt(b []byte, at, end, n int) int {
	p := &parser{syntax: s, stops: stopsOf(s)}
	record := at
	for at = s.blanks(b, at); n > 0; n-- {
		_, next, bad := p.field(b, at, end)
		if bad != nil {
			return record
		}
		if at = s.blanks(b, next); lineEnd(b, at) > 0 {
			return record
		}
		if !s.runs {
			at++
		}
	}
	return at
}
