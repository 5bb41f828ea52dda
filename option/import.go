package option

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
)

// RMAT are the parameters of an R-MAT graph.
type RMAT struct {
	Build
	Scale      int    // required: the graph has 2^Scale nodes
	EdgeFactor int    // edges per node; 0 is 16
	Seed       uint64 // random seed
}

// Community are the parameters of a community graph. The default of DuplicateEdges and SelfLoops is PolicyDrop
// here, because the graph is defined with each pair once and without loops.
type Community struct {
	Build
	Nodes int    // required: number of nodes
	Seed  uint64 // random seed
}

// Policy says how an import treats rows that break a rule.
type Policy string

// The policies. Each field of this type says which of them it takes, and which is its default.
const (
	PolicyError Policy = "error" // stop with an error that names file, line and column
	PolicyDrop  Policy = "drop"  // drop the rows, and count them
	PolicyKeep  Policy = "keep"  // keep the rows
	PolicyZeros Policy = "zeros" // add each missing node, with zeros in its columns
	PolicyAdd   Policy = "add"   // add the rows that are missing
	PolicySum   Policy = "sum"   // keep the first row, with the sums of the columns of all
	PolicyCount Policy = "count" // keep the first row, with the number of all in a column "count"
	// PolicyDropEqual drops rows that are equal to an earlier one in all columns, where 0 equals -0 and NaN equals NaN.
	PolicyDropEqual Policy = "drop-equal"
)

// Build are the options that all operations share that make a store from edges.
type Build struct {
	Run

	// Both stores the adjacency of both directions, not only of the primary one.
	Both bool
	// DuplicateEdges says how to treat edges with equal ends: PolicyKeep (the default), PolicyDrop (which keeps the first),
	// PolicyDropEqual, PolicyError, PolicySum or PolicyCount.
	DuplicateEdges Policy
	// SelfLoops says how to treat edges from a node to itself: PolicyKeep (the default), PolicyDrop, PolicyError, or
	// PolicyAdd, which gives one to each node that has none, in edge types between nodes of one type.
	SelfLoops Policy

	Transforms
}

// Import say how a source is read. The zero value recognises the format and columns of most sources.
type Import struct {
	Build

	// Format is the format of the source, one of DescribeImportFormats; "" recognises it by the name and content.
	Format string
	// Columns names the columns of an edge list without a header, or selects columns of one with a header. A name may have
	// a dtype: "src,dst,weight:float32". "" takes all columns of the header.
	Columns string
	// Src and Dst name the columns of an edge list that hold the sources and destinations; "" finds usual
	// names such as src and dst, or source and target.
	Src, Dst string
	// SrcType and DstType name the node types of the ends of an edge list; "" is _N. With equal names, equal ids are one node.
	SrcType, DstType string
	// IDs is the type of the ids: "auto" (the default), "integer" or "string".
	IDs string
	// Delimiter separates the columns of text tables: one character, "tab" or "space"; "" recognises it.
	Delimiter string
	// Indptr and Indices are the .npy files of a sparse matrix in CSR form with one row per destination. The argument
	// source of Import is "" then.
	Indptr, Indices string
	// NumNodes is the number of nodes of a source without a node table; 0 is the largest id + 1.
	NumNodes uint64
	// Symmetrise adds the reverse of each edge. Where source and destination differ in type, the reverse edges have the
	// type dst:rev_REL:src.
	Symmetrise bool
	// Homogeneous merges all node types into _N and all edge types into _N:_E:_N, in the order of their names.
	Homogeneous bool
	// NoPositions leaves out the position of each edge in the input (the column #input_position), which takes 4 bytes per
	// edge, or 8 where the input has 2^32 rows or more. Outputs then have the edge ids of the store instead of positions, and
	// what needs the order of the edges in the input is an error.
	NoPositions bool
	// Primary is the direction by which edges are numbered and stored: DirectionIn or DirectionOut; "" is DirectionOut for
	// unigraphs and DirectionIn for all other sources.
	Primary Direction
	// DanglingEdges says how to treat edges with an end that no node table has: PolicyError (the default), PolicyDrop or
	// PolicyZeros.
	DanglingEdges Policy
	// DuplicateNodes says how to treat rows of a node table whose id an earlier row has: PolicyError (the default) or
	// PolicyDrop.
	DuplicateNodes Policy
	// Missing says what empty cells mean, each "WHAT=VALUE" or "VALUE" for all, or several with commas between. WHAT is a
	// dtype, a kind of dtypes (float, int, bool, string, datetime, category) or a column. VALUE is the value of the cell,
	// "error", or "column": then the cell is zero, NaN for floats, and a column of bools, NAME_missing, says which cells
	// were empty. The most specific rule holds. Without a rule, an empty cell of numbers or bools is an error, a missing
	// time is graph.NoTime, a missing category -1, and a string is empty.
	Missing []string
	// Vectors join columns of an edge list to vectors: "feat=f0:f127" for a range of columns in the order of the file,
	// "feat=f*" for a pattern, "feat=a,b,c", each with a dtype if wanted: "feat:float32=f*". The columns are not imported
	// on their own.
	Vectors []string
	// Relations says what the relations of triples (RDF, or head, relation and tail) become: "types", an edge type each;
	// "column", a column relation of one edge type; "" is types for up to 1,000 relations, and otherwise a column.
	Relations string
	// Features is a file with the features of the types: the keys fit, nodes and edges of a graph.yaml, whose types have the key features. It replaces those of a
	// graph.yaml. A feature is a column that a model takes; see docs/features.md.
	Features string
	// Like is a store whose features the new one has: what was fitted for it is applied to the columns of the source, and nothing is fitted. It replaces the features of
	// a graph.yaml.
	Like string
	// AllowOutside lets a metadata file name files outside its folder, and databases on servers.
	AllowOutside bool

	// Schema is the GraphSchema of TFRecords: a file, or the folder that holds it. It is required for TFRecords, which
	// become a collection.
	Schema string
	// More lists further files of TFRecords or of an edge list, which are read after the source.
	More []string
	// Input is what the source "-" reads, a table of edges. Format says its kind: csv, tsv, txt, jsonl, arrow or parquet. It is
	// copied to an unnamed file in the folder of the output, which is gone when Import returns.
	Input io.Reader
	// Lenient repairs Examples that are not valid GraphTensors where that is possible, and counts them. Without it, such an
	// Example is an error.
	Lenient bool
	// TimeColumn are the columns of a database, TABLE.COLUMN, that are the times of the nodes and edges of their table.
	TimeColumn []string
}

