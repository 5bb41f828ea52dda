package assign

// MaxParts is the largest number of parts, and of trainers: each is a uint16.
const MaxParts = 1 << 16

// Assignment is the part of every node.
type Assignment struct {
	Parts int // 1..MaxParts; every part of a node is below it
	// Types are the node types in byte order; Start has where each begins in Part,
	// and the number of all nodes at the end.
	Types []string
	Start []uint64
	// Part has the part of each node, type after type.
	Part []uint16
	// Trainers is how many trainers share a part; 0: they are not told apart. Then
	// Trainer is nil, else it has the trainer of each node, in [0, Parts*Trainers), and
	// Part[v] is Trainer[v] / Trainers.
	Trainers int
	Trainer  []uint16
	// Method is the name of what made it, as partition_meta.json has it.
	Method string
}

// Of are the parts of the nodes of type t, an index of Types.
func (a *Assignment) Of(t int) []uint16 { return a.Part[a.Start[t]:a.Start[t+1]] }

// TrainersOf are the trainers of the nodes of type t, nil where they are not told
// apart.
func (a *Assignment) TrainersOf(t int) []uint16 {
	if a.Trainers == 0 {
		return nil
	}
	return a.Trainer[a.Start[t]:a.Start[t+1]]
}
