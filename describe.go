package graphmill

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/report"
)

// Description describes the contents of a store or collection: types, counts, columns and degrees. Its JSON is what the
// command info prints with --json.
type Description struct {
	Folder string `json:"folder"`           // path, as Open was given it
	Kind   string `json:"kind"`             // "store" or "collection"
	Graphs int    `json:"graphs,omitempty"` // number of graphs of a collection
	// Components is the number of components of all graphs; 0 if every graph has exactly one.
	Components int `json:"components,omitempty"`
	// Schema is the file of the GraphSchema that a collection was imported with; "" if there is none.
	Schema string             `json:"schema,omitempty"`
	Nodes  []NodesDescription `json:"nodes"` // one per node type
	Edges  []EdgesDescription `json:"edges"` // one per edge type
	// Context lists the columns of a collection's graphs, or of a store's context.
	Context []ColumnDescription `json:"context,omitempty"`
	// ContextRows is the number of rows of a store's context.
	ContextRows int `json:"context_rows,omitempty"`
	// SamplerBytes is the memory in bytes that the graph takes while it is sampled over all edge types.
	SamplerBytes int64 `json:"sampler_bytes,omitempty"`
	// NotInBatches names the columns of a store that batches leave out, as TYPE/COLUMN: strings and lists.
	NotInBatches []string `json:"not_in_batches,omitempty"`
	// Made describes the run that made the folder: command, version, options and inputs.
	Made store.Made `json:"made"`
}

// NodesDescription describes a node type.
type NodesDescription struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
	IDs   string `json:"ids,omitempty"` // dtype of the original ids; "" if nodes are numbered
	// Added is the number of nodes that have no row in the node table. They have the highest ids of the type.
	Added   int                 `json:"added,omitempty"`
	Columns []ColumnDescription `json:"columns"`
}

// EdgesDescription describes an edge type.
type EdgesDescription struct {
	Type       string              `json:"type"` // "src:rel:dst"
	Count      int                 `json:"count"`
	Primary    string              `json:"primary,omitempty"`    // direction by which edges are numbered, "in" or "out"
	Directions []string            `json:"directions,omitempty"` // directions whose adjacency is stored
	Degree     *DegreeDescription  `json:"degree,omitempty"`     // degrees in the primary direction; nil in a collection
	Columns    []ColumnDescription `json:"columns"`
}

// DegreeDescription describes the distribution of the degrees of an edge type in its primary direction: the mean, the
// median, two high percentiles, the maximum, and the number of nodes of degree 0.
type DegreeDescription struct {
	Mean  float64 `json:"mean"`
	P50   uint64  `json:"p50"`
	P90   uint64  `json:"p90"`
	P99   uint64  `json:"p99"`
	Max   uint64  `json:"max"`
	Zeros uint64  `json:"zeros"`
}

// ColumnDescription describes a column.
type ColumnDescription struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"` // of one row; -1 is a dimension of varying length
	// Unit is the unit of a column of times: s, ms, us or ns since 1970-01-01T00:00:00Z.
	Unit string `json:"unit,omitempty"`
	// Categories describes the texts of a column of categories.
	Categories *CategoriesDescription `json:"categories,omitempty"`
}

// CategoriesDescription describes the texts that a column of categories has.
type CategoriesDescription struct {
	Count int      `json:"count"`
	First []string `json:"first"` // texts of the first codes, at most 10
}

// String returns the name, dtype and shape of the column, such as "x float32[128]".
func (c ColumnDescription) String() string {
	s := human.Printable(c.Name) + " "
	switch {
	case c.Unit != "":
		s += "datetime[" + c.Unit + "]"
	case c.Categories != nil:
		s += "category"
	default:
		s += c.DType
	}
	if len(c.Shape) > 0 {
		s += strings.ReplaceAll(fmt.Sprint(c.Shape), "-1", "*")
	}
	if k := c.Categories; k != nil {
		s += fmt.Sprintf(" (%d", k.Count)
		for i, text := range k.First[:min(len(k.First), shownCategories)] {
			s += []string{": ", ", "}[min(i, 1)] + human.Printable(text)
		}
		if k.Count > shownCategories {
			s += ", ..."
		}
		s += ")"
	}
	return s
}

// shownCategories is the number of categories that a line shows.
const shownCategories = 3

func describeColumns(cols []*graph.Column) []ColumnDescription {
	infos := []ColumnDescription{}
	for _, c := range cols {
		shape := c.Shape
		if shape == nil {
			shape = []int{}
		}
		d := ColumnDescription{Name: c.Name, DType: c.DType.String(), Shape: shape, Unit: string(c.Unit)}
		if k := c.Categories; k != nil {
			d.Categories = &CategoriesDescription{Count: k.Rows, First: []string{}}
			for i := range min(k.Rows, 10) {
				d.Categories.First = append(d.Categories.First, string(k.Text(i)))
			}
		}
		infos = append(infos, d)
	}
	return infos
}

// Describe describes the contents of the store or collection. It reads the degrees of the nodes.
func (s *Store) Describe() (d *Description, err error) {
	defer guard.Catch(&err)()
	return describe(s.store), nil
}

