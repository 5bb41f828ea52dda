package tablefiles

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// hiveNull is the name of the value of a partition that stands for an empty cell.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// parted is a table whose files lie in folders KEY=VALUE, which are columns.
type parted struct {
	table.Table
	keys   []table.Field       // of the folders
	shown  []table.Field       // those that the files do not have
	values map[string][]string // by file; an empty string is an empty cell
}

// partitioned adds the columns of the folders between the given ones and the files. A column is Int64 if all of its values
// are integers, and otherwise String. If the files have the column too, theirs counts.
func partitioned(t table.Table, folders []string) (table.Table, error) {
	p := &parted{Table: t, values: map[string][]string{}}
	var first string
	for i, file := range t.Files() {
		keys, values, err := hive(file, folders)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = file
			for _, k := range keys {
				p.keys = append(p.keys, table.Field{Name: k, DType: graph.Int64})
			}
		}
		have := make([]string, len(p.keys))
		for i, k := range p.keys {
			have[i] = k.Name
		}
		if !slices.Equal(keys, have) {
			return nil, badf("%s: found the folders of keys %q, expected %q, as of %s; move the files into one tree", file, keys, have, first)
		}
		for i, v := range values {
			if _, ok := scalar.ParseInt([]byte(v), graph.Int64); !ok && v != "" {
				p.keys[i].DType = graph.String
			}
		}
		p.values[file] = values
	}
	p.shown = slices.DeleteFunc(slices.Clone(p.keys), func(k table.Field) bool {
		return slices.ContainsFunc(t.Fields(), func(f table.Field) bool { return f.Name == k.Name })
	})
	if len(p.shown) == 0 {
		return t, nil
	}
	return p, nil
}

// hive returns the keys and values of the folders KEY=VALUE of a file below one of folders.
func hive(file string, folders []string) (keys, values []string, err error) {
	rel := ""
	for _, dir := range folders {
		if r, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(r) && (rel == "" || len(r) < len(rel)) {
			rel = r
		}
	}
	if rel == "" {
		return nil, nil, nil
	}
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(rel)), "/") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			continue
		}
		if key, err = url.PathUnescape(key); err == nil {
			value, err = url.PathUnescape(value)
		}
		if err != nil {
			return nil, nil, badf("%s: found the folder %q, expected %%XX only for escaped bytes; rename the folder: %w", file, part, err)
		}
		if value == hiveNull {
			value = ""
		}
		if slices.Contains(keys, key) {
			return nil, nil, badf("%s: found two folders of the key %q, expected one; rename one", file, key)
		}
		keys, values = append(keys, key), append(values, value)
	}
	return keys, values, nil
}

func (t *parted) Fields() []table.Field { return append(slices.Clone(t.Table.Fields()), t.shown...) }

// Unreadable names the columns of the files that cannot be read.
func (t *parted) Unreadable() []string { return table.Unreadable(t.Table) }

// Unnamed has the columns without a name of the files.
func (t *parted) Unnamed() []int { return table.Unnamed(t.Table) }

// HasTyped says whether the files store a field with its dtype.
func (t *parted) HasTyped(field string) bool {
	x, ok := t.Table.(table.Typed)
	return ok && x.HasTyped(field) && !slices.ContainsFunc(t.shown, func(k table.Field) bool { return k.Name == field })
}

// Guess returns the guesses of the files. The columns of folders declare their dtypes.
func (t *parted) Guess() ([]table.Guess, error) {
	var guesses []table.Guess
	if g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) }); ok {
		var err error
		if guesses, err = g.Guess(); err != nil {
			return nil, err
		}
	} else {
		guesses = make([]table.Guess, len(t.Table.Fields()))
	}
	return append(slices.Clone(guesses), make([]table.Guess, len(t.shown))...), nil
}

// Scan implements Table.
func (t *parted) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *parted) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	threads = max(threads, 1)
	type worker struct {
		chunk table.Chunk
		cols  []builder.Column // of keys
	}
	var inner []table.Column
	from := make([]int, len(columns)) // key of each column, or -1
	workers := make([]worker, threads)
	for i, a := range columns {
		from[i] = -1
		if slices.ContainsFunc(t.shown, func(f table.Field) bool { return f.Name == a.Name }) {
			from[i] = slices.IndexFunc(t.keys, func(f table.Field) bool { return f.Name == a.Name })
		}
		if from[i] < 0 {
			inner = append(inner, a)
		}
	}
	for w := range workers {
		workers[w].chunk.Columns = make([]table.Vector, len(columns))
		workers[w].cols = make([]builder.Column, len(columns))
		for i, a := range columns {
			if from[i] < 0 {
				continue
			}
			c, err := builder.New(a)
			if err != nil {
				return 0, fmt.Errorf("%s: column %q: %w", t.Files()[0], a.Name, err)
			}
			c.Wide = false
			workers[w].cols[i] = c
		}
	}
	return t.Table.Scan(ctx, inner, threads, func(n int, c *table.Chunk) error {
		w := &workers[n]
		values := t.values[c.File]
		vectors := w.chunk.Columns
		w.chunk = *c
		w.chunk.Columns = vectors
		k, all := 0, false
		for i := range columns {
			if from[i] < 0 {
				vectors[i] = c.Columns[k]
				k++
				continue
			}
			col := &w.cols[i]
			col.Reset()
			for range c.Rows {
				gone, problem := col.Put([]byte(values[from[i]]))
				if problem != "" {
					return badf("%s: found the value %q of the key %q in a folder, expected %s; rename the folder, or read the key as another dtype", c.File, values[from[i]], col.Name, problem)
				}
				all = all || gone // the cells of a file are equal
			}
			vectors[i] = col.Vector(c.Rows)
		}
		if all {
			w.chunk.Absent = slices.Repeat([]bool{true}, c.Rows)
		}
		return fn(n, &w.chunk)
	})
}
