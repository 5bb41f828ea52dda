package textfiles

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// JSON is a table of JSON lines: one object per line, whose keys are the columns. Null, and a key that an object does not
// have, are empty cells.
type JSON struct {
	text       *CSV
	guesses    []table.Guess
	unreadable []string
	all        []string // the keys that were seen, also those that cannot be read
	named      bool
}

// OpenJSONLines opens the shards of a table, plain or compressed (.gz, .zst). Its columns are the keys of the objects in
// the first MiB, in the order in which they occur, and their dtypes are those that the values have there: a number is a
// Guess as in CSV, true and false are Bool, an array is a vector. A later object with another key is an error.
//
// If names is not nil, the columns are those keys, and other keys are ignored. A string or number whose text is one of missing is read as
// null.
func OpenJSONLines(fsys vfs.FS, paths, names, missing []string) (*JSON, error) {
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	t := &JSON{text: newText(fsys), named: names != nil}
	t.text.syntax, t.text.missing = syntax{lines: true}, newMissing(missing)
	t.text.parser = func(columns []table.Column) (recordParser, error) { return newJSONParser(t, columns) }
	var buf []byte
	keys := &jsonKeys{index: map[string]int{}, missing: t.text.missing}
	left := headSize
	for _, path := range paths {
		f, head, err := t.text.open(path, buf, CSVOptions{})
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
	} else if err := table.CheckNames(t.text.files[0].path, names); err != nil {
		return err
	}
	for _, name := range names {
		k := &jsonKey{name: name, Guess: table.Guess{Rows: false, Empty: true}}
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
func (t *JSON) Fields() []table.Field { return t.text.fields }

// Keys are all keys of the objects in the first MiB.
func (t *JSON) Keys() []string { return t.all }

// Files implements Table.
func (t *JSON) Files() []string { return t.text.Files() }

// Bytes implements Table.
func (t *JSON) Bytes() int64 { return t.text.Bytes() }

// Scan implements Table. Its memory is as for a scan of CSV.
func (t *JSON) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return t.text.Scan(ctx, columns, threads, fn)
}

// Guess describes the numbers and strings of each field in the first MiB.
func (t *JSON) Guess() ([]table.Guess, error) { return t.guesses, nil }

// Unreadable names the keys that cannot be read, and what they are.
func (t *JSON) Unreadable() []string { return t.unreadable }

// Where implements Table: "edges.jsonl:17".
func (t *JSON) Where(row uint64, column string) string { return t.text.Where(row, column) }
