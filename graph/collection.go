package graph

// Collection is many graphs of the same types. The nodes of a type are in the order of the graphs, and so are the
// edges. GraphPtr (graphs + 1 offsets) bounds them.
//
// A graph may have several components, in the sense of TF-GNN: graphs that were merged into one. Then ComponentPtr
// (graphs + 1) bounds the components of each graph, each type has a ComponentPtr (components + 1) that bounds its nodes
// or edges, and the columns of the context have one row per component. Where ComponentPtr is empty, each graph is one
// component.
type Collection struct {
	Graphs       int
	ComponentPtr Index
	Nodes        []*CollectionNodes // in byte order of the type
	Edges        []*CollectionEdges // in byte order of "src:rel:dst"
	// Context has one row per component.
	Context []*Column
	// SeedType is the node type of the seeds (two types for link seeds), and empty where there are none. SeedPtr
	// (graphs + 1) bounds SeedLocal, which has the local id of the node of each seed; for link seeds, source and target
	// in turn.
	SeedType  []string
	SeedPtr   Index
	SeedLocal Index
	// NegativeLocal has the negative links of link seeds, as SeedLocal: Negatives per link, in the order of the links.
	Negatives     int
	NegativeLocal Index
	// ExampleForm has one row of bytes per graph: how its tf.train.Example was written (GraphTensor.Form of
	// format/example). nil means all zeros.
	ExampleForm *Column
}

// CollectionNodes is a node type of a collection.
type CollectionNodes struct {
	Type         string
	Count        int
	GraphPtr     Index
	ComponentPtr Index
	// NodeID is the type-wise id in the store that was sampled. It is empty where there is none.
	NodeID Index
	// NumSampled has one row per graph: the number of nodes found at each hop, seeds first.
	NumSampled *Column
	Columns    []*Column
}

// CollectionEdges is an edge type of a collection. Src and Dst are local ids: they count from the first node of their
// type in the graph.
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