// Transforms are changes that an import makes to a graph after it has read all of it. The zero value makes none. Those that
// change which edges there are make the import write the graph twice, first to a folder beside the output.
type Transforms struct {
	// LargestComponent keeps only the largest component: the nodes that edges of all types connect, in both directions.
	LargestComponent bool
	// Splits add a column "split" to node or edge types, with the categories train, valid and test. A row in none of
	// them has -1.
	Splits []Split
	// SplitSeed is the random seed of the splits without a column.
	SplitSeed uint64
	// Normalise divides the rows of these columns by the sum of their absolute values. A column is COLUMN, or TYPE.COLUMN
	// if several node types have it; an edge type is src:rel:dst.
	Normalise []string
}

// Split divides the nodes or edges of a type into train, valid and test. One of Ratios, At and Values is set.
type Split struct {
	// Of is a node type, or an edge type src:rel:dst, to divide at random, and TYPE.COLUMN to divide by the column. The
	// type can be left out if there is one node type.
	Of string
	// Ratios are the shares of train, valid and test. With a column, rows are taken in its order, and rows of equal values
	// stay together.
	Ratios []float64
	// At are two values of the column: rows below the first are train, the others below the second are valid, the rest is
	// test.
	At []string
	// Values are the values of the column in train, valid and test.
	Values [][]string
}

// ParseSplit reads "[OF=]TRAIN,VALID,TEST" with ratios, or "OF@VALUE,VALUE" with the first values of valid and test.
func ParseSplit(text string) (Split, error) {
	wrong := func() (Split, error) {
		return Split{}, tagged.Errorf(ErrUsage, "found `Splits` %q, expected ratios such as 0.8,0.1,0.1 or paper=0.8,0.1,0.1 or paper.year=0.8,0.1,0.1, or the first values of valid and test, such as paper.year@2018,2020", text)
	}
	if of, values, ok := strings.Cut(text, "@"); ok {
		s := Split{Of: of, At: strings.Split(values, ",")}
		if of == "" || len(s.At) != 2 || slices.Contains(s.At, "") {
			return wrong()
		}
		return s, nil
	}
	var s Split
	ratios := text
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		s.Of, ratios = text[:i], text[i+1:]
	}
	for part := range strings.SplitSeq(ratios, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return wrong()
		}
		s.Ratios = append(s.Ratios, x)
	}
	if len(s.Ratios) != 3 {
		return wrong()
	}
	return s, nil
}

// String is the inverse of ParseSplit. Splits by sets of values have no such form and are written for people.
func (s Split) String() string {
	var parts []string
	for _, x := range s.Ratios {
		parts = append(parts, strconv.FormatFloat(x, 'g', -1, 64))
	}
	switch {
	case s.At != nil:
		return s.Of + "@" + strings.Join(s.At, ",")
	case s.Values != nil:
		for i, v := range s.Values {
			parts = append(parts, []string{"train", "valid", "test"}[i]+":"+strings.Join(v, "|"))
		}
	case s.Of == "":
		return strings.Join(parts, ",")
	}
	return s.Of + "=" + strings.Join(parts, ",")
}
