package ingest

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/format/npz"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// IDs says how the original ids of nodes are read.
type IDs uint8

// idsAuto reads ids as integers if those in the first MiB are integers without signs and leading zeros, and as
// strings otherwise.
const (
	idsAuto IDs = iota
	idsInteger
	idsString
)

// ParseIDs parses "auto", "integer" or "string".
func ParseIDs(s string) (IDs, error) {
	i := slices.Index([]string{"auto", "integer", "string"}, s)
	if i < 0 {
		return 0, usagef("found ids %q, expected auto, integer or string", s)
	}
	return IDs(i), nil
}

// Options hold what a source does not say itself. The zero value is the default.
type Options struct {
	// Format is the name of a format; empty: it is detected.
	Format string
	// More lists further files of an edge list, with the same columns, which are read after the first.
	More []string
	// Columns names the columns of an edge list without a header, in file order, or chooses some columns of one with
	// a header: "src,dst,weight:float32". A column without a dtype gets the one that its values look like.
	Columns string
	// Src and Dst name the columns of the ends of an edge list; empty: src or source, dst or target, and other usual
	// names.
	Src, Dst string
	// SrcType and DstType are the node types of the ends of an edge list; empty: _N, or the id space of Neo4j's header.
	SrcType, DstType string
	IDs              IDs
	// Delimiter separates the fields of text tables, as in textfiles.CSVOptions.
	Delimiter byte
	// ArrayDelimiter separates the values of lists, and several labels, in files of Neo4j's importer and of APOC; 0: ';'.
	ArrayDelimiter byte
	// Indptr and Indices are the arrays of a sparse matrix with one row per destination. The path is empty then.
	Indptr, Indices string
	// NumNodes is the number of nodes of a graph without node tables; 0: the largest id + 1.
	NumNodes uint64
	// Symmetrise adds the reverse of each edge: to the same edge type if both ends have the same node type, and
	// otherwise as the edge type dst:rev_REL:src.
	Symmetrise bool
	// Missing says what empty cells of features mean; without a rule they are errors, or missing times and categories,
	// or empty strings.
	Missing []Missing
	// Vectors join columns of an edge list to vectors: "feat=f0:f127", "feat:float32=f*".
	Vectors []string
	// Relations says what the relations of triples become: "types", "column", or "" for types if they are not too many.
	Relations string
	// DataPath is the folder that the file names of a unigraph's tables are relative to; empty: the folder of the
	// schema.
	DataPath string
	// Features are made of the columns of the source, in place of those that it asks for itself; nil: none are given.
	Features *features.Plan
	// Outside allows files outside the folder of the metadata file that names them.
	Outside bool
	// NodesAlone allows a graph.yaml without edges.
	NodesAlone bool
	// Temp is the folder of temporary files, for arrays that must be unpacked; empty: the system's folder.
	Temp string
	// Threads is the number of goroutines that unpack arrays, and find the types of labelled nodes and edges; 0: 1.
	Threads int
	// Memory bounds what the types of the ids of labelled nodes take, with half of it; 0: no bound.
	Memory int64

	// Query carries out queries of a graph.yaml, and returns their results in the same order; nil: queries are refused.
	Query func(ctx context.Context, queries []Query) ([]Queried, error) `json:"-"`

	// Lines are, by type, files of JSON lines that are the tables of a graph.yaml in place of those that it names, as LineTypes describes them; a type without one has no rows. nil:
	// the tables are those that it names.
	Lines map[string]string `json:"-"`

	// Marks are, by type, those of the tables of lakes whose rows were taken before, as Source.Marks has them: such a table has the rows
	// after its mark.
	Marks map[string]string `json:"-"`

	arrays *npz.Files // the file system, with the arrays that Open unpacks
}

