package textfiles

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// newJSONParser plans how objects are read.
func newJSONParser(t *JSON, asked []table.Column) (*jsonParser, error) {
	p := &jsonParser{t: t, index: map[string]int{}}
	for i, f := range t.text.fields {
		p.index[f.Name] = i
		p.targets = append(p.targets, -1)
	}
	for _, name := range t.all {
		if _, ok := p.index[name]; !ok {
			p.index[name] = -1
		}
	}
	p.seen = make([]int, len(t.text.fields))
	p.cols = make([]builder.Column, len(asked))
	p.chunk.Columns = make([]table.Vector, len(asked))
	path := t.text.files[0].path
	for i, a := range asked {
		f := slices.IndexFunc(t.text.fields, func(f table.Field) bool { return f.Name == a.Name })
		if f < 0 {
			return nil, badf("%s: found the keys %s, expected %q among them; correct the name", path, table.List(t.text.names()), a.Name)
		}
		c, err := builder.New(a)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", path, a.Name, err)
		}
		c.Next = p.targets[f]
		p.cols[i] = c
		p.targets[f] = i
	}
	return p, nil
}

// jsonParser makes chunks from objects.
type jsonParser struct {
	t       *JSON
	index   map[string]int // number of a field by its key; -1: a key that cannot be read
	targets []int          // per field: index of the first column that asks for it, or -1
	seen    []int          // per field: the last row, from 1, with the key
	cols    []builder.Column
	scan    jsonScanner
	guess   int // field after the one of the last key
	row     int // from 1, also over blocks
	absent  []bool
	marked  bool
	gone    bool // the row is absent
	chunk   table.Chunk
}

func (p *jsonParser) parse(b *block) (*table.Chunk, *badText) {
	p.chunk.Rows, p.chunk.Absent, p.marked, p.absent = 0, nil, false, p.absent[:0]
	for i := range p.cols {
		p.cols[i].Reset()
	}
	s := &p.scan
	s.b, s.bad = b.buf[:b.end+padding/2], nil
	for at := b.at; at < b.end; {
		s.at = skipBlanks(b.buf, at)
		if next := lineEnd(b.buf, s.at); next > 0 {
			at = next
			continue
		}
		start := s.at
		p.row++
		p.guess, p.gone = 0, false
		at = s.object(p.member)
		if s.bad == nil {
			if problem := p.missing(); problem != "" {
				s.fail(start, "%s", problem)
			}
		}
		if s.bad != nil {
			return nil, s.bad
		}
		p.chunk.Rows++
		p.absent = append(p.absent, p.gone)
		p.marked = p.marked || p.gone
	}
	for i := range p.cols {
		c := &p.cols[i]
		if c.Wide && c.DType.Size() < 8 {
			scalar.Narrow(c.Data.W[:p.chunk.Rows], c.DType) // each value was checked
		}
		p.chunk.Columns[i] = c.Vector(p.chunk.Rows)
	}
	if p.marked {
		p.chunk.Absent = p.absent
	}
	return &p.chunk, nil
}

// member reads a key and its value.
func (p *jsonParser) member() string {
	s := &p.scan
	key := s.key()
	if key == nil {
		return ""
	}
	f, known := p.guess, p.guess < len(p.targets)
	if !known || string(key) != p.t.text.fields[f].Name {
		if f, known = p.index[string(key)]; !known && !p.t.named {
			return fmt.Sprintf("found the key %s, which no object in the first MiB has, expected some of %s; put an object with all keys first, or name the keys to read", scalar.Quote(key), table.List(p.t.all))
		}
	}
	if !known || f < 0 {
		s.value(0)
		return ""
	}
	p.guess = f + 1
	if p.seen[f] == p.row {
		return fmt.Sprintf("found the key %q twice, expected it once", p.t.text.fields[f].Name)
	}
	p.seen[f] = p.row
	start := s.at
	i := p.targets[f]
	if i < 0 {
		s.value(0)
		return ""
	}
	for ; i >= 0; i = p.cols[i].Next {
		s.at = start
		if problem := p.put(&p.cols[i]); problem != "" && s.bad == nil {
			s.at = start
			found := s.rest()
			if bytes.HasPrefix(s.b[start:], []byte("null")) {
				found = "null"
			}
			s.fail(start, "found %s in column %q, expected %s", found, p.cols[i].Name, problem)
		}
		if s.bad != nil {
			return ""
		}
	}
	return ""
}

