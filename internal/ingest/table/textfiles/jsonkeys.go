package textfiles

import (
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// jsonKeys are the keys of the first objects.
type jsonKeys struct {
	list  []*jsonKey
	index map[string]int
	rows  int
	// missing are the texts of values that count as null.
	missing missingTexts
}

// jsonKey is what is known of the values of a key.
type jsonKey struct {
	table.Guess
	name string
	// count is the number of objects with the key, and of those not null; the others are of kinds of values. lists counts
	// arrays.
	count, strings, bools, numbers, lists, objects int
	// fixed is the length of all arrays, or -1. depth is the depth of the deepest, and even says that all have it.
	fixed, depth int
	even         bool
	element      jsonElement
	row          int // the last object with the key
	// text says that some string is neither empty nor a word for a missing value.
	text bool
}

// jsonElement is what is known of the elements of arrays.
type jsonElement struct {
	strings, bools, numbers, others bool
	integer                         bool // all numbers are integers in the range of int64
	wide                            bool // some number is as Guess.Wide
}

// field is the field of a key, and why it cannot be read otherwise.
func (k *jsonKey) field() (f table.Field, reason string) {
	f.Name = k.name
	if k.objects > 0 {
		return f, "objects"
	}
	if k.lists == 0 {
		if k.bools > 0 && k.strings+k.numbers == 0 {
			f.DType = graph.Bool
		}
		if k.strings > 0 { // a string is not a number, whatever it contains
			k.Unsigned, k.Integer, k.Number, k.Rows, k.Mixed, k.Whole = false, false, false, false, false, false
			k.Time, k.Comma = k.Time && k.text, false
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
	case e.wide:
		f.DType = graph.Float64
	default:
		f.DType, f.Inferred = graph.Float32, true
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
		k.Guess.Add(v.text, uint64(row))
		k.text = k.text || len(v.text) > 0 && !scalar.IsMissing(v.text)
		k.Seen = true
	case jsonBool:
		k.bools++
		k.Guess.Add(v.text, uint64(row))
	default:
		k.numbers++
		k.Guess.Add(v.text, uint64(row))
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
			_, ok := scalar.ParseInt(v.text, graph.Int64)
			e.integer = ok && (e.integer || !e.numbers)
			e.numbers = true
			x, _ := scalar.ParseFloat(v.text, graph.Float64)
			e.wide = e.wide || math.Abs(x) >= scalar.WideFloat && !math.IsInf(x, 0)
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
				k.list = append(k.list, &jsonKey{name: name, row: -1, Guess: table.Guess{Unsigned: true, Integer: true, Number: true, Time: true, Rows: row == 0, Empty: row > 0}})
			}
			x := k.list[i]
			if x.row == row {
				return "found the key " + scalar.Quote(key) + " twice, expected it once"
			}
			x.row = row
			x.add(k.missing.value(v), row)
			return ""
		})
		if bad != nil {
			return bad
		}
		at = next
	}
	return nil
}
