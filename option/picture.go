package option

// Picture says what is drawn.
type Picture struct {
	Run
	// Subgraph is the number of the graph in a collection, from 0. Of a store it is 0.
	Subgraph int
	// Store is the store that the collection was sampled from, which has the ids and columns of its nodes; "" draws without them.
	Store string
	// Label is the column whose values stand beside the nodes, or "id"; "" writes none.
	Label string
	// Colour is the column that gives nodes their colour; "" colours by type.
	Colour string
}
