package table

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// JSON is a table of JSON lines: one object per line, whose keys are the columns. Null, and a key that an object does not
// have, are empty cells.
type JSON struct {
	text       *CSV
	guesses    []Guess
	unreadable []string
	all        []string // the keys that were seen, also those that cannot be read
	named      bool
}

// OpenJSONLines opens the shards of a table, plain or compressed (.gz, .zst). Its columns are the keys of the objects in
// the first MiB, in the order in which they occur, and their dtypes are those that the values have there: a number is a
// Guess as in CSV, true and false are Bool, an array is a vector. A later object with another key is an error.
//
// If names is not nil, the columns are those keys, and other keys are ignored.
func OpenJSONLines(fsys vfs.FS, paths []string, names []string) (*JSON, error) {
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	t := &JSON{text: newText(fsys), named: names != nil}
	t.text.syntax = syntax{lines: true}
	t.text.parser = func(columns []Column) (recordParser, error) { return newJSONParser(t, columns) }
	var buf []byte
	keys := &jsonKeys{index: map[string]int{}}
	left := headSize
	for _, path := range paths {
		f, head, err := t.text.open(path, buf, false)
		if err != nil {
			return nil, err
		}
		buf = head.bytes
		t.text.files = append(t.text.files, f)
		if left <= 0 {
			continue
		}
		b := &block{origin: -1} // places are counted in the block
		b.grow(len(head.bytes), 0)
		n := copy(b.buf, head.bytes)
		b.at, b.end = min(head.body, n), t.text.syntax.lastRecordEnd(head.bytes)
		if head.whole {
			b.end = b.finish(n)
		} else if b.end < 0 {
			return nil, head.tooLong()
		}
		left -= b.end
		if bad := keys.read(b); bad != nil {
			return nil, bad.error(b.place(nil, csvFile{path: path}, bad.at))
		}
	}
	return t, t.declare(keys, names)
}

// declare makes the fields from the keys that were seen.
func (t *JSON) declare(keys *jsonKeys, names []string) error {
	for _, k := range keys.list {
		t.all = append(t.all, k.name)
	}
	if names == nil {
		names = t.all
	} else if err := checkNames(t.text.files[0].path, names); err != nil {
		return err
	}
	for _, name := range names {
		k := &jsonKey{name: name, Guess: Guess{Rows: false, Empty: true}}
		if i, ok := keys.index[name]; ok {
			k = keys.list[i]
			k.Empty = k.Empty || k.count < keys.rows
			k.Rows = k.Rows && !k.Empty
		}
		f, reason := k.field()
		if reason != "" {
			t.unreadable = append(t.unreadable, fmt.Sprintf("%q (%s)", name, reason))
			continue
		}
		t.text.fields = append(t.text.fields, f)
		t.guesses = append(t.guesses, k.Guess)
	}
	return nil
}

// Fields implements Table. DType is Invalid for numbers and strings, of which Guess says more.
func (t *JSON) Fields() []Field { return t.text.fields }

// Files implements Table.
func (t *JSON) Files() []string { return t.text.Files() }

// Bytes implements Table.
func (t *JSON) Bytes() int64 { return t.text.Bytes() }

// Guess describes the numbers and strings of each field in the first MiB.
func (t *JSON) Guess() ([]Guess, error) { return t.guesses, nil }

// Unreadable names the keys that cannot be read, and what they are.
func (t *JSON) Unreadable() []string { return t.unreadable }

// Where implements Table: "edges.jsonl:17".
func (t *JSON) Where(row uint64, column string) string { return t.text.Where(row, column) }

// jsonKeys are the keys of the first objects.
type jsonKeys struct {
	list  []*jsonKey
	index map[string]int
	rows  int
}

// jsonKey is what is known of the values of a key.
type jsonKey struct {
	Guess
	name string
	// count is the number of objects with the key, and of those not null; the others are of kinds of values. lists counts
	// arrays.
	count, strings, bools, numbers, lists, objects int
	// fixed is the length of all arrays, or -1. depth is that of the deepest, and even says that all have it.
	fixed, depth int
	even         bool
	element      jsonElement
	row          int // the last object with the key
}

// jsonElement is what is known of the elements of arrays.
type jsonElement struct {
	strings, bools, numbers, others bool
	integer                         bool // all numbers are integers in the range of int64
}

