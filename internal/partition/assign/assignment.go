package assign

// MaxParts is the largest number of parts, and of trainers: each is a uint16.
const MaxParts = 1 << 16

// Assignment maps every node to its part.
type Assignment struct {
	Parts int // 1..MaxParts; all values of Part are below it
	// Types are the node types in byte order. Start has the index in Part at which each type begins; its last
	// entry is the number of nodes.
	Types []string
	Start []uint64
	// Part has the part of each node, type after type.
	Part []uint16
	// Trainers is the number of trainers per part; 0: trainers are not assigned, and Trainer is nil. Else
	// Trainer has the trainer of each node, in [0, Parts*Trainers), and Part[v] is Trainer[v] / Trainers.
	Trainers int
	Trainer  []uint16
	// Method is the name of the method that made the assignment, as in partition_meta.json.
	Method string
}

// Of returns the parts of the nodes of type t, an index into Types.
func (a *Assignment) Of(t int) []uint16 { return a.Part[a.Start[t]:a.Start[t+1]] }

// TrainersOf returns the trainers of the nodes of type t, nil if trainers are not assigned.
func (a *Assignment) TrainersOf(t int) []uint16 {
	if a.Trainers == 0 {
		return nil
	}
	return a.Trainer[a.Start[t]:a.Start[t+1]]
}
