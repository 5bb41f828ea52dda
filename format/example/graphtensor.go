package example

import (
	"errors"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// ErrGraph is wrapped by every error of a GraphTensor that does not hold together
// or does not fit its schema, in memory or as an Example.
var ErrGraph = errors.New("not a sound GraphTensor")

// Tensor is the values of one feature of a set or of the context, a row an item.
// The values lie flat and row-major in one of Ints (bools and all integers; uint64
// keeps its bits), Floats (all floats) and Texts, as an Example holds them.
type Tensor struct {
	DType   tfgnnpb.DataType
	Shape   []int // of one item; -1 is a variable dimension
	Items   int   // rows: nodes, edges or components
	Ints    []int64
	Floats  []float32
	Texts   [][]byte
	Lengths [][]int64 // row lengths, one list a variable dimension, outermost first
}

// GraphTensor is a graph, or several (its components), with features. Context
// features have one item a component; the items of a set lie one component after
// the other.
type GraphTensor struct {
	Context  map[string]*Tensor
	NodeSets map[string]*NodeSet
	EdgeSets map[string]*EdgeSet

	// Form is how the keys without values were written, so that Encode gives the
	// bytes again that Decode read. Without it, Encode writes every key, as
	// tfgnn.write_example does. It has 2 bits a key in the order of Codec.Keys, 4
	// keys a byte, low bits first:
	//
	//	a key without values: 0 omitted, 1 an empty list, 2 no list
	//	#size of one component without items: 0 omitted, 1 the list [0], 2 no list
	//	row lengths that are all 0: 0 written, 1 an empty list, 2 no list, 3 omitted
	//
	// and then 2 bits of the Example itself, which matter where no key is given: 0
	// nothing at all, 1 a Features message without entries. The bits of other keys
	// are 0.
	Form []byte

	// Unknown is what Decode found beside the schema's keys. It is no error: another
	// program may have put it there. The keys are views of the record.
	Unknown [][]byte

	// Repairs is what a lenient Decode changed, in the order of the sets; a strict one
	// leaves it empty.
	Repairs []string

	bound *binding // of a GraphTensor that New made
}

// NodeSet is the nodes of a set.
type NodeSet struct {
	Sizes    []int64 // nodes, one number a component
	Features map[string]*Tensor
}

// EdgeSet is the edges of a set. An endpoint is the place of a node in its set,
// counted over all components; both ends are in the component of the edge.
type EdgeSet struct {
	Sizes       []int64 // edges, one number a component
	Source      string  // node set; empty means as the schema says
	Target      string
	SourceIndex []int64
	TargetIndex []int64
	Features    map[string]*Tensor
}