// Source is one graph to build, or many graphs to import. Its tables can be read until Close.
type Source struct {
	Format string
	// Collection is set for many graphs; Input is set for one.
	Collection *collection.Input
	Input      assemble.Input
	Primary    graph.Direction
	// Files lists the metadata file, if there is one, and the files of all tables, each once.
	Files []string
	// Held is the number of bytes of memory that the tables of Input take while one of them is scanned, as far as it
	// grows with the graph.
	Held int64
	// Marks say, by type, up to which version the rows of tables of lakes are taken.
	Marks map[string]string
	// Taken say, by type, up to where rows are taken of where they come from, as the key marks of a graph.yaml says it.
	Taken map[string]string
	// Lakes names these tables with their versions, for people.
	Lakes []string
	// DeclaredIDs lists the node types whose schema declares #id, so that samples include their original ids.
	DeclaredIDs []string
	// Transforms are what the source asks to change of Input.
	Transforms Transforms
	// Features are what the source makes of its columns.
	Features features.Plan
	// Rules are how the source asks to treat rows that break a rule.
	Rules Rules
	// Declared holds the counts that comments of the source state; see Review.
	Declared Declared
	counts   countsLine
	// skipped, if not nil, returns after a build how many parts of the source are left out, and why.
	skipped func() (int64, string)
	// Warnings describe suspicious parts of the source, and parts that are left out.
	Warnings []string

	collected []*table.Categories // those that Collect found
	arrays    *npz.Files
}

// mark notes up to which version the rows of the table of a type are taken, if it is that of a lake, beside those of other tables whose
// rows the type has.
func (s *Source) mark(o *Options, typ string, t table.Table) {
	if mark := tablefiles.MarkOf(t); t != nil && mark != "" {
		if s.Marks == nil {
			s.Marks = map[string]string{}
		}
		s.Marks[typ] = lake.AddMark(o.Marks[typ], mark)
		if what := tablefiles.Described(t); !slices.Contains(s.Lakes, what) {
			s.Lakes = append(s.Lakes, what)
		}
	}
}

// Close frees what was unpacked.
func (s *Source) Close() error { return s.arrays.Close() }

// Open reads the metadata of a source and opens its tables. It unpacks the arrays that cannot be read in place. Tables are read several
// times; a file that is another one then is an error of kind vfs.ErrChanged. The caller closes the Source.
func Open(ctx context.Context, fsys vfs.FS, path string, o Options) (_ *Source, err error) {
	o.arrays = npz.NewFiles(vfs.Unchanged(fsys), cmp.Or(o.Temp, os.TempDir()))
	s, err := openSource(ctx, o.arrays, path, o)
	if err != nil {
		return nil, errors.Join(err, o.arrays.Close())
	}
	s.arrays = o.arrays
	return s, nil
}

