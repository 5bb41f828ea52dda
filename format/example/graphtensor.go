package example

import (
	"errors"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// ErrGraph is wrapped by every error about a GraphTensor that is not consistent or does not fit its schema, in memory
// or in an Example.
var ErrGraph = errors.New("not a sound GraphTensor")

// Tensor holds the values of one feature of a set or of the context, one row per item. The values are flat and
// row-major in one of Ints (bools and all integers; uint64 keeps its bits), Floats (all floats) and Texts, as an
// Example stores them.
type Tensor struct {
	DType   tfgnnpb.DataType
	Shape   []int // of one item; -1 is a variable dimension
	Items   int   // number of rows: nodes, edges or components
	Ints    []int64
	Floats  []float32
	Texts   [][]byte
	Lengths [][]int64 // row lengths, one list per variable dimension, outermost first
}

// GraphTensor is a graph, or several graphs (its components), with features. Context features have one item per
// component. The items of a set are in the order of the components.
type GraphTensor struct {
	Context  map[string]*Tensor
	NodeSets map[string]*NodeSet
	EdgeSets map[string]*EdgeSet

	// Form records how the keys without values were written, so that Encode gives the same bytes that Decode read.
	// Without it, Encode writes every key, as tfgnn.write_example does. It has 2 bits per key in the order of
	// Codec.Keys, 4 keys per byte, low bits first:
	//
	//	a key without values: 0 omitted, 1 an empty list, 2 no list
	//	#size of one component without items: 0 omitted, 1 the list [0], 2 no list
	//	row lengths that are all 0: 0 written, 1 an empty list, 2 no list, 3 omitted
	//
	// Then follow 2 bits of the Example itself, which matter if no key is present: 0 no bytes, 1 a Features message
	// without entries. The bits of other keys are 0.
	Form []byte

	// Unknown lists the keys that Decode found and the schema does not have. They are no error, since another program
	// may have written them. The keys are views of the record.
	Unknown [][]byte

	// Repairs describes the changes that a lenient Decode made, in the order of the sets. A strict Decode leaves it
	// empty.
	Repairs []string

	bound *binding // set by New
}

// NodeSet holds the nodes of a set.
type NodeSet struct {
	Sizes    []int64 // number of nodes of each component
	Features map[string]*Tensor
}

// EdgeSet holds the edges of a set. An endpoint is the index of a node in its set, counted over all components. Both
// ends are in the component of the edge.
type EdgeSet struct {
	Sizes       []int64 // number of edges of each component
	Source      string  // node set; empty: as the schema says
	Target      string
	SourceIndex []int64
	TargetIndex []int64
	Features    map[string]*Tensor
}
