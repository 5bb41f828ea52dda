package lines

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// MostGroups is the number of groups from which on a batch takes no more lines, as each becomes a segment and has open files.
const MostGroups = 16

// Batch gathers what lines say. Close it.
type Batch struct {
	Lines int // that were added, also those that say nothing of a row
	// Kept says that a node was to go, which loses its edges and stays.
	Kept bool

	fs      vfs.FS
	dir     string
	types   map[string][]int // by table
	all     []ingest.LineType
	columns map[string][]string // that name nodes and edges, by table
	groups  []*Group
	of      map[xxh3.Uint128]access
	objects textfiles.Objects
}

// Group holds the rows of one append. All of them are added, or all of them change values, or all of them are dropped.
type Group struct {
	Kind Event // Add, Change or Drop

	spools map[int]*spool // by type
}

// access has one more than the last groups that wrote something and that read it; 0: none.
type access struct{ wrote, read int32 }

// op is one change to a node or an edge of a type. A line makes one op per type of its table, or several.
type op struct {
	of       int
	kind     Event
	row      []byte
	id       string // of a node
	src, dst string // of an edge
}

// NewBatch begins a batch of rows of some types, whose files lie in the folder dir.
func NewBatch(fsys vfs.FS, dir string, types []ingest.LineType) *Batch {
	b := &Batch{fs: fsys, dir: dir, all: types, types: map[string][]int{}, columns: map[string][]string{}, of: map[xxh3.Uint128]access{}}
	for i, t := range types {
		b.types[t.Table] = append(b.types[t.Table], i)
		for _, c := range []string{t.ID, t.Src, t.Dst, t.Where} {
			if c != "" && !slices.Contains(b.columns[t.Table], c) {
				b.columns[t.Table] = append(b.columns[t.Table], c)
			}
		}
	}
	return b
}

// Full says whether the batch should take no more lines.
func (b *Batch) Full() bool { return len(b.groups) >= MostGroups }

// Some says whether the batch has a row.
func (b *Batch) Some() bool { return len(b.groups) > 0 }

// Add adds a line, the one with a number. After an error the batch is not appended.
func (b *Batch) Add(l *Line, number uint64) error {
	b.Lines++
	if l.Event == None {
		return nil
	}
	before, err := b.readRow(b.columns[l.Table], l.Before)
	if err != nil {
		return fmt.Errorf("the row before: %w", err)
	}
	after, err := b.readRow(b.columns[l.Table], l.After)
	if err != nil {
		return err
	}
	ops, err := b.opsOf(l, &before, &after)
	if err != nil {
		return err
	}
	for i := range ops {
		if err := b.put(&ops[i], number); err != nil {
			return err
		}
	}
	return nil
}

// whole says how a database tells the whole row before.
const whole = "let the database log whole rows (PostgreSQL: ALTER TABLE ... REPLICA IDENTITY FULL)"

// opsOf returns the ops of a line.
func (b *Batch) opsOf(l *Line, before, after *row) ([]op, error) {
	switch l.Event {
	case Add:
		return b.added(l.Table, after)
	case Drop:
		return b.dropped(l.Table, before)
	}
	return b.changed(l.Table, before, after)
}

