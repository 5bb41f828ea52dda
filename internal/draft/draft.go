package draft

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Source has the tables of a draft.
type Source struct {
	// Address is the database that the queries of the tables ask, as graph.yaml names it; empty: the tables are files.
	Address string
	Tables  []*Table
	// Notes say what of the source is left out.
	Notes []string
}

// Table is a table of the source.
type Table struct {
	Name string // a name that a node type can have
	// Keys are the lines of graph.yaml that name the table, KEY: VALUE.
	Keys []string
	// Data are the rows; nil: they cannot be read, and Faults say why.
	Data   table.Table
	Fields []Field
	// Key and Foreign are the keys that a database declares.
	Key     []string
	Foreign []Foreign
	// Place tells people where a row and a column are; nil: Data tells it.
	Place  func(row uint64, column string) string
	Faults []Fault // that were found when the table was opened

	columns []*column
	rows    uint64
	ragged  seen
	text    bool     // the rows are text, of which graph.yaml can say what stands for an empty cell
	missing []string // texts that the draft takes for empty cells, in order
	id      *column  // nil: the rows are numbered
	why     string   // the id is chosen
	weak    bool     // the id is one only if a key refers to it
	keys    []*key
	edge    bool // the rows are edges
}

// Field is a column of a table.
type Field struct {
	table.Field
	// Words says that the values are texts, whatever they look like.
	Words bool
}

// Foreign is a foreign key that a database declares. Targets are nil for the key of the table.
type Foreign struct {
	Columns []string
	Table   string
	Targets []string
}

// Fault is something that is wrong with a table.
type Fault struct {
	Table  string
	Column string // empty: the table
	Count  uint64 // of cells or rows; 0: it is one fault of the table
	First  string // the place of the first, FILE:ROW; empty: the whole table
	Found  string
	Do     string // what settles it
	// Open says that the draft does not import, or would lose rows, before someone decides.
	Open bool
	// Line is the line of graph.yaml that settles it; 0: none does.
	Line int

	anchor string // of the line
}

// Options are the bounds of a draft, and what it writes.
type Options struct {
	Threads int
	Memory  int64  // bytes; 0: 1 GiB
	Temp    string // folder of temporary files
	// Progress is called with the bytes of tables that were read; nil: not.
	Progress func(bytes int64)
}

// Type is a node type or edge type of a draft.
type Type struct {
	Name  string
	Table string
	Rows  uint64 // of the table: an empty foreign key is no edge
}

// Draft is a graph.yaml, and what was found on the way.
type Draft struct {
	YAML   []byte
	Nodes  []Type
	Edges  []Type
	Faults []Fault
	Rows   uint64
}

// drafter makes a draft.
type drafter struct {
	Source
	o       Options
	columns []*column // of all tables, by number
	out     *Draft
}

// defaultMemory is the bound of a draft where none is given.
const defaultMemory = 1 << 30

// Make makes the draft of a source.
func Make(ctx context.Context, fsys vfs.FS, s Source, o Options) (_ *Draft, err error) {
	if len(s.Tables) == 0 {
		return nil, sourcef("found no table, expected some: files of CSV, TSV, JSON lines, Parquet or Arrow, or tables of a database")
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	o.Threads = max(o.Threads, 1)
	if least := leastMemory + int64(o.Threads-1)*threadMemory; o.Memory < least {
		return nil, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for %d threads; give more memory, or fewer `Threads`", human.Bytes(o.Memory), human.Bytes(least), o.Threads)
	}
	d := &drafter{Source: s, o: o, out: &Draft{}}
	if err := d.nameTables(); err != nil {
		return nil, err
	}
	ctx = table.Bound(ctx, o.Memory, o.Threads)
	for _, t := range d.Tables {
		for _, f := range t.Fields {
			c := &column{Field: f, table: t, number: len(d.columns)}
			t.columns = append(t.columns, c)
			d.columns = append(d.columns, c)
		}
	}
	v, err := newValues(fsys, d)
	if err != nil {
		return nil, err
	}
	defer v.close(&err)
	for _, t := range d.Tables {
		if err := d.profileTable(ctx, v, t); err != nil {
			return nil, err
		}
		d.out.Rows += t.rows
	}
	if err := v.finish(); err != nil {
		return nil, err
	}
	if err := v.measure(ctx, d.columns); err != nil {
		return nil, err
	}
	d.findIDs()
	if err := d.findKeys(ctx, v); err != nil {
		return nil, err
	}
	for _, t := range d.Tables {
		t.chooseMissing()
	}
	d.decideTypes()
	d.findFaults()
	d.write()
	return d.out, nil
}

// nameTables refuses names that types cannot have, and gives equal ones a number.
func (d *drafter) nameTables() error {
	taken := map[string]bool{}
	for _, t := range d.Tables {
		if err := graph.CheckName(t.Name); err != nil {
			return sourcef("table %q: %w", t.Name, err)
		}
		name := t.Name
		for n := 2; taken[t.Name]; n++ {
			t.Name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[t.Name] = true
	}
	return nil
}

// place is the place of a cell for people; a row alone if column is empty.
func (t *Table) place(row uint64, column string) string {
	if t.Place != nil {
		return t.Place(row, column)
	}
	return t.Data.Where(row, column)
}

// column is a field of a table and what is known of it.
type column struct {
	Field
	table  *Table
	number int // among the columns of all tables
	cells  cells
	hashed bool // the values are in values

	// Of hashed columns: the number of values, of rows that repeat an earlier one, and the first of these.
	distinct    uint64
	repeats     uint64
	firstRepeat uint64

	maybe []string // tables whose ids have all values, where nothing tells which of them the column refers to
}

// filled is the number of cells that are not empty.
func (c *column) filled() uint64 { return c.table.rows - c.cells.empty.n }

// unique says that each row has a value of its own.
func (c *column) unique() bool {
	return c.hashed && c.table.rows > 0 && c.cells.empty.n == 0 && c.repeats == 0
}