// missing puts an empty cell for each key that the object does not have.
func (p *jsonParser) missing() string {
	for f, i := range p.targets {
		if i < 0 || p.seen[f] == p.row {
			continue
		}
		for ; i >= 0; i = p.cols[i].Next {
			c := &p.cols[i]
			gone, problem := c.Put(nil)
			if problem != "" {
				return fmt.Sprintf("found no key %q, expected %s", c.Name, problem)
			}
			p.gone = p.gone || gone
		}
	}
	return ""
}

// put appends the value at the scanner to a column. It returns what was expected if it cannot.
func (p *jsonParser) put(c *builder.Column) string {
	s := &p.scan
	if len(c.Shape) > 0 && s.b[s.at] == '[' {
		if !c.Deep && len(c.Shape) > 1 && p.flat() {
			return p.array(c, []int{-2}, 0) // all values of several dimensions in one array
		}
		return p.array(c, c.Shape, 0)
	}
	v := p.t.text.missing.value(s.value(0))
	if s.bad != nil {
		return ""
	}
	switch {
	case v.kind == jsonObject || v.kind == jsonArray:
		return c.Expected()
	case v.kind == jsonString && c.DType == graph.String && len(c.Shape) > 0: // not text that contains several
		if c.Deep || !c.Ragged && c.Values != 1 || c.Ragged && c.Values != 1 {
			return c.Expected()
		}
		c.One(v.text)
		c.Row(1)
		return ""
	case v.kind == jsonString && c.DType == graph.String && len(v.text) > 0:
		c.One(v.text)
		return ""
	}
	if v.kind == jsonBool && c.DType == graph.String {
		v.text = map[byte][]byte{'0': []byte("false"), '1': []byte("true")}[v.text[0]]
	}
	gone, problem := c.Put(v.text)
	p.gone = p.gone || gone
	return problem
}

// flat says whether the array at the scanner has no arrays as elements.
func (p *jsonParser) flat() bool {
	at := p.scan.at + 1
	return p.scan.b[skipBlanks(p.scan.b, at)] != '['
}

// array appends an array as the first dimension of shape. k is the number of variable dimensions around it. The shape -2
// stands for all values of a column that is not deep.
func (p *jsonParser) array(c *builder.Column, shape []int, k int) string {
	s := &p.scan
	if s.b[s.at] != '[' {
		return c.Expected()
	}
	s.at++
	s.blanks()
	inside := k
	if shape[0] == -1 {
		inside++
	}
	n := 0
	for ; s.b[s.at] != ']'; n++ {
		if n > 0 {
			if s.b[s.at] != ',' {
				s.fail(s.at, "found %s, expected a comma or ]", s.rest())
				return ""
			}
			s.at++
			s.blanks()
		}
		if len(shape) > 1 {
			if problem := p.array(c, shape[1:], inside); problem != "" || s.bad != nil {
				return problem
			}
		} else {
			v := s.value(0)
			if s.bad != nil {
				return ""
			}
			if v.kind == jsonNull || v.kind >= jsonArray || !c.One(v.text) {
				return c.Expected()
			}
		}
		s.blanks()
	}
	s.at++
	switch d := shape[0]; {
	case d == -2 && c.Ragged && n%c.Values != 0:
		return fmt.Sprintf("a multiple of %d values and not %d", c.Values, n)
	case d == -2 && c.Ragged:
		c.Row(n)
	case d == -2 && n != c.Values:
		return fmt.Sprintf("%d values and not %d", c.Values, n)
	case d == -1:
		c.Lengths[k] = append(c.Lengths[k], uint32(n))
	case d >= 0 && n != d:
		return fmt.Sprintf("%d and not %d in a dimension of the shape %v", d, n, c.Shape)
	}
	return ""
}
