package graph

// Collection is many graphs of the same types. The nodes of a type lie graph by
// graph, and so do the edges; GraphPtr (graphs + 1) bounds them.
//
// A graph may have several components, as TF-GNN calls them: graphs that were put
// into one. ComponentPtr (graphs + 1) then bounds those of each graph, each type
// has a ComponentPtr (components + 1) that bounds its nodes or edges, and the
// columns of the context have one row a component. Empty: each graph is one
// component.
type Collection struct {
	Graphs       int
	ComponentPtr Index
	Nodes        []*CollectionNodes // in byte order of the type
	Edges        []*CollectionEdges // in byte order of "src:rel:dst"
	// Context has one row a component.
	Context []*Column
	// SeedType names the node type of the seeds (two for link seeds), empty where
	// there are none. SeedPtr (graphs + 1) bounds SeedLocal, the node of each
	// input seed as a local id; for link seeds source and target lie side by side.
	SeedType  []string
	SeedPtr   Index
	SeedLocal Index
	// ExampleForm has one row of bytes a graph: how its tf.train.Example was
	// written (GraphTensor.Form of format/example). nil: all zeros.
	ExampleForm *Column
}

// CollectionNodes is a node type of a collection.
type CollectionNodes struct {
	Type         string
	Count        int
	GraphPtr     Index
	ComponentPtr Index
	// NodeID is the type-wise id in the store that was sampled; empty where there
	// is none.
	NodeID Index
	// NumSampled has one row a graph: the nodes found at each hop, seeds first.
	NumSampled *Column
	Columns    []*Column
}

// CollectionEdges is an edge type of a collection. Src and Dst are local ids:
// they count from the graph's first node of their type.
type CollectionEdges struct {
	Type         EdgeType
	Count        int
	GraphPtr     Index
	ComponentPtr Index
	Src, Dst     Index
	EdgeID       Index // in the store that was sampled; empty where there is none
	NumSampled   *Column
	Columns      []*Column
}

// Components is the number of components of all graphs.
func (c *Collection) Components() int {
	if n := c.ComponentPtr.Len(); n > 0 {
		return int(c.ComponentPtr.At(n - 1))
	}
	return c.Graphs
}
