package seeds

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// reader reads the seeds of a file.
type reader struct {
	fsys  vfs.FS
	s     *store.Store
	files []string
	dir   string // the folder that holds the files, if it was named
	types []int  // node type of each id of a row

	tab     table.Table
	columns []table.Column // the ids, then the features
	find    []func(id []byte) (uint64, bool)
}

// read reads all rows.
func (r *reader) read(ctx context.Context, features []table.Column) (*Seeds, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	width := len(r.types)
	if width == 2 {
		if err := r.features(features); err != nil {
			return nil, err
		}
	}
	out := &Seeds{}
	for _, t := range r.types {
		out.Types = append(out.Types, r.s.Graph.Nodes[t].Type)
	}
	gathered := make([]gathered, len(r.columns)-width)
	for i := range gathered {
		gathered[i].begin(r.columns[width+i])
	}
	_, err := r.tab.Scan(ctx, r.columns, 1, func(_ int, c *table.Chunk) error {
		for row := range c.Rows {
			for end := range width {
				node, err := r.node(c, row, end)
				if err != nil {
					return err
				}
				out.Nodes = append(out.Nodes, node)
			}
		}
		for i := range gathered {
			gathered[i].add(&c.Columns[width+i], c.Rows)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out.Nodes) == 0 {
		return nil, tagged.Errorf(sample.ErrSeed, "%s: found no seeds", r.files[0])
	}
	for i := range gathered {
		out.Columns = append(out.Columns, &gathered[i].Column)
	}
	slices.SortFunc(out.Columns, func(a, b *graph.Column) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// node is the node with an id of a row.
func (r *reader) node(c *table.Chunk, row, end int) (uint32, error) {
	v, col := &c.Columns[end], &r.columns[end]
	var id []byte
	if col.DType == graph.String {
		start := uint32(0)
		if row > 0 {
			start = v.Ends[row-1]
		}
		id = v.Data[start:v.Ends[row]]
	} else {
		id = v.Data[8*row : 8*row+8]
	}
	node, ok := r.find[end](id)
	if !ok {
		if col.DType != graph.String {
			id = strconv.AppendUint(nil, graph.View[uint64](id)[0], 10)
		}
		column := ""
		if len(r.types) == 2 && col.DType == graph.String { // the place in an array tells the end
			column = fmt.Sprintf(" in column %q", col.Name)
		}
		return 0, tagged.Errorf(sample.ErrSeed, "%s: found id %q%s, expected the id of a node of type %s, as it was imported; check `SeedType`, or leave the line out", r.tab.Where(c.First+uint64(row), col.Name), id, column, r.s.Graph.Nodes[r.types[end]].Type)
	}
	return uint32(node), nil
}

// idNames are the columns of the ids of a row.
func idNames(width int) []string {
	if width == 2 {
		return []string{"source", "target"}
	}
	return []string{"id"}
}

// open opens the table and finds its columns of ids.
func (r *reader) open() error {
	kind, err := tablefiles.KindOf(r.fsys, r.files[0])
	if err != nil {
		return err
	}
	if kind == table.Array && len(r.files) == 1 {
		return r.openArray()
	}
	if r.tab, err = r.openTable(); err != nil {
		return err
	}
	fields := r.tab.Fields()
	for i, name := range idNames(len(r.types)) {
		at := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == name || f.Name == "#"+name })
		if at < 0 && len(r.types) == 1 && len(fields) == 1 {
			at = 0
		}
		if at < 0 {
			var have []string
			for _, f := range fields {
				have = append(have, f.Name)
			}
			place := r.files[0] + ":1"
			if _, text := r.tab.(*textfiles.CSV); !text {
				place = r.tab.Where(0, "")
			}
			return tagged.Errorf(sample.ErrSeed, "%s: found no column %s, expected one that holds the seeds among %s; rename the column of the seeds", place, name, strings.Join(have, ", "))
		}
		ids, err := r.s.IDs(r.types[i])
		if err != nil {
			return err
		}
		r.columns = append(r.columns, table.Column{Name: fields[at].Name, DType: graph.String, ID: true})
		r.find = append(r.find, ids.Find)
	}
	return nil
}

// openArray opens an .npy file of type-wise ids.
func (r *reader) openArray() error {
	names := []string{"id"}
	var err error
	if len(r.types) == 2 {
		names = []string{"src", "dst"}
		r.tab, err = arrayfiles.OpenPairs(r.fsys, r.files[0])
	} else {
		r.tab, err = arrayfiles.OpenNpy(r.fsys, []arrayfiles.NpyColumn{{Name: "id", Path: r.files[0]}})
	}
	if err != nil {
		return err
	}
	for i, t := range r.types {
		count := uint64(r.s.Graph.Nodes[t].Count)
		r.columns = append(r.columns, table.Column{Name: names[i], DType: graph.Uint64, ID: true})
		r.find = append(r.find, func(id []byte) (uint64, bool) {
			v := graph.View[uint64](id)[0]
			return v, v < count
		})
	}
	return nil
}

// openTable opens a table. The first line of text is a header only if it has the names of the ids. A file of no known kind
// is text.
func (r *reader) openTable() (table.Table, error) {
	o := tablefiles.Options{CSVOptions: textfiles.CSVOptions{Header: true}, Text: true, Outside: true}
	if r.dir != "" {
		o.Folders = []string{r.dir}
	}
	tab, err := tablefiles.Open(r.fsys, r.files, o)
	if _, text := tab.(*textfiles.CSV); err != nil || !text {
		return tab, err
	}
	names := idNames(len(r.types))
	if f := tab.Fields(); len(f) == len(names) && !slices.ContainsFunc(f, func(f table.Field) bool {
		return slices.Contains(names, strings.TrimPrefix(f.Name, "#"))
	}) {
		o.CSVOptions = textfiles.CSVOptions{Names: names}
		return tablefiles.Open(r.fsys, r.files, o)
	}
	return tab, nil
}

// features adds the columns other than the ends: those in want, or all.
func (r *reader) features(want []table.Column) error {
	if want != nil {
		fields := r.tab.Fields()
		for _, c := range want {
			if !slices.ContainsFunc(fields, func(f table.Field) bool { return f.Name == c.Name }) {
				return tagged.Errorf(sample.ErrSeed, "%s: found no column %s, expected it in the table of seeds, because the schema declares it for %s; add the column, or remove it from the schema", r.files[0], c.Name, tfgnn.ReadoutName)
			}
		}
		r.columns = append(r.columns, want...)
		return nil
	}
	var guesses []table.Guess
	if text, ok := r.tab.(interface{ Guess() ([]table.Guess, error) }); ok {
		var err error
		if guesses, err = text.Guess(); err != nil {
			return err
		}
	}
	ends := r.columns
	for i, f := range r.tab.Fields() {
		if slices.ContainsFunc(ends, func(c table.Column) bool { return c.Name == f.Name }) {
			continue
		}
		c := table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Unit: f.Unit}
		if c.DType == graph.Invalid {
			c.DType, c.Unit = guessed(guesses[i])
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

func guessed(g table.Guess) (graph.DType, graph.Unit) {
	switch {
	case g.Seen && g.Integer:
		return graph.Int64, ""
	case g.Seen && g.Number:
		return graph.Float32, ""
	case g.Seen && g.Time:
		unit, _ := g.Unit()
		return graph.Int64, unit
	}
	return graph.String, ""
}

// gathered is a column to which chunks are added.
type gathered struct{ graph.Column }

func (g *gathered) begin(c table.Column) {
	g.Column = graph.Column{Name: c.Name, DType: c.DType, Shape: c.Shape, Unit: c.Unit}
	for _, d := range c.Shape {
		if d == -1 {
			g.Offsets = append(g.Offsets, graph.Index{U64: []uint64{0}})
		}
	}
	if c.DType == graph.String {
		g.StringOffsets.U64 = []uint64{0}
	}
}

func (g *gathered) add(v *table.Vector, rows int) {
	g.Rows += rows
	before := uint64(len(g.Values))
	g.Values = append(g.Values, v.Data...)
	for _, end := range v.Ends {
		g.StringOffsets.U64 = append(g.StringOffsets.U64, before+uint64(end))
	}
	for k, lengths := range v.Lengths {
		offsets := g.Offsets[k].U64
		for _, n := range lengths {
			offsets = append(offsets, offsets[len(offsets)-1]+uint64(n))
		}
		g.Offsets[k].U64 = offsets
	}
}