// field is the field of a key, and why it cannot be read otherwise.
func (k *jsonKey) field() (f Field, reason string) {
	f.Name = k.name
	if k.objects > 0 {
		return f, "objects"
	}
	if k.lists == 0 {
		if k.bools > 0 && k.strings+k.numbers == 0 {
			f.DType = graph.Bool
		}
		if k.strings > 0 { // a string is not a number, whatever it contains
			k.Unsigned, k.Integer, k.Number, k.Rows, k.Mixed = false, false, false, false, false
		}
		return f, ""
	}
	e := k.element
	if k.numbers+k.strings+k.bools > 0 {
		return f, "arrays and single values"
	}
	switch {
	case e.others:
		return f, "arrays of objects or of null"
	case !k.even:
		return f, "arrays of different depths"
	case e.strings && !e.bools && !e.numbers:
		f.DType = graph.String
	case e.bools && !e.strings && !e.numbers:
		f.DType = graph.Bool
	case e.strings || e.bools:
		return f, "arrays of several kinds of values"
	case e.numbers && e.integer:
		f.DType = graph.Int64
	default:
		f.DType = graph.Float32
	}
	for range k.depth {
		f.Shape = append(f.Shape, -1)
	}
	if k.depth == 1 && k.fixed > 0 {
		f.Shape[0] = k.fixed
	}
	return f, ""
}

// add adds a value: the text of a scalar, or an array.
func (k *jsonKey) add(v jsonValue, row int) {
	k.count++
	switch v.kind {
	case jsonNull:
		k.Empty, k.Rows = true, false
	case jsonObject:
		k.objects++
	case jsonArray:
		k.lists++
		n, depth, even := k.element.array(v.text)
		if k.lists == 1 {
			k.fixed, k.depth, k.even = n, depth, even
		}
		k.even = k.even && even && (depth == k.depth || n == 0 && depth < k.depth)
		if n == 0 && k.lists > 1 || n != k.fixed {
			k.fixed = -1
		}
		if depth > k.depth {
			k.even = k.fixed == 0 && even // only empty arrays before
			k.depth = depth
		}
	case jsonString:
		k.strings++
		k.Guess.add(v.text, uint64(row))
		k.Seen = true
	case jsonBool:
		k.bools++
		k.Guess.add(v.text, uint64(row))
	default:
		k.numbers++
		k.Guess.add(v.text, uint64(row))
	}
}

// array notes the elements of an array, and returns their number, the depth of arrays and whether all have that depth.
func (e *jsonElement) array(b []byte) (n, depth int, even bool) {
	depth, even = 1, true
	for _, v := range elements(b) {
		n++
		inner := 1
		switch v.kind {
		case jsonArray:
			_, d, ok := e.array(v.text)
			inner, even = d+1, even && ok
		case jsonString:
			e.strings = true
		case jsonBool:
			e.bools = true
		case jsonNumber:
			_, ok := parseInt(v.text, graph.Int64)
			e.integer = ok && (e.integer || !e.numbers)
			e.numbers = true
		default:
			e.others = true
		}
		if n == 1 {
			depth = inner
		}
		even = even && depth == inner
		depth = max(depth, inner)
	}
	return n, depth, even
}

// read adds the objects of a block.
func (k *jsonKeys) read(b *block) *badText {
	for at := b.at; at < b.end; {
		at = skipBlanks(b.buf, at)
		if next := lineEnd(b.buf, at); next > 0 {
			at = next
			continue
		}
		row := k.rows
		k.rows++
		next, bad := eachKey(b.buf, at, b.end, func(key []byte, v jsonValue) string {
			i, ok := k.index[string(key)]
			if !ok {
				i = len(k.list)
				name := string(key)
				k.index[name] = i
				k.list = append(k.list, &jsonKey{name: name, row: -1, Guess: Guess{Unsigned: true, Integer: true, Number: true, Rows: row == 0, Empty: row > 0}})
			}
			x := k.list[i]
			if x.row == row {
				return "found the key " + quote(key) + " twice, expected it once"
			}
			x.row = row
			x.add(v, row)
			return ""
		})
		if bad != nil {
			return bad
		}
		at = next
	}
	return nil
}

// newJSONParser plans how objects are read.
func newJSONParser(t *JSON, asked []Column) (*jsonParser, error) {
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
	p.cols = make([]column, len(asked))
	p.chunk.Columns = make([]Vector, len(asked))
	path := t.text.files[0].path
	for i, a := range asked {
		f := slices.IndexFunc(t.text.fields, func(f Field) bool { return f.Name == a.Name })
		if f < 0 {
			return nil, badf("%s: found the keys %s, expected %q among them", path, list(t.text.names()), a.Name)
		}
		c, err := newColumn(a)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", path, a.Name, err)
		}
		c.next = p.targets[f]
		p.cols[i] = c
		p.targets[f] = i
	}
	return p, nil
}
