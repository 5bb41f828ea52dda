package option

// Walk say which random walks are made.
type Walk struct {
	Run

	// Length is the number of steps; 0 is the number of edge types of Metapath, or 80 without one.
	Length int
	// Walks is the number of walks per start; 0 is 10.
	Walks int
	// Metapath is the edge types of the steps, each "src:rel:dst" or a relation that is unique in the graph. After its last
	// edge type a walk begins it again. nil is the only edge type of the graph.
	Metapath []string
	// Direction is DirectionOut (the default: from sources to destinations) or DirectionIn.
	Direction Direction
	// P and Q are node2vec's return and in-out parameters; 0 is 1. They need one edge type within one node type.
	P, Q float64
	// Stop is the chance per step that a walk ends, Restart that it goes on at its start. Restart needs one edge type within
	// one node type.
	Stop, Restart float64
	// End is the chance that a walk ends where it begins the metapath again, in addition to Stop: PinSAGE's termination_prob.
	End float64
	// Weight is the edge column in proportion to which edges are drawn; "" draws all alike.
	Weight string
	// Messages restricts the edges that walks take, as Draw.Messages does.
	Messages []string

	// Seeds are the starts: TYPE:COLUMN=VALUE, or the name of a file of ids; "" is all nodes of the type from which the path
	// starts.
	Seeds string
	// LimitSeeds is the number of starts to take from the beginning of the list; 0 is all.
	LimitSeeds int
	Seed       uint64 // random seed of all draws
	Epoch      uint64 // another epoch has other walks
	// EdgeIDs also writes the ids of the edges that were taken.
	EdgeIDs bool
	// Visits writes, in place of the walks, the nodes that the walks of each start visit most at the ends of Metapath, at most so many
	// per start: the neighbours of PinSAGE, as edges that Import reads. 0 writes the walks.
	Visits int
}
