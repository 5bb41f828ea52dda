package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/graphmill/graphmill/internal/human"
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
	// Features lists the features of a store: columns that a model takes, made of others.
	Features []FeatureDescription `json:"features,omitempty"`
	// Profiles summarise the columns, where that was asked for.
	Profiles []ColumnProfile `json:"profiles,omitempty"`
	// SamplerBytes is the memory in bytes that the graph takes while it is sampled over all edge types.
	SamplerBytes int64 `json:"sampler_bytes,omitempty"`
	// NotInBatches names the columns of a store that batches leave out, as TYPE/COLUMN: strings and lists.
	NotInBatches []string `json:"not_in_batches,omitempty"`
	// LeftOut says the same in a sentence, and how to get them; "" for none.
	LeftOut string `json:"-"`
	// Made describes the run that made the folder: command, version, options and inputs.
	Made Made `json:"made"`
	// Segments describe the appends to a store, in order.
	Segments []SegmentDescription `json:"segments,omitempty"`
}

// SegmentDescription describes what one append added to a store.
type SegmentDescription struct {
	Nodes   int `json:"nodes"`             // new nodes of all types
	Edges   int `json:"edges"`             // new edges of all types
	Dropped int `json:"dropped,omitempty"` // edges that were dropped
	Changed int `json:"changed,omitempty"` // nodes and edges whose columns were changed
	// At is when the version with this segment appeared, in UTC, and Manifest the checksum by which outputs name it; zero and "" where that is not known.
	At       time.Time `json:"at,omitzero"`
	Manifest string    `json:"manifest,omitempty"`
	Made     Made      `json:"made"`
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

// FeatureDescription describes a feature.
type FeatureDescription struct {
	Type    string   `json:"type"` // node type, or edge type as "src:rel:dst"
	Name    string   `json:"name"`
	DType   string   `json:"dtype"`
	Numbers int      `json:"numbers"`         // of a row
	Bits    int      `json:"bits,omitempty"`  // of the codes that the store has for the numbers; 0: it has the numbers
	Codes   int      `json:"codes,omitempty"` // of a feature of codes: how many there are, with 0
	From    []string `json:"from"`            // the columns that it is made of
	Rows    int      `json:"rows"`            // rows that it was fitted on
	Fit     string   `json:"fit"`             // which rows: all, a part of the split, or those before a time
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

// Text writes the description in words.
func (i *Description) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: a %s", i.Folder, i.Kind)
	if i.Kind == "collection" {
		fmt.Fprintf(w, " of %s graphs", human.Exact(int64(i.Graphs)))
	}
	if i.Components > 0 {
		fmt.Fprintf(w, " with %s components", human.Exact(int64(i.Components)))
	}
	fmt.Fprintf(w, ", made by %s %s\n\nNODE TYPE\tCOUNT\tIDS\tCOLUMNS\n", i.Made.Commands(), i.Made.Version)
	for _, n := range i.Nodes {
		ids := n.IDs
		if ids == "" && i.Kind == "store" {
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
	if len(i.Segments) > 0 {
		fmt.Fprintf(w, "\nSEGMENT\tAT\tNODES\tEDGES\tDROPPED\tCHANGED\tTABLES\n")
		for n, s := range i.Segments {
			var inputs []string
			for _, name := range slices.Sorted(maps.Keys(s.Made.Inputs)) {
				inputs = append(inputs, human.Printable(name))
			}
			at := ""
			if !s.At.IsZero() {
				at = s.At.Format("2006-01-02T15:04:05Z")
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", n+1, at, human.Exact(int64(s.Nodes)), human.Exact(int64(s.Edges)), human.Exact(int64(s.Dropped)), human.Exact(int64(s.Changed)), strings.Join(inputs, ", "))
		}
	}
	if len(i.Features) > 0 {
		fmt.Fprintf(w, "\nFEATURE\tROW\tMADE OF\tFITTED ON\n")
		for _, f := range i.Features {
			row := fmt.Sprintf("%s[%d]", f.DType, f.Numbers)
			if f.Bits > 0 {
				row += fmt.Sprintf(" in %d bits", f.Bits)
			}
			if f.Codes > 0 {
				row = fmt.Sprintf("%s, %s codes", f.DType, human.Exact(int64(f.Codes)))
			}
			var from []string
			for _, name := range f.From {
				from = append(from, human.Printable(name))
			}
			fmt.Fprintf(w, "%s/%s\t%s\t%s\t%s rows: %s\n", human.Printable(f.Type), human.Printable(f.Name), row, strings.Join(from, ", "), human.Exact(int64(f.Rows)), f.Fit)
		}
	}
	writeProfiles(w, i.Profiles)
	if i.Schema != "" {
		fmt.Fprintf(w, "\nThe schema that it was read with is in %s.\n", i.Schema)
	}
	if text := i.LeftOut; text != "" {
		fmt.Fprintf(w, "\n%s.\n", strings.ToUpper(text[:1])+text[1:])
	}
	if i.SamplerBytes > 0 {
		fmt.Fprintf(w, "\nSampling over all edge types holds %s of the graph in memory.\n", human.Bytes(i.SamplerBytes))
	}
	return w.Flush()
}

// joinColumns lists columns with their dtypes and shapes.
func joinColumns(cols []ColumnDescription) string {
	var s []string
	for _, c := range cols {
		s = append(s, c.String())
	}
	return strings.Join(s, ", ")
}

// reserveNote explains limits with a reserve.
const reserveNote = "a node of each type and a graph of each pack are kept for padding"

// PackLayout is the content of layout.json, which docs/packing.md describes.
type PackLayout struct {
	Format     int      `json:"format"`
	Components []string `json:"components"`
	// Limits and MaxGraphs include the reserve: they are the shape of a padded pack.
	Limits    []int `json:"limits"`
	MaxGraphs int   `json:"max_graphs"`
	Reserve   bool  `json:"reserve,omitempty"`
	// Oversize says what happens to graphs that are larger than a pack, OversizeGraphs graphs of
	// OversizeShapes shapes; empty: there are none.
	Oversize       string `json:"oversize,omitempty"`
	OversizeGraphs int64  `json:"oversize_graphs,omitempty"`
	OversizeShapes int    `json:"oversize_shapes,omitempty"`
	Packs          int64  `json:"packs"`
	LowerBound     int64  `json:"lower_bound"`
	Graphs         int64  `json:"graphs"` // in packs
	Shapes         int    `json:"shapes"`
	Patterns       int    `json:"patterns"`
	Parts          int    `json:"parts"`
}

// LayoutDescription describes a pack layout. Its JSON is what the command info prints with --json.
type LayoutDescription struct {
	Folder string `json:"folder"`
	Kind   string `json:"kind"`
	PackLayout
	// Full is the share of the room of all packs that graphs fill, by component.
	Full []float64 `json:"-"`
	// Larger says what became of the graphs that OversizeGraphs counts.
	Larger string `json:"-"`
}

// Text writes the description in words.
func (d *LayoutDescription) Text(out io.Writer) error {
	m := &d.PackLayout
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: a pack layout, %s of %s (no packing has fewer than %s)\n\nCOMPONENT\tLIMIT\tFULL\n",
		d.Folder, human.Counted(m.Packs, "pack"), human.Counted(m.Graphs, "graph"), human.Exact(m.LowerBound))
	for i, c := range m.Components {
		fmt.Fprintf(w, "%s\t%s\t%.2f %%\n", human.Printable(c), human.Exact(int64(m.Limits[i])), 100*d.Full[i])
	}
	if m.MaxGraphs > 0 {
		fmt.Fprintf(w, "graphs\t%s\t\n", human.Exact(int64(m.MaxGraphs)))
	}
	if m.Reserve {
		fmt.Fprint(w, "\n"+reserveNote+"\n")
	}
	if m.OversizeGraphs > 0 {
		fmt.Fprintf(w, "\n%s %s\n", human.Exact(m.OversizeGraphs), d.Larger)
	}
	return w.Flush()
}

// ImportFormat describes a format that Import reads.
type ImportFormat struct {
	// Name is what option.Import.Format takes.
	Name string `json:"name"`
	// Source says what a source of the format looks like.
	Source string `json:"source"`
	// Becomes says what Import makes of it.
	Becomes string `json:"becomes"`
}
