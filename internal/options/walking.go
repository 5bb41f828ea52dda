package options

// Walk are the options of walk.
var Walk = []Option{
	{Field: "Length", Group: GroupWalk, Common: true, Positive: true, Help: "number of steps (default: the number of edge types of --metapath, or 80)"},
	{Field: "Walks", Group: GroupWalk, Common: true, Default: "10", Positive: true, Help: "number of walks per start"},
	{Field: "Metapath", Group: GroupWalk, Common: true, Value: "TYPES", Kind: EdgeTypes, Help: "edge types of the steps, separated by commas (default: the only one of the store)"},
	{Field: "Direction", Group: GroupWalk, Common: true, Choices: []string{"in", "out"}, Default: "out", Help: "edges that a step follows: out-edges, to their destinations (out), or in-edges, to their sources (in)"},
	{Field: "P", Group: GroupWalk, Common: true, Help: "node2vec: a step back to the node before has the bias 1/p"},
	{Field: "Q", Group: GroupWalk, Common: true, Help: "node2vec: a step to a node that the node before has no edge to has the bias 1/q"},
	{Field: "Stop", Group: GroupWalk, Help: "chance per step that the walk ends"},
	{Field: "End", Group: GroupWalk, Help: "chance that the walk ends where the metapath begins again, in addition to --stop"},
	{Field: "Restart", Group: GroupWalk, Common: true, Help: "chance per step that the walk goes on at its start"},
	{Field: "Weight", Group: GroupWalk, Common: true, Value: "COLUMN", Kind: EdgeColumn, Help: "edge column: draw with probability proportional to it (default: uniformly)"},
	{Field: "Messages", Group: GroupWalk, Value: "COLUMN=VALUE", Form: Repeated, Help: "edges that walks take: those with a value in a column (split=train), or COLUMN of true and false; TYPE:COLUMN=VALUE is for one edge type, and --messages can be repeated (default: all edges)"},
	{Field: "Seeds", Group: GroupSeeds, Common: true, Value: "SEEDS", Kind: NodeTypes, Help: "starts: TYPE:COLUMN=VALUE, or a file of ids (default: all nodes of the type from which the path starts)"},
	{Field: "LimitSeeds", Group: GroupSeeds, Positive: true, Help: "take only the first N starts of the list (default: all)"},
	{Field: "Seed", Group: GroupSeeds, Common: true, Help: "random seed of all draws"},
	{Field: "Epoch", Group: GroupSeeds, Help: "number of the epoch: another one has other walks"},
	{Field: "EdgeIDs", Group: GroupOutput, Help: "also write the ids of the edges that were taken, as edges.npy"},
	{Field: "Visits", Group: GroupWalk, Common: true, Positive: true, Help: "write an edge to each start from the N nodes that its walks visit most (default: write the walks)"},
}
