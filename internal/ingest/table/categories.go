package table

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Categories are the texts that a column of categories can have, each with its code: its number in the list. The zero
// value stands for categories that Collect or Set has still to find; then they do not change. Columns can share them.
type Categories struct {
	texts []string
	codes map[string]int32 // nil: not known yet
}

// NewCategories makes categories of different texts that are not empty, in the order of their codes.
func NewCategories(texts []string) (*Categories, error) {
	if len(texts) > math.MaxInt32 {
		return nil, fmt.Errorf("found %d categories, expected at most %d", len(texts), math.MaxInt32)
	}
	c := &Categories{}
	for _, s := range texts {
		if s == "" {
			return nil, fmt.Errorf("found an empty category, expected texts: an empty cell has no category; remove it")
		}
	}
	if c.Set(texts); len(c.codes) < len(texts) {
		for i, s := range texts {
			if int(c.codes[s]) != i {
				return nil, fmt.Errorf("found the category %q twice, expected it once; remove one", s)
			}
		}
	}
	return c, nil
}

// Set says the texts, which are different.
func (c *Categories) Set(texts []string) {
	c.texts, c.codes = texts, make(map[string]int32, len(texts))
	for i, s := range texts {
		c.codes[s] = int32(i)
	}
}

// Known says whether the texts are known.
func (c *Categories) Known() bool { return c.codes != nil }

// Texts returns the texts in the order of their codes.
func (c *Categories) Texts() []string { return c.texts }

// Equal says whether two columns have the same codes.
func (c *Categories) Equal(d *Categories) bool {
	return c == d || c != nil && d != nil && slices.Equal(c.texts, d.texts)
}

// Bytes is about the size of the categories in memory.
func (c *Categories) Bytes() int64 {
	n := int64(0)
	for _, s := range c.texts {
		n += int64(len(s)) + categoryBytes
	}
	return n
}

// categoryBytes is about the size of a text in a map and a list, without its bytes.
const categoryBytes = 64

// fill returns the code of an empty cell.
func (c *Categories) fill(a *Column) (uint64, error) {
	none := int32(-1)
	if !a.Given || a.Empty != EmptyFill {
		return uint64(uint32(none)), nil
	}
	code, ok := c.codes[a.Fill]
	if !ok {
		return 0, fmt.Errorf("found the fill value %q, expected %s; correct the value", a.Fill, c.expected())
	}
	return uint64(uint32(code)), nil
}

func (c *Categories) expected() string {
	return "one of the categories " + quotedSome(c.texts) + "; add it to the list of categories, or correct the cell"
}

// Limits bound what Collect holds.
type Limits struct {
	Categories int   // of a column; 0: 2^31-1
	Bytes      int64 // of all columns together, as Categories.Bytes counts them; 0: no bound
}

// Collect scans columns of a table for their distinct texts that are not empty, and makes categories of them in the
// order of their bytes. Integers count as their decimal texts. Names and shapes say which columns; the result has one
// entry for each. It holds each distinct text once, and about 64 bytes more for each goroutine that found it.
func Collect(ctx context.Context, t Table, columns []Column, threads int, limits Limits) ([]*Categories, error) {
	if limits.Categories == 0 {
		limits.Categories = math.MaxInt32
	}
	threads = max(threads, 1)
	p := emptyValues(t)
	p.collecting = true
	var parts []part
	for _, c := range columns {
		var out output
		c.Categories, c.DType, c.Unit, c.Missing, c.From, c.Given, c.Empty = &Categories{}, graph.Int32, "", nil, nil, false, EmptyError
		if err := p.add(&out, c); err != nil {
			return nil, err
		}
		parts = append(parts, out.parts[0])
	}
	all := &collector{limits: limits, sets: make([]map[string]struct{}, len(columns))}
	seen := make([][]map[string]struct{}, threads)
	for w := range seen {
		seen[w] = make([]map[string]struct{}, len(columns))
		for i := range columns {
			seen[w][i] = map[string]struct{}{}
		}
	}
	for i := range columns {
		all.sets[i] = map[string]struct{}{}
	}
	_, err := t.Scan(ctx, p.inner, threads, func(worker int, c *Chunk) error {
		for i := range parts {
			x := &parts[i]
			own := seen[worker][i]
			var err error
			x.eachCategory(&c.Columns[x.at], func(value int, text []byte) bool {
				if _, ok := own[string(text)]; ok {
					return true
				}
				s, problem := all.add(i, string(text))
				if problem != "" {
					row := rowOf(&c.Columns[x.at], x.Shape, c.Rows, value)
					err = badf("%s: found %s in column %q, %s", t.Where(c.First+uint64(row), x.Name), scalar.Quote(text), x.Name, problem)
					return false
				}
				own[s] = struct{}{}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Categories, len(columns))
	for i, set := range all.sets {
		texts := make([]string, 0, len(set))
		for s := range set {
			texts = append(texts, s)
		}
		slices.Sort(texts)
		out[i] = &Categories{}
		out[i].Set(texts)
	}
	return out, nil
}

// eachCategory calls fn for the texts of a vector that are not empty until it returns false.
func (x *part) eachCategory(v *Vector, fn func(value int, text []byte) bool) {
	if x.kind == textCodes {
		eachText(v, func(i int, text []byte) bool { return len(text) == 0 || fn(i, text) })
		return
	}
	var b []byte
	empty := v.Empty
	for i, n := range graph.View[uint64](v.Data) {
		if len(empty) > 0 && int(empty[0]) == i {
			empty = empty[1:]
			continue
		}
		if b = appendNumber(b[:0], n, x.signed); !fn(i, b) {
			return
		}
	}
}

// collector holds the texts that all goroutines found.
type collector struct {
	mu     sync.Mutex
	limits Limits
	sets   []map[string]struct{}
	bytes  int64
}

// add adds a text to a set and returns the string to keep, or what is wrong with it.
func (c *collector) add(set int, s string) (string, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.sets[set][s]; ok {
		return s, ""
	}
	c.bytes += int64(len(s)) + categoryBytes
	switch {
	case len(c.sets[set]) >= c.limits.Categories:
		return s, fmt.Sprintf("the category after %d others, expected at most so many; read the column as string", c.limits.Categories)
	case c.limits.Bytes > 0 && c.bytes > c.limits.Bytes:
		return s, fmt.Sprintf("after %d bytes of categories, expected at most so many; give more `Memory`, or read the column as string", c.limits.Bytes)
	}
	c.sets[set][s] = struct{}{}
	return s, ""
}