func openSource(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	path, graphNumber, err := cutGraph(path)
	if err != nil {
		return nil, err
	}
	var f format
	if scheme, _, ok := strings.Cut(path, "://"); ok && vfs.Scheme(path) == "" {
		if name, _, _ := strings.Cut(scheme, "+"); name == "bolt" || name == "neo4j" {
			return nil, sourcef("found the %s:// address of a graph database, which the Python client reads; give it to python -m graphmill import", scheme)
		}
		do := "download it first"
		if w := suggest.Word(strings.ToLower(scheme), slices.Concat(vfs.Schemes, []string{"bolt", "neo4j"})); w != "" && !strings.Contains(scheme, "ftp") { // which is near to http
			do = "did you mean " + strconv.Quote(w) + "?"
		}
		return nil, sourcef("found an address of %s://, expected a file or folder, or an address of %s; %s", scheme, strings.Join(vfs.Schemes, ", "), do) // without the path, which can have a password
	}
	switch {
	case o.Format != "":
		i := slices.Index(Formats(), o.Format)
		if i < 0 {
			return nil, usagef("found format %q, expected one of %s%s", o.Format, strings.Join(Formats(), ", "), suggest.Hint(o.Format, Formats()))
		}
		f = formats[i]
	case o.Indptr != "" || o.Indices != "":
		f = npyEdges{}
	default:
		if f, path, err = detectBelow(fsys, path, o); err != nil {
			return nil, err
		}
	}
	if graphNumber >= 0 {
		if f != format(jgf) {
			return nil, usagef("%s: found the number of a graph with a source of format %s, expected it with jgf; leave @graph= out", path, f.name())
		}
		f = jgfOf(graphNumber)
	}
	if _, ok := f.(npyEdges); !ok && (o.Indptr != "" || o.Indices != "") {
		return nil, usagef("found `Indptr` or `Indices` with a source of format %s, expected them alone", f.name())
	}
	if _, ok := f.(unigraph); !ok && o.DataPath != "" {
		return nil, usagef("found `DataPath` with a source of format %s, expected it with a unigraph", f.name())
	}
	if _, ok := f.(edgeList); !ok && (o.Columns != "" || o.Src != "" || o.Dst != "" || o.SrcType != "" || o.DstType != "" || len(o.Vectors) > 0) {
		return nil, usagef("found `Columns`, `Src`, `Dst`, `SrcType`, `DstType` or `Vectors` with a source of format %s, expected them with an edge list; a graph.yaml says them itself", f.name())
	}
	if _, ok := f.(edgeList); !ok && len(o.More) > 0 {
		return nil, usagef("found several files with a source of format %s, expected them with an edge list or TFRecords; other sources are one file or folder", f.name())
	}
	if _, ok := f.(neo4j); o.ArrayDelimiter != 0 && !ok && f.name() != "apoc-csv" {
		return nil, usagef("found `ArrayDelimiter` with a source of format %s, expected it with neo4j or apoc-csv; leave it out", f.name())
	}
	if o.ArrayDelimiter != 0 && (o.ArrayDelimiter == o.Delimiter || strings.IndexByte("\"\r\n", o.ArrayDelimiter) >= 0) {
		return nil, usagef("found `ArrayDelimiter` %q, expected a character that is not `Delimiter`, a quote or a line end; give the one that separates values of a list", o.ArrayDelimiter)
	}
	switch {
	case o.Relations == "":
	case !slices.Contains([]string{"ntriples", "triples", "sif", "openke"}, f.name()):
		return nil, usagef("found `Relations` with a source of format %s, expected it with triples", f.name())
	case o.Relations != "types" && o.Relations != "column":
		return nil, usagef("found `Relations` %q, expected types or column", o.Relations)
	}
	s, err := f.open(ctx, fsys, path, o)
	if err != nil {
		return nil, err
	}
	s.Format = f.name()
	if o.Features != nil {
		s.Features = *o.Features
	}
	if s.Collection != nil {
		if o.Symmetrise {
			symmetriseCollection(s.Collection)
		}
		return s, checkCollection(s.Collection)
	}
	if err := plausible(fsys, path, s, o); err != nil {
		return nil, err
	}
	if o.Symmetrise || s.Transforms.Symmetrise {
		if err := symmetrise(&s.Input); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// symmetrise adds the reverse of each edge.
func symmetrise(in *assemble.Input) error {
	for i := range in.Edges {
		e := &in.Edges[i]
		if e.Type.Src == e.Type.Dst {
			e.Symmetrise = true
			continue
		}
		in.Edges = append(in.Edges, reverse(*e, "rev_"+e.Type.Rel))
	}
	return checkTwice(in)
}

// reverse returns the edge type that reads the same table with its ends swapped.
func reverse(e assemble.Edges, rel string) assemble.Edges {
	e.Type = graph.EdgeType{Src: e.Type.Dst, Rel: rel, Dst: e.Type.Src}
	e.Src, e.Dst = e.Dst, e.Src
	return e
}

func checkTwice(in *assemble.Input) error {
	seen := map[graph.EdgeType]bool{}
	for _, e := range in.Edges {
		if seen[e.Type] {
			return sourcef("found edge type %s twice, expected each once; rename one of the two", e.Type)
		}
		seen[e.Type] = true
	}
	return nil
}