func describe(s *store.Store) *Description {
	i := &Description{Folder: s.Dir, Kind: s.Meta.Kind, Made: s.Meta.Made, Nodes: []NodesDescription{}, Edges: []EdgesDescription{}}
	if c := s.Collection; c != nil {
		i.Graphs, i.Context, i.Schema = c.Graphs, describeColumns(c.Context), s.Meta.Schema
		if c.ComponentPtr.Len() > 0 {
			i.Components = c.Components()
		}
		for _, n := range c.Nodes {
			i.Nodes = append(i.Nodes, NodesDescription{Type: n.Type, Count: n.Count, Columns: describeColumns(n.Columns)})
		}
		for _, e := range c.Edges {
			i.Edges = append(i.Edges, EdgesDescription{Type: e.Type.String(), Count: e.Count, Columns: describeColumns(e.Columns)})
		}
		return i
	}
	i.NotInBatches = notInBatches(s.Graph)
	for _, n := range s.Graph.Nodes {
		ni := NodesDescription{Type: n.Type, Count: n.Count, Added: n.Added, Columns: describeColumns(n.Columns)}
		if n.IDs != nil {
			ni.IDs = n.IDs.DType.String()
		}
		i.Nodes = append(i.Nodes, ni)
	}
	for _, e := range s.Graph.Edges {
		ei := EdgesDescription{Type: e.Type.String(), Count: e.Count, Primary: e.Primary.String(), Columns: describeColumns(e.Columns)}
		for _, d := range []graph.Direction{graph.In, graph.Out} {
			if e.Adj[d] != nil {
				ei.Directions = append(ei.Directions, d.String())
			}
		}
		h, _ := degrees(e, nil) // without a function there is no error
		ei.Degree = &DegreeDescription{h.Mean(), h.Quantile(.5), h.Quantile(.9), h.Quantile(.99), h.Max(), h.Zeros()}
		i.Edges = append(i.Edges, ei)
	}
	if c := s.Meta.Context; c != nil {
		i.Context, i.ContextRows = describeColumns(s.Graph.Context), c.Count
	}
	for _, e := range s.Graph.Edges {
		i.SamplerBytes += e.Adj[e.Primary].Bytes()
	}
	return i
}

// degrees returns the histogram of the degrees of an edge type in its primary direction. It tells touched, if that is not nil, how many
// bytes it has read since the last call.
func degrees(e *graph.Edges, touched func(bytes int64) error) (*report.Histogram, error) {
	const most = 1 << 20 // offsets between two calls of touched
	p, h := e.Adj[e.Primary].Indptr, new(report.Histogram)
	for from := 0; from < p.Len()-1; from += most {
		to := min(from+most+1, p.Len())
		if p.U64 != nil {
			h.Merge(report.Degrees(p.U64[from:to]))
		} else {
			h.Merge(report.Degrees(p.U32[from:to]))
		}
		if touched != nil {
			if err := touched(p.Bytes() / int64(p.Len()) * int64(to-from)); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// Text writes the description in words.
func (i *Description) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: a %s", i.Folder, i.Kind)
	if i.Kind == store.KindCollection {
		fmt.Fprintf(w, " of %s graphs", human.Exact(int64(i.Graphs)))
	}
	if i.Components > 0 {
		fmt.Fprintf(w, " with %s components", human.Exact(int64(i.Components)))
	}
	fmt.Fprintf(w, ", made by %s %s\n\nNODE TYPE\tCOUNT\tIDS\tCOLUMNS\n", i.Made.Command, i.Made.Version)
	for _, n := range i.Nodes {
		ids := n.IDs
		if ids == "" && i.Kind == store.KindStore {
			ids = "numbers"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", human.Printable(n.Type), human.Exact(int64(n.Count)), ids, joinColumns(n.Columns))
	}
	fmt.Fprintf(w, "\nEDGE TYPE\tCOUNT\tSTORED\tDEGREE mean\tp50\tp99\tmax\tCOLUMNS\n")
	for _, e := range i.Edges {
		fmt.Fprintf(w, "%s\t%s\t%s\t", human.Printable(e.Type), human.Exact(int64(e.Count)), strings.Join(e.Directions, "+"))
		if d := e.Degree; d != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t", human.Number(d.Mean), d.P50, d.P99, d.Max)
		} else {
			fmt.Fprint(w, "\t\t\t\t")
		}
		fmt.Fprintf(w, "%s\n", joinColumns(e.Columns))
	}
	switch {
	case i.ContextRows > 0:
		fmt.Fprintf(w, "\nCONTEXT of %s rows\n%s\n", human.Exact(int64(i.ContextRows)), joinColumns(i.Context))
	case i.Components > 0 && len(i.Context) > 0:
		fmt.Fprintf(w, "\nEACH COMPONENT HAS\n%s\n", joinColumns(i.Context))
	case len(i.Context) > 0:
		fmt.Fprintf(w, "\nEACH GRAPH HAS\n%s\n", joinColumns(i.Context))
	}
	if i.Schema != "" {
		fmt.Fprintf(w, "\nThe schema that it was read with is in %s.\n", i.Schema)
	}
	if text := leftOutText(i.NotInBatches); text != "" {
		fmt.Fprintf(w, "\n%s.\n", strings.ToUpper(text[:1])+text[1:])
	}
	if i.SamplerBytes > 0 {
		fmt.Fprintf(w, "\nSampling over all edge types holds %s of the graph in memory.\n", human.Bytes(i.SamplerBytes))
	}
	return w.Flush()
}

func joinColumns(cols []ColumnDescription) string {
	var s []string
	for _, c := range cols {
		s = append(s, c.String())
	}
	return strings.Join(s, ", ")
}