// added returns the ops of a new row of a table.
func (b *Batch) added(table string, r *row) (ops []op, err error) {
	for _, i := range b.types[table] {
		o, t := op{of: i, kind: Add, row: r.text}, &b.all[i]
		if !t.Edge {
			o.id, err = r.needed(t, t.ID, "add it")
		} else if o.src, o.dst, err = r.ends(t, "leave the row out"); err == nil && o.src == "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return ops, nil
}

// dropped returns the ops of a deleted row of a table. If the row is a node, all its edges are dropped.
func (b *Batch) dropped(table string, r *row) (ops []op, err error) {
	for _, i := range b.types[table] {
		o, t := op{of: i, kind: Drop, row: r.text}, &b.all[i]
		switch {
		case !t.Edge:
			b.Kept = true
			o.id, err = r.needed(t, t.ID, whole)
		case t.OfRow:
			continue
		case !r.has(t):
			return nil, fmt.Errorf("found a row to drop without all of the columns that say which edge of %s it is, expected them; %s", t.Name, whole)
		default:
			if o.src, o.dst, err = r.ends(t, whole); err == nil && o.src == "" {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return ops, nil
}

// changed returns the ops of a row of a table that has new values. An edge whose ends changed is dropped and added again, and a row whose id changed is handled as a deleted row and a new one.
func (b *Batch) changed(table string, before, after *row) (ops []op, err error) {
	for _, i := range b.types[table] {
		t := &b.all[i]
		if !t.Edge {
			id, err := after.needed(t, t.ID, "add it")
			if err != nil {
				return nil, err
			}
			had, err := before.key(t, t.ID)
			if err != nil {
				return nil, err
			}
			if had != "" && had != id {
				gone, err := b.dropped(table, before)
				if err != nil {
					return nil, err
				}
				come, err := b.added(table, after)
				return append(gone, come...), err
			}
			if !t.Bare {
				ops = append(ops, op{of: i, kind: Change, row: after.text, id: id})
			}
			continue
		}
		src, dst, err := after.ends(t, "add it")
		if err != nil {
			return nil, err
		}
		known := before.text != nil && before.has(t)
		if !known && (t.OfRow || t.Bare || t.Where != "") {
			return nil, fmt.Errorf("found new values of a row without the ones before, expected both, because an edge of %s may have other ends now; %s", t.Name, whole)
		}
		hadSrc, hadDst := src, dst
		if known {
			if hadSrc, hadDst, err = before.ends(t, whole); err != nil {
				return nil, err
			}
		}
		if src == hadSrc && dst == hadDst {
			if src != "" && !t.Bare {
				ops = append(ops, op{of: i, kind: Change, row: after.text, src: src, dst: dst})
			}
			continue
		}
		if hadSrc != "" {
			ops = append(ops, op{of: i, kind: Drop, row: before.text, src: hadSrc, dst: hadDst})
		}
		if src != "" {
			ops = append(ops, op{of: i, kind: Add, row: after.text, src: src, dst: dst})
		}
	}
	return ops, nil
}

// What a line does reads and writes, by type and id.
const (
	aNode  = 'n' // whether the node is there
	itsAll = 'a' // all edges of a node together
	anEdge = 'e' // the edges between two nodes
	order  = 'o' // the order in which edges of a type come
)

// keyOf is the key of what a line reads or writes.
func keyOf(what byte, typ string, ids ...string) xxh3.Uint128 {
	text := append([]byte{what}, typ...)
	for _, id := range ids {
		text = append(append(text, 0), id...)
	}
	return xxh3.Hash128(text)
}

// put puts what a line does into the earliest group that it may be in.
func (b *Batch) put(o *op, number uint64) error {
	t := &b.all[o.of]
	var reads, writes []xxh3.Uint128
	row := keyOf(aNode, t.Name, o.id)
	switch {
	case t.Edge:
		reads = []xxh3.Uint128{keyOf(aNode, t.SrcType, o.src), keyOf(aNode, t.DstType, o.dst), keyOf(itsAll, t.SrcType, o.src), keyOf(itsAll, t.DstType, o.dst)}
		row = keyOf(anEdge, t.Name, o.src, o.dst)
		writes = []xxh3.Uint128{row}
		if o.kind == Add {
			writes = append(writes, keyOf(order, t.Name))
		}
	case o.kind == Add:
		writes = []xxh3.Uint128{row}
	default:
		reads = []xxh3.Uint128{row}
		if o.kind == Drop {
			writes = []xxh3.Uint128{keyOf(itsAll, t.Name, o.id)}
		}
	}
	least := int32(0)
	for _, k := range reads {
		least = max(least, b.of[k].wrote-1)
	}
	for _, k := range writes {
		least = max(least, b.of[k].wrote-1, b.of[k].read-1)
	}
	at := int(least)
	for at < len(b.groups) && b.groups[at].Kind != o.kind {
		at++
	}
	if at == len(b.groups) {
		b.groups = append(b.groups, &Group{Kind: o.kind, spools: map[int]*spool{}})
	}
	for _, k := range reads {
		a := b.of[k]
		a.read = max(a.read, int32(at)+1)
		b.of[k] = a
	}
	for _, k := range writes {
		a := b.of[k]
		a.wrote = max(a.wrote, int32(at)+1)
		b.of[k] = a
	}
	g := b.groups[at]
	s := g.spools[o.of]
	if s == nil {
		var err error
		if s, err = newSpool(b.fs, filepath.Join(b.dir, fmt.Sprintf("%d-%d.jsonl", at+1, o.of+1))); err != nil {
			return err
		}
		g.spools[o.of] = s
	}
	if o.kind == Change {
		return s.change(row, o.row, number)
	}
	return s.add(o.row, number)
}

// Groups ends the batch, and returns its groups in order.
func (b *Batch) Groups() ([]*Group, error) {
	for _, g := range b.groups {
		for _, s := range g.spools {
			if err := s.finish(b.fs); err != nil {
				return nil, err
			}
		}
	}
	return b.groups, nil
}

// Files are the files of rows of a group, by type.
func (b *Batch) Files(g *Group) map[string]string {
	files := map[string]string{}
	for i, s := range g.spools {
		files[b.all[i].Name] = s.path
	}
	return files
}

// Close removes the files.
func (b *Batch) Close() (err error) {
	for _, g := range b.groups {
		for _, s := range g.spools {
			err = errors.Join(err, s.remove(b.fs))
		}
	}
	b.groups = nil
	return err
}

// numberOf is the number of the line that a row of a file came with; 0: it is not known.
func (b *Batch) numberOf(file string, row int) uint64 {
	for _, g := range b.groups {
		for _, s := range g.spools {
			if filepath.Base(s.path) == file && row >= 1 && row <= len(s.numbers) {
				return s.numbers[row-1]
			}
		}
	}
	return 0
}
