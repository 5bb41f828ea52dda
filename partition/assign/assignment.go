package assign

// Assignment is the part of every node.
type Assignment struct {
	Parts int // 1..65536; every part of a node is below it
	// Types are the node types in byte order; Start has where each begins in Part,
	// and the number of all nodes at the end.
	Types []string
	Start []uint64
	// Part has the part of each node, type after type.
	Part []uint16
	// Method is the name of what made it, as partition_meta.json has it.
	Method string
}

// Of are the parts of the nodes of type t, an index of Types.
func (a *Assignment) Of(t int) []uint16 { return a.Part[a.Start[t]:a.Start[t+1]] }
