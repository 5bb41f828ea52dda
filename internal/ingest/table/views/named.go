package views

import (
	"context"
	"slices"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// named is a table whose columns have other names.
type named struct {
	table.Table
	fields []table.Field
	of     map[string]string
}

// Named makes a table in which the column of[NAME] has the name NAME. Columns in none of the pairs keep their names, unless one of the
// new names is theirs: then they are no columns.
func Named(t table.Table, of map[string]string) table.Table {
	n := &named{Table: t, of: of}
	names := map[string]string{}
	for name, old := range of {
		names[old] = name
	}
	for _, f := range t.Fields() {
		if name, ok := names[f.Name]; ok {
			f.Name = name
		} else if _, taken := of[f.Name]; taken {
			continue
		}
		n.fields = append(n.fields, f)
	}
	return n
}

// Fields implements Table.
func (t *named) Fields() []table.Field { return t.fields }

// old is the name of a column in the table.
func (t *named) old(name string) string {
	if old, ok := t.of[name]; ok {
		return old
	}
	return name
}

// Where implements Table.
func (t *named) Where(row uint64, column string) string { return t.Table.Where(row, t.old(column)) }

// Guess describes the fields.
func (t *named) Guess() ([]table.Guess, error) {
	out := make([]table.Guess, len(t.fields))
	g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) })
	if !ok {
		return out, nil
	}
	guesses, err := g.Guess()
	if err != nil {
		return nil, err
	}
	for i, f := range t.fields {
		old := t.old(f.Name)
		if n := slices.IndexFunc(t.Table.Fields(), func(g table.Field) bool { return g.Name == old }); n < len(guesses) {
			out[i] = guesses[n]
		}
	}
	return out, nil
}

// Scan implements Table.
func (t *named) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := slices.Clone(columns)
	for i := range asked {
		c := &asked[i]
		if c.Missing != nil {
			of := *c.Missing
			of.Name, of.From = t.old(of.Name), t.olds(of.From)
			c.Missing = &of
		} else {
			c.Name = t.old(c.Name)
		}
		c.From = t.olds(c.From)
	}
	return t.Table.Scan(ctx, asked, threads, fn)
}

func (t *named) olds(names []string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = t.old(n)
	}
	return out
}
